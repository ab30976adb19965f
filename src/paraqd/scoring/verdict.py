"""Define the verdict on a pair, and the evidence for the verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from paraqd.errors import ModelError

Span = tuple[int, int]
THRESHOLD = 0.5
_MOST_LOG_ODDS = 60.0  # beyond it, a score is -1 or 1 to all digits


class EvidenceKind(StrEnum):
    """The kind of fault that a piece of evidence reports. Other programs rely on the values."""

    NUMBER_LOST = "number_lost"
    NUMBER_ADDED = "number_added"
    NUMBER_CHANGED = "number_changed"  # includes swapped numbers
    UNIT_CHANGED = "unit_changed"  # includes a changed currency
    ENTITY_CHANGED = "entity_changed"
    QUESTION_LOST = "question_lost"  # includes a question that is cut off
    QUESTION_CHANGED = "question_changed"
    RELATION_CHANGED = "relation_changed"
    CONTENT_LOST = "content_lost"  # includes a lost condition
    CONTENT_ADDED = "content_added"
    INCOHERENT = "incoherent"  # includes a nonsense word


@dataclass(frozen=True, slots=True)
class Evidence:
    """A reason to doubt a paraphrase.

    Attributes
    ----------
    kind : EvidenceKind
        The kind of fault.
    question_spans, paraphrase_spans : tuple of (start, end)
        The positions of the fault in each text, in code points. Empty if there is nothing to mark in a text.
    message : str
        A sentence that explains the fault to a person.
    delta : float
        How much this evidence changed the score. Never above 0.

    """

    kind: EvidenceKind
    question_spans: tuple[Span, ...]
    paraphrase_spans: tuple[Span, ...]
    message: str
    delta: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the evidence as a JSON-serialisable dictionary, as in score files."""
        return {**asdict(self), "kind": self.kind.value, "delta": round(self.delta, 4)}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a pair.

    Attributes
    ----------
    score : float
        A number from -1 to 1. In mode ``fused``, 0.5 means undecided, and a higher score is the probability that the
        pair is valid.
    valid : bool
        True if the score is above the threshold.
    evidence : tuple of Evidence
        The reasons to doubt the paraphrase, strongest first.
    signature : str
        One line that names the model and the settings that produced the score.
    warnings : tuple of str
        Sentences about the texts or the verdict: a text is not in English, the paraphrase contains a remark by an
        assistant, or evidence was found but does not decide. They do not affect the score.

    """

    score: float
    valid: bool
    evidence: tuple[Evidence, ...]
    signature: str
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as a JSON-serialisable dictionary.

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
    """The threshold and the signature that all of a scorer's verdicts share."""

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
            raise ModelError(
                f"the model gave the score {score}, which is not a number: install or train the model again"
            )
        return Verdict(score, score > self.threshold, evidence, self.signature, warnings)


def threshold_of(facts: Mapping[str, Any], folder: object) -> float:
    """Return the threshold in the facts about a model, or the default threshold.

    Raises
    ------
    ModelError
        If the threshold is not a number from -1 to 1. The message names the model's folder.

    """
    given = facts.get("threshold", THRESHOLD)
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not -1 <= given <= 1:
        raise ModelError(
            f"{folder}: the threshold in paraqd.json is {given!r}, which is not a number from -1 to 1; install or "
            "train the model again"
        )
    return float(given)


def score_of(probability: float) -> float:
    """Convert a calibrated probability into a score from -1 to 1. A probability of at least 0.5 is its own score.

    >>> [score_of(p) for p in (1.0, 0.75, 0.5, 0.25, 0.0)]
    [1.0, 0.75, 0.5, -0.25, -1.0]
    """
    return probability if probability >= 0.5 else 3 * probability - 1


def score_of_log_odds(log_odds: float) -> float:
    """Convert calibrated log-odds into a score from -1 to 1.

    >>> score_of_log_odds(0.0), score_of_log_odds(1e9), score_of_log_odds(-1e9)
    (0.5, 1.0, -1.0)

    Raises
    ------
    ModelError
        If the log-odds are not finite.

    """
    if not math.isfinite(log_odds):
        raise ModelError("the model gave a score that is not a number: install or train the model again")
    return score_of(1 / (1 + math.exp(-max(-_MOST_LOG_ODDS, min(_MOST_LOG_ODDS, log_odds)))))


def probability_of(score: float) -> float:
    """Convert a score back into the calibrated probability.

    >>> [probability_of(score_of(p)) for p in (0.9, 0.25)]
    [0.9, 0.25]
    """
    return score if score >= 0.5 else (score + 1) / 3
