"""The question's form, pronouns for names, and the wrong one named."""

from __future__ import annotations

import pytest

from paraqd.operators import Resources, derive_rng
from paraqd.operators.entities.pronoun_use import PronounUse
from paraqd.operators.entities.wrong_reference import WrongReference
from paraqd.operators.questions.question_form import QuestionForm
from paraqd.reading import read, same_quantities


def outputs(operator, text, times=60):
    made = [operator().apply(read(text), derive_rng(n, "a", operator.name), Resources()) for n in range(times)]
    return {text for text in made if text is not None}


def asked(text, times=60):
    """The forms of a question that stands behind one sentence, without the mark at the end."""
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
def test_the_same_is_asked_in_another_form(question, form):
    assert form in asked(question, times=500)


def test_orders_are_of_many_kinds_and_keep_what_is_asked():
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
        "How many tasks can be done in 5 hours?",  # a passive is not turned round
        "How many hours did Rita play?",  # a verb that the list lacks
        "How long is it until noon?",
        "Is 91 a prime number?",
        "The average of the 7 numbers is",
    ],
)
def test_a_question_that_cannot_be_turned_for_sure_stays(question):
    assert not asked(question)


def test_more_than_is_not_a_number():
    found = asked("How many more pens than books does Rita have?")
    assert found
    assert all(each.endswith("how many more pens than books Rita has") for each in found)


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
        "Xalvo has 3 shells. Oscar has 5 shells. Oscar sells 2. How many are left?",  # a name of no list
        "Oscar and Nina have 9 shells. How many shells do Oscar and Nina need to have 20?",
        "There are 9 shells in a box. How many are left if he takes 4?",
        "Oscar has 9 shells. She takes 4. How many does Oscar have?",  # somebody is not seen
    ],
)
def test_where_it_is_not_sure_who_is_meant_nothing_is_changed(text):
    assert not outputs(PronounUse, text)


def test_another_gender_is_no_rival():
    text = "Oscar has 9 shells and Nina has 4. If Oscar sells 2, how many shells do the two have?"
    assert outputs(PronounUse, text) == {text.replace("If Oscar", "If he")}


def test_the_wrong_person_is_asked_for_or_spoken_of():
    text = "Oscar has 9 shells. Nina has 4 more shells than Oscar. How many shells does Nina have?"
    assert outputs(WrongReference, text) == {text.replace("does Nina", "does Oscar")}
    text = "Oscar has 9 shells. Nina finds 4 shells. Then 2 of the shells of Nina break. How many shells has Nina?"
    found = outputs(WrongReference, text)
    assert text.replace("has Nina", "has Oscar") in found
    assert text.replace("Nina finds", "Oscar finds") in found


def test_the_wrong_one_is_named_for_a_pronoun():
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
def test_other_parties_are_mixed_up(text, one, other):
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
def test_who_is_treated_alike_or_alone_is_not_mixed_up(text):
    assert not outputs(WrongReference, text)


@pytest.mark.parametrize("operator", [PronounUse, QuestionForm, WrongReference])
def test_numbers_stay_and_empty_text_is_no_error(operator):
    text = "Oscar has 9 shells. Nina has 4 more than Oscar. If Oscar sells 2 for $3, how many shells does Nina have?"
    found = outputs(operator, text)
    assert found
    assert all(same_quantities(read(text).quantities, read(made).quantities) and made != text for made in found)
    assert not outputs(operator, "", times=1)
