"""Replace words with synonyms."""

from __future__ import annotations

import pytest

from paraqd.lab.operators import Resources, derive_rng
from paraqd.reading import read, same_quantities
from paraqd.rewriting.light_synonyms import ENTRIES, LightSynonyms

FARM = (
    "A certain farm has 12 hens that lay 3 eggs each. The farmer also buys 20 eggs at a price of $2 each, and then he "
    "sells half of the eggs to a local bakery. If a box holds 6 eggs, how many boxes are there in all?"
)


def outputs(operator, text, times=40):
    made = [operator.apply(read(text), derive_rng(n, "a", operator.name), Resources()) for n in range(times)]
    assert text not in made
    return {each for each in made if each is not None}


def test_a_harmless_edit_keeps_the_quantities_and_varies():
    made = outputs(LightSynonyms(), FARM.replace("buys 20", "purchased 20").replace("has 12", "contains 12"))
    assert len(made) > 4
    for each in made:
        assert same_quantities(read(FARM).quantities, read(each).quantities)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Ana buys 3 pens.", "Ana purchases 3 pens."),
        ("Ana is 9 years old.", "Ana is 9 years of age."),
        ("She earns $9 per hour.", "She earns $9 an hour."),
        ("Find the area of the field.", "Work out the area of the field."),
        ("He wants to eat an additional 3 figs.", "He wants to eat an extra 3 figs."),
        ("A large box weighs 3 kg.", "A big box weighs 3 kg."),
        ("Ana drives an enormous car for 3 hours.", "Ana drives a huge car for 3 hours."),
        ("3 children and 2 dogs. The children eat.", "3 kids and 2 dogs. The kids eat."),
    ],
)
def test_a_word_is_replaced_by_its_synonym_everywhere(text, other):
    assert other in outputs(LightSynonyms(), text)


@pytest.mark.parametrize(
    "text",
    [
        "3 large boxes and 2 big boxes weigh 9 kg.",  # two kinds
        "The children's room has 2 beds.",
        "The round trip takes 3 hours.",
        "Ana can store 5 litres and 3 liters.",
        "He will find the 3 keys.",
        "The 3 cross roads are 2 km from here.",
    ],
)
def test_a_word_of_another_sense_stays(text):
    assert not outputs(LightSynonyms(), text)


def test_the_table_is_long_enough():
    assert len(ENTRIES) >= 150
