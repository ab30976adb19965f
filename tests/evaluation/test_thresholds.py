"""The best threshold in hindsight, and the table for choosing one."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from paraqd.evaluation.metrics import evaluate
from paraqd.evaluation.thresholds import THRESHOLDS, best_threshold, threshold_table


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(-5, 5)), min_size=2, max_size=30))
def test_no_other_threshold_is_better(pairs):
    labels, scores = [label for label, _ in pairs], [score / 5 for _, score in pairs]
    assume(0 < sum(labels) < len(labels))
    best = best_threshold(labels, scores)
    assert evaluate(labels, scores, threshold=best.threshold).macro_f1 == pytest.approx(best.macro_f1)
    for threshold in np.linspace(-1.1, 1.1, 45):
        assert evaluate(labels, scores, threshold=threshold).macro_f1 <= best.macro_f1 + 1e-12


def test_the_usual_threshold_where_it_is_as_good():
    assert best_threshold([1, 0], [0.9, -0.9]).threshold == 0.5


def test_the_best_threshold_may_be_anywhere():
    assert 0.97 < best_threshold([1, 1, 0, 0], [0.99, 0.98, 0.97, 0.9]).threshold < 0.98
    neighbours = [float(np.nextafter(0.7, 1)), 0.7]
    best = best_threshold([1, 0], neighbours)
    assert evaluate([1, 0], neighbours, threshold=best.threshold).macro_f1 == 1


def test_the_table_by_hand():
    (cut,) = threshold_table([1, 1, 0, 0, 0], [0.9, 0.6, 0.8, 0.1, -0.5], thresholds=[0.7])
    assert (cut.kept, cut.precision_valid, cut.recall_valid) == (0.4, 0.5, 0.5)
    assert (cut.precision_invalid, cut.recall_invalid) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert cut.macro_f1 == pytest.approx(evaluate([1, 1, 0, 0, 0], [0.9, 0.6, 0.8, 0.1, -0.5], threshold=0.7).macro_f1)


def test_a_higher_threshold_keeps_fewer():
    rng = np.random.default_rng(0)
    rows = threshold_table(rng.integers(0, 2, 100), rng.uniform(-1, 1, 100))
    assert [row.threshold for row in rows] == list(THRESHOLDS)
    assert all(one.kept >= two.kept for one, two in pairwise(rows))


def test_precision_of_nothing_is_not_a_number():
    low, high = threshold_table([1, 0], [0.2, 0.1], thresholds=[-0.9, 0.9])
    assert (low.precision_invalid, high.precision_valid) == (None, None)
    assert high.to_dict()["precision_valid"] is None
