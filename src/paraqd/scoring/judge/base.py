"""Define the protocol for learned judges, which estimate whether a pair is valid and where its faults are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from paraqd.scoring.pair_preparation import PreparedPair
from paraqd.scoring.verdict import EvidenceKind


class Place(NamedTuple):
    """A span of a text, and the log-odds that this span is part of a fault."""

    start: int
    end: int
    fault: float


class Judgement(Protocol):
    """A judge's answer for one pair."""

    @property
    def log_odds(self) -> float:
        """The log-odds that the pair is valid."""
        ...

    @property
    def kind(self) -> EvidenceKind:
        """The most likely kind of fault."""
        ...

    @property
    def question_places(self) -> tuple[Place, ...]:
        """Places in the question, as the judge read it. Empty if the judge does not locate faults."""
        ...

    @property
    def paraphrase_places(self) -> tuple[Place, ...]:
        """Places in the paraphrase, as the judge read it. Empty if the judge does not locate faults."""
        ...


class Judge(Protocol):
    """A learned, thread-safe model that judges prepared pairs.

    The ``kind`` in a model folder's ``paraqd.json`` selects the judge. A scorer's signature covers that file and the
    hashes of the judge's files.
    """

    def begin(self, pairs: Sequence[PreparedPair]) -> Callable[[], Sequence[Judgement]]:
        """Start judging pairs, and return a function that waits for the judgements, one per pair."""
        ...
