"""Ask the same question in a different form."""

from __future__ import annotations

import pytest

from paraqd.lab.operators import Resources, derive_rng
from paraqd.reading import read, same_quantities
from paraqd.rewriting.question_form import QuestionForm


def outputs(operator, text, times=60):
    made = [operator().apply(read(text), derive_rng(n, "a", operator.name), Resources()) for n in range(times)]
    return {text for text in made if text is not None}


def asked(text, times=60):
    """Return the forms of a question after one sentence, without the final mark."""
    first = "Here are 7 numbers, no more. "
    made = outputs(QuestionForm, first + text, times)
    assert all(each.startswith(first) for each in made)
    return {each.removeprefix(first).rstrip("?.") for each in made}


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("What is the speed of the boat?", "Find the speed of the boat"),
        ("What will be his share?", "Calculate his share"),
        ("Find the speed of the boat.", "What is the speed of the boat"),
        ("Find the ages of the two girls.", "What are the ages of the two girls"),
        ("How many pens does Rita have left?", "Find the number of pens Rita has left"),
        ("How many pens did she buy?", "What is the number of pens that she bought"),
        ("How many pens can the boy buy for $9?", "Determine how many pens the boy can buy for $9"),
        ("How many birds are there in the park?", "Find how many birds there are in the park"),
        ("How many birds are in the park?", "Work out how many birds are in the park"),
        ("In how many days can 9 men finish the wall?", "Find in how many days 9 men can finish the wall"),
        ("How much does the lamp cost?", "What is the price of the lamp"),
        ("How old is Rita?", "What is Rita's age"),
        ("How long is the rope?", "What is the length of the rope"),
        ("How far does the bus travel in 3 hours?", "What distance does the bus travel in 3 hours"),
        ("How much money does Rita need?", "What sum of money does Rita need"),
    ],
)
def test_a_question_gets_another_form(question, form):
    assert form in asked(question, times=500)


def test_instructions_vary_and_keep_the_question():
    found = asked("What is the speed of the boat?", times=200)
    assert len(found) >= 12
    assert all(each.endswith(" the speed of the boat") for each in found)


def test_a_condition_before_the_question_stays():
    found = outputs(QuestionForm, "If a pen costs $2, how many pens can Rita buy for $10?")
    assert any(each.startswith("If a pen costs $2, find ") for each in found)
    assert all(each.startswith("If a pen costs $2, ") for each in found)


@pytest.mark.parametrize(
    "question",
    [
        "How many pens does Rita have and what is the price of each?",  # two questions
        "How many tasks can be done in 5 hours?",  # the word order of a passive is not changed
        "How many hours did Rita play?",  # a verb that is not in the list
        "How long is it until noon?",
        "Is 91 a prime number?",
        "The average of the 7 numbers is",
    ],
)
def test_a_question_that_cannot_be_reworded_safely_stays(question):
    assert not asked(question)


def test_more_than_is_not_a_number():
    found = asked("How many more pens than books does Rita have?")
    assert found
    assert all(each.endswith("how many more pens than books Rita has") for each in found)


def test_numbers_stay_and_empty_text_is_not_an_error():
    text = "Oscar has 9 shells. Nina has 4 more than Oscar. If Oscar sells 2 for $3, how many shells does Nina have?"
    found = outputs(QuestionForm, text)
    assert found
    assert all(same_quantities(read(text).quantities, read(made).quantities) and made != text for made in found)
    assert not outputs(QuestionForm, "", times=1)
