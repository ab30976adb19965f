"""Compute the metrics of one set of scores, with the F1 of the paper and of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from paraqd.evaluation.errors import EvaluationError
from paraqd.evaluation.weighted import METRICS, Labels, Scores, checked, lay_out, statistics
from paraqd.scoring.verdict import THRESHOLD

__all__ = ["EvaluationError", "Metrics", "evaluate"]

Confusion = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class Metrics:
    """The result of `evaluate`.

    ``macro_*`` averages over the two classes, and ``weighted_*`` weighs them by their size. ``*_f1`` is the average of
    the F1 of both classes, as in scikit-learn. ``*_f1_paper`` is the harmonic mean of the averaged precision and the
    averaged recall, as in the paper. ``mu_pos`` and ``mu_neg`` (the paper's μ+ and μ-) are the mean scores of valid
    and invalid pairs, ``separation`` (μs) their difference. ``confusion`` has a row for each true label and a column
    for each decision, 0 first.
    """

    n: int
    macro_p: float
    macro_r: float
    macro_f1: float
    macro_f1_paper: float
    weighted_p: float
    weighted_r: float
    weighted_f1: float
    weighted_f1_paper: float
    mu_pos: float
    mu_neg: float
    separation: float
    auc: float
    average_precision: float
    accuracy: float
    confusion: Confusion
    threshold: float

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics as plain data for JSON."""
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**data, "confusion": [list(row) for row in self.confusion]}


def evaluate(labels: Labels, scores: Scores, *, threshold: float = THRESHOLD) -> Metrics:
    """Compare scores with labels; a pair is accepted if its score is greater than ``threshold``.

    Parameters
    ----------
    labels
        1 (valid) or 0 (invalid) for each pair; both are required.
    scores
        A finite number for each pair; a higher score is more valid.
    threshold
        A pair with exactly this score is not accepted.

    Raises
    ------
    EvaluationError
        If there are other labels, scores that are not finite, no pairs, unequal lengths, or only one class.

    Examples
    --------
    >>> found = evaluate([1, 1, 0, 0], [0.9, 0.4, 0.6, -0.8])
    >>> found.confusion, found.auc, round(found.separation, 3)
    (((1, 1), (1, 1)), 0.75, 0.75)
    """
    y, s = checked(labels, scores)
    found = statistics(lay_out(y, s, threshold=threshold), np.ones((1, len(y))))
    tn, fp, fn, tp = (int(found[cell][0]) for cell in ("tn", "fp", "fn", "tp"))
    values = {name: float(found[name][0]) for name in METRICS}
    return Metrics(n=len(y), confusion=((tn, fp), (fn, tp)), threshold=threshold, **values)
