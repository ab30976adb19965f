"""Weights for the evidence: a logistic regression whose findings can only speak against a paraphrase."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from paraqd.scoring.fusion import Fusion

# what a finding weighs before any pair has told, and how many pairs that belief counts as much as: a finding too rare
# to be measured still speaks against a paraphrase
_BELIEF, _BELIEVED = -1.5, 0.5
# findings that hardly any valid pair has (of 21,000 of the training ones at most eleven, of 28,000 invalid ones up to
# 1,446): rare in validation pairs, but sure
_SURE = frozenset(
    {
        "asked_other",
        "asked_unit",
        "label_stray",
        "number_replaced",
        "order_turned",
        "ratio_cut",
        "unit_changed",
        "word_missing",
    }
)
_SURE_BELIEF, _SURELY = -4.0, 2.0
_PENALTY = 0.05  # likewise of the model's weight, which is believed to be nothing


def fit_fusion(
    features: Sequence[Sequence[str]],
    labels: Sequence[int],
    *,
    model: Sequence[float] | None = None,
    weights: Sequence[float] | None = None,
) -> Fusion:
    """Fit a fusion to labelled pairs, both classes counted alike.

    Parameters
    ----------
    features : sequence of sequence of str
        The features of each pair's findings.
    labels : sequence of int
        1 valid, 0 invalid.
    model : sequence of float, optional
        The learned model's log-odds.
    weights : sequence of float, optional
        How much each pair counts, before the classes are balanced.

    Examples
    --------
    >>> fusion = fit_fusion([[], [], ["number_lost"], []], [1, 1, 0, 0])
    >>> fusion.score([]) > 0.5 > fusion.score(["number_lost"])
    True
    """
    names = sorted({name for row in features for name in row} | _SURE)
    table = _table(features, names)
    logits = np.zeros(len(labels)) if model is None else np.asarray(model, dtype=np.float64)
    inputs = np.column_stack([table, logits])
    target = np.asarray(labels, dtype=np.float64)
    share = np.ones(len(target)) if weights is None else np.asarray(weights, dtype=np.float64)
    for label in (0, 1):
        share[target == label] /= max(share[target == label].sum(), 1e-12) * 2
    solved = _solve(inputs, target, share, [name in _SURE for name in names])
    found = {name: float(min(weight, 0.0)) for name, weight in zip(names, solved[:-2], strict=True)}
    return Fusion(float(solved[-1]), found, float(max(solved[-2], 0.0)) if model is not None else 0.0)


def _table(features: Sequence[Sequence[str]], names: Sequence[str]) -> NDArray[np.float64]:
    """Return a column for each feature, counted as `Fusion` counts it."""
    place = {name: number for number, name in enumerate(names)}
    table = np.zeros((len(features), len(names)))
    alone = Fusion(0.0, dict.fromkeys(names, -1.0))
    for row, found in enumerate(features):
        for name, count in Counter(found).items():
            table[row, place[name]] = -alone.log_odds([name] * count)
    return table


def _solve(
    inputs: NDArray[np.float64], target: NDArray[np.float64], share: NDArray[np.float64], sure: Sequence[bool]
) -> NDArray[np.float64]:
    from scipy.optimize import minimize

    columns = inputs.shape[1]
    belief = np.append(np.where(sure, _SURE_BELIEF, _BELIEF), 0.0)
    penalty = np.append(np.where(sure, _SURELY, _BELIEVED), _PENALTY) / max(len(target), 1)

    def loss(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        odds = inputs @ parameters[:-1] + parameters[-1]
        away = parameters[:-1] - belief
        value = share @ (np.logaddexp(0, odds) - target * odds) + penalty @ away**2
        slope = share * (1 / (1 + np.exp(-odds)) - target)
        gradient = np.append(inputs.T @ slope + 2 * penalty * away, slope.sum())
        return float(value), gradient

    bounds = [(None, 0.0)] * (columns - 1) + [(0.0, None), (None, None)]
    solved: NDArray[np.float64] = minimize(loss, np.zeros(columns + 1), jac=True, bounds=bounds, method="L-BFGS-B").x
    return solved
