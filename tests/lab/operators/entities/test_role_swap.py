"""Swap two people."""

from __future__ import annotations

from paraqd.lab.operators import Resources, derive_rng
from paraqd.lab.operators import get as get_operator
from paraqd.reading import read


def outputs(name, text, times=20):
    operator = get_operator(name)
    made = [operator.apply(read(text), derive_rng(n, "a", name), Resources()) for n in range(times)]
    return {text for text in made if text is not None}


def test_two_people_are_swapped_in_one_sentence():
    twice = "Rosa is twice as old as Miguel. Together Rosa and Miguel are 36. How old is Rosa?"
    assert outputs("RoleSwap", twice) == {
        twice.replace("Rosa is twice as old as Miguel", "Miguel is twice as old as Rosa")
    }


def test_people_who_are_treated_alike_are_not_swapped():
    assert not outputs("RoleSwap", "Tom and Ann have 12 pens together. Tom has 5. How many has Ann?")
