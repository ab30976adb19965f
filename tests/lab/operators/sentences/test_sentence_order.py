"""Reorder the sentences."""

from __future__ import annotations

import random
import re

import pytest

from paraqd.reading import read, same_quantities
from paraqd.rewriting.operator import Resources
from paraqd.rewriting.sentence_order import SentenceOrder

LAKE = "Mirela rows 18 km in 3 hours. What is the speed of Mirela's boat?"


TILES = "If a tile covers 4 square feet, how many tiles cover 60 square feet?"


def outputs(operator, text, times=60):
    made = {operator().apply(read(text), random.Random(n), Resources()) for n in range(times)}
    return made - {None}


def test_the_question_comes_first_and_every_sentence_stays():
    found = outputs(SentenceOrder, LAKE)
    assert "What is the speed of Mirela's boat? Mirela rows 18 km in 3 hours." in found
    assert len(found) > 10  # with one of many leads between them
    for made in found:
        assert made.startswith("What is the speed of Mirela's boat? ")
        assert made.endswith(" Mirela rows 18 km in 3 hours.")


def test_a_lower_case_text_gets_a_lower_case_lead():
    assert all(made == made.lower() for made in outputs(SentenceOrder, LAKE.lower()))


@pytest.mark.parametrize(
    "asked",
    ["How much does she pay?", "How many are left?", "What is the price of the other one?", "What is it if 3 are red?"],
)
def test_a_question_that_refers_to_the_statements_stays_after_them(asked):
    told = "Petra carries a crate with 12 lamps up the stairs because the lift that serves the tower broke."
    assert not outputs(SentenceOrder, f"{told} {asked}")


def test_a_condition_moves_after_its_question_or_into_a_sentence():
    found = outputs(SentenceOrder, TILES)
    assert "How many tiles cover 60 square feet if a tile covers 4 square feet?" in found
    assert any(
        re.fullmatch(r".+ a tile covers 4 square feet\. How many tiles cover 60 square feet\?", m) for m in found
    )
    assert len(found) > 12


def test_a_condition_that_introduces_the_subject_stays_before_the_question():
    text = "If a barge loads 40 crates in 5 hours, what is the load of the barge in 8 hours?"
    found = outputs(SentenceOrder, text)
    assert found
    for made in found:
        assert made.index("a barge") < made.index("the barge")


def test_an_unfinished_question_is_completed():
    found = outputs(SentenceOrder, "a rope 90 m long is cut into 6 parts. the length of one part is:")
    assert not any("is:" in made for made in found)
    found = outputs(SentenceOrder, "a tram covers 9 km in 20 min. the speed of the tram is:")
    assert "find the speed of the tram. a tram covers 9 km in 20 min." in found


def test_independent_statements_are_swapped():
    text = "Olga has 6 more stamps than Pavel. Pavel has 9 stamps. How many do they have together?"
    assert "Pavel has 9 stamps. Olga has 6 more stamps than Pavel. How many do they have together?" in outputs(
        SentenceOrder, text
    )


@pytest.mark.parametrize(
    "second",
    ["He has 9 stamps.", "Pavel has 9 more stamps.", "Pavel then has 9 stamps.", "Pavel has half of the stamps."],
)
def test_statements_that_refer_to_each_other_keep_their_order(second):
    for made in outputs(SentenceOrder, f"Olga has 6 stamps. {second} How many stamps does Olga have?"):
        assert made.index("6 stamps") < made.lower().index(second.lower().rstrip("."))


def test_short_statements_are_joined_and_a_long_one_is_split():
    joined = outputs(SentenceOrder, "Olga picked 6 pears. She sold 2 of them. How many does she still have?")
    assert "Olga picked 6 pears, and she sold 2 of them. How many does she still have?" in joined
    cut = outputs(SentenceOrder, "Olga owns 6 looms and she sells 2 of them. How many does she still have?")
    assert cut == {"Olga owns 6 looms. She sells 2 of them. How many does she still have?"}


def test_adjacent_names_are_not_split():
    text = "The combined age of Olga and Pavel is 35. How old are they?"
    assert not any("Olga. Pavel" in made for made in outputs(SentenceOrder, text))


@pytest.mark.parametrize("text", ["", "No question here.", "What is 3 + 4?", "Find x. Find y."])
def test_none_if_nothing_can_be_ordered(text):
    assert not outputs(SentenceOrder, text)


@pytest.mark.parametrize("text", [LAKE, TILES])
def test_the_quantities_stay_in_the_valid_one(text):
    for made in outputs(SentenceOrder, text):
        assert same_quantities(read(text).quantities, read(made).quantities)
