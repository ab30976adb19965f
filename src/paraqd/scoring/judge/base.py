"""Define a learned judge: a model that says how likely a prepared pair is valid, and where it sees a fault."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from paraqd.scoring.pair_preparation import PreparedPair
from paraqd.scoring.verdict import EvidenceKind


class Place(NamedTuple):
    """A stretch of a text, and the log-odds that it is part of a fault."""

    start: int
    end: int
    fault: float


class Judgement(Protocol):
    """The answer of a judge for one pair."""

    @property
    def log_odds(self) -> float:
        """The log-odds that the pair is valid."""
        ...

    @property
    def kind(self) -> EvidenceKind:
        """The likeliest kind of fault."""
        ...

    @property
    def question_places(self) -> tuple[Place, ...]:
        """Stretches of the question as the judge saw it; empty if the judge gives no places."""
        ...

    @property
    def paraphrase_places(self) -> tuple[Place, ...]:
        """Stretches of the paraphrase as the judge saw it; empty if the judge gives no places."""
        ...


class Judge(Protocol):
    """A learned model that judges prepared pairs; several threads may use it."""

    @property
    def name(self) -> str:
        """The name of the judge for the signature; it changes whenever the answers may change."""
        ...

    def begin(self, pairs: Sequence[PreparedPair]) -> Callable[[], Sequence[Judgement]]:
        """Start judging pairs, and return a function that waits for the judgements, one for each pair."""
        ...
