"""Tests for the numbers of a copy."""

from __future__ import annotations

import pytest

from paraqd.reading import read
from paraqd.scoring.evidence.copies import copied_numbers
from paraqd.scoring.evidence.rules import quantity_findings


def found(one, other):
    return [finding.feature for finding in copied_numbers(read(one), read(other))]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Add 4, 7, 7 and 9.", "Add 4, 7, 4 and 9."),
        ("The ratio is 3 : 5 and 5 : 8.", "The ratio is 3 : 3 and 5 : 8."),
        ("Solve 2 x + 6 = 6 y.", "Solve 2 x + 1 = 6 y."),
        ("It opens at 4: 00 and closes at 6: 00.", "It opens at 4: 00 and closes at 6: 04."),
    ],
)
def test_a_replaced_number_is_found(one, other):
    assert found(one, other) == ["number_replaced"]


def test_numbers_that_changed_places_are_found():
    assert found("Buy 3 pens for 7 coins.", "Buy 7 pens for 3 coins.") == ["numbers_swapped"]
    assert found("Buy 3 pens, 5 caps and 7 hats.", "Buy 5 pens, 7 caps and 3 hats.") == ["numbers_swapped"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Add 4, 7 and 9.", "Add 9, 7 and 4."),  # the order of a list
        ("The sides are 3 cm and 4 cm.", "The sides are 4 cm and 3 cm."),
        ("It costs 1,500 coins or 2.50 notes.", "It costs 1500 coins or 2.5 notes."),  # the same numbers
        ("Take 6/4 of 2 : 4.", "Take 3/2 of 1 : 2."),  # equal fractions and ratios
        ("It costs Rs. 10,00,000.", "It costs Rs. 1,000,000."),
        ("Add 4 and 7.", "Add 4 to 8."),  # not a copy
        ("Add 4 and 7.", "Add 4, 7 and 9."),
    ],
)
def test_other_differences_are_left_to_other_rules(one, other):
    assert found(one, other) == []


def test_a_replaced_number_is_reported_once():
    for texts in (
        ("Tom has 5 red pens and 5 blue pens.", "Tom has 5 red pens and 7 blue pens."),
        ("Add 5.", "Add 6."),
        ("Add 4, 7, 7 and 9.", "Add 4, 7, 8 and 9."),
    ):
        assert [finding.feature for finding in quantity_findings(*map(read, texts))] == ["number_replaced"]
