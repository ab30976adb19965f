"""Measure the agreement between two annotators with Cohen's κ, which corrects for agreement by chance."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from paraqd.evaluation.errors import EvaluationError

# the terms of Landis and Koch (1977) for values of κ up to each bound
_WORDS = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"))


@dataclass(frozen=True)
class Agreement:
    """The agreement between two annotators on the same ``n`` pairs.

    Attributes
    ----------
    kappa, low, high : float or None
        Cohen's κ and the bounds of its interval, or None if κ is not defined (see `cohen_kappa`).
    observed : float
        The share of pairs to which both annotators assigned the same label.
    expected : float
        The share of pairs on which the annotators would agree by chance, given how often each of them used each label.
    table : tuple of tuples
        The contingency table. ``table[i][j]`` is the number of pairs that the first annotator labelled
        ``categories[i]`` and the second annotator labelled ``categories[j]``.

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
        """The term that Landis and Koch (1977) use for this κ, such as "substantial" for the paper's 0.79."""
        if self.kappa is None:
            return "not defined"
        if self.kappa < 0:
            return "poor"
        return next((word for bound, word in _WORDS if self.kappa <= bound), "almost perfect")

    def to_dict(self) -> dict[str, Any]:
        """Return the agreement as a JSON-serialisable dictionary."""
        return {**asdict(self), "word": self.word}


def cohen_kappa(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    *,
    categories: Sequence[Hashable] = (0, 1),
    confidence: float = 0.95,
) -> Agreement:
    """Compute Cohen's κ and its asymptotic interval from two annotators' labels.

    κ is (observed - expected) / (1 - expected). It is 1 for full agreement and 0 if the agreement is no better than
    chance. The interval is κ ± z·s, clipped to the range from -1 to 1, where s² is the large-sample variance of Fleiss,
    Cohen and Everitt (1969). The interval is too narrow for a few dozen pairs, and its width is 0 if the annotators
    agree on all pairs.

    If all labels of both annotators are equal, the formula evaluates to 0/0. ``kappa`` is then None rather than 1,
    because such labels are no evidence of agreement beyond chance. If all labels of only one annotator are equal, κ is
    0.

    >>> cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0]).kappa
    0.5
    >>> cohen_kappa([1, 1, 1], [1, 1, 1]).kappa is None
    True
    """
    if len(first) != len(second):
        raise EvaluationError(
            f"the annotators have {len(first)} and {len(second)} labels; pass one label from each annotator for every "
            "pair"
        )
    if not first:
        raise EvaluationError(
            "no pair has a label from both annotators, so there is nothing to compare; let both annotators label the "
            "same pairs"
        )
    if not 0 < confidence < 1:
        raise EvaluationError(f"the confidence must be between 0 and 1, not {confidence}")
    table = _table(first, second, categories)
    n = int(table.sum())
    shares = table / n
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed, expected = float(np.trace(shares)), float(rows @ columns)
    kappa = low = high = None
    # compare integers, because a product of shares can differ from 1 by a rounding error
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
    """Return the large-sample standard error of κ according to Fleiss, Cohen and Everitt (1969)."""
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    diagonal = np.diag(shares)
    agreeing = float(diagonal @ (1 - (rows + columns) * (1 - kappa)) ** 2)
    # cell (i, j): the share of label i among the second annotator's labels plus the share of label j among the first's
    crossed = (columns[:, None] + rows[None, :]) ** 2
    differing = (1 - kappa) ** 2 * float((shares * crossed).sum() - diagonal @ np.diag(crossed))
    variance = (agreeing + differing - (kappa - expected * (1 - kappa)) ** 2) / (n * (1 - expected) ** 2)
    return float(np.sqrt(max(variance, 0.0)))
