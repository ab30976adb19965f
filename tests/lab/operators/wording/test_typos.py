"""Misspell words."""

import random

import pytest

from paraqd.lab.operators import Resources, derive_rng
from paraqd.lab.operators.wording.lexicon import UNLISTED, level
from paraqd.lab.operators.wording.typos import Typos, misspelt
from paraqd.reading import read, same_quantities

TEXT = "Twenty-three children in Springfield share 46 marbles equally. How many marbles does every child receive?"


def outputs(text, seeds=60):
    made = [Typos().apply(read(text), derive_rng(n, "a", "Typos"), Resources()) for n in range(seeds)]
    return {each for each in made if each is not None}


def test_one_or_two_words_are_misspelt():
    counts = set()
    for made in outputs(TEXT):
        wrong = [(a, b) for a, b in zip(TEXT.split(), made.split(), strict=True) if a != b]
        counts.add(len(wrong))
        for before, after in wrong:
            assert before[0] == after[0] and abs(len(before) - len(after)) <= 1
            assert level(after.strip(".?")) == UNLISTED
        assert same_quantities(read(TEXT).quantities, read(made).quantities)
    assert counts == {1, 2}


@pytest.mark.parametrize("word", ["Twenty", "Springfield", "How", "many", "in", "46"])
def test_numbers_names_and_short_words_stay(word):
    assert all(word in made for made in outputs(TEXT))


@pytest.mark.parametrize(
    "text", ["", "Tom has 5 kg.", "He has half, twice or without.", "It is 12 kilometres.", "5+6=?"]
)
def test_nothing_to_misspell(text):
    assert outputs(text) == set()


@pytest.mark.parametrize("word", ["marbles", "children", "receive", "probability"])
def test_only_one_word_can_be_meant(word):
    made = {misspelt(word, random.Random(seed)) for seed in range(60)} - {None}
    assert len(made) > 5
    assert not made & {"marble", "child"}


def test_a_word_whose_misspellings_look_like_other_words_stays():
    """Any slip in "cones" yields a word that could be cone, cones, canes, bones …"""
    made = {misspelt("cones", random.Random(seed)) for seed in range(60)}
    assert not made & {"cnes", "coes", "cons", "conse"}
