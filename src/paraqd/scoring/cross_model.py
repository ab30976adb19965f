"""The learned judge at work: for each pair how likely it is valid, what kind of fault it has, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraqd.scoring.onnx_session import OnnxFolder, printable
from paraqd.scoring.verdict import EvidenceKind

KINDS = tuple(EvidenceKind)
LONGEST = 320  # tokens of both texts: so many it is trained on
_SPECIAL = 3  # [CLS] question [SEP] paraphrase [SEP]
_OVERLAP = 24
_BATCH_TOKENS = 4096
_MOST_WINDOWS = 64


class Mark(NamedTuple):
    """A token, by its place in its text, and how surely it is part of a fault (log-odds)."""

    start: int
    end: int
    fault: float


@dataclass(frozen=True)
class Judgement:
    """What the model says of a pair."""

    valid: float  # log-odds
    kinds: tuple[float, ...]  # shares, in the order of the kinds
    question: tuple[Mark, ...]
    paraphrase: tuple[Mark, ...]


class _Encoded(NamedTuple):
    """The tokens of a text, taken out of the tokenizer once."""

    ids: NDArray[np.int64]
    offsets: list[tuple[int, int]]

    @classmethod
    def of(cls, encoding: Any) -> _Encoded:
        return cls(np.asarray(encoding.ids, dtype=np.int64), encoding.offsets)


class CrossModel(OnnxFolder):
    """A judge in a folder."""

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
        """Judge pairs; what is said of one does not depend on the others."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        batch_encoded = self.tokenizer.encode_batch([printable(text) for text in texts], add_special_tokens=False)
        encoded = {text: _Encoded.of(each) for text, each in zip(texts, batch_encoded, strict=True)}
        windows = [
            (number, *window)
            for number, (q, p) in enumerate(pairs)
            for window in _differing(_windows(encoded[q], encoded[p]), encoded[q], encoded[p])
        ]
        order = sorted(range(len(windows)), key=lambda i: windows[i][1].size + windows[i][2].size)
        found: list[Any] = [None] * len(windows)
        start = 0
        while start < len(order):
            end = start + 1
            while end < len(order) and (end + 1 - start) * _size(windows[order[end]]) <= _BATCH_TOKENS:
                end += 1
            batch = order[start:end]
            for place, made in zip(batch, self._run([windows[i] for i in batch], encoded, pairs), strict=True):
                found[place] = made
            start = end
        parts: list[list[Any]] = [[] for _ in pairs]
        for (number, *_), made in zip(windows, found, strict=True):
            parts[number].append(made)
        return [_joined(each) for each in parts]

    def _run(self, windows: list[Any], encoded: Any, pairs: Sequence[tuple[str, str]]) -> list[Any]:
        cls, sep = self.tokenizer.token_to_id("[CLS]"), self.tokenizer.token_to_id("[SEP]")
        longest = max(_size(window) for window in windows)
        ids = np.zeros((len(windows), longest), dtype=np.int64)
        types, mask = np.zeros_like(ids), np.zeros_like(ids)
        for row, (number, first, second) in enumerate(windows):
            question, paraphrase = pairs[number]
            one, two = encoded[question].ids[first], encoded[paraphrase].ids[second]
            sequence = np.concatenate([[cls], one, [sep], two, [sep]])
            ids[row, : len(sequence)] = sequence
            types[row, len(one) + 2 : len(sequence)] = 1
            mask[row, : len(sequence)] = 1
        valid, kinds, places = self.session.run(
            ["valid", "kinds", "places"], {"input_ids": ids, "token_type_ids": types, "attention_mask": mask}
        )
        made = []
        for row, (number, first, second) in enumerate(windows):
            question, paraphrase = pairs[number]
            marks = (
                _marks(encoded[question].offsets, first, places[row, 1 : 1 + first.size]),
                _marks(encoded[paraphrase].offsets, second, places[row, 2 + first.size : 2 + first.size + second.size]),
            )
            made.append((float(valid[row]), kinds[row], *marks))
        return made


def _size(window: Any) -> int:
    return int(window[1].size + window[2].size + _SPECIAL)


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


def _joined(parts: Sequence[Any]) -> Judgement:
    """Put the windows of a pair together: the mean of what they say, and the marks of all."""
    valid = float(np.mean([part[0] for part in parts]))
    logits = np.mean([part[1] for part in parts], axis=0)
    shares = np.exp(logits - logits.max())
    return Judgement(
        valid,
        tuple((shares / shares.sum()).tolist()),
        tuple(mark for part in parts for mark in part[2]),
        tuple(mark for part in parts for mark in part[3]),
    )
