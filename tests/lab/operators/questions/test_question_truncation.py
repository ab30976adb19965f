"""Cut the question off in the middle."""

import pytest

from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.reading import read

EXAMPLE = "Alex travelled 100 km from New York at a constant speed of 20 kmph. How many hours did it take him in total?"


def apply(text, seed=0):
    return get("QuestionTruncation").apply(read(text), derive_rng(seed, "q", "QuestionTruncation"), Resources())


def outputs(text, seeds=80):
    return {apply(text, seed) for seed in range(seeds)}


def test_the_papers_example():
    results = outputs(EXAMPLE)
    assert "Alex travelled 100 km from New York at a constant speed of 20 kmph. How many" in results
    for result in results:
        assert EXAMPLE.startswith(result)
        assert result.startswith("Alex travelled 100 km from New York at a constant speed of 20 kmph. How")
        assert len(read(EXAMPLE).tokens) - len(read(result).tokens) >= 4


def test_the_facts_stay():
    text = "Tom has 5 pens. Ann has 6. How many pens do they have in all?"
    assert all(result.startswith("Tom has 5 pens. Ann has 6. How") for result in outputs(text))


@pytest.mark.parametrize("text", ["", "Tom has 5 pens.", "How many?", "Find x."])
def test_none_if_there_is_no_question_or_it_is_too_short(text):
    assert outputs(text) == {None}


def test_none_if_the_question_is_far_from_the_end():
    assert apply("How many pens do they have in all? Tom has 5 pens and Ann has 6 pens and Zoe has 7 pens.") is None


@pytest.mark.parametrize(
    ("text", "still_asks"),
    [
        ("The sides of a square are 5 cm long. Find the area of the square.", "Find the area"),
        ("A boat goes 5 km in 2 hours. What is the speed of the boat?", "What is the speed"),
    ],
)
def test_the_rest_is_not_a_question(text, still_asks):
    """ "Find the area" of the square just described is the same problem, so the label would be wrong."""
    assert all(not result.endswith(still_asks) for result in outputs(text))
