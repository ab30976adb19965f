"""Replace names with pronouns, and pronouns with names."""

from __future__ import annotations

import pytest

from paraqd.lab.operators import Resources, derive_rng
from paraqd.reading import read, same_quantities
from paraqd.rewriting.pronoun_use import PronounUse


def outputs(operator, text, times=60):
    made = [operator().apply(read(text), derive_rng(n, "a", operator.name), Resources()) for n in range(times)]
    return {text for text in made if text is not None}


def test_a_name_becomes_a_pronoun():
    text = "Oscar has 15 shells. Oscar sells 6 shells. How many of Oscar's shells are left?"
    found = outputs(PronounUse, text)
    assert "Oscar has 15 shells. He sells 6 shells. How many of his shells are left?" in found
    assert all(made.startswith("Oscar has") and "Her " not in made and " she " not in made for made in found)


def test_an_object_becomes_a_pronoun_too():
    text = "Nina has 8 cards. A neighbour's shop is near. The shop sells 5 cards to Nina. How many cards are there now?"
    assert not outputs(PronounUse, text)  # the neighbour may be a woman
    text = text.replace("A neighbour's shop is near. ", "")
    assert outputs(PronounUse, text) == {text.replace("to Nina", "to her")}


def test_a_pronoun_becomes_the_name():
    text = "Nina has 8 cards. She buys 5 more. How many cards does she have now?"
    assert outputs(PronounUse, text) == {
        text.replace("She", "Nina"),
        text.replace("she", "Nina"),
        text.replace("She", "Nina").replace("she", "Nina"),
    }


@pytest.mark.parametrize(
    "text",
    [
        "Oscar met Leo. Oscar has 15 shells. He sells 6. How many has he left?",
        "Oscar's brother has 9 shells. He sells 6. How many has he left?",
        "Xalvo has 3 shells. Oscar has 5 shells. Oscar sells 2. How many are left?",  # a name that is not in any list
        "Oscar and Nina have 9 shells. How many shells do Oscar and Nina need to have 20?",
        "There are 9 shells in a box. How many are left if he takes 4?",
        "Oscar has 9 shells. She takes 4. How many does Oscar have?",  # another person was not recognised
    ],
)
def test_nothing_changes_if_the_person_is_uncertain(text):
    assert not outputs(PronounUse, text)


def test_a_person_of_another_gender_does_not_matter():
    text = "Oscar has 9 shells and Nina has 4. If Oscar sells 2, how many shells do the two have?"
    assert outputs(PronounUse, text) == {text.replace("If Oscar", "If he")}


def test_numbers_stay_and_empty_text_is_not_an_error():
    text = "Oscar has 9 shells. Nina has 4 more than Oscar. If Oscar sells 2 for $3, how many shells does Nina have?"
    found = outputs(PronounUse, text)
    assert found
    assert all(same_quantities(read(text).quantities, read(made).quantities) and made != text for made in found)
    assert not outputs(PronounUse, "", times=1)
