"""Our own operators on things, roles and grammar."""

from __future__ import annotations

import pytest

from paraqd.operators import Resources, derive_rng
from paraqd.operators import get as get_operator
from paraqd.reading import read, same_quantities

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


def test_a_mixed_thing_keeps_its_name_somewhere():
    found = outputs("ThingMixing", MARBLES)
    assert len(found) > 3
    for made in found:
        assert "marbles" in made
        assert made.count("marbles") < MARBLES.count("marbles")


@pytest.mark.parametrize("name", ["ThingRenaming", "ThingMixing"])
def test_things_that_the_text_says_more_of_are_left_alone(name):
    assert not outputs(name, "Tom eats 3 apples of his 5 apples. How many apples are left?")


def test_two_people_are_exchanged_in_one_sentence():
    twice = "Rosa is twice as old as Miguel. Together Rosa and Miguel are 36. How old is Rosa?"
    assert outputs("RoleSwap", twice) == {
        twice.replace("Rosa is twice as old as Miguel", "Miguel is twice as old as Rosa")
    }


def test_people_who_are_treated_alike_are_not_exchanged():
    assert not outputs("RoleSwap", "Tom and Ann have 12 pens together. Tom has 5. How many has Ann?")


def test_clumsy_grammar_keeps_the_numbers_and_the_question():
    text = "A train travels 120 km in the first 2 hours, and then it stops. How many kilometres does it travel an hour?"
    made = outputs("ClumsyGrammar", text, times=40)
    assert len(made) > 10
    for each in made:
        assert each != text
        assert same_quantities(read(text).quantities, read(each).quantities)
        assert read(each).question is not None
