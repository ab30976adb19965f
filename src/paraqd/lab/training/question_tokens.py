"""Convert single questions into training rows for a judge: ``[CLS] text [SEP]``, with marked faults."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.lab.corpora.question_texts import KINDS, QuestionText
from paraqd.lab.training.judge_tokens import JudgeTokens, join_tokens
from paraqd.scoring.judge.pair_tokens import LONGEST, replace_surrogates
from paraqd.scoring.markup import remove_markup
from paraqd.tables.writers import replacing

_UNKNOWN = -1
_AT_ONCE = 4096


@dataclass(frozen=True)
class QuestionTokens:
    """Tokenised questions, with the family of the fault, the counterpart and the source of each row."""

    tokens: JudgeTokens
    families: NDArray[np.str_]
    counterparts: NDArray[np.str_]
    sources: NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.tokens)

    def without(self, families: Collection[str]) -> QuestionTokens:
        """Return the rows that neither belong to the given families of faults nor are their counterparts."""
        left_out = sorted(families)
        return self.rows(~(np.isin(self.families, left_out) | np.isin(self.counterparts, left_out)))

    def rows(self, kept: NDArray[np.bool_]) -> QuestionTokens:
        """Return the rows for which ``kept`` is True."""
        tokens = self.tokens
        inside = np.repeat(kept, tokens.lengths)
        return QuestionTokens(
            JudgeTokens(
                tokens.ids[inside],
                tokens.types[inside],
                tokens.faults[inside],
                np.concatenate([[0], np.cumsum(tokens.lengths[kept])]).astype(np.int64),
                tokens.labels[kept],
                tokens.kinds[kept],
                tokens.weights[kept],
            ),
            self.families[kept],
            self.counterparts[kept],
            self.sources[kept],
        )


def tokenize_texts(texts: Sequence[QuestionText], tokenizer: Any, weights: Sequence[float]) -> QuestionTokens:
    """Remove markup from texts as the checker does, and tokenise them. Texts are cut to the model's longest input.

    ``tokenizer`` is a ``tokenizers.Tokenizer`` that frames texts with special tokens.
    """
    tokenizer.enable_truncation(LONGEST)
    tokenizer.no_padding()
    ids: list[NDArray[np.int32]] = []
    faults: list[int] = []
    for first in range(0, len(texts), _AT_ONCE):
        some = texts[first : first + _AT_ONCE]
        plain = [remove_markup(replace_surrogates(text.text)) for text in some]
        encoded = tokenizer.encode_batch([each.text for each in plain])
        for text, clean, row in zip(some, plain, encoded, strict=True):
            ids.append(np.array(row.ids, dtype=np.int32))
            for special, (start, end) in zip(row.special_tokens_mask, row.offsets, strict=True):
                if special or not text.placed:
                    faults.append(_UNKNOWN)
                    continue
                start, end = clean.original_span(start, end)
                faults.append(int(any(a < end and start < b for a, b in text.spans)))
    joined = np.concatenate([np.zeros(0, dtype=np.int32), *ids])
    tokens = JudgeTokens(
        joined,
        np.zeros(len(joined), dtype=np.int8),
        np.array(faults, dtype=np.int8),
        np.cumsum([0, *map(len, ids)], dtype=np.int64),
        np.array([text.label for text in texts], dtype=np.float32),
        np.array([KINDS.index(text.kind) if text.kind else _UNKNOWN for text in texts], dtype=np.int64),
        np.asarray(weights, dtype=np.float32),
    )
    return QuestionTokens(
        tokens,
        np.array([text.family for text in texts], dtype=str),
        np.array([text.counterpart for text in texts], dtype=str),
        np.array([text.source for text in texts], dtype=str),
    )


def join_questions(parts: Sequence[QuestionTokens]) -> QuestionTokens:
    """Concatenate several sets of tokenised questions."""
    return QuestionTokens(
        join_tokens([part.tokens for part in parts]),
        np.concatenate([part.families for part in parts]),
        np.concatenate([part.counterparts for part in parts]),
        np.concatenate([part.sources for part in parts]),
    )


def balanced(tokens: JudgeTokens) -> JudgeTokens:
    """Scale the weights so that solvable and broken texts have the same total weight, and the mean weight is 1."""
    weights = tokens.weights.copy()
    for label in (0, 1):
        rows = tokens.labels == label
        if rows.any():
            weights[rows] *= len(weights) / 2 / weights[rows].sum()
    return replace(tokens, weights=weights)


def write_question_tokens(questions: QuestionTokens, path: Path) -> None:
    """Write tokenised questions to a small file atomically."""
    tokens = questions.tokens
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(
            file,
            ids=tokens.ids.astype(np.uint16),
            faults=tokens.faults,
            lengths=tokens.lengths.astype(np.uint16),
            labels=tokens.labels.astype(np.int8),
            kinds=tokens.kinds.astype(np.int8),
            weights=tokens.weights,
            families=questions.families,
            counterparts=questions.counterparts,
            sources=questions.sources,
        )


def read_question_tokens(path: Path) -> QuestionTokens:
    """Read tokenised questions from a file that `write_question_tokens` wrote."""
    with np.load(path, allow_pickle=False) as stored:
        ids = stored["ids"].astype(np.int32)
        tokens = JudgeTokens(
            ids,
            np.zeros(len(ids), dtype=np.int8),
            stored["faults"],
            np.concatenate([[0], np.cumsum(stored["lengths"], dtype=np.int64)]),
            stored["labels"].astype(np.float32),
            stored["kinds"].astype(np.int64),
            stored["weights"],
        )
        return QuestionTokens(tokens, stored["families"], stored["counterparts"], stored["sources"])
