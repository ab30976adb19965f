"""Replace a word with an invented one."""

from __future__ import annotations

import random
import re

import pytest

from paraqd.lab.operators.wording.invented_word import InventedWord
from paraqd.reading import read
from paraqd.rewriting.operator import Resources

TEXT = "Nkechi bakes 36 muffins and packs the muffins into an orange box for 4 kg. How many muffins are there?"


def outputs(text):
    return {InventedWord().apply(read(text), random.Random(seed), Resources()) for seed in range(80)}


def words(text):
    return re.findall(r"[\w$]+", text)


def test_one_word_changes_and_the_rest_stays():
    for made in outputs(TEXT):
        gone = set(words(TEXT)) - set(words(made)) - {"an"}
        come = set(words(made)) - set(words(TEXT)) - {"a"}
        assert len(come) == 1
        assert gone <= {"bakes", "muffins", "packs", "orange"}


def test_the_article_fits_the_new_word():
    assert not any(re.search(r"\ban [^aeiou]", made) for made in outputs(TEXT))


def test_all_mentions_or_only_one_are_replaced():
    counts = {made.count("muffins") for made in outputs(TEXT)}
    assert {0, 2, 3} <= counts


@pytest.mark.parametrize("text", ["5 + 7 = ?", "Tom has 5 kg.", "They have 12 km."])
def test_nothing_to_replace(text):
    assert outputs(text) == {None}
