"""Find the best threshold for given labels, and measure the effect of different thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from paraqd.evaluation.weighted import Labels, Scores, checked, from_counts, lay_out
from paraqd.scoring.verdict import THRESHOLD

THRESHOLDS = (-0.9, -0.75, -0.5, -0.25, 0.0, 0.25, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class Oracle:
    """The threshold with the highest macro F1 on the given labels, and that macro F1.

    Do not report the oracle as a result, because it is chosen with the labels of the test set.
    """

    threshold: float
    macro_f1: float

    def to_dict(self) -> dict[str, Any]:
        """Return the oracle as a JSON-serialisable dictionary."""
        return asdict(self)


@dataclass(frozen=True)
class Cut:
    """The effect of a threshold: the share of pairs kept, the precision and recall of both classes, and the macro F1.

    The precision of a class is None if no pair is assigned to the class.
    """

    threshold: float
    kept: float
    precision_valid: float | None
    recall_valid: float
    precision_invalid: float | None
    recall_invalid: float
    macro_f1: float

    def to_dict(self) -> dict[str, Any]:
        """Return the effect as a JSON-serialisable dictionary."""
        return asdict(self)


def best_threshold(labels: Labels, scores: Scores) -> Oracle:
    """Return the threshold with the highest macro F1; in case of a tie, return the threshold closest to 0.5.

    >>> best_threshold([1, 1, 0, 0], [0.9, 0.7, 0.6, -0.8])
    Oracle(threshold=0.6499999999999999, macro_f1=1.0)
    """
    y, s = checked(labels, scores)
    layout = lay_out(y, s, threshold=THRESHOLD)
    levels = layout.scores[layout.starts]
    between = (levels[:-1] + levels[1:]) / 2
    between = np.where(between < levels[1:], between, levels[:-1])  # there is no float between adjacent floats
    cuts = np.concatenate(([np.nextafter(levels[0], -np.inf)], between, [levels[-1]]))
    below = np.concatenate((layout.starts, [len(y)]))  # the number of pairs rejected at each cut
    valid_below = np.concatenate(([0.0], np.cumsum(layout.labels)))[below]
    fn, tn = valid_below, below - valid_below
    found = from_counts(tn, (len(y) - y.sum()) - tn, fn, y.sum() - fn)["macro_f1"]
    best = np.flatnonzero(found >= found.max() - 1e-12)
    chosen = best[np.argmin(np.abs(cuts[best] - THRESHOLD))]
    # prefer the default threshold if it results in the same decisions
    threshold = THRESHOLD if np.array_equal(s > THRESHOLD, s > cuts[chosen]) else float(cuts[chosen])
    return Oracle(threshold, float(found[chosen]))


def threshold_table(labels: Labels, scores: Scores, *, thresholds: Sequence[float] = THRESHOLDS) -> tuple[Cut, ...]:
    """Return the effects of several thresholds.

    >>> [(cut.kept, cut.precision_valid) for cut in threshold_table([1, 0], [0.9, 0.6], thresholds=[0.5, 0.7, 0.95])]
    [(1.0, 0.5), (0.5, 1.0), (0.0, None)]
    """
    y, s = checked(labels, scores)
    rows = []
    for threshold in thresholds:
        kept = s > threshold
        tp, fp = int((kept & (y == 1)).sum()), int((kept & (y == 0)).sum())
        fn, tn = int(y.sum()) - tp, int((y == 0).sum()) - fp
        counts = (np.asarray(count, dtype=np.float64) for count in (tn, fp, fn, tp))
        rows.append(
            Cut(
                threshold=float(threshold),
                kept=float(kept.mean()),
                precision_valid=tp / (tp + fp) if tp + fp else None,
                recall_valid=tp / (tp + fn),
                precision_invalid=tn / (tn + fn) if tn + fn else None,
                recall_invalid=tn / (tn + fp),
                macro_f1=float(from_counts(*counts)["macro_f1"]),
            )
        )
    return tuple(rows)
