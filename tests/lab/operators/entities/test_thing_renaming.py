"""Rename a thing everywhere."""

from __future__ import annotations

from paraqd.lab.operators import Resources, derive_rng
from paraqd.lab.operators import get as get_operator
from paraqd.reading import read

MARBLES = "Tom has 12 marbles. Ann gives Tom 5 marbles, and then Ann has 3 marbles left. How many marbles has Tom now?"


def outputs(name, text, times=20):
    operator = get_operator(name)
    made = [operator.apply(read(text), derive_rng(n, "a", name), Resources()) for n in range(times)]
    return {text for text in made if text is not None}


def test_a_thing_is_renamed_everywhere_and_nothing_else_changes():
    found = outputs("ThingRenaming", MARBLES)
    assert len(found) > 3
    for made in found:
        assert "marble" not in made
        new = made.split()[3].rstrip(".")
        assert made == MARBLES.replace("marbles", new)


def test_an_article_fits_the_new_name():
    found = outputs("ThingRenaming", "A pen costs $2. What do 3 pens cost?", times=60)
    assert any(made.startswith("An ") for made in found)
    for made in found:
        article, thing, *_ = made.split()
        assert article == ("An" if thing[0] in "aeiou" else "A")


def test_things_with_further_details_stay():
    assert not outputs("ThingRenaming", "Tom eats 3 apples of his 5 apples. How many apples are left?")
