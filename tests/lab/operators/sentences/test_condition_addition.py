"""Add a condition that changes the answer."""

from __future__ import annotations

import re

import pytest

from paraqd.lab.operators import Resources, derive_rng
from paraqd.lab.operators.sentences.condition_addition import PHRASES, ConditionAddition
from paraqd.reading import read

MARBLES = (
    "Rosa has 12 marbles and buys 5 bigger marbles. Her brother's friend takes 3. How many marbles does Rosa have?"
)


def outputs(operator, text, times=60):
    made = [operator.apply(read(text), derive_rng(n, "a", operator.name), Resources()) for n in range(times)]
    return {each for each in made if each is not None}


def test_there_are_enough_phrases():
    assert len(set(PHRASES)) >= 40
    assert not any(char.isdigit() for phrase in PHRASES for char in phrase)


def test_a_condition_is_added_and_nothing_is_lost():
    found = outputs(ConditionAddition(), MARBLES, times=120)
    assert len(found) > 25
    for made in found:
        assert len(made) > len(MARBLES)
        assert set(re.findall(r"\w+", MARBLES.lower())) <= set(re.findall(r"\w+", made.lower()))
    assert MARBLES.replace("have?", "have, after giving away half of them?") in found


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("A pen costs $2. How much do 5 pens cost?", "tax|discount|fee|prices|tip|twice|coupon|refund"),
        ("Ann works 5 hours for $9 an hour. How much money does Ann earn?", "tax|charity|stolen|friend|fee|bonus"),
        ("Tom cleans 3 rooms an hour. How long will it take to clean 12 rooms?", "speed|pace|pause|faster|delay"),
        ("Ann is 3 years older than Tom, who is 9. How old is Ann?", "years (?:later|earlier|after|before)|half later"),
        ("Tom runs 3 km every day. How far can Tom run in 2 weeks?", "weekdays|Sundays|first day|other day|off|week"),
    ],
)
def test_a_condition_fits_the_question(text, added):
    found = outputs(ConditionAddition(), text)
    inside = {made for made in found if not re.search("result|answer|you (?:get|find)", made, re.I)}
    assert len(inside) > 3
    assert all(re.search(added, made.replace(text, "")) for made in inside)


@pytest.mark.parametrize(
    "text",
    [
        "Ann had some pens and lost 3, so 5 are left. How many pens did Ann have at first?",
        "Ann has 5 pens and Tom has 3. How many more pens does Ann have than Tom?",
        "A bus has 40 seats. How many children can ride in 3 buses?",
        "Pens are red or blue in the ratio 2:3. What is the probability of a red pen?",
        "Ann has 5 pens.",
        "",
    ],
)
def test_no_condition_if_it_might_not_matter(text):
    assert not outputs(ConditionAddition(), text)


def test_the_same_draw_gives_the_same_text():
    made = [
        ConditionAddition().apply(read(MARBLES), derive_rng(1, "q", ConditionAddition.name), Resources())
        for _ in range(2)
    ]
    assert made[0] == made[1] != MARBLES
