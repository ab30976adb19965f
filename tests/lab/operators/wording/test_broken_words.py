"""Damage words."""

import re

import pytest
from rapidfuzz.distance import OSA

from paraqd.lab.operators import Resources, derive_rng
from paraqd.lab.operators.wording.broken_words import BrokenWords
from paraqd.lab.operators.wording.lexicon import is_word
from paraqd.reading import read, same_quantities

TEXT = "Nkechi bakes 36 muffins in Lagos and packs them into 4 orange boxes. How many does each container hold?"


def outputs(text, seeds=60):
    made = [BrokenWords().apply(read(text), derive_rng(n, "a", "BrokenWords"), Resources()) for n in range(seeds)]
    return {each for each in made if each is not None}


def test_a_content_word_can_no_longer_be_read():
    for made in outputs(TEXT):
        left = set(re.findall(r"[a-z]+", made.lower()))
        lost = {"bakes", "muffins", "packs", "orange", "boxes", "container"} - left
        broken = [word for word in left if not is_word(word) and word not in ("nkechi", "lagos")]
        assert lost and broken
        assert any(max(OSA.normalized_similarity(word, new) for new in broken) <= 0.75 for word in lost)


def test_the_damage_varies():
    made = outputs(TEXT)
    assert len(made) > 50
    assert any(re.search(r"\b(\w{2,}) \1\b", each, re.I) for each in made), "no word is doubled"
    joined = {"andpacks", "packsthem", "theminto", "manydoes", "doeseach"}
    assert any(word in each for each in made for word in joined), "no words run together"


def test_numbers_and_names_stay():
    for made in outputs(TEXT):
        assert same_quantities(read(TEXT).quantities, read(made).quantities)
        assert "Nkechi" in made and "Lagos" in made


@pytest.mark.parametrize(
    "text", ["", "5 + 7 = ?", "Tom has 5 kg.", "It was very sunny then. Ana took 5.", "Only there."]
)
def test_nothing_vital_to_break(text):
    assert outputs(text) == set()


def test_a_word_that_is_said_again_is_not_enough():
    assert outputs("He has 5 pencils. How many pencils is it?") == set()
