"""Tests for remarks that stand in both texts."""

from __future__ import annotations

import pytest

from paraqd.scoring.markup import PlainText
from paraqd.scoring.pair_preparation import prepare_pair
from paraqd.scoring.shared_remarks import drop_shared_remarks

QUESTION = "Rosa has 12 marbles and finds 5 more. How many marbles does she have?"
PARAPHRASE = "Rosa owns 12 marbles, then finds another 5. How many does she own in all?"


def dropped(one, other):
    return [plain.text for plain in drop_shared_remarks(PlainText(one), PlainText(other))]


@pytest.mark.parametrize(
    "remark",
    [
        "Question 12:",
        "Problem.",
        "Exercise 4)",
        "Q. 3:",
        "(taken from a textbook)",
        "Look at this puzzle.",
        "Please read every word with care.",
        "Use pencil and paper to solve it, please.",
        "Question 12: Try to be exact.",
        "Tip: make a table first.",
        "Q12)",
        "The sun was warm.",
        "Maths club, level B\n",
        "Worksheet 31\n\n",
        "[2 points]",
        "(part 3, page 40)",
        "Level: 2.",
        "Here it comes, dear friends:",
    ],
)
def test_a_remark_before_both_texts_is_dropped(remark):
    assert dropped(f"{remark} {QUESTION}", f"{remark} {PARAPHRASE}") == [QUESTION, PARAPHRASE]


@pytest.mark.parametrize("remark", ["Remember to show your steps.", "Good luck with this exercise!"])
def test_a_remark_after_both_texts_is_dropped(remark):
    assert [text.rstrip() for text in dropped(f"{QUESTION} {remark}", f"{PARAPHRASE} {remark}")] == [
        QUESTION,
        PARAPHRASE,
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Read it once.", "Read it twice."),  # the remarks differ
        ("Read this twice.", ""),  # only one text has the remark
        ("A shop opens at 8.", "A shop opens at 8."),  # a fact with a number
        ("Your class has twenty desks.", "Your class has twenty desks."),
        ("Rosa likes this game.", "Rosa likes this game."),  # a name
        ("Please count the marbles.", "Please count the marbles."),  # the rest is about marbles too
        ("You flip two coins.", "You flip two coins."),
        ("Think of three digits.", "Think of three digits."),
        ("Worksheet 12\n", "Worksheet 12\n"),  # the rest has the same number
        ("24 sweets\n", "24 sweets\n"),  # an amount, which the rest may write as "twenty-four"
        ("Two dozen sweets\n", "Two dozen sweets\n"),
        ("[at 60 km/h]", "[at 60 km/h]"),
        ("Price: $40.", "Price: $40."),
        ("For the marbles:", "For the marbles:"),
    ],
)
def test_everything_else_is_kept(one, other):
    texts = [f"{one} {QUESTION}", f"{other} {PARAPHRASE}".strip()]
    assert dropped(*texts) == texts


def test_labels_may_have_different_numbers():
    assert dropped(f"Question 12: {QUESTION}", f"Question 13: {PARAPHRASE}") == [QUESTION, PARAPHRASE]


def test_only_a_few_remarks_are_dropped():
    remarks = "Read slowly. Please start. Try hard. Remember everything. Good luck."
    assert dropped(f"{remarks} {QUESTION}", f"{remarks} {PARAPHRASE}")[0].startswith("Remember everything.")


def test_a_text_is_never_dropped_whole():
    texts = ["Solve this problem.", "solve this problem."]
    assert dropped(*texts) == texts
    assert dropped("Solve this. Find x.", "Solve this. x = ?")[0] == "Find x."
    assert dropped("Question 1:", "Question 2:") == ["Question 1:", "Question 2:"]


def test_the_only_question_is_kept():
    texts = ["Solve this equation. x + 2 = y.", "Solve this equation. 2 + x = y."]
    assert dropped(*texts) == texts


def test_spans_refer_to_the_original_text():
    question, paraphrase = f"Problem 3: {QUESTION}", f"Problem 3: {PARAPHRASE}"
    pair = prepare_pair(question, paraphrase)
    assert pair.texts[0] == QUESTION
    start, end = pair.original_span(1, 0, 4)
    assert paraphrase[start:end] == "Rosa"
