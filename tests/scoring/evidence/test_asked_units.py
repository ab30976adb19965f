"""Units that the paraphrase's question names, and a currency sign before a unit."""

from __future__ import annotations

import pytest

from paraqd.reading import read
from paraqd.scoring.evidence.rules import READER


def features(question, paraphrase):
    return [finding.feature for finding in READER.findings(read(question), read(paraphrase))]


@pytest.mark.parametrize(
    ("question", "paraphrase", "found"),
    [
        (
            "A car drives at 54 km/h. How far is it in 3 hours?",
            "A car drives at 54 km/h. How many miles in 3 hours?",
            True,
        ),
        ("Milk costs 24 cents. What do 9 cost?", "Milk costs 24 cents. How many euros do 9 cost?", True),
        ("A car drives 90 km at 54 km/h. How long is it?", "A car drives 90 km at 54 km/h. How many minutes?", False),
        ("Milk costs 24 cents. What do 9 cost?", "Milk costs 24 cents. How many dollars do 9 cost?", False),
    ],
)
def test_a_unit_may_be_named_if_the_original_only_implies_it(question, paraphrase, found):
    assert ("asked_unit" in features(question, paraphrase)) is found


def test_a_sign_before_another_unit_is_a_mistake_of_the_original():
    question = "He sold $420 kilograms of pears. How many were left?"
    assert "unit_changed" not in features(question, "He sold 420 kilograms of pears. How many were left?")
    assert "unit_changed" in features(question, "He sold 420 metres of pears. How many were left?")
