"""Rename people everywhere."""

import re

import pytest

from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.reading import read
from paraqd.reading.name_lists import people

EXAMPLE = "Alex travelled 100 km from New York at a constant speed of 20 kmph. How many hours did it take him in total?"
TWO = "Tom has 5 pens. Tom's sister Ann has 6. How many does Tom have?"


def apply(text, seed=0):
    return get("ConsistentRenaming").apply(read(text), derive_rng(seed, "q", "ConsistentRenaming"), Resources())


def outputs(text, seeds=80):
    return [apply(text, seed) for seed in range(seeds)]


def test_the_papers_example():
    for result in outputs(EXAMPLE):
        name, _, rest = result.partition(" ")
        assert name != "Alex"
        assert rest == EXAMPLE.removeprefix("Alex ")


def test_every_mention_gets_the_same_new_name():
    for result in outputs(TWO):
        match = re.fullmatch(r"(.+) has 5 pens\. (.+)'s sister (.+) has 6\. How many does (.+) have\?", result)
        assert match.group(1) == match.group(2) == match.group(4)
        assert match.group(1) != match.group(3)
        assert (match.group(1), match.group(3)) != ("Tom", "Ann")


def test_one_or_both_are_renamed():
    results = outputs(TWO)
    assert any("Tom" in text for text in results)
    assert any("Ann" in text for text in results)
    assert any("Tom" not in text and "Ann" not in text for text in results)


def test_the_gender_is_kept():
    names = [apply("Tom gave Ann 5 pens. Ann thanked him.", seed) for seed in range(80)]
    used = [(people()[text.split()[0]], people()[text.split()[2]]) for text in names]
    assert set(used) == {("m", "f")}


def test_a_new_name_belongs_to_nobody_else():
    for result in outputs("Tom, Ann, Ravi, Meera and Zoe share 40 sweets."):
        names = re.match(r"(.+), (.+), (.+), (.+) and (.+) share", result).groups()
        assert len(set(names)) == 5


def test_lower_case_text_gets_lower_case_names():
    assert all(text == text.lower() for text in outputs("tom has 5 pens. how many does tom have?"))


def test_a_name_inside_another_word_is_left_alone():
    for result in outputs("Tom has 5 tomatoes. How many tomatoes has Tom?"):
        assert result.count("tomatoes") == 2
        assert "Tom " not in result


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A man has 5 pens.",
        "He flew to Paris.",
        "Mr. Rao has 5 pens.",
        # who is who is not sure here
        "Tom Sawyer met Tom.",
        "TOM has 5 pens. How many has Tom?",
    ],
)
def test_none_if_nobody_can_be_renamed_safely(text):
    assert apply(text) is None
