"""Delete a quantity together with the words that belong to it."""

from __future__ import annotations

import pytest

from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.reading import read


def outputs(text, seeds=40):
    operator = get("AmountDeletion")
    return {operator.apply(read(text), derive_rng(seed, "q", operator.name), Resources()) for seed in range(seeds)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Ann bakes 48 rolls and sells them in bags of 6. How many bags can she fill?",
            {
                "Ann bakes rolls and sells them in bags of 6. How many bags can she fill?",
                "Ann bakes 48 rolls and sells them in bags. How many bags can she fill?",
            },
        ),
        (
            "A car drives at 60 km/h for 3 hours. How far does it go?",
            {
                "A car drives for 3 hours. How far does it go?",
                "A car drives at 60 km/h. How far does it go?",
            },
        ),
        (
            "A rope 12 m long is cut into 4 pieces. How long is each piece?",
            {"A rope is cut into 4 pieces. How long is each piece?"},
        ),
    ],
)
def test_the_rest_still_reads_well(text, expected):
    assert outputs(text) == expected


@pytest.mark.parametrize(
    "text", ["", "What is x?", "The sum is 12. What is the sum?", "The rope is 12 m long. How long?"]
)
def test_a_quantity_that_holds_the_sentence_together_stays(text):
    assert outputs(text, seeds=5) == {None}
