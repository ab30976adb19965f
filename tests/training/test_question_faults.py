"""Outputs of operators and written paraphrases get the label of a single question."""

from __future__ import annotations

import random

import pytest

from paraqd.data.question_texts import QuestionText
from paraqd.data.synthetic import InvalidParaphrase
from paraqd.training.question_faults import operator_texts, vary_form, written_text

START = "Tom has 5 red pens. He buys 3 blue pens. How many pens has he?"
FAMILIES = {
    "LastSentenceDeletion": "lost_questions",
    "NumberRemoval": "lost_numbers",
    "MidWordTruncation": "cuts_in_words",
}


def labelled(text, operator, label=0, solvable=frozenset()):
    rows = [{"id": "a", "question": START, "paraphrase": text, "operator": operator, "label": label}]
    return list(operator_texts(rows, FAMILIES, set(solvable)))


def test_an_output_without_a_question_is_broken():
    [found] = labelled("Tom has 5 red pens. He buys 3 blue pens.", "LastSentenceDeletion")
    assert (found.label, found.kind, found.family) == (0, "question_missing", "lost_questions")


def test_a_cut_marks_the_last_sentence():
    text = START[:-8]
    [found] = labelled(text, "MidWordTruncation")
    assert (found.kind, [text[a:b] for a, b in found.spans]) == ("cut_off", ["How many pens"])


def test_outputs_that_may_be_solvable_are_left_out():
    assert labelled(START, "LastSentenceDeletion") == []  # the question is still there
    assert labelled(START.replace("red ", ""), "NumberRemoval") == []  # no number was lost
    other = "Tom has red pens. He buys 3 blue pens. How many pens has he?"
    assert labelled(other, "NumberRemoval", solvable={other.lower()}) == []
    assert len(labelled(other, "NumberRemoval")) == 1


def test_outputs_of_other_operators_are_solvable():
    [found] = labelled(START.replace("5", "6"), "NumberChange")
    assert (found.label, found.kind, found.family) == (1, "", "")


@pytest.mark.parametrize(
    ("text", "kind", "spans", "family"),
    [
        ("Tom has some pens. How many?", "number_lost", ((8, 12),), "vague_numbers"),
        ("Tom has pens. How many?", "number_lost", (), "lost_numbers"),
        ("Tom has 5 pens and buys 3.", "question_lost", (), "lost_questions"),
        ("Tom has 5 pens and buys 3. How many", "question_lost", (), "cuts"),
        ("Tom has 5 pens and buys 3. How man", "question_lost", (), "cuts_in_words"),
        ("Tom has 5 pens and purple 3. How many?", "incoherent", ((19, 25),), "misplaced_words"),
    ],
)
def test_the_family_of_a_written_fault(text, kind, spans, family):
    assert written_text("a", InvalidParaphrase(text, kind, (), spans), [START]).family == family


def test_a_fault_of_a_paraphrase_that_leaves_a_complete_question_gives_nothing():
    assert written_text("a", InvalidParaphrase(START, "content_lost", (), ()), [START]) is None


def test_the_form_varies_but_the_spans_still_mark_the_same_words():
    text = "Tom has some pens. How many?"
    start = QuestionText("a", text, 0, "number_missing", "vague_numbers", "own", ((8, 12),))
    made = {vary_form(start, random.Random(seed), 1.0) for seed in range(60)}
    assert {each.text[slice(*each.spans[0])] for each in made} == {"some"}
    assert {"Tom has some pens. How many", "Tom has some pens. How many."} <= {each.text for each in made}
    assert any(each.text.endswith(f" {text}") for each in made)
    assert vary_form(start, random.Random(0), 0.0) is start
