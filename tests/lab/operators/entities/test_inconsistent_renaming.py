"""Rename a person in some places only."""

import re

import pytest

from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.reading import read

EXAMPLE = "Alex travelled 100 km from New York at a constant speed of 20 kmph. How many hours did it take him in total?"
TOM = "Tom has 5 pens. Tom's sister has 6. How many does Tom have?"


def apply(text, seed=0):
    return get("InconsistentRenaming").apply(read(text), derive_rng(seed, "q", "InconsistentRenaming"), Resources())


def outputs(text, seeds=80):
    return [apply(text, seed) for seed in range(seeds)]


def test_the_papers_example_names_nobody_twice():
    assert outputs(EXAMPLE) == [None] * 80


def test_the_papers_example_with_the_name_twice():
    text = EXAMPLE.replace("him", "Alex")
    for result in outputs(text):
        assert result.count("Alex") == 1
        assert re.fullmatch(re.escape(text).replace("Alex", r"[\w-]+"), result)


def test_some_mentions_change_and_some_do_not():
    for result in outputs(TOM):
        names = re.fullmatch(r"(.+) has 5 pens\. (.+)'s sister has 6\. How many does (.+) have\?", result).groups()
        assert "Tom" in names
        assert len(set(names)) == 2


def test_any_mention_may_change():
    results = outputs(TOM)
    assert any(not text.startswith("Tom ") for text in results)
    assert any("Tom's" not in text for text in results)
    assert any(not text.endswith("Tom have?") for text in results)


@pytest.mark.parametrize("text", ["", "A man has 5 pens.", "Tom has 5 pens. How many has he?", "Paris is in Paris."])
def test_none_if_no_person_is_named_twice(text):
    assert apply(text) is None
