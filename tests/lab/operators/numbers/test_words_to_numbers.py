"""Write numbers in digits."""

import re

import pytest

from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.reading import read

EXAMPLE = (
    "Alex travelled one hundred km from New York at a constant speed of twenty kmph. "
    "How many hours did it take him in total?"
)


def apply(text):
    return get("WordsToNumbers").apply(read(text), derive_rng(0, "q", "WordsToNumbers"), Resources())


def test_the_papers_example_in_words():
    assert apply(EXAMPLE) == (
        "Alex travelled 100 km from New York at a constant speed of 20 kmph. How many hours did it take him in total?"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("There are twenty-five boys.", "There are 25 boys."),
        ("There are one hundred and five men.", "There are 105 men."),
        ("About three million people voted.", "About 3 million people voted."),
        ("He ate two-thirds of it.", "He ate 2/3 of it."),
        ("He ate a quarter of the pie.", "He ate 1/4 of the pie."),
        ("It took two and a half hours.", "It took 2.5 hours."),
        ("It took half an hour.", "It took 1/2 hour."),
        ("He bought a dozen eggs.", "He bought 12 eggs."),
        ("He saw a hundred men.", "He saw 100 men."),
        ("Ann has twice as many pens.", "Ann has 2 times as many pens."),
        ("It costs double the price.", "It costs 2 times the price."),
        ("She sits in the third row.", "She sits in the 3rd row."),
        ("She sits in the twelfth row.", "She sits in the 12th row."),
        ("She sits in the twenty-first row.", "She sits in the 21st row."),
        ("Find a three-digit number.", "Find a 3-digit number."),
        ("One man and two boys left.", "1 man and 2 boys left."),
    ],
)
def test_every_form_in_words(text, expected):
    assert apply(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "He has 5 pens.",
        "No one saw this one or the other one.",
        "One of them left.",
        "It takes an hour.",
        "A man had a pen.",
        "They met at half past three.",
        "He doubled his money.",
        "A few of them left.",
    ],
)
def test_none_if_nothing_counts_in_words(text):
    assert apply(text) is None


def test_a_dozen_and_a_half_is_eighteen():
    assert apply("She baked a dozen and a half muffins.") in {None, "She baked 18 muffins."}


def test_a_couple_of_apples_is_two_apples():
    assert apply("She ate a couple of apples.") in {None, "She ate 2 apples."}


def test_time_and_a_half_is_a_fixed_phrase():
    assert apply("He gets time and a half for every hour over 40.") is None


@pytest.mark.parametrize(
    "text",
    [
        "The population was 8,000 two years ago.",
        "Ten 5 kg bags were sold.",
        "She paid with three 50-rupee notes and two coins.",
        "He was born in nineteen eighty-four.",
    ],
)
def test_two_numbers_in_digits_are_never_adjacent(text):
    assert not re.search(r"\d \d", apply(text) or "")
