"""Reverse a relation."""

import pytest

from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.reading import read

EXAMPLE = "Alex travelled 100 km from New York at a constant speed of 20 kmph. How many hours did it take him in total?"


def apply(text, seed=0):
    return get("RelationFlip").apply(read(text), derive_rng(seed, "q", "RelationFlip"), Resources())


def outputs(text, seeds=60):
    return {apply(text, seed) for seed in range(seeds)}


def test_the_papers_example_keeps_its_facts():
    for result in outputs(EXAMPLE) - {None}:
        assert result.startswith("Alex travelled 100 km from New York at a constant speed of 20 kmph. How many hours")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tom has 5 more than Ann.", {"Tom has 5 less than Ann."}),
        ("Tom has 5 more pens than Ann.", {"Tom has 5 fewer pens than Ann."}),
        ("Tom has 5 fewer pens than Ann.", {"Tom has 5 more pens than Ann."}),
        ("He needs at least 5 pens.", {"He needs at most 5 pens."}),
        ("Tom is 5 years older than Ann.", {"Tom is 5 years younger than Ann."}),
        ("The price increased by 5%.", {"The price decreased by 5%."}),
        ("He bought 5 pens.", {"He sold 5 pens."}),
        ("He was 5 two years ago.", {"He was 5 two years from now."}),
        ("He makes a profit of 5%.", {"He makes a loss of 5%."}),
        ("The boat goes 5 km downstream.", {"The boat goes 5 km upstream."}),
        ("Find the largest angle.", {"Find the smallest angle."}),
        ("A number is divided by 5.", {"A number is multiplied by 5."}),
        ("The sum of two numbers is 5.", {"The difference of two numbers is 5."}),
        ("A card is drawn with replacement.", {"A card is drawn without replacement."}),
        (
            "They ran before noon and sat after lunch.",
            {
                "They ran after noon and sat after lunch.",
                "They ran before noon and sat before lunch.",
            },
        ),
    ],
)
def test_one_relation_is_reversed(text, expected):
    assert outputs(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("More than 5 men left.", "Less than 5 men left."), ("Before noon he ran 5 km.", "After noon he ran 5 km.")],
)
def test_capitals_at_sentence_starts(text, expected):
    assert outputs(text) == {expected}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "He has 5 pens.",
        "He has more or less 5 pens.",
        "It is no longer here.",
        "Find the least common multiple of 4 and 6.",
        "Find the greatest common divisor of 4 and 6.",
        "The numbers are given below.",
        "They left one after the other.",
        "He is looked after by Ann.",
        "She left even though it was late.",
        "They meet the day after tomorrow.",
        "A shoulder and a boulder are no folder.",
    ],
)
def test_none_if_a_word_has_no_mathematical_meaning(text):
    assert apply(text) is None


def test_a_verb_agrees():
    assert outputs("Pipe A fills the tank in 5 hours.") == {"Pipe A empties the tank in 5 hours."}
    assert outputs("Two pipes fill the tank in 5 hours.") == {"Two pipes empty the tank in 5 hours."}


def test_added_to_make_is_not_an_addition():
    assert outputs("How much water must be added to make 10 litres?") <= {
        None,
        "How much water must be removed to make 10 litres?",
    }


@pytest.mark.parametrize(
    "text",
    ["It costs $5 per person.", "It costs $5 for each person.", "Each person pays $5.", "They charge $4 for each bag."],
)
def test_per_and_each_stay_good_english(text):
    for result in outputs(text) - {None}:
        assert "of this" not in result
        assert "for for" not in result


def test_the_article_agrees():
    assert all("an total" not in (text or "") for text in outputs("He drove at an average speed of 5 km/h."))
