"""Refer to another person or thing."""

from __future__ import annotations

import pytest

from paraqd.lab.operators import Resources, derive_rng
from paraqd.lab.operators.entities.wrong_reference import WrongReference
from paraqd.reading import read, same_quantities


def outputs(operator, text, times=60):
    made = [operator().apply(read(text), derive_rng(n, "a", operator.name), Resources()) for n in range(times)]
    return {text for text in made if text is not None}


def test_the_question_or_a_statement_names_the_wrong_person():
    text = "Oscar has 9 shells. Nina has 4 more shells than Oscar. How many shells does Nina have?"
    assert outputs(WrongReference, text) == {text.replace("does Nina", "does Oscar")}
    text = "Oscar has 9 shells. Nina finds 4 shells. Then 2 of the shells of Nina break. How many shells has Nina?"
    found = outputs(WrongReference, text)
    assert text.replace("has Nina", "has Oscar") in found
    assert text.replace("Nina finds", "Oscar finds") in found


def test_a_pronoun_is_replaced_by_the_wrong_name():
    text = "Oscar has 9 shells. He gives Nina 4. How many shells does he keep?"
    assert outputs(WrongReference, text) == {text.replace("he keep", "Nina keep")}


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        ("A can do a work in 9 days and B can do it in 18 days. How long will B take for half?", "will B", "will A"),
        (
            "The ratio of boys to girls is 2 : 5. There are 35 pupils. How many girls are there?",
            "many girls",
            "many boys",
        ),
        (
            "Oscar is 6 years older than his sister. In 2 years she is 9. How old is Oscar?",
            "is Oscar?",
            "is his sister?",
        ),
    ],
)
def test_other_parties_are_confused(text, one, other):
    assert outputs(WrongReference, text) == {text.replace(one, other)}


@pytest.mark.parametrize(
    "text",
    [
        "Oscar and Nina share 18 shells equally. How many shells does Nina get?",
        "Oscar has 9 shells. Nina has 4 shells. How many shells do they have together?",
        "Oscar and Nina have 18 shells. How many more does Nina need to buy a toy?",  # nothing of one alone
        "Oscar has 9 shells. He sells 4. How many shells does Oscar have?",
        "Half of the 30 pupils are girls. How many boys are there?",
        "Her son Oscar is 6. In how many years will Oscar be 9?",  # the son is Oscar
        "If x + y = 7 and x - y = 1, what is the value of x?",
    ],
)
def test_people_who_are_treated_alike_or_alone_are_not_confused(text):
    assert not outputs(WrongReference, text)


def test_numbers_stay_and_empty_text_is_not_an_error():
    text = "Oscar has 9 shells. Nina has 4 more than Oscar. If Oscar sells 2 for $3, how many shells does Nina have?"
    found = outputs(WrongReference, text)
    assert found
    assert all(same_quantities(read(text).quantities, read(made).quantities) and made != text for made in found)
    assert not outputs(WrongReference, "", times=1)
