"""Delete a phrase without which the problem has no answer."""

from __future__ import annotations

import pytest

from paraqd.operators import Resources, derive_rng, get
from paraqd.reading import read


def apply(text, seed=0):
    return get("FactDeletion").apply(read(text), derive_rng(seed, "q", "FactDeletion"), Resources())


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        (
            "Two trains 300 km apart run towards each other at 60 km/h and 40 km/h. When do they meet?",
            "towards each other",
        ),
        ("Two cards are drawn without replacement from 52. What is the chance of two aces?", "without replacement"),
        ("The geometric sequence begins with 2 and 6. What is its next term?", "geometric"),
        ("Divide $70 between Ann and Tom in the ratio 3 : 4 today. What does Ann get?", "in the ratio 3 : 4"),
    ],
)
def test_the_phrase_goes_and_the_rest_stays(text, phrase):
    assert apply(text) == text.replace(f"{phrase} ", "")


def test_all_copies_of_a_phrase_go():
    text = (
        "Two cars drive in opposite directions for 2 h. Later, two vans drive in opposite directions for 3 h. How far?"
    )
    assert "opposite" not in apply(text)


@pytest.mark.parametrize(
    "text", ["", "What is 5 + 3?", "The shares are in the ratio 3 : 4. Find the larger share of 70."]
)
def test_a_text_without_such_a_phrase_is_left_alone(text):
    assert apply(text) is None
