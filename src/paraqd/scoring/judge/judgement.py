"""Hold the answer of a judge that reads the tokens of both texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraqd.errors import ModelError
from paraqd.scoring.judge.base import Place
from paraqd.scoring.judge.pair_tokens import EncodedPair, Ids, Window
from paraqd.scoring.verdict import EvidenceKind, Span


class WindowAnswer(NamedTuple):
    """A model's outputs for a window: log-odds for validity, for each kind of fault, and for each text's tokens."""

    valid: float
    kinds: NDArray[np.float32]
    question_faults: NDArray[np.float32]
    paraphrase_faults: NDArray[np.float32]
    window: Window


@dataclass(frozen=True)
class TokenJudgement:
    """A judge's answer for a pair. The kind and the places are computed only if they are used."""

    parts: tuple[WindowAnswer, ...]
    pair: EncodedPair
    kinds: tuple[EvidenceKind, ...]  # in the order of the model's outputs

    @cached_property
    def log_odds(self) -> float:
        """The log-odds that the pair is valid, averaged over its windows."""
        return sum(part.valid for part in self.parts) / len(self.parts)

    @cached_property
    def kind_probabilities(self) -> tuple[float, ...]:
        """The probability of each kind of fault, in the order of ``kinds``."""
        logits = np.mean([part.kinds for part in self.parts], axis=0)
        shares = np.exp(logits - logits.max())
        return tuple((shares / shares.sum()).tolist())

    @property
    def kind(self) -> EvidenceKind:
        """The most likely kind of fault."""
        return self.kinds[max(range(len(self.kinds)), key=self.kind_probabilities.__getitem__)]

    @property
    def question_places(self) -> tuple[Place, ...]:
        """The question's tokens, each with the log-odds that it is part of a fault."""
        spans = self.pair.question.encoding.offsets
        return tuple(p for part in self.parts for p in _places(spans, part.window.question, part.question_faults))

    @property
    def paraphrase_places(self) -> tuple[Place, ...]:
        """The paraphrase's tokens, each with the log-odds that it is part of a fault."""
        spans = self.pair.paraphrase.encoding.offsets
        return tuple(p for part in self.parts for p in _places(spans, part.window.paraphrase, part.paraphrase_faults))


def known_kinds(kinds: Sequence[str], folder: object) -> tuple[EvidenceKind, ...]:
    """Return the kinds of evidence that a model names, or raise `ModelError` if this version does not know one."""
    unknown = [kind for kind in kinds if kind not in set(EvidenceKind)]
    if unknown:
        raise ModelError(
            f"{folder} names the kind of evidence {unknown[0]!r}, which this version does not know: install the "
            "version of paraqd that wrote the model, or train the model again"
        )
    return tuple(map(EvidenceKind, kinds))


def check_outputs(outputs: int, kinds: Sequence[EvidenceKind], folder: object) -> None:
    """Raise `ModelError` if a model does not have one output for each kind of evidence."""
    if outputs != len(kinds):
        raise ModelError(
            f"the model in {folder} has {outputs} kinds of evidence, but its paraqd.json names {len(kinds)}: install "
            "or train the model again"
        )


def _places(spans: Sequence[Span], tokens: Ids, faults: NDArray[np.float32]) -> list[Place]:
    found = [(spans[token], float(fault)) for token, fault in zip(tokens.tolist(), faults, strict=False)]
    return [Place(start, end, fault) for (start, end), fault in found]
