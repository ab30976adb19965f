"""Delete the last sentence (f6)."""

import pytest

from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.reading import read

EXAMPLE = "Alex travelled 100 km from New York at a constant speed of 20 kmph. How many hours did it take him in total?"


def apply(text):
    return get("LastSentenceDeletion").apply(read(text), derive_rng(0, "q", "LastSentenceDeletion"), Resources())


def test_the_papers_example():
    assert apply(EXAMPLE) == "Alex travelled 100 km from New York at a constant speed of 20 kmph."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tom has 5 pens. He buys 6. How many has he?", "Tom has 5 pens. He buys 6."),
        ("Mr. Rao paid Rs. 5.50 at 10 a.m. to Ann. How much is left?", "Mr. Rao paid Rs. 5.50 at 10 a.m. to Ann."),
        ("Tom has 5 pens.How many has he?", "Tom has 5 pens."),
        ("Tom has 5 pens.\n\nHow many has he?\n", "Tom has 5 pens."),
    ],
)
def test_the_last_of_several_sentences_goes(text, expected):
    assert apply(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # three tokens (the public code deleted four); a token is a word or a mark
        ("Find the area of a square of side 5 cm.", "Find the area of a square of side"),
        ("What is 20% of 450 apples?", "What is 20% of"),
        ("What is 20% of 1,250?", "What is 20%"),
        ("one two three four", "one"),
    ],
)
def test_a_single_sentence_loses_three_tokens(text, expected):
    assert apply(text) == expected
    assert len(read(text).tokens) - len(read(expected).tokens) == 3


@pytest.mark.parametrize("text", ["", "   ", "Find x.", "Why?"])
def test_none_if_nothing_would_be_left(text):
    assert apply(text) is None
