"""Compute bootstrap intervals for metrics, and test whether two methods differ on the same pairs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum, lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.evaluation.errors import EvaluationError
from paraqd.evaluation.metrics import evaluate
from paraqd.evaluation.weighted import METRICS, Floats, Labels, Scores, checked, lay_out, statistics
from paraqd.progress import Progress, silent
from paraqd.scoring.verdict import THRESHOLD

SEED = 3407
SAMPLES = 2000
LEVEL = 0.95
_CHUNK = 1 << 21  # the maximum number of weights in memory at one time (16 MB)


@dataclass(frozen=True)
class Estimate:
    """A value and the bounds of its interval."""

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Return the estimate as a JSON-serialisable dictionary."""
        return {"value": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Bootstrap:
    """The bootstrap intervals of all metrics; ``samples`` is the number of samples that contain both classes."""

    estimates: Mapping[str, Estimate]
    level: float
    samples: int
    grouped: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the intervals as a JSON-serialisable dictionary."""
        intervals = {name: [estimate.low, estimate.high] for name, estimate in self.estimates.items()}
        return {"level": self.level, "samples": self.samples, "grouped": self.grouped, "metrics": intervals}


@dataclass(frozen=True)
class Difference:
    """A metric's values for methods a and b, the difference b - a with its interval, and the p-value."""

    a: float
    b: float
    difference: Estimate
    p_value: float

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as a JSON-serialisable dictionary."""
        return {"a": self.a, "b": self.b, "difference": self.difference.to_dict(), "p_value": self.p_value}


@dataclass(frozen=True)
class McNemar:
    """The result of McNemar's exact test.

    ``only_a`` is the number of pairs that only method a decides correctly, and ``only_b`` is the number of pairs that
    only method b decides correctly.
    """

    only_a: int
    only_b: int
    p_value: float

    def to_dict(self) -> dict[str, Any]:
        """Return the test result as a JSON-serialisable dictionary."""
        return {"only_a_right": self.only_a, "only_b_right": self.only_b, "p_value": self.p_value}


@dataclass(frozen=True)
class Comparison:
    """The result of `compare`; ``permutation`` contains the p-values of the permutation tests, keyed by metric."""

    differences: Mapping[str, Difference]
    mcnemar: McNemar
    permutation: Mapping[str, float]
    level: float
    samples: int
    grouped: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as a JSON-serialisable dictionary."""
        return {
            "differences": {name: found.to_dict() for name, found in self.differences.items()},
            "mcnemar": self.mcnemar.to_dict(),
            "permutation": dict(self.permutation),
            "level": self.level,
            "samples": self.samples,
            "grouped": self.grouped,
        }


def bootstrap(
    labels: Labels,
    scores: Scores,
    *,
    threshold: float = THRESHOLD,
    samples: int = SAMPLES,
    seed: int = SEED,
    groups: Sequence[Hashable] | None = None,
    level: float = LEVEL,
    progress: Progress = silent,
) -> Bootstrap:
    """Compute a percentile bootstrap interval for every metric.

    Parameters
    ----------
    groups
        The group of each pair, such as its question. Whole groups are resampled, because the pairs in a group are not
        independent. Intervals that ignore this are too narrow.
    level
        The confidence level of the intervals.

    Examples
    --------
    >>> found = bootstrap([1, 1, 0, 0] * 25, [0.9, 0.4, 0.6, -0.8] * 25, samples=200)
    >>> auc = found.estimates["auc"]
    >>> auc.value, auc.low < 0.75 < auc.high
    (0.75, True)
    """
    y, s = checked(labels, scores)
    point = evaluate(y, s, threshold=threshold)
    layout = lay_out(y, s, threshold=threshold)
    draws = [statistics(layout, weights) for weights in _weights(len(y), groups, samples, seed, progress, "intervals")]
    found, used = _stacked(draws)
    estimates = {name: _estimate(getattr(point, name), found[name], level) for name in METRICS}
    return Bootstrap(estimates, level, used, groups is not None)


def compare(
    labels: Labels,
    scores_a: Scores,
    scores_b: Scores,
    *,
    threshold: float = THRESHOLD,
    threshold_b: float | None = None,
    samples: int = SAMPLES,
    seed: int = SEED,
    groups: Sequence[Hashable] | None = None,
    level: float = LEVEL,
    progress: Progress = silent,
) -> Comparison:
    """Test whether two methods, a and b, differ significantly on the same pairs.

    Both methods are evaluated on the same bootstrap samples. A bootstrap p-value is twice the share of samples in which
    the difference is at most 0 or at least 0, whichever is rarer. McNemar's exact test compares the decisions pair by
    pair and ignores groups. The permutation tests randomly swap the two methods' scores for each pair, or for all pairs
    in a group. For the AUC, the scores are first replaced with their ranks, because the AUC does not depend on the
    scale of the scores.

    Examples
    --------
    >>> labels, a = [1, 0] * 30, [0.9, 0.8] * 30
    >>> found = compare(labels, a, [0.9, -0.8] * 30, samples=200)
    >>> found.differences["accuracy"].difference.value, found.mcnemar.only_b, found.mcnemar.p_value < 0.001
    (0.5, 30, True)
    """
    y, a = checked(labels, scores_a)
    _, b = checked(labels, scores_b)
    cut_b = threshold if threshold_b is None else threshold_b
    points = evaluate(y, a, threshold=threshold), evaluate(y, b, threshold=cut_b)
    layouts = lay_out(y, a, threshold=threshold), lay_out(y, b, threshold=cut_b)
    draws = []
    for weights in _weights(len(y), groups, samples, seed, progress, "comparison"):
        first, second = (statistics(layout, weights) for layout in layouts)
        draws.append({name: second[name] - first[name] for name in METRICS})
    found, used = _stacked(draws)
    differences = {}
    for name in METRICS:
        of_a, of_b = (float(getattr(point, name)) for point in points)
        estimate = _estimate(of_b - of_a, found[name], level)
        differences[name] = Difference(of_a, of_b, estimate, _two_sided(found[name]))
    right_a, right_b = (a > threshold) == (y == 1), (b > cut_b) == (y == 1)
    only_a, only_b = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
    return Comparison(
        differences=differences,
        mcnemar=McNemar(only_a, only_b, mcnemar_p(only_a, only_b)),
        permutation=_permutation(y, a, b, groups, samples, seed),
        level=level,
        samples=used,
        grouped=groups is not None,
    )


def compare_runs(
    labels: Labels,
    runs_a: Sequence[Scores],
    runs_b: Sequence[Scores],
    *,
    threshold: float = THRESHOLD,
    samples: int = SAMPLES,
    seed: int = SEED,
    groups: Sequence[Hashable] | None = None,
    level: float = LEVEL,
) -> dict[str, Difference]:
    """Compare the metrics of two methods that were each trained several times, averaged over the training runs.

    For each bootstrap sample, the pairs (or groups) are drawn jointly for both methods, and the training runs are drawn
    separately for each method. The intervals therefore reflect both the choice of pairs and the randomness of training.
    If there are only a few training runs, the intervals are somewhat too narrow.

    Examples
    --------
    >>> labels, low, high = [1, 0] * 30, [0.9, 0.8] * 30, [0.9, -0.8] * 30
    >>> found = compare_runs(labels, [low, low], [high, low], samples=200)["separation"].difference
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.8, 0.0, 1.6)
    """
    sides = [[checked(labels, scores) for scores in runs] for runs in (runs_a, runs_b)]
    points = [[evaluate(y, s, threshold=threshold) for y, s in side] for side in sides]
    layouts = [[lay_out(y, s, threshold=threshold) for y, s in side] for side in sides]
    rng = np.random.default_rng((seed, 2))
    draws = []
    for weights in _weights(len(sides[0][0][0]), groups, samples, seed, silent, "comparison"):
        means = []
        for side in layouts:
            found = [statistics(layout, weights) for layout in side]
            shares = _run_shares(rng, len(weights), len(side))
            means.append({n: (np.stack([one[n] for one in found], axis=1) * shares).sum(axis=1) for n in METRICS})
        draws.append({name: means[1][name] - means[0][name] for name in METRICS})
    stacked, _ = _stacked(draws)
    differences = {}
    for name in METRICS:
        a, b = (float(np.mean([getattr(point, name) for point in side])) for side in points)
        differences[name] = Difference(a, b, _estimate(b - a, stacked[name], level), _two_sided(stacked[name]))
    return differences


def compare_means(
    runs_a: Sequence[Scores],
    runs_b: Sequence[Scores],
    *,
    samples: int = SAMPLES,
    seed: int = SEED,
    groups: Sequence[Hashable] | None = None,
    level: float = LEVEL,
) -> Difference:
    """Compare the mean values that two methods, each trained several times, assign to the same pairs.

    The interval is computed as in `compare_runs`.

    >>> found = compare_means([[0.9, 0.8], [0.7, 0.8]], [[0.1, 0.2]], samples=200)
    >>> round(found.a, 3), round(found.b, 3), found.difference.high < 0
    (0.8, 0.15, True)
    """
    sides = [np.asarray(runs, dtype=np.float64) for runs in (runs_a, runs_b)]
    rng = np.random.default_rng((seed, 2))
    draws = []
    for weights in _weights(sides[0].shape[1], groups, samples, seed, silent, "comparison"):
        totals = weights.sum(axis=1, keepdims=True)
        a, b = ((weights @ side.T / totals * _run_shares(rng, len(weights), len(side))).sum(axis=1) for side in sides)
        draws.append(b - a)
    found = np.concatenate(draws)
    mean_a, mean_b = (float(side.mean()) for side in sides)
    return Difference(mean_a, mean_b, _estimate(mean_b - mean_a, found, level), _two_sided(found))


def _run_shares(rng: np.random.Generator, rows: int, runs: int) -> Floats:
    """Draw training runs with replacement for each bootstrap sample, and return each run's share of the draws."""
    shares: Floats = rng.multinomial(runs, [1 / runs] * runs, size=rows) / runs
    return shares


def mcnemar_p(only_a: int, only_b: int) -> float:
    """Return the two-sided p-value of McNemar's exact (binomial) test.

    >>> mcnemar_p(0, 5), mcnemar_p(3, 3)
    (0.0625, 1.0)
    """
    n, fewer = only_a + only_b, min(only_a, only_b)
    terms = (exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2)) for k in range(fewer + 1))
    return min(1.0, round(2 * fsum(terms), 12))


def _members(n: int, groups: Sequence[Hashable] | None) -> tuple[NDArray[np.intp], int]:
    """Return the zero-based index of each pair's group, and the number of groups."""
    if groups is None:
        return np.arange(n), n
    if len(groups) != n:
        raise EvaluationError(f"there are {n:,} pairs but {len(groups):,} groups; pass one group for each pair")
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.intp), len(numbers)


def _weights(
    n: int, groups: Sequence[Hashable] | None, samples: int, seed: int, progress: Progress, stage: str
) -> Iterator[Floats]:
    """Yield arrays that contain the number of times each pair (column) is drawn in each bootstrap sample (row)."""
    members, count = _members(n, groups)
    rng = np.random.default_rng(seed)
    size = max(1, _CHUNK // max(n, count))
    for start in range(0, samples, size):
        rows = min(size, samples - start)
        drawn = rng.integers(0, count, size=(rows, count)) + np.arange(rows)[:, None] * count
        times = np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count)
        yield times[:, members].astype(np.float64)
        progress(stage, start + rows, samples)


def _stacked(draws: Sequence[Mapping[str, Floats]]) -> tuple[dict[str, Floats], int]:
    """Return the metrics of all bootstrap samples that contain both classes, and the number of these samples."""
    found = {name: np.concatenate([draw[name] for draw in draws]) for name in METRICS} if draws else {}
    usable = np.isfinite(found["auc"]) if found else np.zeros(0, dtype=bool)
    if not usable.any():
        raise EvaluationError("there are too few pairs for intervals, because no sample has both labels; add pairs")
    return {name: values[usable] for name, values in found.items()}, int(usable.sum())


def _estimate(value: float, samples: Floats, level: float) -> Estimate:
    low, high = np.quantile(samples, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(float(value), float(low), float(high))


def _two_sided(differences: Floats) -> float:
    """Return the two-sided bootstrap p-value, which is never 0 because the number of samples is finite."""
    fewer = min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    return min(1.0, 2 * (fewer + 1) / (len(differences) + 1))


def _permutation(
    y: NDArray[np.int64], a: Floats, b: Floats, groups: Sequence[Hashable] | None, samples: int, seed: int
) -> dict[str, float]:
    members, count = _members(len(y), groups)
    rng = np.random.default_rng((seed, 1))
    valid = y == 1
    effect = np.where(valid, (b - a) / valid.sum(), -(b - a) / (~valid).sum())
    ranks = np.stack([_average_ranks(a), _average_ranks(b)])
    _, levels = np.unique(ranks, return_inverse=True)
    levels = levels.reshape(ranks.shape)
    observed = {"separation": effect.sum(), "auc": np.diff(_aucs(levels, valid))[0]}
    extreme = dict.fromkeys(observed, 0)
    size = max(1, _CHUNK // (2 * len(y)))
    for start in range(0, samples, size):
        rows = min(size, samples - start)
        swapped = rng.integers(0, 2, size=(rows, count), dtype=np.int8)[:, members] == 1
        one, two = np.where(swapped, levels[1], levels[0]), np.where(swapped, levels[0], levels[1])
        drawn = {
            "separation": np.where(swapped, -effect, effect).sum(axis=1),
            "auc": _aucs(two, valid) - _aucs(one, valid),
        }
        for name, values in drawn.items():  # the tolerance allows for rounding errors
            extreme[name] += int((np.abs(values) >= abs(observed[name]) - 1e-12).sum())
    return {name: (times + 1) / (samples + 1) for name, times in extreme.items()}


def _average_ranks(scores: Floats) -> Floats:
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks: Floats = (ends - (counts - 1) / 2)[inverse]
    return ranks


def _aucs(levels: NDArray[np.intp], valid: NDArray[np.bool_]) -> Floats:
    """Return the AUC of each row of ``levels``, which contains the zero-based ranks of the scores."""
    rows, width = levels.shape[0], int(levels.max()) + 1
    places = levels + np.arange(rows)[:, None] * width

    def counted(chosen: NDArray[np.bool_]) -> Floats:
        counts = np.bincount(places[:, chosen].ravel(), minlength=rows * width)
        return counts.reshape(rows, width).astype(np.float64)

    positives, negatives = counted(valid), counted(~valid)
    below = np.cumsum(negatives, axis=1) - negatives
    areas: Floats = (positives * (below + negatives / 2)).sum(axis=1) / (valid.sum() * (~valid).sum())
    return areas
