"""Pairs for the learned judge as tokens: both texts in one sequence, which tokens are at fault, batches by length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paraqd.data.writers import replacing
from paraqd.reading import read
from paraqd.scoring.evidence.quantities import match_quantities
from paraqd.scoring.judge.cross_encoder import LONGEST
from paraqd.scoring.markup import Plain, plain
from paraqd.scoring.normalise_quantities import Harmonised, harmonise
from paraqd.training.judge_model import KINDS

if TYPE_CHECKING:
    from paraqd.data.faulty_pairs import FaultyPair

# raised when pairs are shown to the judge in another way: tokens that were kept are then made anew
SHOWN = 2
MAX_LENGTH = LONGEST
_UNKNOWN = -1
_COLUMNS = ("ids", "types", "faults", "labels", "kinds", "weights")


@dataclass(frozen=True)
class JudgeData:
    """Tokenised pairs, one row after another in flat arrays."""

    ids: NDArray[np.int32]
    types: NDArray[np.int8]
    faults: NDArray[np.int8]  # 1 at fault, 0 not, -1 not known
    offsets: NDArray[np.int64]  # where each row begins; one more than there are rows
    labels: NDArray[np.float32]
    kinds: NDArray[np.int64]  # -1 where it is not known or nothing is wrong
    weights: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many tokens each row has."""
        return np.diff(self.offsets)


def tokenize_pairs(
    pairs: Sequence[FaultyPair], tokenizer: Any, *, harmony: bool = True, weights: Sequence[float] | None = None
) -> JudgeData:
    """Tokenise pairs; with ``harmony`` the paraphrase's quantities are written as the question writes them."""
    ids: list[int] = []
    types: list[int] = []
    faults: list[int] = []
    offsets = [0]
    for start in range(0, len(pairs), 2048):
        some = pairs[start : start + 2048]
        shown = [_Shown.of(pair, harmony=harmony) for pair in some]
        encoded = tokenizer(
            [each.question.text for each in shown],
            [each.paraphrase.text if each.harmonised is None else each.harmonised.text for each in shown],
            truncation="longest_first",
            max_length=MAX_LENGTH,
            return_offsets_mapping=True,
            return_attention_mask=False,
        )
        for row, pair in enumerate(some):
            sequence = encoded.encodings[row]
            ids += sequence.ids
            types += sequence.type_ids
            spans = (pair.question_spans, pair.paraphrase_spans)
            for part, (first, last) in zip(sequence.sequence_ids, sequence.offsets, strict=True):
                if part is None or not pair.placed:
                    faults.append(_UNKNOWN)
                    continue
                start, end = shown[row].back(part, first, last)
                faults.append(int(any(a < end and start < b for a, b in spans[part])))
            offsets.append(len(ids))
    kinds = [KINDS.index(pair.kind) if pair.kind else _UNKNOWN for pair in pairs]
    return JudgeData(
        np.array(ids, dtype=np.int32),
        np.array(types, dtype=np.int8),
        np.array(faults, dtype=np.int8),
        np.array(offsets, dtype=np.int64),
        np.array([pair.label for pair in pairs], dtype=np.float32),
        np.array(kinds, dtype=np.int64),
        np.ones(len(pairs), dtype=np.float32) if weights is None else np.asarray(weights, dtype=np.float32),
    )


def join_data(parts: Sequence[JudgeData]) -> JudgeData:
    """Put sets one after the other."""
    offsets, base = [np.zeros(1, dtype=np.int64)], 0
    for part in parts:
        offsets.append(part.offsets[1:] + base)
        base += int(part.offsets[-1])
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS}
    return JudgeData(offsets=np.concatenate(offsets), **columns)


def write_data(data: JudgeData, path: Path) -> None:
    """Keep tokenised pairs in a file, whole or not at all."""
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, offsets=data.offsets, **{name: getattr(data, name) for name in _COLUMNS})


def read_data(path: Path) -> JudgeData:
    """Read what `write_data` wrote."""
    with np.load(path, allow_pickle=False) as held:
        return JudgeData(offsets=held["offsets"], **{name: held[name] for name in _COLUMNS})


@dataclass(frozen=True)
class _Shown:
    """A pair as the judge sees it: plain, and the paraphrase's equal quantities written as the question's."""

    question: Plain
    paraphrase: Plain
    harmonised: Harmonised | None

    @classmethod
    def of(cls, pair: FaultyPair, *, harmony: bool) -> _Shown:
        question, paraphrase = plain(pair.question), plain(pair.paraphrase)
        if not harmony:
            return cls(question, paraphrase, None)
        here, there = read(question.text), read(paraphrase.text)
        return cls(question, paraphrase, harmonise(here, there, match_quantities(here, there)))

    def back(self, part: int, start: int, end: int) -> tuple[int, int]:
        """Return where a stretch of what is shown stands in the text as it came."""
        if part == 0:
            return self.question.back([(start, end)])[0]
        if self.harmonised is not None:
            start, end = self.harmonised.back(start, end)
        return self.paraphrase.back([(start, end)])[0]


def epoch_batches(lengths: NDArray[np.int64], *, tokens: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Yield batches of rows of like length, of so many tokens with padding, in random order."""
    order = rng.permutation(len(lengths))
    order = order[np.argsort(lengths[order] + rng.integers(0, 8, len(lengths)), kind="stable")]
    batches = []
    start = 0
    while start < len(order):
        end = start + 1
        longest = lengths[order[start]]
        while end < len(order) and max(longest, lengths[order[end]]) * (end + 1 - start) <= tokens:
            longest = max(longest, lengths[order[end]])
            end += 1
        batches.append(order[start:end])
        start = end
    for place in rng.permutation(len(batches)):
        yield batches[place]


def collate(data: JudgeData, rows: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Pad the rows of a batch."""
    longest = int(data.lengths[rows].max())
    shape = (len(rows), longest)
    batch = {
        "input_ids": np.zeros(shape, np.int64),
        "token_type_ids": np.zeros(shape, np.int64),
        "attention_mask": np.zeros(shape, np.int64),
        "faults": np.full(shape, _UNKNOWN, np.int64),
    }
    for place, row in enumerate(rows):
        a, b = data.offsets[row], data.offsets[row + 1]
        batch["input_ids"][place, : b - a] = data.ids[a:b]
        batch["token_type_ids"][place, : b - a] = data.types[a:b]
        batch["attention_mask"][place, : b - a] = 1
        batch["faults"][place, : b - a] = data.faults[a:b]
    return {**batch, "labels": data.labels[rows], "kinds": data.kinds[rows], "weights": data.weights[rows]}
