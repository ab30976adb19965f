"""Tests for names that were exchanged everywhere."""

from __future__ import annotations

import pytest

from paraqd.scoring.exchanged_names import name_mentions, undo_name_exchange
from paraqd.scoring.markup import PlainText
from paraqd.scoring.pair_preparation import prepare_pair

QUESTION = "Nina is 4 years older than Paula. If Paula is 9, how old is Nina?"
SWAPPED = "Paula is 4 years older than Nina. If Nina is 9, how old is Paula?"


def undone(question, paraphrase):
    return undo_name_exchange(question, PlainText(paraphrase)).text


def test_names_that_were_exchanged_everywhere_are_put_back():
    assert undone(QUESTION, SWAPPED) == QUESTION
    assert undone(QUESTION.lower(), SWAPPED.lower()) == QUESTION.lower()


def test_three_names_can_change_places():
    one, other = "Ann has 1, Ben 2 and Carl 3.", "Ben has 1, Carl 2 and Ann 3."
    assert undone(one, other) == one


@pytest.mark.parametrize(
    "paraphrase",
    [
        QUESTION,  # no exchange
        "Paula is 4 years older than Nina. If Paula is 9, how old is Nina?",  # in one sentence only
        "Paula is 4 years older than Nina. If Nina is 9, how old is Vera?",  # another name
        "If Nina is 9 and she is 4 years younger than her friend Paula, tell me how old Paula must be.",  # no copy
    ],
)
def test_everything_else_stays_as_it_is(paraphrase):
    assert undone(QUESTION, paraphrase) == paraphrase


def test_a_pronoun_must_fit_both_names():
    one, other = "Tom gave Ann 5 pens. How many has she?", "Ann gave Tom 5 pens. How many has she?"
    assert undone(one, other) == other
    one, other = "Eva gave Ann 5 pens. How many has she?", "Ann gave Eva 5 pens. How many has she?"
    assert undone(one, other) == one


def test_spans_refer_to_the_original_names():
    question = "Jo is 4 years older than Paula. If Paula is 9, how old is Jo?"
    paraphrase = "Paula is 4 years older than Jo. If Jo is 9, how old is Paula?"
    pair = prepare_pair(question, paraphrase)
    assert pair.texts[1] == question
    place = question.index("older")
    start, end = pair.original_span(1, place, place + 5)
    assert paraphrase[start:end] == "older"
    start, end = pair.original_span(1, 0, 2)
    assert paraphrase[start:end] == "Paula"


def test_ordinary_words_are_names_only_with_a_capital_inside_a_sentence():
    assert name_mentions("will it mark the penny") == []
    assert [name for *_, name in name_mentions("bob has 5 pens")] == ["bob"]
    assert [name for *_, name in name_mentions("Will Tom pay the bill? Mark it.")] == ["tom"]
    assert [name for *_, name in name_mentions("Mark pays. Will Tom help Mark?")] == ["mark", "tom", "mark"]


@pytest.mark.parametrize(
    ("question", "paraphrase"),
    [
        ("Ann is 5 years older than Eva. How old is Eva?", "Eva is 5 years younger than Ann. How old is Eva?"),
        ("Ann has 5 more pens than Eva, 45 in all.", "Eva has 5 fewer pens than Ann, 45 in all."),
        ("A shop sold 40 bikes from April until June.", "A shop sold 40 bikes from June until April."),  # no people
    ],
)
def test_a_relation_or_a_month_that_was_turned_is_no_exchange_of_names(question, paraphrase):
    assert undone(question, paraphrase) == paraphrase


def test_names_are_written_as_in_the_question():
    assert undone("ANN HAS 3, BEN 5.", "BEN HAS 3, ANN 5.") == "ANN HAS 3, BEN 5."
