"""Instructions to the solver, and questions with their speaker."""

from __future__ import annotations

import pytest

from paraqd.reading import read


@pytest.mark.parametrize(
    "instruction",
    [
        "Show your steps.",
        "Show all your work.",
        "Write down your reasoning.",
        "Explain how you got the result.",
        "Give reasons for your answer.",
        "Justify your answer.",
        "Show that your answer is correct.",
    ],
)
def test_an_instruction_to_the_solver_is_not_the_question(instruction):
    assert [asked.target for asked in read(f"How many pens are there? {instruction}").questions] == ["pens"]


@pytest.mark.parametrize(
    "question",
    [
        "State the total work done by A.",
        "List how many people work.",
        "Give the number of days that it takes to do the work.",
        "State how long they work together.",
        "Tell how you will share 10 sweets.",
    ],
)
def test_a_question_about_work_is_a_question(question):
    assert len(read(f"Find the speed. {question}").questions) == 2


def test_the_only_instruction_is_the_question():
    assert read("There are 5 pens. Show your steps.").question is not None


def test_a_question_can_be_followed_by_its_speaker():
    asked = read('"How many pens have you got?" asked Tom. Ann had 5 blue and 3 red pens.').question
    assert asked is not None and asked.target == "pens"
    assert len(read('Tom wondered, "are we there?" and drove 5 km. How far did he drive?').questions) == 1
