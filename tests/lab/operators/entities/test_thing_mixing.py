"""Rename a thing in some places only."""

from __future__ import annotations

from paraqd.lab.operators import Resources, derive_rng
from paraqd.lab.operators import get as get_operator
from paraqd.reading import read

MARBLES = "Tom has 12 marbles. Ann gives Tom 5 marbles, and then Ann has 3 marbles left. How many marbles has Tom now?"


def outputs(name, text, times=20):
    operator = get_operator(name)
    made = [operator.apply(read(text), derive_rng(n, "a", name), Resources()) for n in range(times)]
    return {text for text in made if text is not None}


def test_a_mixed_thing_keeps_its_name_somewhere():
    found = outputs("ThingMixing", MARBLES)
    assert len(found) > 3
    for made in found:
        assert "marbles" in made
        assert made.count("marbles") < MARBLES.count("marbles")


def test_things_with_further_details_stay():
    assert not outputs("ThingMixing", "Tom eats 3 apples of his 5 apples. How many apples are left?")
