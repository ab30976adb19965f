"""Swap two numbers."""

import pytest

from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.reading import read

EXAMPLE = "Alex travelled 100 km from New York at a constant speed of 20 kmph. How many hours did it take him in total?"


def apply(text, seed=0):
    return get("NumberSwap").apply(read(text), derive_rng(seed, "q", "NumberSwap"), Resources())


def outputs(text, seeds=60):
    return {apply(text, seed) for seed in range(seeds)}


def test_the_papers_example():
    assert outputs(EXAMPLE) == {
        "Alex travelled 20 km from New York at a constant speed of 100 kmph. How many hours did it take him in total?"
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("There are 7 boys and 9 girls.", {"There are 9 boys and 7 girls."}),
        ("He pays $5 for 3 kg.", {"He pays $3 for 5 kg."}),
        ("A 40-litre mix has 10% water.", {"A 10-litre mix has 40% water."}),
        (
            "A bag holds 5 red, 4 blue and 3 green balls.",
            {
                "A bag holds 4 red, 5 blue and 3 green balls.",
                "A bag holds 3 red, 4 blue and 5 green balls.",
                "A bag holds 5 red, 3 blue and 4 green balls.",
            },
        ),
    ],
)
def test_two_numbers_of_different_things_are_swapped(text, expected):
    assert outputs(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No number here.",
        "He has 5 pens.",
        # the same problem either way
        "A takes 5 days and B takes 7 days. How long do they take together?",
        "He walks 5 km in 5 hours.",
        "Find 5 + 7 = 12.",
        "What is 3 times 4?",
        "The sum of 15 and 27 is divided by 6.",
    ],
)
def test_none_if_a_swap_changes_nothing(text):
    assert apply(text) is None
