"""Frames put a whole problem into another form, or leave it alone."""

import random

import pytest

from paraqd.paraphrasing.frames import (
    FRAMES,
    completed,
    given_that,
    has_options,
    joined,
    question_first,
    split_condition,
    straight_request,
)
from paraqd.reading import read, same_quantities

FOUR_STATEMENTS = "Ann has 2 pens. She buys 3 pens. She finds 4 pens. She gets 5 pens. How many pens does she have?"


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        (given_that, "If Ann has 2 pens, how many pens does she need?"),  # there is no statement before the question
        (given_that, "Ann has 2 pens. How many pens does she have if she buys 3?"),  # the question has a condition
        (given_that, "Note the prices: a pen costs $2. How much do 3 pens cost?"),
        (given_that, FOUR_STATEMENTS),
        (question_first, FOUR_STATEMENTS),
        (question_first, "Ann has 2 pens and Bob has 3. How many more does he have?"),  # two people
        (question_first, "A train is 200 m long. How long does the train need to pass?"),  # introduced later
        (completed, "Ann has 2 pens. How many pens does she need?"),
        (given_that, ""),
        (straight_request, "How many pens are there?"),  # the subject follows the verb
        (straight_request, "How many times can it be used?"),
        (split_condition, "If Ann had 5 pens, how many pens would she need?"),  # only imagined
        (split_condition, "If the product of 2 integers is negative, at most how many are negative?"),
        (split_condition, "If a stick is marked in 3 places, you have to find how many parts there are."),
        (split_condition, "How many pens are left if Ann takes 5?"),
        (split_condition, "If the radius of a circle is doubled, the new area is how many times the old area?"),
        (split_condition, "If a car needs 2 hours for 100 km, a trip of 300 km takes how many hours?"),
        (split_condition, "If the side of a square is doubled the area is how many times the old area?"),
        (split_condition, "If Ann earns 5 dollars an hour she makes how much in 3 hours?"),
        (split_condition, "If the side of a square is doubled the area grows how many times?"),
        (split_condition, "If 3 pens cost 6 dollars a pen costs how much?"),
    ],
)
def test_a_frame_that_might_change_the_meaning_is_not_used(frame, text):
    assert frame(read(text), random.Random(1)) is None


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("The side of a square is 4 cm. The area of the square is:", "area of the square"),
        ("If x + 2 = 5, then x =?", "x"),
        ("If the radius is increased by 30% then the area is increased by:", "by how much is the area increased?"),
    ],
)
def test_an_ending_that_breaks_off_becomes_a_question(text, ending):
    made = completed(read(text), random.Random(1))
    assert made is not None
    assert made.rstrip(".?").endswith(ending.rstrip("?"))
    assert made[-1] in ".?"


def test_statements_of_people_and_things_keep_their_capitals():
    made = given_that(read("Ann has 2 pens. The box holds 3 pens. How many pens are there?"), random.Random(5))
    assert "Ann has 2 pens and that the box holds 3 pens, how many" in made


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: frame.name)
def test_every_frame_keeps_the_quantities_and_the_letter_case(frame):
    texts = (
        "Ann has 12 pens. She buys 3 more pens. Find how many pens she has.",
        "tom runs 5 km in 20 minutes. find how many km he runs in an hour.",
        "If the price of 3 kg is $6, then the price of 5 kg is:",
        "Ann has 12 pens. If 5 pens are lost, how many pens are left?",
        "how many numbers below 20 can be divided by 3?",
    )
    made = [(read(text), new) for text in texts if (new := frame.apply(read(text), random.Random(3)))]
    assert made
    for problem, new in made:
        assert same_quantities(problem.quantities, read(new).quantities)
        assert problem.cased or new == new.lower()


def test_problems_with_lists_are_recognised():
    assert has_options(read("Which of the following must be odd? I. xy II. x + y"))
    assert not has_options(read("I have 2 pens. How many do I have?"))
    assert has_options(read("Prices:\npen $3\nbook $5\nWhat do both cost?"))
    assert has_options(read("Which one is odd?\na) 3\nb) 4"))
    assert has_options(read("Ann has 2 pens.\n\nHow many pens does she have?"))
    assert not has_options(read("The following day he buys 2 pens. How many does he have?"))


@pytest.mark.parametrize("end", ["\n", "\r\n", " \n "])
def test_a_line_break_between_sentences_does_not_make_a_list(end):
    text = f"Ann has 2 pens.{end}$3 buys another pen.{end}How many pens does she have?"
    assert not has_options(read(text))
    assert joined(text) == "Ann has 2 pens. $3 buys another pen. How many pens does she have?"


def test_a_line_break_in_a_long_line_does_not_make_a_list():
    text = "Ann has 2 pens in a box that she keeps under\nher bed. How many pens does she have?"
    assert not has_options(read(text))
