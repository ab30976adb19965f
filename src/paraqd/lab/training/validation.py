"""Measure a bi-encoder's accuracy and separation on validation triplets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paraqd.lab.corpora.triplets import TripletSet


@dataclass(frozen=True)
class Validation:
    """The validation metrics of a bi-encoder.

    ``accuracy`` is the fraction of triplets in which the valid text is closer to the question than the invalid text.
    ``mu_pos`` is the mean cosine of valid pairs, and ``mu_neg`` is the mean cosine of invalid pairs.
    """

    triplets: int
    accuracy: float
    mu_pos: float
    mu_neg: float

    @property
    def separation(self) -> float:
        """The mean cosine of valid pairs minus the mean cosine of invalid pairs (μs in the paper)."""
        return self.mu_pos - self.mu_neg

    def to_dict(self) -> dict[str, float]:
        """Return all metrics, keyed by name."""
        return {**asdict(self), "separation": self.separation}


def validate(embed: Callable[[Sequence[str]], NDArray[np.float32]], triplets: TripletSet) -> Validation:
    """Evaluate a model on triplets. Triplets without an invalid text of their own are skipped.

    Each distinct pair counts once in the mean cosines, even if the pair occurs in several triplets.
    """
    own = triplets.triplets[triplets.triplets[:, 2] >= 0]
    if not len(own):
        raise ValueError("there are no triplets for validation")
    vectors = np.asarray(embed(triplets.texts), dtype=np.float64)

    def cosines(pairs: NDArray[np.int32]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = np.einsum("ij,ij->i", vectors[pairs[:, 0]], vectors[pairs[:, 1]])
        return found

    valid, invalid = own[:, [0, 1]], own[:, [0, 2]]
    return Validation(
        triplets=len(own),
        accuracy=float((cosines(valid) > cosines(invalid)).mean()),
        mu_pos=float(cosines(np.unique(valid, axis=0)).mean()),
        mu_neg=float(cosines(np.unique(invalid, axis=0)).mean()),
    )
