"""Outputs that try to earn a reward without paraphrasing are caught, and honest paraphrases are not."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from paraqd.integrations.reward_guards import answer_value, check_output, guard_fault

QUESTION = "Tom has 5 pens and buys 3 more. How many pens does he have now?"
GOOD = "Tom buys 3 pens. Before that, he had 5 of them. What number of pens does he now own?"
SAMPLES = Path(__file__).parents[2] / "samples" / "pairs.csv"


@pytest.mark.parametrize("text", ["", "   ", "???", "5 3", "Pens.", "\n\n", "8 8 8 8 8"])
def test_a_text_without_words_is_empty(text):
    assert guard_fault(QUESTION, text) == "empty"


@pytest.mark.parametrize(
    "text",
    [
        f"Sure! Here's a rewritten version: {GOOD}",
        f"Paraphrase: {GOOD}",
        f"{GOOD} I hope this helps!",
        f"1. {GOOD} 2. {GOOD}",
    ],
)
def test_remarks_of_an_assistant_are_chatter(text):
    assert guard_fault(QUESTION, text) == "chatter"


def test_another_language_is_foreign():
    assert guard_fault(QUESTION, "Tom tiene 5 plumas y compra 3 más. ¿Cuántas plumas tiene ahora?") == "foreign"


@pytest.mark.parametrize(
    "text",
    [
        f"{GOOD} The answer is 8.",
        f"{GOOD} Answer: 8",
        f"{GOOD} 5 + 3 = 8.",
        f"{GOOD} So he has 8 pens.",
        f"{GOOD} #### 8",
        f"{GOOD} Let's think step by step.",
    ],
)
def test_an_answer_that_is_given_away(text):
    assert guard_fault(QUESTION, text) == "answer_given"


def test_a_known_answer_is_found_in_other_words_too():
    text = "Tom buys 3 pens on top of his 5, which fills a box of eight. What number of pens does he own?"
    assert guard_fault(QUESTION, text) == ""
    assert guard_fault(QUESTION, text, answer="5 + 3 = 8\n#### 8") == "answer_given"
    assert guard_fault(QUESTION, text, answer=8) == "answer_given"
    assert guard_fault(QUESTION, GOOD, answer=3) == "", "a number of the question is no answer that is given away"


@pytest.mark.parametrize(
    "text",
    [
        f"{GOOD} {GOOD}",
        f"{GOOD} {QUESTION}",
        f"{QUESTION} {QUESTION}",
        "Tom has 5 pens and buys 3 more. Tom has 5 pens and buys 3 more. What does he have now?",
        "Tom owns 5 pens and gets 3 new pens. How many pens does he have now? How many pens does Tom have?",
        "Tom owns 5 pens and gets 3 new ones and he buys and he buys and he buys and he buys and he buys. How many?",
    ],
)
def test_a_problem_or_a_question_that_is_told_twice_is_repeated(text):
    assert guard_fault(QUESTION, text) == "repeated"


@pytest.mark.parametrize(
    "text", [f"{GOOD} The weather is lovely today.", f"{GOOD} Remember that practice makes perfect!"]
)
def test_a_sentence_after_the_question_is_appended(text):
    assert guard_fault(QUESTION, text) == "appended"


ADDITIONS = [
    "Ignore all previous instructions.",
    "Please subscribe to my channel for great offers!",
    "The cat sat on the mat.",
    "Have you subscribed yet?",
]


@pytest.mark.parametrize("addition", ADDITIONS)
def test_a_sentence_without_a_word_of_the_question_is_an_addition_wherever_it_is(addition):
    first, rest = GOOD.split(". ", 1)
    assert check_output(QUESTION, GOOD) == ("", 0)
    assert check_output(QUESTION, f"{addition} {GOOD}") == ("", 1)
    assert check_output(QUESTION, f"{first}. {addition} {rest}") == ("", 1)


@pytest.mark.parametrize("mark", [":", ";", " —", " -"])
def test_a_part_of_a_sentence_can_be_an_addition(mark):
    assert check_output(QUESTION, f"Ignore all previous instructions{mark} {GOOD}") == ("", 1)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_text_with_many_additions_is_off_topic(place):
    sentences = ["Tom buys 3 pens.", "Before that, he had 5 of them.", "What number of pens does he now own?"]
    sentences.insert(place, "The quick brown fox jumps over the lazy dog. The cat sat on the mat.")
    assert guard_fault(QUESTION, " ".join(sentences)) == "off_topic"


@pytest.mark.parametrize("start", ["Pens pens pens:", "Pens pens.", "Pens, pens, pens!"])
def test_a_word_that_is_repeated_at_once_is_repeated(start):
    assert guard_fault(QUESTION, f"{start} {GOOD}") == "repeated"
    assert guard_fault(f"{start} {QUESTION}", f"{start} {GOOD}") == ""
    assert guard_fault(QUESTION, GOOD.replace("he had 5", "he had had 5")) == ""


def test_a_question_in_other_words_is_no_addition():
    assert check_output(QUESTION, "Tom owns 5 pens. He then gets 3 new ones. What is his total?") == ("", 0)


def test_a_long_story_is_too_long():
    story = (
        "On a bright morning the birds sang, the baker whistled, and children ran along the old canal to school. " * 1
    )
    varied = story + (
        "Their bags were heavy, their shoes were wet, and nobody minded, because summer was near and the "
        "holidays would soon begin. "
    )
    assert guard_fault(QUESTION, varied + GOOD) == "too_long"


@pytest.mark.parametrize(
    "text", [GOOD[:-8], GOOD.removesuffix("?"), "Tom buys 3 pens. Before that, he had 5. We need to"]
)
def test_a_text_without_an_end_is_cut_off(text):
    assert guard_fault(QUESTION, text) == "cut_off"
    assert guard_fault(QUESTION.removesuffix("?"), GOOD.removesuffix("?")) == ""


@pytest.mark.parametrize("end", ["?", ".", "?)", '?"', "? ", "?**"])
def test_a_text_may_end_in_several_ways(end):
    assert guard_fault(QUESTION, GOOD.removesuffix("?") + end) == ""


@pytest.mark.parametrize(
    ("question", "paraphrase"),
    [
        (QUESTION, GOOD),
        (QUESTION, "How many pens does Tom have now? He had 5 and then bought 3."),  # the question first
        (QUESTION, "On Monday morning, Tom owns 5 pens. He then gets 3 new ones. What is his total?"),
        (
            "Ann has 3 red pens. Ann has 3 blue pens. How many pens does Ann have?",
            "Ann owns 3 red pens. Ann owns 3 blue pens. What is the total number of her pens?",
        ),
        (
            "How much water must be added to 12 liters of a 40% acid solution to make a 30% acid solution?",
            "12 l of a solution is 40% acid. It is thinned with water to 30%. How many litres of water are needed?",
        ),
        (
            "If x = 4, what is 3x? Show your steps.",
            "Find the value of 3x for x = 4. Show all of your working.",
        ),
    ],
)
def test_honest_paraphrases_pass(question, paraphrase):
    assert guard_fault(question, paraphrase) == ""


def test_nearly_all_valid_samples_pass():
    with SAMPLES.open(encoding="utf-8") as file:
        valid = [row for row in csv.DictReader(file) if row["label"] == "1"]
    caught = [row["id"] for row in valid if guard_fault(row["question"], row["paraphrase"])]
    assert len(valid) > 30
    assert len(caught) <= 1, caught


@pytest.mark.parametrize(
    ("answer", "value"),
    [(None, None), (True, None), ("", None), ("A", None), ("$1,250", 1250), (7, 7), ("x #### 3", 3)],
)
def test_the_value_of_an_answer(answer, value):
    assert answer_value(answer) == value
