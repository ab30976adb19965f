"""How the pairs of each operator fare."""

import pytest

from paraqd.evaluation.breakdown import by_operator
from paraqd.evaluation.errors import EvaluationError


def test_a_row_for_each_operator_in_their_order():
    operators = ["NumToWords", "NumberChange", "NumToWords", "NumberChange", None]
    rows = by_operator(operators, [1, 0, 1, 0, 1], [0.9, 0.8, 0.3, -0.4, 0.7])
    assert [row.operator for row in rows] == ["NumToWords", "NumberChange", "(none)"]
    first, second, none = rows
    assert (first.n, first.valid, first.invalid, first.accepted, first.accuracy) == (2, 2, 0, 0.5, 0.5)
    assert (second.valid, second.invalid, second.accuracy) == (0, 2, 0.5)
    assert second.mean_score == pytest.approx(0.2)
    assert none.to_dict()["accuracy"] == 1


def test_the_threshold_decides():
    (row,) = by_operator(["f2", "f2"], [1, 1], [0.9, 0.6], threshold=0.7)
    assert row.accuracy == 0.5


def test_operators_must_fit():
    with pytest.raises(EvaluationError, match="2 pairs but 1 operators"):
        by_operator(["f2"], [1, 0], [0.5, 0.5])
