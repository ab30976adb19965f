"""Turn a score into a decision: valid, invalid, or to be reviewed by a person."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from paraqd.errors import ArgumentError
from paraqd.parameters import named
from paraqd.scoring.signature import parts_of


class Decision(StrEnum):
    """The decision on a pair. Other programs rely on the values."""

    VALID = "valid"
    INVALID = "invalid"
    REVIEW = "review"  # the score is too uncertain: a person should decide


@dataclass(frozen=True, slots=True)
class Band:
    """A range of scores, with both ends, in which a person should decide.

    >>> Band.parse("0.2, 0.8")
    Band(low=0.2, high=0.8)
    >>> str(Band(0.2, 0.8)), 0.8 in Band(0.2, 0.8), 0.81 in Band(0.2, 0.8)
    ('0.2,0.8', True, False)
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not -1 <= self.low <= self.high <= 1:  # this condition also rejects NaN
            raise ArgumentError(
                f"the band from {self.low:g} to {self.high:g} cannot be used: pass two numbers from -1 to 1, the lower "
                "one first"
            )

    @classmethod
    def parse(cls, text: str) -> Band:
        """Return the band that a text such as ``0.2,0.8`` describes.

        Raises
        ------
        ArgumentError
            If the text does not describe a band.

        """
        try:
            low, high = (float(part) for part in text.split(","))
        except ValueError:
            raise ArgumentError(
                f"{text!r} is not a band: write two numbers from -1 to 1 with a comma between them, such as 0.2,0.8"
            ) from None
        return cls(low, high)

    def __contains__(self, score: float) -> bool:
        return self.low <= score <= self.high

    def __str__(self) -> str:
        return f"{self.low:g},{self.high:g}"


def decide(score: float, threshold: float, band: Band | None = None) -> Decision:
    """Return the decision on a pair with the given score.

    >>> [str(decide(score, 0.5, Band(0.2, 0.8))) for score in (-0.4, 0.2, 0.6, 0.9)]
    ['invalid', 'review', 'review', 'valid']
    >>> str(decide(0.6, 0.5))
    'valid'

    Raises
    ------
    ArgumentError
        If the score is not a finite number.

    """
    if not math.isfinite(score):
        raise ArgumentError(f"the score {score} is not a number: score the pair again")
    if band is not None and score in band:
        return Decision.REVIEW
    return Decision.VALID if score > threshold else Decision.INVALID


# --- the measured bands -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MeasuredBand:
    """A band that was measured for one model and judge, which a signature names by ``model`` and ``judge``."""

    model: str
    judge: str
    band: Band


# Measured on validation data with bench/review_bands.py: at least 95 % of the pairs outside the band are right. The
# hashes belong to the measured weights; other weights need another measurement. The model `reading` has no band:
# none leaves it a useful share of the pairs of which 95 % are right.
_DEFAULT, _LARGE = "default@92d6b53b", "paraqd-judge-lm@35065e0d"
BANDS = (
    MeasuredBand(_DEFAULT, "", Band(-0.671, 0.891)),  # the small judge alone
    MeasuredBand(_DEFAULT, f"cascade:{_LARGE}", Band(-0.508, 0.836)),
    MeasuredBand(_DEFAULT, f"large:{_LARGE}", Band(-0.413, 0.805)),
)


# what a caller can ask for: the measured band (True), a band, its two ends, a text such as "0.2,0.8", or no band
Review = bool | str | Band | Sequence[float] | None


class Signed(Protocol):
    """Anything with a signature, such as a `Scorer` or a `Verdict`."""

    @property
    def signature(self) -> str:
        """One line that names the model and the settings."""


def default_band(signature_or_scorer: str | Signed) -> Band | None:
    """Return the measured band for a shipped model, or None for another model.

    >>> default_band("paraqd:1|model:mine@01234567|mode:fused|threshold:0.5") is None
    True
    """
    line = signature_or_scorer if isinstance(signature_or_scorer, str) else signature_or_scorer.signature
    parts = parts_of(line)
    if parts.get("mode") != "fused":
        return None
    wanted = parts.get("model"), parts.get("judge", "")
    return next((each.band for each in BANDS if (each.model, each.judge) == wanted), None)


def band_for(review: Review, scorer: str | Signed, threshold: float) -> Band | None:
    """Return the band that a parameter ``review`` asks for, or None if it does not ask for a band.

    Parameters
    ----------
    review : bool, str, Band or sequence of float, optional
        True for the measured band of the model, a band, its two ends, or a text such as ``0.2,0.8``.
    scorer : str or Scorer
        The scorer or its signature, which names the model.
    threshold : float
        The threshold, which must lie in the band.

    Raises
    ------
    ArgumentError
        If no band was measured for the model, or the threshold lies outside the band.

    """
    example = named("review", "LOW,HIGH")
    if review is None or review is False:
        return None
    if review is True:
        measured = default_band(scorer)
        if measured is None:
            raise ArgumentError(f"no band for review was measured for this model: pass {example}, such as 0.2,0.8")
        if threshold not in measured:
            raise ArgumentError(
                f"the threshold {threshold:g} lies outside the measured band for review, {measured}: pass {example}"
            )
        return measured
    if isinstance(review, str):
        band = Band.parse(review)
    elif isinstance(review, Band):
        band = review
    elif isinstance(review, Sequence) and len(review) == 2:
        band = Band(*(float(end) for end in review))
    else:
        raise ArgumentError(f"{review!r} is not a band for review: pass True or two numbers, such as (0.2, 0.8)")
    if threshold not in band:
        raise ArgumentError(
            f"the band for review, {band}, does not contain the threshold {threshold:g}: choose a band around it"
        )
    return band
