"""Reorder the sentences and swap two numbers."""

from __future__ import annotations

import random

import pytest

from paraqd.lab.operators.numbers.ordered_numbers import OrderedNumbers
from paraqd.reading import read
from paraqd.rewriting.operator import Resources

LAKE = "Mirela rows 18 km in 3 hours. What is the speed of Mirela's boat?"


def outputs(operator, text, times=60):
    made = {operator().apply(read(text), random.Random(n), Resources()) for n in range(times)}
    return made - {None}


@pytest.mark.parametrize("text", ["", "No question here.", "What is 3 + 4?", "Find x. Find y."])
def test_none_if_nothing_can_be_ordered(text):
    assert not outputs(OrderedNumbers, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LAKE, "rows 3 km in 18 hours"),
        ("A tram 40 m long runs at 72 kmph. What is the time to pass a post?", "72 m long runs at 40 kmph"),
        ("The ratio of goats to sheep is 3:8. If the farm has 24 sheep, how many goats live on it?", "is 8:3"),
        ("Olga had 50 beads. Olga lost 12 beads. How many beads remain?", "Olga had 12 beads. Olga lost 50 beads"),
        (
            "A number divided by 9 leaves the remainder 4. What is the least number?",
            "divided by 4 leaves the remainder 9",
        ),
        (
            "A lamp costs $7 and a rug costs $20. If Olga buys 5 lamps and 2 rugs, what is the bill?",
            "buys 2 lamps and 5 rugs",
        ),
        ("Olga has 9 coins. Pavel has 14 coins. How many coins must Olga find to have 30?", "Olga has 14 coins"),
    ],
)
def test_two_numbers_in_different_roles_are_swapped(text, expected):
    found = outputs(OrderedNumbers, text)
    assert found
    for made in found:
        assert expected in made


@pytest.mark.parametrize(
    "text",
    [
        "Olga has 9 coins. Pavel has 14 coins. How many coins do Olga and Pavel have together?",  # a sum
        "Each of 6 boxes holds 20 pens. What is the number of pens?",  # a product
        "A club has 6 teams. If each team has 4 boats, and each boat has 8 seats, how many seats are there?",  # a chain
        "A hen lays 7 eggs a week. What is the number of eggs in 5 weeks?",
        "A tram 40 m long runs at 40 kmph. What is the time to pass a post?",  # equal numbers
        "Olga weighs 4 pounds more than Pavel. Pavel weighs 7 pounds more than Rita. How much does Olga weigh if Rita "
        "weighs 90 pounds?",  # 4 + 7
        "Olga has 1 coin. Pavel has 14 coins. What is the wealth of Pavel?",
    ],
)
def test_none_if_a_swap_might_change_nothing(text):
    assert not outputs(OrderedNumbers, text)


def test_a_length_is_not_swapped_with_a_time_that_multiplies_it():
    text = "If 20 men build a wall 66 m long in 15 days, what length is built by 86 men in 8 days?"
    found = outputs(OrderedNumbers, text)
    assert found
    for made in found:
        assert "15 m long in 66 days" in made
        assert "86 men in 8 days" in made
