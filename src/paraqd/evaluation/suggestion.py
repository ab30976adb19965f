"""Suggest a threshold and a band for review from the decisions of a person."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import ceil, floor, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.evaluation.calibration import probabilities
from paraqd.evaluation.errors import EvaluationError
from paraqd.evaluation.weighted import Floats, checked
from paraqd.scoring.decisions import Band
from paraqd.scoring.verdict import THRESHOLD, score_of

RIGHT = 0.95
LEAST, LEAST_OF_EACH = 30, 5  # decisions in all, and of each kind, below which nothing is suggested
FEW = 200  # with fewer decisions, a note says how uncertain the suggestion is
FOLDS = 10
_LEAST_OUTSIDE, _LEAST_SHARE_OUTSIDE = 10, 0.1  # a band that leaves fewer pairs to the model is of no use
_SEED = 3407
_TINY = 1e-6
_DECIMALS = 3
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Suggestion:
    """A suggested threshold and band, and what they would have changed.

    Attributes
    ----------
    threshold : float
        The suggested threshold; the current one if the decisions do not clearly ask for another.
    band : Band, optional
        The suggested band for review. None if no band is needed or none helps; ``note`` says which.
    decided, accepted : int
        The number of decisions, and how many of them accept the pair.
    right_before : float
        The share of decisions that the current threshold gets right.
    right_after : float
        The share of decisions outside the band that the suggestion gets right. Each decision is compared with a
        suggestion from other decisions, so that the share is not too favourable.
    review_share : float
        The share of pairs inside the band, measured in the same way.
    note : str
        Sentences that say how far the suggestion can be trusted.
    current : float
        The current threshold.
    interval_before, interval_after : tuple of (low, high)
        The 95 % intervals of the two shares.
    enough : bool
        False if there are too few decisions, so that nothing is suggested.

    """

    threshold: float
    band: Band | None
    decided: int
    accepted: int
    right_before: float
    right_after: float
    review_share: float
    note: str
    current: float = THRESHOLD
    interval_before: tuple[float, float] = (0.0, 1.0)
    interval_after: tuple[float, float] = (0.0, 1.0)
    enough: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return the suggestion as a JSON-serialisable dictionary."""
        return {
            "threshold": self.threshold,
            "band": None if self.band is None else [self.band.low, self.band.high],
            "enough": self.enough,
            "decided": self.decided,
            "accepted": self.accepted,
            "rejected": self.decided - self.accepted,
            "current_threshold": self.current,
            "right_before": self.right_before,
            "right_before_interval": list(self.interval_before),
            "right_after": self.right_after,
            "right_after_interval": list(self.interval_after),
            "review_share": self.review_share,
            "note": self.note,
        }


def suggest(
    scores: Sequence[float],
    accepted: Sequence[bool],
    *,
    right: float = RIGHT,
    current: float = THRESHOLD,
    groups: Sequence[Hashable] | None = None,
) -> Suggestion:
    """Suggest a threshold and a band for review from decided pairs.

    The threshold moves only if the decisions clearly ask for it, and then only as far as needed. The band is the
    narrowest one around the threshold outside which the share ``right`` of the decisions is right.

    Parameters
    ----------
    scores : sequence of float
        The scores of the pairs, from -1 to 1.
    accepted : sequence of bool
        True for each pair that a person accepted.
    right : float
        The share of the pairs outside the band that should be right.
    current : float
        The current threshold.
    groups : sequence, optional
        The group of each pair, such as its question. A group is never divided when the suggestion is measured.

    Raises
    ------
    EvaluationError
        If there are no decisions, or a value cannot be used.

    Examples
    --------
    >>> scores = [0.95, 0.9, 0.7, 0.3, -0.2, -0.9] * 20
    >>> found = suggest(scores, [True, True, False, False, False, False] * 20)
    >>> 0.7 <= found.threshold < 0.9, found.band, found.right_before < found.right_after
    (True, None, True)
    >>> suggest([0.9, 0.1], [True, False]).enough
    False

    """
    if not 0.5 < right < 1:
        raise EvaluationError(f"the share of right decisions must be between 0.5 and 1, not {right:g}")
    if not -1 <= current <= 1:
        raise EvaluationError(f"the threshold must be a number from -1 to 1, not {current:g}")
    labels, s = checked([int(each) for each in accepted], scores, one_class=True)
    x, y, n = _log_odds(s), labels == 1, len(s)
    start = float(_log_odds(np.array([current]))[0])
    good = int(((s > current) == y).sum())
    counts = int(y.sum()), n - int(y.sum())
    before, interval = good / n, wilson(good, n)
    if n < LEAST or min(counts) < LEAST_OF_EACH:
        note = (
            f"{n:,} decisions ({counts[0]:,} accept, {counts[1]:,} reject) are too few for a suggestion: decide about "
            f"at least {LEAST} pairs, with at least {LEAST_OF_EACH} of each kind."
        )
        return Suggestion(current, None, n, counts[0], before, before, 0.0, note, current, interval, interval, False)
    cut, width = _fit(x, y, start, right)
    threshold = current if cut == start else _rounded(cut, x)
    outside, correct = _held_out(x, y, start, right, groups)
    kept, ok = int(outside.sum()), int((outside & correct).sum())
    after = ok / kept if kept else 0.0
    found = wilson(ok, kept)
    band = _band(cut, width, threshold) if 0 < width < np.inf else None
    note = _note(n, right, width, moved=threshold != current, after=after, interval=found)
    share = 1 - kept / n
    return Suggestion(threshold, band, n, counts[0], before, after, share, note, current, interval, found)


def narrowest_band(
    scores: Sequence[float] | Floats,
    accepted: Sequence[bool] | Bools,
    threshold: float = THRESHOLD,
    *,
    right: float = RIGHT,
    weights: Floats | None = None,
) -> Band | None:
    """Return the narrowest band around a threshold outside which a share of the pairs is right.

    The band reaches equally far to both sides of the threshold, in log-odds: if the scores are calibrated, no other
    band leaves fewer pairs for review. Return None if no band helps. If no band is needed, its two ends are the
    threshold.

    >>> narrowest_band([0.9, 0.6, 0.4, -0.5] * 10, [True, False, True, False] * 10)
    Band(low=0.2, high=0.6)
    """
    x = _log_odds(np.asarray(scores, dtype=np.float64))
    cut = float(_log_odds(np.array([threshold]))[0])
    correct = (x > cut) == np.asarray(accepted, dtype=bool)
    width = _width(np.abs(x - cut), correct, right, np.ones(len(x)) if weights is None else weights)
    return None if width == np.inf else _band(cut, width, threshold) if width else Band(threshold, threshold)


def wilson(good: int, n: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a share.

    >>> [round(end, 3) for end in wilson(9, 10)]
    [0.596, 0.982]
    >>> wilson(0, 0)
    (0.0, 1.0)
    """
    if not n:
        return 0.0, 1.0
    z, share = 1.959964, good / n
    middle, spread = share + z * z / (2 * n), z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, (middle - spread) / (1 + z * z / n)), min(1.0, (middle + spread) / (1 + z * z / n))


def _log_odds(scores: Floats) -> Floats:
    p = np.clip(probabilities(scores), _TINY, 1 - _TINY)
    found: Floats = np.log(p / (1 - p))
    return found


def _score(log_odds: float) -> float:
    return score_of(1 / (1 + float(np.exp(-log_odds))))


def _fit(x: Floats, y: Bools, start: float, right: float) -> tuple[float, float]:
    """Return the suggested threshold and the half width of the band, both as log-odds.

    The width is 0 if no band is needed and infinite if no band helps.
    """
    cut = _cut(x, y, start)
    return cut, _width(np.abs(x - cut), (x > cut) == y, right, np.ones(len(x)))


def _cut(x: Floats, y: Bools, start: float) -> float:
    """Return the threshold: the nearest to ``start`` that is not clearly worse than the best one.

    Two thresholds differ only in the pairs between them. If ``d`` pairs lie between them and the differences are due to
    chance, the difference in right pairs has a standard deviation of at most the root of ``d``. The threshold stays if
    the best one is less than two deviations better; otherwise it moves to within one deviation of the best.
    """
    levels = np.unique(x)
    cuts = np.concatenate(((levels[:-1] + levels[1:]) / 2, [start]))
    order = np.argsort(x, kind="stable")
    rejected = np.searchsorted(x[order], cuts, side="right")
    accepts_below = np.concatenate(([0], np.cumsum(y[order])))[rejected]
    correct = (rejected - accepts_below) + (y.sum() - accepts_below)
    away = np.abs(cuts - start)
    best = min(np.flatnonzero(correct == correct.max()), key=lambda i: away[i])
    net, between = correct[best] - correct, np.abs(rejected - rejected[best])
    if net[-1] < 2 * np.sqrt(between[-1]) or not net[-1]:
        return start
    near = np.flatnonzero(net <= np.sqrt(between))
    return float(cuts[min(near, key=lambda i: away[i])])


def _width(away: Floats, correct: Bools, right: float, weights: Floats) -> float:
    """Return the smallest half width of a band outside which the share ``right`` of the weight is right."""
    order = np.argsort(-away, kind="stable")
    total, good = np.cumsum(weights[order]), np.cumsum((weights * correct)[order])
    last = np.append(np.diff(away[order]) != 0, True)  # pairs that are equally far are inside or outside together
    count = np.arange(1, len(away) + 1)
    enough = (count >= _LEAST_OUTSIDE) & (total >= _LEAST_SHARE_OUTSIDE * total[-1])
    found = np.flatnonzero(last & enough & (good >= right * total))
    if not len(found):
        return float("inf")
    widest = int(found[-1])  # the most pairs outside
    return 0.0 if widest == len(away) - 1 else float(away[order[widest + 1]])


def _held_out(
    x: Floats, y: Bools, start: float, right: float, groups: Sequence[Hashable] | None
) -> tuple[Bools, Bools]:
    """Say for each pair, with a suggestion from the other folds, if it is outside the band and if it is right."""
    names = list(range(len(x))) if groups is None else list(groups)
    numbers = {name: place for place, name in enumerate(dict.fromkeys(names))}
    fold_of = np.random.default_rng(_SEED).permutation(len(numbers)) % FOLDS
    folds = fold_of[[numbers[name] for name in names]]
    outside, correct = np.zeros(len(x), dtype=bool), np.zeros(len(x), dtype=bool)
    for fold in range(FOLDS):
        here = folds == fold
        if here.all() or not here.any():
            continue
        cut, width = _fit(x[~here], y[~here], start, right)
        width = 0.0 if width == np.inf else width  # no band is suggested if none helps
        outside[here] = (np.abs(x[here] - cut) > width) | (width == 0)
        correct[here] = (x[here] > cut) == y[here]
    return outside, correct


def _rounded(cut: float, x: Floats) -> float:
    """Return a threshold with as few decimals as decide all pairs alike."""
    score = _score(cut)
    for decimals in range(1, 7):
        short = round(score, decimals)
        if -1 <= short <= 1 and np.array_equal(x > _log_odds(np.array([short]))[0], x > cut):
            return short
    return score


def _band(cut: float, width: float, threshold: float) -> Band:
    """Return the band with ends that are rounded outwards."""
    low, high, scale = _score(cut - width), _score(cut + width), 10**_DECIMALS
    low, high = floor(round(low * scale, 6)) / scale, ceil(round(high * scale, 6)) / scale
    return Band(max(-1.0, min(low, threshold)), min(1.0, max(high, threshold)))


def _note(n: int, right: float, width: float, *, moved: bool, after: float, interval: tuple[float, float]) -> str:
    low, high = interval
    lines = []
    if not moved:
        lines.append("The decisions do not clearly ask for another threshold.")
    if width == 0:
        lines.append(f"No band is needed: at least {right:.0%} is right without one.")
    elif width == np.inf:
        lines.append(
            f"No useful band gets {right:.0%} of the rest right: the scores and these decisions differ too often."
        )
    if n < FEW:
        lines.append(
            f"There are only {n:,} decisions: on other pairs, the share that is right may lie anywhere from {low:.0%} "
            f"to {high:.0%}. Decide about more pairs to know it better."
        )
    elif after < right and width != np.inf:
        lines.append(f"On decisions that were left out, {after:.1%} is right, less than the {right:.0%} aimed for.")
    return " ".join(lines)
