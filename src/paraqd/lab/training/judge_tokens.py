"""Convert pairs into training rows for a judge. Each row is the token sequence of both texts, with marked faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paraqd.lab.training.judge_model import KINDS
from paraqd.reading import read
from paraqd.scoring.judge.pair_tokens import LONGEST, replace_surrogates
from paraqd.scoring.pair_preparation import prepare_pair
from paraqd.tables.writers import replacing

if TYPE_CHECKING:
    from paraqd.lab.corpora.faulty_pairs import FaultyPair

# increase this number when the preparation of pairs changes, so that stored tokens are not reused
PREPARATION = 4
MAX_LENGTH = LONGEST
_UNKNOWN = -1
_COLUMNS = ("ids", "types", "faults", "labels", "kinds", "weights")
_AT_ONCE = 2048
# the texts of a problem recur in many pairs, which follow each other
_read = lru_cache(maxsize=1024)(read)


@dataclass(frozen=True)
class JudgeTokens:
    """Tokenised pairs, whose rows are concatenated in flat arrays."""

    ids: NDArray[np.int32]
    types: NDArray[np.int8]  # 0 for the question, 1 for the paraphrase
    faults: NDArray[np.int8]  # 1 at fault, 0 not at fault, -1 unknown
    offsets: NDArray[np.int64]  # the start of each row, followed by the end of the last row
    labels: NDArray[np.float32]
    kinds: NDArray[np.int64]  # indices into KINDS; -1 if the pair is valid or the kind is unknown
    weights: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of tokens in each row."""
        return np.diff(self.offsets)


def tokenize_pairs(
    pairs: Sequence[FaultyPair],
    tokenizer: Any,
    *,
    weights: Sequence[float] | None = None,
    max_length: int = MAX_LENGTH,
) -> JudgeTokens:
    """Prepare pairs as the scorer does, and tokenise the prepared pairs. Pairs are cut to ``max_length`` tokens."""
    parts = []
    for first_row in range(0, len(pairs), _AT_ONCE):  # arrays need far less memory than lists of all tokens
        parts.append(_tokenize_some(pairs[first_row : first_row + _AT_ONCE], tokenizer, max_length))
    kinds = [KINDS.index(pair.kind) if pair.kind else _UNKNOWN for pair in pairs]
    lengths = [length for part in parts for length in part[3]]
    ids, types, faults = (
        np.concatenate([np.zeros(0, dtype=dtype), *(part[column] for part in parts)])
        for column, dtype in enumerate((np.int32, np.int8, np.int8))
    )
    return JudgeTokens(
        ids,
        types,
        faults,
        np.cumsum([0, *lengths], dtype=np.int64),
        np.array([pair.label for pair in pairs], dtype=np.float32),
        np.array(kinds, dtype=np.int64),
        np.ones(len(pairs), dtype=np.float32) if weights is None else np.asarray(weights, dtype=np.float32),
    )


def _tokenize_some(
    pairs: Sequence[FaultyPair], tokenizer: Any, max_length: int
) -> tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.int8], list[int]]:
    """Return the token ids, types and faults of pairs, and the length of each row."""
    ids: list[int] = []
    types: list[int] = []
    faults: list[int] = []
    lengths: list[int] = []
    prepared = [
        prepare_pair(pair.question, pair.paraphrase, read_question=_read, read_paraphrase=_read) for pair in pairs
    ]
    encoded = tokenizer(
        *([replace_surrogates(each.texts[side]) for each in prepared] for side in (0, 1)),
        truncation="longest_first",
        max_length=max_length,
        return_offsets_mapping=True,
        return_attention_mask=False,
    )
    for row, pair in enumerate(pairs):
        sequence = encoded.encodings[row]
        ids += sequence.ids
        types += sequence.type_ids
        lengths.append(len(sequence.ids))
        spans = (pair.question_spans, pair.paraphrase_spans)
        for part, (first, last) in zip(sequence.sequence_ids, sequence.offsets, strict=True):
            if part is None or not pair.placed:
                faults.append(_UNKNOWN)
                continue
            start, end = prepared[row].original_span(part, first, last)
            faults.append(int(any(a < end and start < b for a, b in spans[part])))
    return np.array(ids, dtype=np.int32), np.array(types, dtype=np.int8), np.array(faults, dtype=np.int8), lengths


def repeat_questions(tokens: JudgeTokens) -> JudgeTokens:
    """Append a second copy of each question after the paraphrase.

    A causal language model sees only earlier tokens, so it cannot compare the first copy of the question with the
    paraphrase. Faults in the question are therefore marked only in the second copy.
    """
    pieces: dict[str, list[NDArray[Any]]] = {name: [] for name in ("ids", "types", "faults")}
    offsets = [0]
    for start, end in zip(tokens.offsets[:-1], tokens.offsets[1:], strict=True):
        size = int((tokens.types[start:end] == 0).sum())
        question = slice(start, start + size)
        faults = tokens.faults[start:end].copy()
        faults[:size] = _UNKNOWN
        pieces["ids"] += [tokens.ids[start:end], tokens.ids[question]]
        pieces["types"] += [tokens.types[start:end], tokens.types[question]]
        pieces["faults"] += [faults, tokens.faults[question]]
        offsets.append(offsets[-1] + int(end - start) + size)
    columns = {name: np.concatenate(parts) for name, parts in pieces.items()}
    return replace(tokens, offsets=np.array(offsets, dtype=np.int64), **columns)


def join_tokens(parts: Sequence[JudgeTokens]) -> JudgeTokens:
    """Concatenate several sets of tokenised pairs."""
    offsets, base = [np.zeros(1, dtype=np.int64)], 0
    for part in parts:
        offsets.append(part.offsets[1:] + base)
        base += int(part.offsets[-1])
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS}
    return JudgeTokens(offsets=np.concatenate(offsets), **columns)


def write_tokens(tokens: JudgeTokens, path: Path) -> None:
    """Write tokenised pairs to a file atomically."""
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, offsets=tokens.offsets, **{name: getattr(tokens, name) for name in _COLUMNS})


def read_tokens(path: Path) -> JudgeTokens:
    """Read tokenised pairs from a file that `write_tokens` wrote."""
    with np.load(path, allow_pickle=False) as stored:
        return JudgeTokens(offsets=stored["offsets"], **{name: stored[name] for name in _COLUMNS})
