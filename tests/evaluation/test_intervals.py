"""Intervals agree with resampling done by hand; tests find what is there and nothing else."""

import numpy as np
import pytest

from paraqd.evaluation.errors import EvaluationError
from paraqd.evaluation.intervals import bootstrap, compare, mcnemar_p
from paraqd.evaluation.metrics import evaluate
from paraqd.evaluation.weighted import METRICS, checked, lay_out, statistics


def made(n=200, *, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    scores = np.clip(labels - 0.3 + rng.normal(0, noise, n), -1, 1).round(1)
    return labels, scores


def test_weights_are_repetitions():
    """A sample's metrics are those of the pairs written out as often as they were drawn."""
    labels, scores = made(40)
    rng = np.random.default_rng(1)
    weights = np.stack([np.bincount(rng.integers(0, 40, 40), minlength=40) for _ in range(20)]).astype(float)
    found = statistics(lay_out(*checked(labels, scores), threshold=0.5), weights)
    for i, row in enumerate(weights.astype(int)):
        expected = evaluate(np.repeat(labels, row), np.repeat(scores, row))
        for name in METRICS:
            assert found[name][i] == pytest.approx(getattr(expected, name)), name


def test_the_interval_of_a_mean_is_the_textbooks():
    labels, scores = made(2000)
    found = bootstrap(labels, scores).estimates["mu_pos"]
    valid = scores[labels == 1]
    error = valid.std() / len(valid) ** 0.5
    assert found.value == pytest.approx(valid.mean())
    assert found.low == pytest.approx(valid.mean() - 1.96 * error, abs=0.15 * error)
    assert found.high == pytest.approx(valid.mean() + 1.96 * error, abs=0.15 * error)


def test_every_metric_has_an_interval_around_it():
    found = bootstrap(*made())
    assert set(found.estimates) == set(METRICS)
    assert all(e.low <= e.value <= e.high and e.low < e.high for e in found.estimates.values())
    assert (found.samples, found.grouped) == (2000, False)


def test_the_same_seed_gives_the_same_interval():
    labels, scores = made()
    first, second, other = (bootstrap(labels, scores, seed=seed, samples=300) for seed in (1, 1, 2))
    assert first == second != other


def test_pairs_of_one_question_are_drawn_together():
    """Ten copies of each pair tell no more than one: the interval by question stays as wide."""
    labels, scores = made(100)
    alone = bootstrap(labels, scores).estimates["separation"]
    many = np.repeat(labels, 10), np.repeat(scores, 10)
    grouped = bootstrap(*many, groups=np.repeat(np.arange(100), 10).tolist())
    ignored = bootstrap(*many).estimates["separation"]
    together = grouped.estimates["separation"]
    assert grouped.grouped
    assert together.high - together.low == pytest.approx(alone.high - alone.low, rel=0.05)
    assert ignored.high - ignored.low < 0.5 * (together.high - together.low)


def test_samples_without_both_classes_are_left_out():
    found = bootstrap([1, 0, 0], [0.9, 0.1, 0.2], samples=500)
    assert 100 < found.samples < 500
    with pytest.raises(EvaluationError, match="too few pairs"):
        bootstrap([1, 0], [0.9, 0.1], samples=0)


def test_groups_must_fit():
    with pytest.raises(EvaluationError, match="3 pairs but 2 groups"):
        bootstrap([1, 0, 0], [0.9, 0.1, 0.2], groups=["a", "b"])


def test_progress_is_told():
    seen = []
    bootstrap(*made(2000), samples=2500, progress=lambda stage, done, total, note="": seen.append((done, total)))
    assert len(seen) > 1 and seen[-1] == (2500, 2500)


def test_a_better_method_is_found_better():
    labels, worse = made(300, noise=0.8)
    _, better = made(300, noise=0.3)
    found = compare(labels, worse, better)
    for name in ("auc", "macro_f1", "accuracy"):
        difference = found.differences[name]
        assert difference.difference.low > 0 and difference.p_value < 0.01
        assert difference.b - difference.a == pytest.approx(difference.difference.value)
    assert found.mcnemar.only_b > found.mcnemar.only_a and found.mcnemar.p_value < 0.01
    assert found.permutation["auc"] < 0.01
    back = compare(labels, better, worse)
    assert back.differences["auc"].difference.high < 0
    assert back.permutation["auc"] == found.permutation["auc"]


def test_a_method_does_not_differ_from_itself():
    labels, scores = made()
    found = compare(labels, scores, scores)
    assert {each.p_value for each in found.differences.values()} == {1.0}
    assert found.permutation == {"separation": 1.0, "auc": 1.0}
    assert (found.mcnemar.only_a, found.mcnemar.only_b, found.mcnemar.p_value) == (0, 0, 1.0)


def test_another_scale_changes_the_separation_but_not_the_auc():
    labels, scores = made()
    found = compare(labels, scores, scores / 10)
    assert found.permutation["auc"] == 1.0
    assert found.permutation["separation"] < 0.01


def test_chance_is_not_called_a_difference():
    """Of 40 comparisons of equally noisy scores about one in twenty may fall under 0.05, not many."""
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, 150)
    low = {"bootstrap": 0, "auc": 0, "separation": 0}
    for _ in range(40):
        a, b = (labels + rng.normal(0, 1, 150) for _ in range(2))
        found = compare(labels, a, b, samples=300)
        low["bootstrap"] += found.differences["auc"].p_value < 0.05
        low["auc"] += found.permutation["auc"] < 0.05
        low["separation"] += found.permutation["separation"] < 0.05
    assert max(low.values()) <= 7, low


def test_mcnemar_by_hand():
    assert mcnemar_p(1, 5) == pytest.approx(2 * (1 + 6) / 64)
    assert mcnemar_p(5, 1) == mcnemar_p(1, 5)
    assert mcnemar_p(0, 0) == mcnemar_p(4, 4) == 1.0
    assert mcnemar_p(40_000, 41_000) < 0.001


def test_mcnemar_against_scipy():
    stats = pytest.importorskip("scipy.stats")
    for a, b in [(3, 9), (12, 30), (0, 7), (100, 131)]:
        assert mcnemar_p(a, b) == pytest.approx(stats.binomtest(a, a + b).pvalue)


def test_plain_data():
    labels, scores = made(60)
    data = compare(labels, scores, scores / 2, samples=50).to_dict()
    assert set(data) == {"differences", "mcnemar", "permutation", "level", "samples", "grouped"}
    assert set(data["differences"]["auc"]["difference"]) == {"value", "low", "high"}
    assert len(bootstrap(labels, scores, samples=50).to_dict()["metrics"]["auc"]) == 2
