"""Measure the calibration of scores with the Brier score, the calibration error and the reliability curve."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.evaluation.errors import EvaluationError
from paraqd.evaluation.weighted import Floats, Labels, Scores, checked

BINS = 10


@dataclass(frozen=True)
class Bin:
    """A bin of pairs with similar probabilities: its bounds, mean probability and share of valid pairs."""

    low: float
    high: float
    n: int
    weight: float
    probability: float
    valid: float


@dataclass(frozen=True)
class Calibration:
    """The result of `calibrate`.

    ``ece_width`` and ``ece_mass`` are the expected calibration errors with bins of equal width and of equal weight.
    """

    brier: float
    ece_width: float
    ece_mass: float
    bins: int
    balanced: bool
    curve: tuple[Bin, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the calibration as a JSON-serialisable dictionary."""
        return asdict(self) | {"curve": [asdict(each) for each in self.curve]}


def probabilities(scores: Scores) -> Floats:
    """Convert scores to the probabilities that the pairs are valid.

    The score for a probability p is p if p ≥ 0.5, and 3p - 1 otherwise. This function inverts that formula.

    >>> probabilities([-1, -0.25, 0.5, 0.9]).tolist()
    [0.0, 0.25, 0.5, 0.9]
    """
    s = np.asarray(scores, dtype=np.float64)
    outside = np.flatnonzero(~((s >= -1) & (s <= 1)))
    if len(outside):
        raise EvaluationError(
            f"pair {outside[0] + 1} has the score {s[outside[0]]:g}; only scores from -1 to 1 can be converted to "
            "probabilities"
        )
    return np.where(s >= 0.5, s, (s + 1) / 3)


def calibrate(labels: Labels, scores: Scores, *, bins: int = BINS, balanced: bool = True) -> Calibration:
    """Measure how well the probabilities that the scores express match the labels.

    Parameters
    ----------
    bins
        The number of bins for the calibration errors and for the reliability curve, which has bins of equal width.
        Empty bins are omitted. Equal scores are always in the same bin.
    balanced
        Give both classes the same total weight, because a score expresses a probability for equally common classes. If
        False, every pair has the same weight.

    Examples
    --------
    >>> found = calibrate([1, 1, 0, 0], [1.0, 0.8, -1.0, -0.4])
    >>> round(found.brier, 4), round(found.ece_width, 2)
    (0.02, 0.1)
    """
    if bins < 1:
        raise EvaluationError(f"the number of bins must be at least 1, not {bins}")
    y, s = checked(labels, scores)
    p = probabilities(s)
    weights = np.where(y == 1, 0.5 / y.sum(), 0.5 / (len(y) - y.sum())) if balanced else np.full(len(y), 1 / len(y))
    curve = _binned(y, p, weights, _equal_width(p, bins), width=1 / bins)
    return Calibration(
        brier=float((weights * (p - y) ** 2).sum()),
        ece_width=_error(curve),
        ece_mass=_error(_binned(y, p, weights, _equal_mass(p, weights, bins))),
        bins=bins,
        balanced=balanced,
        curve=curve,
    )


def _equal_width(p: Floats, bins: int) -> NDArray[np.intp]:
    """Return the index of each pair's bin; a bin includes its lower edge, and the last bin also includes 1."""
    # adding 1e-9 prevents rounding errors from moving a value on the edge of a bin into the bin below
    return np.clip(np.floor(p * bins + 1e-9), 0, bins - 1).astype(np.intp)


def _equal_mass(p: Floats, weights: Floats, bins: int) -> NDArray[np.intp]:
    """Return the index of each pair's bin; all bins have about the same weight, and equal values share a bin."""
    _, level = np.unique(p, return_inverse=True)
    mass = np.bincount(level, weights=weights)
    middle = np.cumsum(mass) - mass / 2
    return np.clip(np.floor(middle * bins), 0, bins - 1).astype(np.intp)[level]


def _binned(
    y: NDArray[np.int64], p: Floats, weights: Floats, places: NDArray[np.intp], *, width: float | None = None
) -> tuple[Bin, ...]:
    """Summarise the non-empty bins; if ``width`` is None, a bin extends from its lowest to its highest value."""
    found = []
    for i in np.unique(places):
        inside = places == i
        weight = float(weights[inside].sum())
        low, high = (p[inside].min(), p[inside].max()) if width is None else (i * width, (i + 1) * width)
        found.append(
            Bin(
                low=round(float(low), 12),
                high=round(float(high), 12),
                n=int(inside.sum()),
                weight=weight,
                probability=float((weights * p)[inside].sum()) / weight,
                valid=float((weights * y)[inside].sum()) / weight,
            )
        )
    return tuple(found)


def _error(curve: tuple[Bin, ...]) -> float:
    return sum(each.weight * abs(each.valid - each.probability) for each in curve)
