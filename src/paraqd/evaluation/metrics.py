"""Compute metrics from labels and scores, including F1 as defined by the paper and by scikit-learn."""

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

    The metrics ``macro_*`` are unweighted averages over the two classes, and the metrics ``weighted_*`` are averages
    weighted by class size. ``*_f1`` is the average of the two classes' F1 values, as in scikit-learn. ``*_f1_paper`` is
    the harmonic mean of the precision ``*_p`` and the recall ``*_r``, as in the paper. ``mu_pos`` and ``mu_neg`` (the
    paper's μ+ and μ-) are the mean scores of valid and invalid pairs, and ``separation`` (μs) is their difference.
    ``confusion`` has a row for each label and a column for each decision; invalid (0) comes before valid (1).
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
        """Return the metrics as a JSON-serialisable dictionary."""
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**data, "confusion": [list(row) for row in self.confusion]}


def evaluate(labels: Labels, scores: Scores, *, threshold: float = THRESHOLD) -> Metrics:
    """Compute all metrics from labels and scores.

    Parameters
    ----------
    labels
        The label of each pair: 1 (valid) or 0 (invalid). Both labels must occur.
    scores
        The score of each pair, which must be finite. Higher scores mean that a pair is more likely to be valid.
    threshold
        A pair is accepted only if its score is greater than this threshold.

    Raises
    ------
    EvaluationError
        If there are no pairs, the numbers of labels and scores differ, a label is not 0 or 1, a score is not finite, or
        all pairs have the same label.

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
