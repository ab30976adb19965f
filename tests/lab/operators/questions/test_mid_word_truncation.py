"""Cut the question off at any character."""

import pytest

from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.reading import read

FACTS = "Zoe sold 30 tickets on Monday. "
TEXT = f"{FACTS}How many tickets did she sell on Tuesday morning?"


def outputs(text, seeds=200):
    operator = get("MidWordTruncation")
    made = [operator.apply(read(text), derive_rng(seed, "q", operator.name), Resources()) for seed in range(seeds)]
    return {each for each in made if each is not None}


def test_a_part_of_the_question_is_lost():
    made = outputs(TEXT)
    assert len(made) > 10
    for each in made:
        assert TEXT.startswith(each) and len(each) > len(FACTS)
        assert "morn" not in each


def test_a_cut_is_in_a_word_or_after_a_word():
    made = outputs(TEXT)
    assert f"{FACTS}How many tic" in made and f"{FACTS}How many" in made
    assert f"{FACTS}How many tickets did she s" in made


def test_a_word_is_not_cut_so_late_that_it_can_be_read():
    assert f"{FACTS}How many ticke" not in outputs(TEXT)


def test_a_number_is_not_cut():
    text = "How many of the 12345 or 0.6789 tickets did she sell in the morning?"
    assert not any(each.endswith(("1", "12", "123", "1234", "0.", "0.6", "0.67")) for each in outputs(text))


def test_a_question_that_sounds_complete_is_no_output():
    assert f"{FACTS}How many tickets did she sell" not in outputs(TEXT)


@pytest.mark.parametrize(
    ("question", "end"),
    [
        ("What is the average price of a ticket, to the nearest cent?", "to the"),
        ("What is the average speed of the boat in kilometres per hour?", " in"),
        ("How much did each of the sisters pay if they shared the cost?", " if"),
    ],
)
def test_the_cut_is_before_a_condition_or_a_unit_at_the_end(question, end):
    made = outputs(FACTS + question)
    assert made and not any(each.endswith(end) or f"{end} " in each[len(FACTS) :] for each in made)


@pytest.mark.parametrize("text", ["", "Tom has 5 pens.", "How many?", "How many is it? Tom has 5 pens and 6 caps."])
def test_none_if_the_text_does_not_end_with_a_long_question(text):
    assert outputs(text, 20) == set()
