"""Measure the agreement of two annotators beyond chance: Cohen's κ."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from paraqd.evaluation.errors import EvaluationError

# the usual words for κ, each up to its bound: Landis and Koch (1977)
_WORDS = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"))


@dataclass(frozen=True)
class Agreement:
    """The agreement of two annotators on the same ``n`` pairs.

    Attributes
    ----------
    kappa, low, high : float or None
        Cohen's κ and its interval; None if κ is not defined (see `cohen_kappa`).
    observed : float
        The share of pairs with the same label.
    expected : float
        The share that would agree by chance if both annotators used each label as often as they did.
    table : tuple of tuples
        ``table[i][j]`` counts the pairs that the first labelled ``categories[i]`` and the second ``categories[j]``.

    """

    n: int
    kappa: float | None
    low: float | None
    high: float | None
    confidence: float
    observed: float
    expected: float
    categories: tuple[Any, ...]
    table: tuple[tuple[int, ...], ...]

    @property
    def word(self) -> str:
        """The word of Landis and Koch (1977) for this κ; the paper's 0.79 is "substantial"."""
        if self.kappa is None:
            return "not defined"
        if self.kappa < 0:
            return "poor"
        return next((word for bound, word in _WORDS if self.kappa <= bound), "almost perfect")

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**asdict(self), "word": self.word}


def cohen_kappa(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    *,
    categories: Sequence[Hashable] = (0, 1),
    confidence: float = 0.95,
) -> Agreement:
    """Return Cohen's κ of two annotators' labels with its asymptotic interval.

    κ = (observed - expected) / (1 - expected): 1 is full agreement, 0 is no more than chance. The interval is κ ± z·s
    with the large-sample variance of Fleiss, Cohen and Everitt (1969), cut at -1 and 1. It is too narrow for a few
    dozen pairs, and its width is 0 if the annotators agree on all pairs.

    If both annotators gave the same single label to every pair, κ is 0/0. It is None then and not 1, because such pairs
    say nothing about agreement. If only one of them used a single label, κ is 0.

    >>> cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0]).kappa
    0.5
    >>> cohen_kappa([1, 1, 1], [1, 1, 1]).kappa is None
    True
    """
    if len(first) != len(second):
        raise EvaluationError(
            f"the annotators labelled {len(first)} and {len(second)} pairs; they must label the same pairs"
        )
    if not first:
        raise EvaluationError("no pair has a label from both annotators; there is nothing to compare")
    if not 0 < confidence < 1:
        raise EvaluationError(f"the confidence must be between 0 and 1, not {confidence}")
    table = _table(first, second, categories)
    n = int(table.sum())
    shares = table / n
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed, expected = float(np.trace(shares)), float(rows @ columns)
    kappa = low = high = None
    # compared as whole numbers, because a product of shares can miss 1 by a rounding error
    if max(table.sum(axis=1) + table.sum(axis=0)) < 2 * n:
        kappa = (observed - expected) / (1 - expected)
        half = NormalDist().inv_cdf((1 + confidence) / 2) * _standard_error(shares, kappa, expected, n)
        low, high = max(-1.0, kappa - half), min(1.0, kappa + half)
    return Agreement(
        n=n,
        kappa=kappa,
        low=low,
        high=high,
        confidence=confidence,
        observed=observed,
        expected=expected,
        categories=tuple(categories),
        table=tuple(tuple(int(count) for count in row) for row in table),
    )


def _table(first: Sequence[Hashable], second: Sequence[Hashable], categories: Sequence[Hashable]) -> np.ndarray:
    index = {category: i for i, category in enumerate(categories)}
    table = np.zeros((len(index), len(index)), dtype=np.int64)
    for number, (a, b) in enumerate(zip(first, second, strict=True), start=1):
        for label in (a, b):
            if label not in index:
                known = " or ".join(str(category) for category in categories)
                raise EvaluationError(f"pair {number} has the label {label!r}; it must be {known}")
        table[index[a], index[b]] += 1
    return table


def _standard_error(shares: np.ndarray, kappa: float, expected: float, n: int) -> float:
    """Return the large-sample standard error of κ by Fleiss, Cohen and Everitt (1969)."""
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    diagonal = np.diag(shares)
    agreeing = float(diagonal @ (1 - (rows + columns) * (1 - kappa)) ** 2)
    crossed = (
        columns[:, None] + rows[None, :]
    ) ** 2  # cell (i, j): how often the second uses i, plus how often the first uses j
    differing = (1 - kappa) ** 2 * float((shares * crossed).sum() - diagonal @ np.diag(crossed))
    variance = (agreeing + differing - (kappa - expected * (1 - kappa)) ** 2) / (n * (1 - expected) ** 2)
    return float(np.sqrt(max(variance, 0.0)))
