"""Ratios, points and divisions in the wrong order."""

from __future__ import annotations

import pytest

from paraqd.reading import read
from paraqd.scoring.evidence.order import order_findings
from paraqd.scoring.evidence.rules import READER


@pytest.mark.parametrize(
    ("question", "paraphrase"),
    [
        ("The ratio of tin to zinc is 2 : 7.", "It has tin and zinc in the ratio 7 : 2."),
        ("The ratio of tin to zinc is 2 : 7.", "The ratio of zinc to tin is 2 : 7."),
        ("A line goes through (0, 3).", "Through (3, 0) goes a line."),
        ("What is left when 250 is divided by 17?", "When 17 is divided by 250, what is left?"),
        ("Divide 12 by 5.", "12 is not it: dividing 5 by 12 is asked."),
    ],
)
def test_the_other_order_is_found(question, paraphrase):
    (found,) = order_findings(read(question), read(paraphrase))
    assert found.feature == "order_turned"
    assert found.question_spans and found.paraphrase_spans


@pytest.mark.parametrize(
    ("question", "paraphrase"),
    [
        ("The ratio of tin to zinc is 2 : 7.", "The ratio of zinc to tin is 7 : 2."),
        ("A line goes through (0, 3) and (3, 0).", "Through (3, 0) and (0, 3) goes a line."),
        ("What is left when 250 is divided by 17?", "Divide 250 by 17: what is left?"),
        ("The ratio of tin to zinc is 2 : 7.", "There are 2 parts of tin for 7 of zinc."),
    ],
)
def test_the_same_order_is_no_finding(question, paraphrase):
    assert not list(order_findings(read(question), read(paraphrase)))


def test_another_exponent_is_another_number():
    features = {f.feature for f in READER.findings(read("If x³ = 64, find x."), read("Find x, if x² = 64."))}
    assert "algebra_changed" in features
    assert not READER.findings(read("If x² = 64, find x."), read("Find x, if the square of x is 64."))
