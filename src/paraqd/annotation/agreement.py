"""Do two annotators agree, beyond what chance would give: Cohen's κ."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from paraqd.evaluation.errors import EvaluationError

# Landis and Koch (1977): the words under which κ is usually reported, each up to its bound
_WORDS = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"))


@dataclass(frozen=True)
class Agreement:
    """How far two annotators agree on the same ``n`` items.

    ``observed`` is the share of items with the same label, ``expected`` the share that chance gives to two
    annotators who use the labels as often as these. ``table[i][j]`` counts the items to which the first
    gave ``categories[i]`` and the second ``categories[j]``. ``low`` and ``high`` bound κ's interval.
    ``kappa`` is None where it is not defined (see `cohen_kappa`); so is the interval then.
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
        """What Landis and Koch (1977) call this κ; the paper's 0.79 is "substantial"."""
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

    κ = (observed - expected) / (1 - expected): 1 is full agreement, 0 is no more than chance. The interval
    is κ ± z·s with the large-sample variance of Fleiss, Cohen and Everitt (1969), cut at -1 and 1; it is too
    narrow for a few dozen items, and of width 0 where no item is in dispute.

    Where both gave one and the same label to every item, chance alone gives full agreement and κ is 0/0:
    it is None then, not 1, for such items tell nothing. Where only one of them gave a single label, κ is 0.

    >>> cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0]).kappa
    0.5
    >>> cohen_kappa([1, 1, 1], [1, 1, 1]).kappa is None
    True
    """
    if len(first) != len(second):
        raise EvaluationError(
            f"the annotators labelled {len(first)} and {len(second)} items; they must be the same items"
        )
    if not first:
        raise EvaluationError("no item has a label of both annotators: there is nothing to compare")
    if not 0 < confidence < 1:
        raise EvaluationError(f"confidence {confidence} is not between 0 and 1")
    table = _table(first, second, categories)
    n = int(table.sum())
    shares = table / n
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed, expected = float(np.trace(shares)), float(rows @ columns)
    kappa = low = high = None
    # counted in whole numbers: a product of shares can miss 1 by a rounding error
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
    for item, (a, b) in enumerate(zip(first, second, strict=True), start=1):
        for label in (a, b):
            if label not in index:
                known = " or ".join(str(category) for category in categories)
                raise EvaluationError(f"item {item} has the label {label!r}; it must be {known}")
        table[index[a], index[b]] += 1
    return table


def _standard_error(shares: np.ndarray, kappa: float, expected: float, n: int) -> float:
    """Return κ's large-sample standard error, as Fleiss, Cohen and Everitt (1969) give it."""
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    diagonal = np.diag(shares)
    agreeing = float(diagonal @ (1 - (rows + columns) * (1 - kappa)) ** 2)
    crossed = (columns[:, None] + rows[None, :]) ** 2  # of cell (i, j): the second's use of i, the first's of j
    differing = (1 - kappa) ** 2 * float((shares * crossed).sum() - diagonal @ np.diag(crossed))
    variance = (agreeing + differing - (kappa - expected * (1 - kappa)) ** 2) / (n * (1 - expected) ** 2)
    return float(np.sqrt(max(variance, 0.0)))
