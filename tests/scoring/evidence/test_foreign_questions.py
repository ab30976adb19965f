"""Tests for a question that belongs to another problem."""

from __future__ import annotations

import pytest

from paraqd.reading import read
from paraqd.scoring.evidence.question import question_findings

QUESTION = "A baker sold 40 rolls and 25 loaves. How many items did the baker sell?"


def added(paraphrase, question=QUESTION):
    found = question_findings(read(question), read(paraphrase))
    return [paraphrase[slice(*finding.paraphrase_spans[0])] for finding in found if finding.feature == "question_added"]


@pytest.mark.parametrize(
    "foreign",
    ["How long does the train take?", "In how many weeks is the bridge painted?", "What is Omar's age in years?"],
)
def test_a_question_about_other_things_is_found(foreign):
    assert added(f"{QUESTION} {foreign}") == [foreign]


@pytest.mark.parametrize(
    "paraphrase",
    [
        "Ready for a challenge? A baker sold 40 rolls and 25 loaves. How many items did the baker sell?",
        "A baker sold 40 rolls and 25 loaves. How many items did the baker sell? Show your steps.",
        "A baker sold 40 rolls and 25 loaves. How many items is that? How many items did the baker sell?",
        "Forty rolls and 25 loaves left the bakery. What was the tally?",
        f"{QUESTION} Can you work it out?",
        f"{QUESTION} What is the final tally?",
        f"{QUESTION} So, what is the final figure?",
        f"{QUESTION} Which answer is right?",
    ],
)
def test_other_questions_are_no_fault(paraphrase):
    assert added(paraphrase) == []


def test_two_questions_may_be_asked_in_other_words():
    question = "Eva runs 3 km. Tom runs 5 km. Who runs farther? By how much?"
    assert added("Tom runs 5 km and Eva 3 km. Which of them covers more ground? What is the gap?", question) == []
