"""Delete a condition and keep the question."""

import pytest

from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.reading import read

EXAMPLE = "Alex travelled 100 km from New York at a constant speed of 20 kmph. How many hours did it take him in total?"


def apply(text, seed=0):
    return get("ConditionDeletion").apply(read(text), derive_rng(seed, "q", "ConditionDeletion"), Resources())


def outputs(text, seeds=60):
    return {apply(text, seed) for seed in range(seeds)}


def test_the_papers_example():
    assert outputs(EXAMPLE) == {"How many hours did it take him in total?"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Tom has 5 pens. Ann has 6 pens. Zoe likes pens. How many have they?",
            {
                "Ann has 6 pens. Zoe likes pens. How many have they?",
                "Tom has 5 pens. Zoe likes pens. How many have they?",
            },
        ),
        (
            "Find the price if each pen costs $2. Tom buys 5 pens.",
            {"Find the price. Tom buys 5 pens.", "Find the price if each pen costs $2."},
        ),
    ],
)
def test_a_sentence_that_gives_a_quantity_goes(text, expected):
    assert outputs(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("If 3 pens cost $6, how much do 5 pens cost?", {"How much do 5 pens cost?"}),
        ("When 5 is added to x, what is the result?", {"What is the result?"}),
        ("How many pens can he buy if each costs $2?", {"How many pens can he buy?"}),
        ("if 3 pens cost $6, how much do 5 pens cost?", {"how much do 5 pens cost?"}),
    ],
)
def test_an_if_clause_goes(text, expected):
    assert outputs(text) == expected


def test_the_question_always_stays():
    text = "Tom has 5 pens. He buys 6 more. If he loses 2, how many pens does he have?"
    results = outputs(text)
    assert len(results) == 3
    assert all(result.lower().endswith("how many pens does he have?") for result in results)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "How many?",
        "Find the area of a square of side 5 cm.",
        "Tom likes pens. How many has he?",
        "Tom has 5 pens. Ann has 6 pens.",
        "If it rains, how many people come?",
    ],
)
def test_none_without_a_condition_beside_the_question(text):
    assert apply(text) is None
