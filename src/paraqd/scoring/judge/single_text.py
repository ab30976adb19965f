"""Judge single texts with a small model, which reads a text as ``[CLS] text [SEP]``."""

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
from paraqd.scoring.judge.cross_encoder import OUTPUTS
from paraqd.scoring.judge.pair_tokens import EncodedText, Ids
from paraqd.scoring.judge.session import Feed, OnnxModel, feed
from paraqd.scoring.verdict import Span

# Tokens of a window, besides [CLS] and [SEP]. Hardly any text from which the model learned has more than 120 words.
# In a longer window, it hardly tells complete texts from broken ones.
_ROOM = 158
# All windows of a long text have its beginning and its end, because a part alone looks broken: the beginning introduces
# people and things, and the end holds the question.
_BEGINNING, _END = 48, 64
_STOPS = frozenset((".", "?", "!"))


class _Answer(NamedTuple):
    """The model's outputs for a window: log-odds for the text, for each kind of fault, and for each token."""

    solvable: float
    kinds: NDArray[np.float32]
    faults: NDArray[np.float32]
    tokens: Ids


@dataclass(frozen=True)
class TextJudgement:
    """A model's answer for a text. The places are computed only if they are used."""

    answers: tuple[_Answer, ...]
    encoded: EncodedText

    @property
    def windows(self) -> int:
        """The number of windows in which the model read the text."""
        return len(self.answers)

    @cached_property
    def log_odds(self) -> float:
        """The log-odds that the text is solvable, averaged over its windows."""
        return sum(answer.solvable for answer in self.answers) / len(self.answers)

    @property
    def kind(self) -> int:
        """The number of the most likely kind of fault."""
        return int(np.mean([answer.kinds for answer in self.answers], axis=0).argmax())

    @property
    def places(self) -> tuple[Place, ...]:
        """The text's tokens, each with the log-odds that it is part of a fault. Windows overlap."""
        spans: list[Span] = self.encoded.encoding.offsets
        return tuple(
            Place(spans[token][0], spans[token][1], float(fault))
            for answer in self.answers
            for token, fault in zip(answer.tokens.tolist(), answer.faults, strict=True)
        )


class SingleTextJudge(OnnxModel):
    """A model that judges single texts, loaded from a model folder. ``kinds`` is its number of kinds of faults."""

    def __init__(
        self,
        folder: str | Path,
        *,
        kinds: int,
        threads: int | None = None,
        hashes: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(folder, threads=threads, hashes=hashes)
        self._kinds = kinds

    def begin(self, texts: Sequence[str]) -> Callable[[], list[TextJudgement]]:
        """Start judging texts, and return a function that waits for the judgements.

        A text's judgement does not depend on the other texts.
        """
        encoded = self.tokenizer.encode(texts)
        windows = [(number, window) for number, text in enumerate(encoded) for window in text_windows(text)]
        wait = self.start(
            [self.tokenizer.single_row(encoded[number].ids[window]) for number, window in windows], OUTPUTS
        )

        def finish() -> list[TextJudgement]:
            answers: list[list[_Answer]] = [[] for _ in texts]
            for (number, window), (solvable, kinds, places) in zip(windows, wait(), strict=True):
                if len(kinds) != self._kinds:
                    raise ModelError(
                        f"the model in {self.folder} has {len(kinds)} kinds of faults, but its paraqd.json names "
                        f"{self._kinds}: install or train the model again"
                    )
                answers[number].append(_Answer(float(solvable), kinds, places[1:-1], window))
            return [TextJudgement(tuple(mine), text) for mine, text in zip(answers, encoded, strict=True)]

        return finish

    def feeds(self, texts: Sequence[str]) -> Iterator[Feed]:
        """Yield the model's input for each text's first window."""
        for text in self.tokenizer.encode(texts):
            yield feed([self.tokenizer.single_row(text.ids[text_windows(text)[0]])])


def text_windows(text: EncodedText, room: int = _ROOM, beginning: int = _BEGINNING, end: int = _END) -> list[Ids]:
    """Return the indices of the tokens in each window of a text.

    A text of up to ``room`` tokens is one window. In a longer text, each window is a part of the text between its first
    ``beginning`` and its last ``end`` tokens, which are in all windows. A part ends with a sentence if it can.
    """
    size = len(text.ids)
    if size <= room:
        return [np.arange(size)]
    last = size - end
    head, tail = np.arange(beginning), np.arange(last, size)
    tokens, offsets = text.encoding.tokens, text.encoding.offsets
    windows, start = [], beginning
    while start < last:
        stop = min(start + room - beginning - end, last)
        if stop < last:
            # a stop before a space, not a decimal point
            stops = [n + 1 for n in range(start, stop) if tokens[n] in _STOPS and offsets[n + 1][0] > offsets[n][1]]
            stop = stops[-1] if stops else stop
        windows.append(np.concatenate([head, np.arange(start, stop), tail]))
        start = stop
    return windows
