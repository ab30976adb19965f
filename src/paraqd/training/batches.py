"""Plan and make the batches of a training.

Texts are tokenised once, and texts of similar length share a batch. A batch encodes each distinct text once, except
that a valid text equal to its question (f2) is encoded a second time: dropout then gives two different vectors, and
the triplet has something to pull together.

All batches are planned before the training starts, so that an interrupted run resumes with the same batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paraqd.data.triplets import TripletSet

_POOL = 64  # batches whose questions are sorted by length together: enough for little padding, still at random


@dataclass(frozen=True, eq=False)
class TokenStore:
    """All texts as token ids, one after the other in one array."""

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    pad: int

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each text."""
        found: NDArray[np.int64] = np.diff(self.starts)
        return found

    def padded(self, texts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ids of these texts as a matrix, and its mask."""
        lengths = self.lengths[texts]
        width = int(lengths.max(initial=1))
        places = np.arange(width)
        mask = places < lengths[:, None]
        where = np.minimum(self.starts[texts][:, None] + places, len(self.ids) - 1)
        return np.where(mask, self.ids[where], self.pad).astype(np.int64), mask.astype(np.int64)


def tokenize(texts: Sequence[str], tokenizer: Any, *, max_length: int) -> TokenStore:
    """Tokenise all texts once."""
    rows: list[list[int]] = []
    for start in range(0, len(texts), 10_000):
        part = list(texts[start : start + 10_000])
        rows += tokenizer(part, truncation=True, max_length=max_length, return_attention_mask=False)["input_ids"]
    starts = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=starts[1:])
    flat = np.fromiter((token for row in rows for token in row), dtype=np.int32, count=int(starts[-1]))
    return TokenStore(ids=flat, starts=starts, pad=int(tokenizer.pad_token_id or 0))


@dataclass(frozen=True)
class BatchPlan:
    """The batches of a whole training, as indices of triplets, and after which batches an epoch ends."""

    batches: tuple[NDArray[np.int64], ...]
    epoch_ends: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[list[int]]:
        return (batch.tolist() for batch in self.batches)


def plan_batches(
    triplets: TripletSet,
    lengths: NDArray[np.int64],
    *,
    batch_size: int,
    epochs: int,
    seed: int,
    apart: bool,
) -> BatchPlan:
    """Plan the batches of all epochs.

    Parameters
    ----------
    triplets : TripletSet
        What to train on.
    lengths : array
        Tokens of each text.
    apart : bool
        No question twice in a batch, as in-batch negatives need it. Otherwise the triplets of a question stay
        together, so that their anchor is encoded once.

    """
    width = lengths[triplets.triplets].max(axis=1)  # -1, an in-batch negative, reads the last text: harmless here
    batches: list[NDArray[np.int64]] = []
    ends: list[int] = []
    for epoch in range(epochs):
        rng = np.random.default_rng([seed, epoch])
        rounds = _rounds(triplets.questions, rng) if apart else [np.arange(len(triplets.questions))]
        found = [b for chosen in rounds for b in _cut(chosen, triplets.questions, width, batch_size, rng, apart)]
        if apart:  # a lone triplet has no one to take a negative from
            found = [batch for batch in found if len(batch) > 1 or triplets.triplets[batch[0], 2] >= 0]
        batches += [found[i] for i in rng.permutation(len(found))]
        ends.append(len(batches))
    return BatchPlan(batches=tuple(batches), epoch_ends=tuple(ends))


def _rounds(questions: NDArray[np.int32], rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Deal the triplets into rounds in which each question stands at most once."""
    order = rng.permutation(len(questions))
    by_question = order[np.argsort(questions[order], kind="stable")]
    sorted_questions = questions[by_question]
    first = np.r_[True, sorted_questions[1:] != sorted_questions[:-1]] if len(questions) else np.zeros(0, bool)
    starts = np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))
    turn = np.arange(len(first)) - starts
    return [by_question[turn == number] for number in range(int(turn.max(initial=-1)) + 1)]


def _cut(
    chosen: NDArray[np.int64],
    questions: NDArray[np.int32],
    width: NDArray[np.int64],
    batch_size: int,
    rng: np.random.Generator,
    apart: bool,
) -> list[NDArray[np.int64]]:
    """Shuffle whole questions, sort pools of them by length, and cut the row of triplets into batches."""
    distinct, member = np.unique(questions[chosen], return_inverse=True)
    longest = np.zeros(len(distinct), dtype=np.int64)
    np.maximum.at(longest, member, width[chosen])
    per_question = max(1.0, len(chosen) / max(1, len(distinct)))
    pool_size = max(1, round(_POOL * batch_size / per_question))
    # where each question comes: its pool at random, within the pool by length, ties at random
    shuffled = rng.permutation(len(distinct))
    pool = np.empty(len(distinct), dtype=np.int64)
    pool[shuffled] = np.arange(len(distinct)) // pool_size
    rank = np.empty(len(distinct), dtype=np.int64)
    rank[np.lexsort((shuffled, longest, pool))] = np.arange(len(distinct))
    within = rng.permutation(len(chosen)) if not apart else np.zeros(len(chosen), dtype=np.int64)
    row = chosen[np.lexsort((within, rank[member]))]
    return [row[start : start + batch_size] for start in range(0, len(row), batch_size)]


def share(count: int, rank: int, size: int) -> slice:
    """Return which of a batch's triplets are those of one of several processes.

    >>> [share(7, rank, 3) for rank in range(3)]
    [slice(0, 3, None), slice(3, 5, None), slice(5, 7, None)]
    """
    least, over = divmod(count, size)
    start = rank * least + min(rank, over)
    return slice(start, start + least + (rank < over))


def collate(
    indices: Sequence[int], triplets: TripletSet, tokens: TokenStore, *, rank: int = 0, size: int = 1
) -> dict[str, Any]:
    """Make the trainer's inputs: the distinct texts of the batch, and each triplet as rows among them.

    A valid text that equals its anchor has a row of its own, so that dropout tells the two apart. The in-batch
    negative (-1) of a triplet is the question of the next triplet. Of several processes each makes its share; a
    process without a triplet still has a text to encode.
    """
    import torch

    chosen = triplets.triplets[np.asarray(indices)].astype(np.int64)
    borrowed = chosen[:, 2] < 0
    chosen[borrowed, 2] = np.roll(chosen[:, 0], -1)[borrowed]
    own = chosen[share(len(chosen), rank, size)]
    total = len(tokens.starts) - 1
    own[own[:, 1] == own[:, 0], 1] += total  # a second row for the same text
    rows, places = np.unique(own, return_inverse=True)
    texts = rows % total
    if not len(texts):
        texts = chosen[0, :1]
    ids, mask = tokens.padded(texts)
    return {
        "text_input_ids": torch.from_numpy(ids),
        "text_attention_mask": torch.from_numpy(mask),
        "label": torch.from_numpy(places.reshape(own.shape)),
    }
