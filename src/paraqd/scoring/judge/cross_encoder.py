"""Judge pairs with a cross-encoder, a small model that reads both texts at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraqd.errors import ModelError
from paraqd.scoring.judge.base import Place
from paraqd.scoring.judge.pair_tokens import LONGEST, EncodedPair, Ids, Window
from paraqd.scoring.judge.session import Feed, OnnxModel, feed
from paraqd.scoring.pair_preparation import PreparedPair
from paraqd.scoring.verdict import EvidenceKind, Span

__all__ = ["LONGEST", "CrossEncoder"]
_OUTPUTS = ("valid", "kinds", "places")


class _Part(NamedTuple):
    """The model's outputs for a window: log-odds for validity, for each kind of fault, and for each token."""

    valid: float
    kinds: NDArray[np.float32]
    places: NDArray[np.float32]
    window: Window


@dataclass(frozen=True)
class CrossEncoderJudgement:
    """The model's answer for a pair. The kind and the places are computed only if they are used."""

    parts: tuple[_Part, ...]
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
        return tuple(place for part in self.parts for place in _places(spans, part.window.question, part.places[1:]))

    @property
    def paraphrase_places(self) -> tuple[Place, ...]:
        """The paraphrase's tokens, each with the log-odds that it is part of a fault."""
        spans = self.pair.paraphrase.encoding.offsets
        return tuple(
            place
            for part in self.parts
            for place in _places(spans, part.window.paraphrase, part.places[2 + part.window.question.size :])
        )


class CrossEncoder(OnnxModel):
    """A cross-encoder, loaded from a model folder.

    Parameters
    ----------
    folder : str or Path
        The model folder.
    threads : int, optional
        The number of threads (default: one per core that the process may use).
    kinds : sequence of str
        The kinds of evidence, in the order of the model's outputs.
    hashes : mapping, optional
        The expected sha256 of each file. A file with a different sha256 is rejected. By default, nothing is checked.

    """

    def __init__(
        self,
        folder: str | Path,
        *,
        threads: int | None = None,
        kinds: Sequence[str] = tuple(EvidenceKind),
        hashes: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(folder, threads=threads, hashes=hashes)
        unknown = [kind for kind in kinds if kind not in set(EvidenceKind)]
        if unknown:
            raise ModelError(
                f"{folder} names the kind of evidence {unknown[0]!r}, which this version does not know: install the "
                "version of paraqd that wrote the model, or train the model again"
            )
        self.kinds = tuple(map(EvidenceKind, kinds))

    def begin(self, pairs: Sequence[PreparedPair]) -> Callable[[], list[CrossEncoderJudgement]]:
        """Start judging pairs, and return a function that waits for the judgements.

        A pair's judgement does not depend on the other pairs.
        """
        encoded = self.tokenizer.encode_pairs([pair.texts for pair in pairs])
        windows = [(number, window) for number, pair in enumerate(encoded) for window in pair.differing_windows()]
        wait = self.start([self.tokenizer.row(encoded[number], window) for number, window in windows], _OUTPUTS)

        def finish() -> list[CrossEncoderJudgement]:
            parts: list[list[_Part]] = [[] for _ in pairs]
            for (number, window), (valid, kinds, places) in zip(windows, wait(), strict=True):
                if len(kinds) != len(self.kinds):
                    raise ModelError(
                        f"the model in {self.folder} has {len(kinds)} kinds of evidence, but its paraqd.json names "
                        f"{len(self.kinds)}: install or train the model again"
                    )
                parts[number].append(_Part(float(valid), kinds, places, window))
            return [
                CrossEncoderJudgement(tuple(mine), pair, self.kinds) for mine, pair in zip(parts, encoded, strict=True)
            ]

        return finish

    def feeds(self, pairs: Sequence[PreparedPair]) -> Iterator[Feed]:
        """Yield the model's input for each pair's first window."""
        for pair in self.tokenizer.encode_pairs([pair.texts for pair in pairs]):
            yield feed([self.tokenizer.row(pair, pair.windows()[0])])


def _places(spans: Sequence[Span], tokens: Ids, faults: NDArray[np.float32]) -> list[Place]:
    found = [(spans[token], float(fault)) for token, fault in zip(tokens.tolist(), faults, strict=False)]
    return [Place(start, end, fault) for (start, end), fault in found]
