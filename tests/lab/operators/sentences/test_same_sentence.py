"""Keep the question (f2)."""

from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.reading import read

EXAMPLE = "Alex travelled 100 km from New York at a constant speed of 20 kmph. How many hours did it take him in total?"


def apply(text):
    return get("SameSentence").apply(read(text), derive_rng(0, "q", "SameSentence"), Resources())


def test_the_question_comes_back_unchanged():
    assert apply(EXAMPLE) == EXAMPLE


def test_white_space_is_kept():
    assert apply(" He has  5 pens.\n") == " He has  5 pens.\n"


def test_an_empty_text():
    assert apply("") is None
