"""Clumsy wordings are found, and plain ones are left alone."""

import pytest

from paraqd.paraphrasing.clumsiness import ended, is_clumsy

QUESTION = "Ann has 12 pens. What was the number at noon?"


@pytest.mark.parametrize(
    "text",
    [
        "We are told that that Ann has 12 pens. What was the number at noon?",
        "Given that we assume that Ann has 12 pens, what was the number at noon?",
        "You are told that your task is to find the number at noon. Ann has 12 pens.",
        "Find the number at noon. The facts are as follows, and Ann has 12 pens.",
        "If Ann has 12 pens and that she counts them, what was the number at noon?",
        "Ann has 12 pens. At noon, you are asked to find the number.",
        "Given that Ann has 12 pens, what was the number at noon if she has them?",
    ],
)
def test_a_clumsy_wording_is_found(text):
    assert is_clumsy(QUESTION, text)


@pytest.mark.parametrize(
    "text",
    [
        "Given that Ann has 12 pens, what was the number at noon?",
        "Find the number at noon. The facts are as follows. Ann has 12 pens.",
        "It is known that Ann has 12 pens. You are asked to find the number at noon.",
    ],
)
def test_a_plain_wording_is_not_clumsy(text):
    assert not is_clumsy(QUESTION, text)


def test_what_the_question_itself_says_is_not_clumsy():
    question = "At this pace, how many pens does she need?"
    assert not is_clumsy(question, "At this pace, you have to find out how many pens she needs.")


@pytest.mark.parametrize(
    "text",
    [
        "What are the current's speed?",
        "If it rains, what are Ann's average speed in km per hour?",
        "What were the boat’s speed, given that Ann rows?",
    ],
)
def test_a_verb_that_does_not_agree_with_its_noun_is_clumsy(text):
    assert is_clumsy(QUESTION, text)
    assert not is_clumsy(text, text)
    assert not is_clumsy(QUESTION, text.replace("speed", "speeds"))
    assert not is_clumsy(QUESTION, text.replace("speed", "height and speed"))


def test_a_rate_that_two_clauses_share_is_not_taken_from_one_of_them():
    question = "Jen makes 3 shirts, and Kay makes 5 hats per day. How many things do they make?"
    assert is_clumsy(question, "3 shirts are made by Jen. Kay makes 5 hats per day. How many things do they make?")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("If Ann has 12 pens, how many are there.", "If Ann has 12 pens, how many are there?"),
        ("Find out how many pens there are", "Find out how many pens there are."),
        ("How many are there? (Ann has 12.)", "How many are there? (Ann has 12.)"),
        ("The number is:", "The number is:"),
        (
            "Find the number of pens that Ann has , given that she buys 12 .",
            "Find the number of pens that Ann has, given that she buys 12.",
        ),
        ("How many pens ? Ann has 2 . 5 or 1 , 000 .", "How many pens? Ann has 2 . 5 or 1 , 000."),
        ("The ratio is 3 : 4. What is it ?", "The ratio is 3 : 4. What is it?"),
        ("What is the number? Show your working.", "What is the number? Show your working."),
        ("Find the number. Ann has 12 pens, which is a lot.", "Find the number. Ann has 12 pens, which is a lot."),
    ],
)
def test_the_mark_at_the_end_fits(text, expected):
    assert ended(QUESTION, text) == expected
