"""Define the verdict on a pair: a score, valid or invalid, and the evidence."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from paraqd.errors import ModelError

Span = tuple[int, int]
THRESHOLD = 0.5


class EvidenceKind(StrEnum):
    """The kind of fault that a piece of evidence names; other programs rely on these names."""

    NUMBER_LOST = "number_lost"
    NUMBER_ADDED = "number_added"
    NUMBER_CHANGED = "number_changed"  # also two numbers that changed places
    UNIT_CHANGED = "unit_changed"  # also a currency
    ENTITY_CHANGED = "entity_changed"
    QUESTION_LOST = "question_lost"  # also cut off
    QUESTION_CHANGED = "question_changed"
    RELATION_CHANGED = "relation_changed"
    CONTENT_LOST = "content_lost"  # also a condition
    CONTENT_ADDED = "content_added"
    INCOHERENT = "incoherent"  # also a nonsense word


@dataclass(frozen=True, slots=True)
class Evidence:
    """A reason to doubt a paraphrase.

    Attributes
    ----------
    kind : EvidenceKind
        The kind of fault.
    question_spans, paraphrase_spans : tuple of (start, end)
        The places of the fault, in code points of the original texts; empty if a text has no such place.
    message : str
        A sentence for a person.
    delta : float
        The change of the score that this evidence caused; never above 0.

    """

    kind: EvidenceKind
    question_spans: tuple[Span, ...]
    paraphrase_spans: tuple[Span, ...]
    message: str
    delta: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the evidence as plain data, as files hold it."""
        return {**asdict(self), "kind": self.kind.value, "delta": round(self.delta, 4)}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a pair.

    Attributes
    ----------
    score : float
        From -1 to 1. 0.5 means undecided; at 0.9 about nine in ten such pairs are valid.
    valid : bool
        True if the score is above the threshold.
    evidence : tuple of Evidence
        Reasons why the score is not higher.
    signature : str
        The model and the settings that made the score, in one line.
    warnings : tuple of str
        Remarks about the texts that do not change the score.

    """

    score: float
    valid: bool
    evidence: tuple[Evidence, ...]
    signature: str
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data.

        >>> Verdict(0.25, False, (), "paraqd:0").to_dict()
        {'score': 0.25, 'valid': False, 'evidence': [], 'warnings': [], 'signature': 'paraqd:0'}
        """
        return {
            "score": self.score,
            "valid": self.valid,
            "evidence": [piece.to_dict() for piece in self.evidence],
            "warnings": list(self.warnings),
            "signature": self.signature,
        }


@dataclass(frozen=True, slots=True)
class VerdictTerms:
    """The threshold and the signature that all verdicts of a scorer share."""

    threshold: float
    signature: str

    def verdict(self, score: float, evidence: tuple[Evidence, ...] = (), warnings: tuple[str, ...] = ()) -> Verdict:
        """Return the verdict for a score.

        Raises
        ------
        ModelError
            If the score is not a finite number.

        """
        if not math.isfinite(score):
            raise ModelError(f"the model gave the score {score}, which is not a number: install or train it again")
        return Verdict(score, score > self.threshold, evidence, self.signature, warnings)


def score_of(probability: float) -> float:
    """Return the score of a calibrated probability: 0.5 stays 0.5, and the range becomes -1 to 1.

    >>> [score_of(p) for p in (1.0, 0.75, 0.5, 0.25, 0.0)]
    [1.0, 0.75, 0.5, -0.25, -1.0]
    """
    return probability if probability >= 0.5 else 3 * probability - 1


def probability_of(score: float) -> float:
    """Return the calibrated probability of a score.

    >>> [probability_of(score_of(p)) for p in (0.9, 0.25)]
    [0.9, 0.25]
    """
    return score if score >= 0.5 else (score + 1) / 3
