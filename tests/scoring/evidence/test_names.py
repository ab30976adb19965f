"""New names, and pronouns that do not fit."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from paraqd.reading import read
from paraqd.scoring.evidence.names import misplaced_names, name_findings, pronoun_findings

QUESTION = "Alex drove 90 km in 2 hours. How fast did he drive?"


def test_a_pronoun_that_does_not_go_with_the_new_name():
    text = "Sarah drove 90 km in 2 hours. How fast did he drive?"
    (found,) = pronoun_findings(read(QUESTION), read(text))
    assert [text[a:b] for a, b in found.paraphrase_spans] == ["he"]


@pytest.mark.parametrize(
    "text",
    [
        "Sarah drove 90 km in 2 hours. How fast did she drive?",
        "Alex drove 90 km in two hours. How fast did he drive?",
        "Sarah asks her son: I drove 90 km in 2 hours, how fast did he think I was?",
        "Sarah and Tom drove 90 km in 2 hours. How fast did he drive?",
    ],
)
def test_where_the_pronoun_may_mean_somebody(text):
    assert not list(pronoun_findings(read(QUESTION), read(text)))


def test_a_name_for_which_none_made_way():
    found = list(name_findings(read("Alex has 5 pens. How many has Alex?"), read("Alex has 5 pens. How many has Bob?")))
    assert [finding.message for finding in found] == ['The name "Bob" is not in the original.']


def test_the_question_may_speak_of_another_without_a_name():
    question, text = "Tina paid the plumber $50 for his work.", "Sarah paid the plumber $50 for his work."
    assert not list(pronoun_findings(read(question), read(text)))


@pytest.mark.parametrize(
    ("asked", "feature"),
    [
        ("How long does it take to reach Jaipur?", "asked_other"),
        ("How long does Dr Kowalski sit in it?", "asked_other"),
        ("Help Maria find how long it takes to reach Agra.", "name_mixed"),
    ],
)
def test_a_name_that_nobody_introduced_is_asked_about(asked, feature):
    question = read("A train leaves Delhi for Agra, 210 km away, at 70 km/h. How long does it take to reach Agra?")
    paraphrase = read(f"A train leaves Delhi for Agra, 210 km away, at 70 km/h. {asked}")
    assert [found.feature for found in name_findings(question, paraphrase)] == [feature]


SHARING = "Nina has 12 stamps and Omar has 30 stamps. Omar gives Nina 4 stamps. How many stamps does Nina have now?"


@pytest.mark.parametrize(
    ("paraphrase", "words"),
    [
        (SHARING.replace("does Nina", "does Omar"), ("Nina", "Omar")),
        (SHARING.replace("Omar gives Nina", "Nina gives Omar"), ("Omar", "Nina")),
        (SHARING.replace("and Omar has", "and Nina has"), ("Omar", "Nina")),
    ],
)
def test_a_name_in_the_place_of_another_is_found(paraphrase, words):
    (found,) = misplaced_names(read(SHARING), read(paraphrase))
    spans = found.question_spans[0], found.paraphrase_spans[0]
    assert tuple(text[slice(*span)] for text, span in zip((SHARING, paraphrase), spans, strict=True)) == words
    assert found.feature == "name_misplaced"
    assert list(misplaced_names(read(SHARING.lower()), read(paraphrase.lower())))


@pytest.mark.parametrize(
    "paraphrase",
    [
        SHARING,
        SHARING.replace("Nina", "Eva"),  # renamed everywhere
        "Omar has 30 stamps, Nina 12. After Nina gets 4 stamps from Omar, how many stamps does she have?",
        SHARING.replace("Omar gives Nina", "Nina is given by Omar"),
    ],
)
def test_names_in_their_places_are_no_fault(paraphrase):
    assert not list(misplaced_names(read(SHARING), read(paraphrase)))


@pytest.mark.parametrize(
    ("question", "paraphrase"),
    [
        ("Nina and Omar have 50 pens. Nina has 20.", "Omar and Nina have 50 pens. Nina has 20."),
        ("Nina, Omar and Eva share 30 pens. Nina takes 5.", "Omar, Eva and Nina share 30 pens. Nina takes 5."),
        ("Nina has 5 pens. Omar has 5 pens. Nina goes.", "Omar has 5 pens. Nina has 5 pens. Nina goes."),
    ],
)
def test_the_order_of_a_list_or_of_equal_sentences_is_no_fault(question, paraphrase):
    assert not list(misplaced_names(read(question), read(paraphrase)))


def test_the_order_of_a_list_matters_with_respectively():
    question = "Nina and Omar have 20 and 30 pens respectively. How many has Nina?"
    assert list(misplaced_names(read(question), read(question.replace("Nina and Omar", "Omar and Nina"))))


def test_a_misplaced_name_does_not_depend_on_the_order_of_a_set():
    """If a name was exchanged in several sentences, another sentence was reported in another process."""
    code = (
        "from paraqd import Scorer; print(Scorer.load('reading').score("
        "'Mia has 9 stickers fewer than Leo. Leo has 31 stickers. How many stickers does Mia have?',"
        "'Leo has 9 stickers fewer than Mia. Leo has 31 stickers. How many stickers does Leo have?'))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "134"
    }
    assert len(found) == 1 and "name" in found.pop()
