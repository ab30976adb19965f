"""Compute all metrics for many weightings of the same pairs at once.

A bootstrap sample consists of the same pairs with weights that count how often each pair was drawn. The same code
therefore computes the metrics of all pairs (with all weights equal to 1) and of bootstrap samples. The pairs are sorted
by score only once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.evaluation.errors import EvaluationError

Floats = NDArray[np.float64]
Labels = Sequence[Any] | NDArray[Any]
Scores = Sequence[float] | NDArray[Any]

METRICS = (
    "macro_p",
    "macro_r",
    "macro_f1",
    "macro_f1_paper",
    "weighted_p",
    "weighted_r",
    "weighted_f1",
    "weighted_f1_paper",
    "mu_pos",
    "mu_neg",
    "separation",
    "auc",
    "average_precision",
    "accuracy",
)
_CELLS = ("tn", "fp", "fn", "tp")


@dataclass(frozen=True)
class Layout:
    """Pairs sorted by score, with their labels, scores and decisions.

    ``order`` contains the original indices of the sorted pairs. ``starts`` contains the index at which each group of
    equal scores starts.
    """

    order: NDArray[np.intp]
    labels: Floats
    scores: Floats
    accepted: Floats
    starts: NDArray[np.intp]


def checked(labels: Labels, scores: Scores, *, one_class: bool = False) -> tuple[NDArray[np.int64], Floats]:
    """Return labels and scores as arrays; raise an EvaluationError if they cannot be evaluated.

    If ``one_class`` is True, all pairs may have the same label.
    """
    if len(labels) != len(scores):
        raise EvaluationError(
            f"there are {len(labels):,} labels but {len(scores):,} scores; pass one score for each label"
        )
    if not len(labels):
        raise EvaluationError("there are no pairs to evaluate; pass at least one valid and one invalid pair")
    for row, label in enumerate(labels, start=1):
        if isinstance(label, str) or label not in (0, 1):
            raise EvaluationError(f"pair {row} has the label {label!r}; a label must be 1 (valid) or 0 (invalid)")
    for row, score in enumerate(scores, start=1):
        if isinstance(score, str) or score is None or not isfinite(score):
            raise EvaluationError(f"pair {row} has the score {score!r}; a score must be a finite number")
    y = np.asarray(labels).astype(np.int64)
    if not one_class and y.min() == y.max():
        name = "valid (1)" if y[0] else "invalid (0)"
        raise EvaluationError(
            f"all {len(y):,} pairs are labelled {name}; an evaluation needs both labels, so add pairs with the other "
            "label"
        )
    return y, np.asarray(scores, dtype=np.float64)


def lay_out(labels: NDArray[np.int64], scores: Floats, *, threshold: float) -> Layout:
    """Sort the pairs by score, and accept each pair whose score is greater than the threshold."""
    if not isfinite(threshold):
        raise EvaluationError(f"the threshold must be a finite number, not {threshold}")
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    return Layout(
        order=order,
        labels=labels[order].astype(np.float64),
        scores=ordered,
        accepted=(ordered > threshold).astype(np.float64),
        starts=starts,
    )


def statistics(layout: Layout, weights: Floats) -> dict[str, Floats]:
    """Return arrays of all metrics and of the cells of the confusion matrix, with a value for each row of weights.

    ``weights`` has a row for each weighting and a column for each pair in the original order. If all pairs in a class
    have weight 0, the metrics that need both classes are NaN.
    """
    weights = weights[:, layout.order]
    found = _decisions(layout, weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        positives, negatives = found["tp"] + found["fn"], found["tn"] + found["fp"]
        found["mu_pos"] = weights @ (layout.scores * layout.labels) / positives
        found["mu_neg"] = weights @ (layout.scores * (1 - layout.labels)) / negatives
        found["separation"] = found["mu_pos"] - found["mu_neg"]
        valid = np.add.reduceat(weights * layout.labels, layout.starts, axis=1)
        invalid = np.add.reduceat(weights * (1 - layout.labels), layout.starts, axis=1)
        below = np.cumsum(invalid, axis=1) - invalid
        found["auc"] = (valid * (below + invalid / 2)).sum(axis=1) / (positives * negatives)
        # average the precision at each score, from the highest score down, weighted by the increase in recall
        valid, invalid = valid[:, ::-1], invalid[:, ::-1]
        above = np.cumsum(valid, axis=1)
        precision = _ratio(above, above + np.cumsum(invalid, axis=1))
        found["average_precision"] = (precision * valid).sum(axis=1) / positives
    return found


def _decisions(layout: Layout, weights: Floats) -> dict[str, Floats]:
    """Return the cells of the confusion matrix and the metrics that depend only on the decisions."""
    y, accepted = layout.labels, layout.accepted
    masks = np.stack([(1 - y) * (1 - accepted), (1 - y) * accepted, y * (1 - accepted), y * accepted], axis=1)
    tn, fp, fn, tp = (weights @ masks).T
    return from_counts(tn, fp, fn, tp)


def from_counts(tn: Floats, fp: Floats, fn: Floats, tp: Floats) -> dict[str, Floats]:
    """Return the cells of a confusion matrix and the metrics computed from them; 0/0 counts as 0.

    ``*_f1`` is the mean of the classes' F1 values, and ``*_f1_paper`` is the harmonic mean of the mean precision and
    the mean recall.

    >>> found = from_counts(*np.array([200.0, 101.0, 10.0, 129.0]))
    >>> round(float(found["macro_f1_paper"]), 3), round(float(found["macro_f1"]), 3)
    (0.776, 0.741)
    """
    total = tn + fp + fn + tp
    share = _ratio(fn + tp, total)
    precision = _ratio(tn, tn + fn), _ratio(tp, tp + fp)
    recall = _ratio(tn, tn + fp), _ratio(tp, tp + fn)
    f1 = _ratio(2 * tn, 2 * tn + fn + fp), _ratio(2 * tp, 2 * tp + fp + fn)
    found = dict(zip(_CELLS, (tn, fp, fn, tp), strict=True))
    for average, of_valid in (("macro", np.full_like(share, 0.5)), ("weighted", share)):
        p, r, f = (invalid * (1 - of_valid) + valid * of_valid for invalid, valid in (precision, recall, f1))
        found |= {f"{average}_p": p, f"{average}_r": r, f"{average}_f1": f}
        found[f"{average}_f1_paper"] = _ratio(2 * p * r, p + r)
    found["accuracy"] = _ratio(tn + tp, total)
    return found


def _ratio(above: Floats, below: Floats) -> Floats:
    """Return ``above / below``, or 0 where ``below`` is 0."""
    above, below = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    return np.divide(above, below, out=np.zeros_like(below), where=below != 0)
