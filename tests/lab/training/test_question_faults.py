"""Outputs of operators and written paraphrases get the label of a single question."""

from __future__ import annotations

import random

import pytest

from paraqd.lab.corpora.question_texts import FAMILIES as FAULT_KINDS
from paraqd.lab.corpora.question_texts import QuestionText
from paraqd.lab.corpora.synthetic import InvalidParaphrase
from paraqd.lab.training.question_faults import (
    changed_broken_texts,
    moved_spans,
    operator_texts,
    vary_form,
    written_text,
)

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


def test_the_output_of_a_counterpart_is_solvable_and_held_out_with_its_family():
    rows = [{"id": "a", "question": START, "paraphrase": "Hi. " + START, "operator": "VagueDetail", "label": 1}]
    [found] = operator_texts(rows, {"VagueDetail": "vague_numbers"}, set())
    assert (found.label, found.family, found.counterpart) == (1, "", "vague_numbers")


VAGUE = "Tom has some red pens. He buys 3 blue pens. How many pens has he?"


def changed(text, operator, start=VAGUE, family="vague_numbers", spans=((8, 12),)):
    broken = {"a|x": QuestionText("a", start, 0, FAULT_KINDS[family], family, "VagueNumber", spans, bool(spans))}
    rows = [{"id": "a|x", "question": start, "paraphrase": text, "operator": operator, "label": 1}]
    return list(changed_broken_texts(rows, broken, {"VagueDetail": "vague_numbers"}))


def test_a_harmless_change_keeps_a_text_broken():
    [found] = changed(f"Some people were watching. {VAGUE}", "VagueDetail")
    assert (found.label, found.kind, found.family) == (0, "number_missing", "vague_numbers")
    assert (found.source, found.counterpart) == ("VagueDetail", "vague_numbers")
    assert [found.text[a:b] for a, b in found.spans] == ["some"] and found.placed
    [found] = changed(VAGUE.replace("3", "three"), "NumToWords")
    assert (found.counterpart, found.spans) == ("", ((8, 12),))


def test_words_at_fault_that_cannot_be_found_again_have_no_place():
    [found] = changed(VAGUE.replace("some", "smoe"), "Typos")
    assert (found.label, found.family, found.spans, found.placed) == (0, "vague_numbers", (), False)


def test_the_place_of_a_cut_is_the_last_sentence_whatever_changed():
    start = "Tom has 5 red pens. He buys 3. How many pe"
    [found] = changed("Tom has 5 red pens . He buys 3 . How many pe", "Typography", start, "cuts_in_words", ((31, 42),))
    assert [found.text[a:b] for a, b in found.spans] == ["How many pe"]
    assert changed("Tom has 5 red pens. He buys 3. How many", "ClumsyGrammar", start, "cuts_in_words", ()) == []


def test_a_change_that_may_mend_the_fault_is_left_out():
    start = "She has 5 red pens. Ann buys 3. How many pens has she?"
    assert changed(start.replace("She", "Ann"), "PronounUse", start, "lost_references", ((0, 3),)) == []
    assert len(changed(start.replace("red", "rde"), "Typos", start, "lost_references", ((0, 3),))) == 1


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (f"Some say hello. {VAGUE}", ["some", "blue"]),
        (f"Read on. {VAGUE.replace('He buys', 'He byus')}", ["some", "blue"]),
        ("He buys 3 blue pens. Tom has some red pens. How many pens has he?", ["blue", "some"]),  # another order
        (VAGUE.replace("blue", "bleu"), []),
    ],
)
def test_the_words_at_fault_are_found_again(after, words):
    found = moved_spans(VAGUE, after, [(8, 12), (33, 37)])
    assert [after[a:b] for a, b in found] == words


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
