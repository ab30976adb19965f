"""Remove or add words that do not matter."""

from __future__ import annotations

import pytest

from paraqd.lab.operators import Resources, derive_rng
from paraqd.reading import read, same_quantities
from paraqd.rewriting.shortening import Shortening

FARM = (
    "A certain farm has 12 hens that lay 3 eggs each. The farmer also buys 20 eggs at a price of $2 each, and then he "
    "sells half of the eggs to a local bakery. If a box holds 6 eggs, how many boxes are there in all?"
)


def outputs(operator, text, times=40):
    made = [operator.apply(read(text), derive_rng(n, "a", operator.name), Resources()) for n in range(times)]
    assert text not in made
    return {each for each in made if each is not None}


def test_a_harmless_edit_keeps_the_quantities_and_varies():
    made = outputs(Shortening(), FARM.replace("buys 20", "purchased 20").replace("has 12", "contains 12"))
    assert len(made) > 4
    for each in made:
        assert same_quantities(read(FARM).quantities, read(each).quantities)


@pytest.mark.parametrize(
    ("text", "shorter"),
    [
        ("Ana has 3 pens and Ben has 4. How many pens do they have in all?", "How many pens do they have?"),
        ("A train runs at a speed of 50 km/h for 2 hours.", "A train runs at 50 km/h for 2 hours."),
        ("If 3 x = 12, what is the value of x?", "what is x?"),
        ("There are 9 cats. 4 of them are white.", "There are 9 cats. 4 are white."),
        ("Ana drove 3 km. Then she walked 2 km.", "Ana drove 3 km. She walked 2 km."),
        ("A certain elevator carries 8 people.", "An elevator carries 8 people."),
        ("Ana, who loves old songs, sold 5 cakes.", "Ana sold 5 cakes."),
        ("Ana walked to a beautiful island with 5 trees.", "Ana walked to an island with 5 trees."),
    ],
)
def test_words_that_do_not_matter_are_removed(text, shorter):
    assert any(shorter in made for made in outputs(Shortening(), text))


@pytest.mark.parametrize(
    ("text", "longer"),
    [
        ("Ana bakes 3 cakes a day for 4 days. How many cakes does she bake?", {"bake in all?", "bake altogether?"}),
        ("A car goes at 50 km/h. How far is it after 2 hours?", {"at a speed of 50 km/h", "at the speed of 50 km/h"}),
        ("If a pen costs $2, what do 5 pens cost?", {"If a pen costs $2, then what do"}),
        ("All the 30 children sing.", None),
        ("She spent half the money on 3 hats.", {"half of the money"}),
    ],
)
def test_words_that_do_not_matter_are_added(text, longer):
    made = outputs(Shortening(), text)
    assert made == set() if longer is None else all(any(part in each for each in made) for part in longer)


@pytest.mark.parametrize(
    "text",
    [
        "Ana has 9 pens and gives away 4. 2 more are left to give. How many does she give away in all?",
        "Ana buys a new bike for $90 and sells the old bike for $30. What did she pay?",
        "Ana and Ben weigh 50 kg and 60 kg respectively. What is the sum of both?",
        "How many pens did each child buy?",
        "A car travels 50 km more than a bus.",
    ],
)
def test_words_that_matter_stay(text):
    assert not outputs(Shortening(), text)
