"""Write a quantity as an equal one."""

import re

import pytest

from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.reading import read, same_quantities

EXAMPLE = "Alex travelled 100 km from New York at a constant speed of 20 kmph. How many hours did it take him in total?"


def apply(text, seed=0):
    return get("EqualQuantity").apply(read(text), derive_rng(seed, "q", "EqualQuantity"), Resources())


def outputs(text, seeds=60):
    return {apply(text, seed) for seed in range(seeds)}


def test_the_papers_example():
    """100 km is 100,000 m, but nobody writes that; a rate stays unchanged."""
    assert outputs(EXAMPLE) <= {None, EXAMPLE.replace("100 km", "100000 metres")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He waited half an hour.", "He waited 30 minutes."),
        ("He waited 30 minutes for it.", "He waited 0.5 hours for it."),
        ("He left for 2 weeks.", "He left for 14 days."),
        ("He walked 1 km.", "He walked 1000 metres."),
        ("He ran 0.5 km.", "He ran 500 metres."),
        ("She drank 750 ml of it.", "She drank 0.75 litres of it."),
        ("He lost 25% of the pens.", "He lost one quarter of the pens."),
        ("All fine. 25% of the pens are red.", "All fine. One quarter of the pens are red."),
        ("He lost 40% of his pens.", "He lost two fifths of his pens."),
        ("He bought 12 eggs.", "He bought a dozen eggs."),
        ("He bought 24 eggs.", "He bought two dozen eggs."),
        ("He bought 6 eggs.", "He bought half a dozen eggs."),
        ("Pour 3/4 of the milk.", "Pour 0.75 of the milk."),
        ("He paid $5 for it.", "He paid 500 cents for it."),
    ],
)
def test_equal_forms(text, expected):
    assert expected in outputs(text)


def test_exactly_one_quantity_is_rewritten():
    results = outputs("He waited 2 hours, then 3 hours.")
    assert results == {"He waited 120 minutes, then 3 hours.", "He waited 2 hours, then 180 minutes."}


@pytest.mark.parametrize(
    "text",
    ["He waited 90 minutes.", "It is 7 m long and 3 ft high.", "A dozen eggs cost $4 and 12 pens cost 50 cents."],
)
def test_the_quantities_stay_equal(text):
    for result in outputs(text):
        assert result is not None
        assert same_quantities(read(text).quantities, read(result).quantities)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No number here.",
        "He has 5 pens.",
        "He drove at 60 km/h.",
        "He paid €5 for it.",
        "He pays $5 per hour.",
        "He is 24 months old.",
        "Find 12 times 5.",
        "What is 12 divided by 6?",
        "Put $5 and 5% in.",
        "She paid with a $5 bill.",
        "Cut a 5-foot pole.",
    ],
)
def test_none_if_nobody_would_write_it_differently(text):
    assert outputs(text) == {None}


def test_american_spelling_is_kept():
    assert "It is 1000 meters, not 3 meters." in outputs("It is 1 km, not 3 meters.")


def test_a_working_day_does_not_have_twenty_four_hours():
    """8 hours a day for 6 days are 48 hours of work; "for 144 hours" would be another problem."""
    assert all("144 hours" not in (text or "") for text in outputs("He works 8 hours a day for 6 days."))


def test_compounds_are_left_together():
    for result in outputs("It lasts 2 hours 35 minutes and costs 50 cents."):
        assert "2 hours 35 minutes" in result


@pytest.mark.parametrize("text", ["A 3 hour journey begins.", "He won the 100 m race.", "She has only ₹2 coins."])
def test_before_a_noun_a_unit_is_not_plural(text):
    for result in outputs(text):
        assert not re.search(r"(?:minutes|centimetres|kilometres|paise) [a-z]", result or "")


@pytest.mark.parametrize(
    "text", ["There are 7 days in it.", "There are 12 months to go.", "There are 60 minutes left."]
)
def test_a_verb_in_the_plural_stays_right(text):
    assert all("are 1 " not in (result or "") for result in outputs(text))


def test_capitals_at_sentence_starts():
    results = outputs("Ann left. 50% of the class stayed.")
    assert results == {"Ann left. One half of the class stayed."}
