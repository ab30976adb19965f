"""Abbreviate units."""

import pytest

from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.reading import read

EXAMPLE = (
    "Alex travelled 100 kilometres from New York at a constant speed of 20 kilometres per hour. "
    "How many hours did it take him in total?"
)


def apply(text):
    return get("UnitContraction").apply(read(text), derive_rng(0, "q", "UnitContraction"), Resources())


def test_the_papers_example_in_full():
    assert apply(EXAMPLE) == (
        "Alex travelled 100 km from New York at a constant speed of 20 km/hr. How many hours did it take him in total?"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The pole is 5 meters long.", "The pole is 5 m long."),
        ("He drank 2 litres.", "He drank 2 L."),
        ("He waited 2 minutes.", "He waited 2 min."),
        ("It weighs 1 kilogram.", "It weighs 1 kg."),
        ("Its area is 5 square metres here.", "Its area is 5 sq. m here."),
        ("She is 5 feet 6 inches tall.", "She is 5 ft 6 in. tall."),
    ],
)
def test_units_after_digits_are_abbreviated(text, expected):
    assert apply(text) == expected


def test_an_abbreviation_does_not_double_the_full_stop():
    assert apply("It is 18 inches. Cut it.") == "It is 18 in. Cut it."


@pytest.mark.parametrize(
    "text",
    [
        "",
        "He ran 5 km.",
        "He ran five kilometres.",
        "Cut a 7-inch pipe.",
        "It takes 3 days.",
        "He paid 5 dollars.",
        "How many hours did it take?",
        "He paid 5 pounds for it.",
        "The angle is 30 degrees.",
    ],
)
def test_none_if_there_is_no_short_form(text):
    assert apply(text) is None
