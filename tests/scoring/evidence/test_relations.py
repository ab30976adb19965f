"""Reversed relations, changed owners, labels of figures, and units for the answer."""

from __future__ import annotations

import pytest

from paraqd.reading import read
from paraqd.scoring.evidence.figure_labels import label_findings
from paraqd.scoring.evidence.question import question_findings
from paraqd.scoring.evidence.relations import relation_findings
from paraqd.scoring.evidence.rules import READER


def features(question, paraphrase, rule=relation_findings):
    return [found.feature for found in rule(read(question), read(paraphrase))]


@pytest.mark.parametrize(
    ("question", "paraphrase"),
    [
        ("A crate is 40 g heavier than a bag.", "The crate is 40 g lighter than the bag."),
        ("The loop takes 2 hours less than the road.", "The loop takes 2 hours longer than the road."),
        ("A fir is twice as tall as a bush.", "The fir is half as high as the bush."),
        ("Ida's brother is 4 years younger than she is.", "Her brother is 4 years older than she is."),
        ("The raft goes 9 km upstream.", "The raft goes 9 km downstream."),
        (
            "Ali is 15 cm taller than Bo, and Bo is 8 cm shorter than Cy.",
            "Bo is 8 cm taller than Cy; Ali is 15 cm taller.",
        ),
        ("Ida's clock is 6 minutes ahead of the tower's.", "Ida's clock is 6 minutes behind the tower's."),
    ],
)
def test_the_opposite_between_the_same_two_is_sure(question, paraphrase):
    assert "relation_opposed" in features(question, paraphrase)


@pytest.mark.parametrize(
    ("question", "paraphrase"),
    [
        ("Ali has 3 more pens than Bo.", "Bo has 3 fewer pens than Ali."),
        (
            "Ali is 9 cm taller than Bo, and Bo is 4 cm shorter than Cy.",
            "Bo is 9 cm shorter than Ali; Cy is 4 cm taller than Bo.",
        ),
        ("Ali is twice as old as Bo.", "Bo is half as old as Ali."),
        ("There are 4 times as many hens as ducks.", "There are 4 times as many hens as ducks on it."),
        ("Ali is 4 km ahead of Bo.", "Bo is 4 km behind Ali."),
    ],
)
def test_both_sides_turned_are_no_finding(question, paraphrase):
    assert not features(question, paraphrase)


def test_things_compared_that_change_places_are_found():
    assert features("There are 4 times as many hens as ducks.", "There are 4 times as many ducks as hens.") == [
        "things_exchanged"
    ]
    assert features("There are 5 more boys than girls.", "There are 5 more girls than boys.") == ["things_exchanged"]


def test_a_relation_turned_between_unknown_sides_is_not_sure():
    assert features("Ali has 3 more pens than Bo.", "He has 3 fewer.") == ["relation_turned"]


@pytest.mark.parametrize(
    ("question", "paraphrase", "found"),
    [
        ("Ali earns $15 an hour and Bo earns $18.", "Bo earns $15 an hour, while Ali earns $18.", True),
        ("Ali had 35 pens and Bo had 20.", "Bo had 20 pens and Ali had 35.", False),
        ("Ali got 5 km and Bo got 7 km.", "There were 7 km for Bo and 5 km for Ali.", False),
        ("Pump A needs 3 hours and pump B needs 2 hours.", "Pump A needs 2 hours and pump B needs 3 hours.", True),
    ],
)
def test_numbers_that_went_to_the_other_owner(question, paraphrase, found):
    told = [f for f in READER.findings(read(question), read(paraphrase)) if f.feature == "things_exchanged"]
    assert bool(told) is found
    for finding in told:
        assert finding.message.startswith('The numbers "') and " in the original, but with " in finding.message
        assert len(finding.question_spans) == len(finding.paraphrase_spans) == 4


def test_a_side_that_is_none_of_the_figure():
    question = "In rectangle ABCD, AB = 8 and BC = 15. Find AC."
    assert not features(question, "Rectangle KLMN has KL = 8 and LM = 15. Find KM.", label_findings)
    assert features(question, "Rectangle KLMN has KL = 8 and LM = 15. Find AC.", label_findings) == ["label_stray"]
    moved = "Triangle ABC has a point P on AB with AP = 4 and PB = 6."
    assert not features(moved, "P lies on side AB of triangle ABC. AP = 4, PB = 6.", label_findings)
    assert features(moved, "Point P lies on side AB of triangle ABC. AP = 4, QB = 6.", label_findings)


def test_an_answer_asked_in_a_unit_that_is_new():
    question = "A lamp costs 90 euros. It is sold at a gain of 20 %. What is the price?"
    assert features(
        question, "A lamp of 90 euros is sold with a gain of 20 %. What is its price in dollars?", question_findings
    ) == ["asked_unit"]
    assert not features(
        question, "A lamp of €90 is sold with a gain of 20 %. What is its price in euros?", question_findings
    )
    assert features(
        "A walk is 3 km. How far are 5 walks?", "A walk is 3 km. How many miles are 5 walks?", question_findings
    )


@pytest.mark.parametrize(
    ("paraphrase", "cut"),
    [
        ("A ball is drawn. What is the chance that it is not", True),
        ("A ball is drawn. What is the chance that it is not green", False),
        ("A ball is drawn. Find how many are green after that.", False),
        ("A ball is drawn. What does she play with?", False),
    ],
)
def test_a_question_that_hangs_in_the_air(paraphrase, cut):
    question = "A ball is drawn. What is the chance that it is not green?"
    assert ("question_cut" in features(question, paraphrase, question_findings)) is cut


def test_twice_and_half_are_told_apart_from_other_numbers():
    found = {f.feature for f in READER.findings(read("Ali's bill is twice that."), read("Ali's bill is half that."))}
    assert "multiple_turned" in found
    assert "number_changed" not in found


def test_an_exponent_is_not_the_repetition_of_a_factor():
    found = {f.feature for f in READER.findings(read("If x³ = 64, find 2x + 1."), read("Find 2x + 1 if x² = 64."))}
    assert "algebra_changed" in found
