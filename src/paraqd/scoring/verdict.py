"""What a scorer says of a pair: a score, a verdict, and the evidence for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

Span = tuple[int, int]
THRESHOLD = 0.5


class EvidenceKind(StrEnum):
    """What sort of fault a piece of evidence names; other programs rely on these names."""

    NUMBER_LOST = "number_lost"
    NUMBER_ADDED = "number_added"
    NUMBER_CHANGED = "number_changed"  # also two numbers exchanged
    UNIT_CHANGED = "unit_changed"  # also a currency
    ENTITY_CHANGED = "entity_changed"
    QUESTION_LOST = "question_lost"  # also cut off
    QUESTION_CHANGED = "question_changed"
    RELATION_CHANGED = "relation_changed"
    CONTENT_LOST = "content_lost"  # also a condition
    CONTENT_ADDED = "content_added"
    INCOHERENT = "incoherent"  # also a word that makes no sense


@dataclass(frozen=True, slots=True)
class Evidence:
    """A reason to doubt a paraphrase.

    Attributes
    ----------
    kind : EvidenceKind
        The sort of fault.
    question_spans, paraphrase_spans : tuple of (start, end)
        Where it shows, in code points of the texts as they were given; empty where nothing stands.
    message : str
        A sentence for a person.
    delta : float
        How far it moved the score; below 0, as evidence speaks against a paraphrase.

    """

    kind: EvidenceKind
    question_spans: tuple[Span, ...]
    paraphrase_spans: tuple[Span, ...]
    message: str
    delta: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, as it stands in files."""
        return {**asdict(self), "kind": self.kind.value, "delta": round(self.delta, 4)}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A pair's score from -1 to 1, whether that is above the threshold, and why not higher."""

    score: float
    valid: bool
    evidence: tuple[Evidence, ...]
    signature: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data.

        >>> Verdict(0.25, False, (), "paraqd:0").to_dict()
        {'score': 0.25, 'valid': False, 'evidence': [], 'signature': 'paraqd:0'}
        """
        found = [piece.to_dict() for piece in self.evidence]
        return {"score": self.score, "valid": self.valid, "evidence": found, "signature": self.signature}


def score_of(probability: float) -> float:
    """Return the score of a calibrated probability: 0.5 stays the even point, the range is -1 to 1.

    >>> [score_of(p) for p in (1.0, 0.75, 0.5, 0.25, 0.0)]
    [1.0, 0.75, 0.5, -0.25, -1.0]
    """
    return probability if probability >= 0.5 else 3 * probability - 1


def probability_of(score: float) -> float:
    """Return the probability that a score stands for.

    >>> [probability_of(score_of(p)) for p in (0.9, 0.25)]
    [0.9, 0.25]
    """
    return score if score >= 0.5 else (score + 1) / 3
