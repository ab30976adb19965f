"""Change one number."""

import re

import pytest

from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.reading import read, same_quantities

EXAMPLE = "Alex travelled 100 km from New York at a constant speed of 20 kmph. How many hours did it take him in total?"


def apply(text, seed=0):
    return get("NumberChange").apply(read(text), derive_rng(seed, "q", "NumberChange"), Resources())


def outputs(text, seeds=120):
    return {apply(text, seed) for seed in range(seeds)}


def test_the_papers_example():
    for result in outputs(EXAMPLE):
        distance, speed = re.findall(r"\d+", result)
        assert (distance != "100") != (speed != "20")
        assert re.sub(r"\d+", "#", result) == re.sub(r"\d+", "#", EXAMPLE)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("He has 5 pens.", r"He has \d+ pens\."),
        ("It costs $1.30.", r"It costs \$\d+\.\d\d\."),
        ("Add .5 kg of it.", r"Add \.\d kg of it\."),
        ("They sold 10,576 books.", r"They sold \d{1,3},\d{3} books\."),
        ("They sold 1,200 books.", r"They sold (\d,)?\d{3} books\."),
        ("It costs Rs. 1,20,000.", r"It costs Rs\. (\d,)?\d\d,\d{3}\."),
        ("The ratio is 2:3.", r"The ratio is \d:\d\."),
        ("He ate 3/4 of it.", r"He ate \d+/\d+ of it\."),
        ("He lost 20% of it.", r"He lost \d+% of it\."),
        ("About 3.5 million voted.", r"About \d+\.\d million voted\."),
        ("He ate two-thirds of it.", r"He ate \w+ (quarters?|third|fifths?) of it\."),
        ("There are twelve boys.", r"There are \w+ boys\."),
        ("She sits in the third row.", r"She sits in the (fourth|fifth|sixth) row\."),
        ("He has twice as many.", r"He has \w+ times as many\."),
        ("It costs double the price.", "It costs triple the price."),
        ("Solve x^2 = 16.", r"Solve x\^\d = \d+\."),
    ],
)
def test_the_form_is_kept(text, pattern):
    results = outputs(text)
    assert None not in results
    assert [result for result in results if not re.fullmatch(pattern, result)] == []


@pytest.mark.parametrize(
    "text",
    [EXAMPLE, "The ratio is 2:4 and 3/6 of it is red.", "He lost 25% of 1/4 of a dozen.", "It is 0 or 1 or 2."],
)
def test_the_numbers_really_change(text):
    for result in outputs(text):
        assert not same_quantities(read(text).quantities, read(result).quantities)


@pytest.mark.parametrize(
    ("text", "start"), [("Tom left. Five men came.", "Tom left. "), ("Two-thirds of it is for Ann.", "")]
)
def test_capitals_at_sentence_starts(text, start):
    for result in outputs(text):
        assert result.removeprefix(start)[0].isupper()


@pytest.mark.parametrize("text", ["", "No number here.", "This one is red.", "Find A1.", "A man saw the other one."])
def test_none_without_numbers(text):
    assert apply(text) is None


@pytest.mark.parametrize("text", ["It takes 3 hours.", "He ran 2 miles.", "He has 0 pens."])
def test_one_does_not_precede_a_plural(text):
    assert all(not re.search(r"\b1 (?:hours|miles|pens)", result) for result in outputs(text))


@pytest.mark.parametrize("text", ["The train leaves at 21:50.", "It ends at 11:15 p.m. today."])
def test_a_time_of_day_stays_one(text):
    for result in outputs(text):
        hour, minute = map(int, re.search(r"(\d+):(\d\d)", result).groups())
        assert hour < (13 if "p.m." in text else 24)
        assert minute < 60


def test_part_of_an_hour_stays_good_english():
    for result in outputs("He waited half an hour."):
        assert result is None or re.search(r"of an hour|(?:half|quarter) an hour|hours", result)
