"""The learned judge at work: for each pair how likely it is valid, what kind of fault it has, and where."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraqd.errors import ModelError
from paraqd.scoring.judge.session import Feed, OnnxFolder, Row, feed
from paraqd.scoring.verdict import EvidenceKind, Span

LONGEST = 320  # tokens of both texts: so many it is trained on
_SPECIAL = 3  # [CLS] question [SEP] paraphrase [SEP]
_OVERLAP = 24
_MOST_WINDOWS = 64


class Mark(NamedTuple):
    """A token, by its place in its text, and how surely it is part of a fault (log-odds)."""

    start: int
    end: int
    fault: float


class _Part(NamedTuple):
    """What the model says of a stretch of both texts: log-odds, as they come out of it, and which tokens it saw."""

    valid: float
    kinds: NDArray[np.float32]
    places: NDArray[np.float32]
    question: NDArray[np.int64]
    paraphrase: NDArray[np.int64]


@dataclass(frozen=True)
class Judgement:
    """What the model says of a pair; where, and of what kind a fault is, is worked out only when asked for."""

    parts: tuple[_Part, ...]
    encodings: tuple[Any, Any]  # of both texts, as the tokenizer gives them
    kind_names: tuple[EvidenceKind, ...]  # in the order of the model's outputs

    @cached_property
    def offsets(self) -> tuple[list[Span], list[Span]]:
        """Where the tokens of both texts stand."""
        question, paraphrase = self.encodings
        return question.offsets, paraphrase.offsets

    @cached_property
    def valid(self) -> float:
        """The log-odds that it is valid: the mean of what is said of its stretches."""
        return sum(part.valid for part in self.parts) / len(self.parts)

    @cached_property
    def kinds(self) -> tuple[float, ...]:
        """How likely each kind of fault is, in the order of the kinds."""
        logits = np.mean([part.kinds for part in self.parts], axis=0)
        shares = np.exp(logits - logits.max())
        return tuple((shares / shares.sum()).tolist())

    @property
    def kind(self) -> EvidenceKind:
        """The likeliest kind of fault."""
        return self.kind_names[max(range(len(self.kind_names)), key=self.kinds.__getitem__)]

    @property
    def question(self) -> tuple[Mark, ...]:
        """The tokens of the question."""
        return tuple(
            mark
            for part in self.parts
            for mark in _marks(self.offsets[0], part.question, part.places[1 : 1 + part.question.size])
        )

    @property
    def paraphrase(self) -> tuple[Mark, ...]:
        """The tokens of the paraphrase as it was shown to the model."""
        return tuple(
            mark
            for part in self.parts
            for mark in _marks(self.offsets[1], part.paraphrase, part.places[2 + part.question.size : -1])
        )


class _Encoded(NamedTuple):
    """The tokens of a text, and what the tokenizer knows besides."""

    ids: NDArray[np.int64]
    encoding: Any

    @classmethod
    def of(cls, encoding: Any) -> _Encoded:
        return cls(np.asarray(encoding.ids, dtype=np.int64), encoding)


class CrossModel(OnnxFolder):
    """A judge in a folder.

    Parameters
    ----------
    kinds : sequence of str
        The kinds of evidence in the order of the model's outputs.

    """

    def __init__(
        self, folder: str | Path, *, threads: int | None = None, kinds: Sequence[str] = tuple(EvidenceKind)
    ) -> None:
        super().__init__(folder, threads=threads)
        unknown = [kind for kind in kinds if kind not in set(EvidenceKind)]
        if unknown:
            raise ModelError(f"{folder} names the kind of evidence {unknown[0]!r}, which this version does not know")
        self.kinds = tuple(map(EvidenceKind, kinds))

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
        """Judge pairs; what is said of one does not depend on the others."""
        return self.begin(pairs)()

    def begin(self, pairs: Sequence[tuple[str, str]]) -> Callable[[], list[Judgement]]:
        """Begin to judge pairs, and return what waits for the judgements."""
        encoded = self._encoded(pairs)
        windows = [
            (number, *window)
            for number, (q, p) in enumerate(pairs)
            for window in _differing(_windows(encoded[q], encoded[p]), encoded[q], encoded[p])
        ]
        rows = [
            self._row(encoded[pairs[number][0]].ids[first], encoded[pairs[number][1]].ids[second])
            for number, first, second in windows
        ]
        wait = self.start(rows, ["valid", "kinds", "places"])

        def finish() -> list[Judgement]:
            parts: list[list[_Part]] = [[] for _ in pairs]
            for (number, first, second), (valid, kinds, places) in zip(windows, wait(), strict=True):
                parts[number].append(_Part(float(valid), kinds, places, first, second))
            return [
                Judgement(tuple(mine), (encoded[q].encoding, encoded[p].encoding), self.kinds)
                for mine, (q, p) in zip(parts, pairs, strict=True)
            ]

        return finish

    def feeds(self, pairs: Sequence[tuple[str, str]]) -> Iterator[Feed]:
        """Yield what the model is given for each pair; of a long one its beginning."""
        encoded = self._encoded(pairs)
        for q, p in pairs:
            first, second = _windows(encoded[q], encoded[p])[0]
            yield feed([self._row(encoded[q].ids[first], encoded[p].ids[second])])

    def _encoded(self, pairs: Sequence[tuple[str, str]]) -> dict[str, _Encoded]:
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        encodings = self.encoded(texts)
        return {text: _Encoded.of(each) for text, each in zip(texts, encodings, strict=True)}

    def _row(self, question: NDArray[np.int64], paraphrase: NDArray[np.int64]) -> Row:
        cls, sep = self._framing
        ids = np.concatenate([cls, question, sep, paraphrase, sep])
        types = np.zeros_like(ids)
        types[len(question) + 2 :] = 1
        return Row(ids, types)

    @cached_property
    def _framing(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        cls, sep = (np.array([self.tokenizer.token_to_id(name)], dtype=np.int64) for name in ("[CLS]", "[SEP]"))
        return cls, sep


def _windows(question: Any, paraphrase: Any) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the tokens of both texts, or of matching stretches of both where they are longer than the model reads."""
    one, two = np.arange(len(question.ids)), np.arange(len(paraphrase.ids))
    room = LONGEST - _SPECIAL
    if len(one) + len(two) <= room:
        return [(one, two)]
    count = -(-(len(one) + len(two)) // (room - 4 * _OVERLAP - 2))
    return [(_stretch(one, number, count), _stretch(two, number, count)) for number in range(count)]


def _differing(windows: list[Any], question: Any, paraphrase: Any) -> list[Any]:
    """Leave out stretches of long texts in which both say the same; of a book the first that differ are enough."""
    if len(windows) == 1:
        return windows
    return [window for window in windows if not np.array_equal(question.ids[window[0]], paraphrase.ids[window[1]])][
        :_MOST_WINDOWS
    ] or windows[:1]


def _stretch(tokens: NDArray[np.int64], number: int, count: int) -> NDArray[np.int64]:
    size = len(tokens)
    start, end = size * number // count, size * (number + 1) // count
    return tokens[max(0, start - _OVERLAP) : end + _OVERLAP]


def _marks(offsets: Any, tokens: NDArray[np.int64], faults: NDArray[np.float32]) -> tuple[Mark, ...]:
    places = [(offsets[token], float(fault)) for token, fault in zip(tokens.tolist(), faults, strict=True)]
    return tuple(Mark(start, end, fault) for (start, end), fault in places)
