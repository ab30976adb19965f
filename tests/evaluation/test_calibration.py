"""Scores as probabilities, and how far they are from the truth."""

import numpy as np
import pytest

from paraqd.evaluation.calibration import calibrate, probabilities
from paraqd.evaluation.errors import EvaluationError


def test_probabilities_invert_the_score():
    p = np.linspace(0, 1, 101)
    scores = np.where(p >= 0.5, p, 3 * p - 1)
    assert np.allclose(probabilities(scores), p)


def test_scores_outside_the_range_are_no_probabilities():
    with pytest.raises(EvaluationError, match=r"pair 2 has the score 1\.5"):
        probabilities([0.5, 1.5])


def test_perfect_scores():
    found = calibrate([1, 0, 1, 0], [1, -1, 1, -1])
    assert (found.brier, found.ece_width, found.ece_mass) == (0, 0, 0)


def test_confidence_in_the_wrong():
    found = calibrate([0, 1], [1, -1])
    assert (found.brier, found.ece_width, found.ece_mass) == (1, 1, 1)


def test_brier_is_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 2, 200), rng.uniform(-1, 1, 200)
    expected = metrics.brier_score_loss(labels, probabilities(scores))
    assert calibrate(labels, scores, balanced=False).brier == pytest.approx(expected)
    weights = np.where(labels == 1, 1 / labels.sum(), 1 / (1 - labels).sum())
    expected = metrics.brier_score_loss(labels, probabilities(scores), sample_weight=weights)
    assert calibrate(labels, scores).brier == pytest.approx(expected)


def test_probabilities_that_hold_have_a_small_error():
    rng = np.random.default_rng(0)
    p = rng.uniform(0, 1, 20_000)
    labels = (rng.uniform(0, 1, 20_000) < p).astype(int)
    held = calibrate(labels, np.where(p >= 0.5, p, 3 * p - 1), balanced=False)
    assert held.ece_width < 0.02 and held.ece_mass < 0.02
    bold = np.clip(0.5 + 2 * (p - 0.5), 0, 1)
    assert calibrate(labels, np.where(bold >= 0.5, bold, 3 * bold - 1), balanced=False).ece_width > 0.1


def test_balanced_undoes_how_common_a_class_is():
    """Nine invalid pairs for each valid one: probabilities made for even classes hold only when weighed."""
    rng = np.random.default_rng(0)
    p = rng.uniform(0, 1, 60_000)
    labels = (rng.uniform(0, 1, 60_000) < p).astype(int)
    kept = (labels == 0) | (rng.uniform(0, 1, 60_000) < 1 / 9)
    scores = np.where(p >= 0.5, p, 3 * p - 1)[kept]
    assert calibrate(labels[kept], scores).ece_width < 0.03
    assert calibrate(labels[kept], scores, balanced=False).ece_width > 0.2


def test_the_curve_by_hand():
    found = calibrate([1, 0, 1, 1], [0.92, 0.94, 0.5, 1.0], balanced=False)
    first, last = found.curve
    assert (first.low, first.high, first.n, first.valid) == (0.5, 0.6, 1, 1.0)
    assert (last.n, last.probability, last.valid) == (3, pytest.approx(2.86 / 3), pytest.approx(2 / 3))
    assert found.ece_width == pytest.approx(0.25 * 0.5 + 0.75 * abs(2.86 - 2) / 3)
    assert sum(each.weight for each in found.curve) == pytest.approx(1)


def test_bins_of_equal_size_keep_equal_scores_together():
    labels = [1, 0] * 50
    found = calibrate(labels, [0.7] * 100, bins=10)
    assert found.ece_mass == pytest.approx(0.2)
    rng = np.random.default_rng(0)
    assert calibrate(labels, rng.uniform(-1, 1, 100), bins=1).ece_mass < 0.2


def test_at_least_one_bin():
    with pytest.raises(EvaluationError, match="at least 1, not 0"):
        calibrate([1, 0], [0.5, 0.5], bins=0)


def test_plain_data():
    data = calibrate([1, 0], [0.9, -0.9]).to_dict()
    assert data["bins"] == 10 and data["balanced"] is True
    assert set(data["curve"][0]) == {"low", "high", "n", "weight", "probability", "valid"}
