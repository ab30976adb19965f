"""Delete the sentence that introduces what a later sentence refers to."""

from __future__ import annotations

import pytest

from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.reading import read


def apply(text):
    return get("IntroductionDeletion").apply(read(text), derive_rng(0, "q", "IntroductionDeletion"), Resources())


@pytest.mark.parametrize(
    ("introduction", "rest"),
    [
        ("Tom has 5 caps. ", "He buys 2 more. How many caps has he now?"),
        ("A train leaves at noon. ", "The train is 200 m long. How long does it take to pass a pole at 20 m/s?"),
    ],
)
def test_the_reference_stays_without_its_introduction(introduction, rest):
    assert apply(introduction + rest) == rest


@pytest.mark.parametrize(
    "text",
    [
        "",
        "How many days are in 3 weeks?",
        "Tom has 5 caps. Ann has 2 caps. How many caps have they?",  # nothing refers to the first sentence
        "Tom has 5 caps. How many?",  # hardly anything would remain
        "How old is Tom? He is 5 years older than Ann, who is 7.",  # the question would be lost
        "It rained. The total of the 3 bills is $12. What is the mean of the bills?",  # a total needs no introduction
    ],
)
def test_a_text_that_needs_no_introduction_is_left_alone(text):
    assert apply(text) is None
