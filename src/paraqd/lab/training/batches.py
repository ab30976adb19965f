"""Plan and build the batches for training a bi-encoder.

Texts are tokenised once. In a batch, each distinct text is encoded once, except that a valid text that is identical to
its question (f2) is encoded a second time. Dropout then produces two different vectors, and the loss can reduce the
distance between them.

All batches are planned before training starts, so an interrupted run resumes with the same batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from paraqd.lab.corpora.triplets import TripletSet

# The questions for this many batches are sorted by length together. The number is large enough to avoid most padding
# and small enough to keep the batches random.
_POOL = 64


@dataclass(frozen=True, eq=False)
class TokenStore:
    """The token ids of all texts, concatenated in one array.

    ``starts`` contains the start of each text in the array, followed by the end of the last text.
    """

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    pad: int

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of tokens in each text."""
        found: NDArray[np.int64] = np.diff(self.starts)
        return found


class DeviceTexts:
    """Tokenised texts on a device, where they are padded."""

    def __init__(self, tokens: TokenStore, device: str) -> None:
        import torch

        self._ids = torch.from_numpy(tokens.ids).to(device)
        self._starts = torch.from_numpy(tokens.starts).to(device)
        self._pad = tokens.pad

    def padded(self, rows: Tensor, length: int) -> tuple[Tensor, Tensor]:
        """Return the token ids of the texts ``rows``, padded to ``length``, and the mask, which is True for tokens."""
        import torch

        places = torch.arange(length, device=rows.device)
        mask = places < (self._starts[rows + 1] - self._starts[rows])[:, None]
        index = (self._starts[rows][:, None] + places).clamp(max=len(self._ids) - 1)
        return torch.where(mask, self._ids[index].long(), self._pad), mask


def tokenize(texts: Sequence[str], tokenizer: Any, *, max_length: int) -> TokenStore:
    """Tokenise texts, truncating each text to ``max_length`` tokens."""
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
    """All batches of a training run, as indices of triplets.

    ``epoch_ends`` contains, for each epoch, the number of batches completed by the end of the epoch.
    """

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
    distinct_questions: bool,
    grouped: bool = False,
) -> BatchPlan:
    """Plan the batches of all epochs.

    Parameters
    ----------
    triplets : TripletSet
        The training data.
    lengths : array
        The number of tokens in each text.
    distinct_questions : bool
        If True, no question occurs twice in a batch, because in-batch negatives must come from other questions.
    grouped : bool
        If True, texts of similar length share a batch, which avoids padding. Unless ``distinct_questions`` is True, a
        question's triplets also stay together, so the question is encoded only once. If False, the triplets are
        shuffled, as in the paper.

    """
    # for an in-batch negative, the index -1 reads the length of the last text, which is harmless
    width = lengths[triplets.triplets].max(axis=1)
    batches: list[NDArray[np.int64]] = []
    ends: list[int] = []
    for epoch in range(epochs):
        rng = np.random.default_rng([seed, epoch])
        rounds = _rounds(triplets.questions, rng) if distinct_questions else [np.arange(len(triplets.questions))]
        if grouped:
            rounds = [
                _by_length(chosen, triplets.questions, width, batch_size, rng, distinct_questions) for chosen in rounds
            ]
        else:
            rounds = [rng.permutation(chosen) for chosen in rounds]
        found = [chosen[i : i + batch_size] for chosen in rounds for i in range(0, len(chosen), batch_size)]
        if distinct_questions:  # a single triplet in a batch cannot take its negative from another triplet
            found = [batch for batch in found if len(batch) > 1 or triplets.triplets[batch[0], 2] >= 0]
        batches += [found[i] for i in rng.permutation(len(found))]
        ends.append(len(batches))
    return BatchPlan(batches=tuple(batches), epoch_ends=tuple(ends))


def _rounds(questions: NDArray[np.int32], rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Distribute the triplets over rounds in which each question occurs at most once."""
    order = rng.permutation(len(questions))
    by_question = order[np.argsort(questions[order], kind="stable")]
    sorted_questions = questions[by_question]
    first = np.r_[True, sorted_questions[1:] != sorted_questions[:-1]] if len(questions) else np.zeros(0, bool)
    starts = np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))
    turn = np.arange(len(first)) - starts
    return [by_question[turn == number] for number in range(int(turn.max(initial=-1)) + 1)]


def _by_length(
    chosen: NDArray[np.int64],
    questions: NDArray[np.int32],
    width: NDArray[np.int64],
    batch_size: int,
    rng: np.random.Generator,
    distinct_questions: bool,
) -> NDArray[np.int64]:
    """Divide the questions randomly into pools, and sort the triplets of each pool by the length of their question."""
    distinct, member = np.unique(questions[chosen], return_inverse=True)
    longest = np.zeros(len(distinct), dtype=np.int64)
    np.maximum.at(longest, member, width[chosen])
    per_question = max(1.0, len(chosen) / max(1, len(distinct)))
    pool_size = max(1, round(_POOL * batch_size / per_question))
    # a question's pool is random; within a pool, questions are sorted by length, with ties in random order
    shuffled = rng.permutation(len(distinct))
    pool = np.empty(len(distinct), dtype=np.int64)
    pool[shuffled] = np.arange(len(distinct)) // pool_size
    rank = np.empty(len(distinct), dtype=np.int64)
    rank[np.lexsort((shuffled, longest, pool))] = np.arange(len(distinct))
    within = rng.permutation(len(chosen)) if not distinct_questions else np.zeros(len(chosen), dtype=np.int64)
    return chosen[np.lexsort((within, rank[member]))]


def share(count: int, rank: int, size: int) -> slice:
    """Return the slice of a batch of ``count`` triplets that one of ``size`` processes encodes.

    >>> [share(7, rank, 3) for rank in range(3)]
    [slice(0, 3, None), slice(3, 5, None), slice(5, 7, None)]
    """
    least, over = divmod(count, size)
    start = rank * least + min(rank, over)
    return slice(start, start + least + (rank < over))


def collate(
    indices: Sequence[int], triplets: TripletSet, *, rank: int = 0, size: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct texts in a batch, and the three places of each triplet among them.

    A valid text that equals its question has a separate place, so dropout produces two different vectors. An in-batch
    negative (-1) is replaced by the question of the next triplet. If there are several processes, each process builds
    the inputs only for its share of the batch. A process whose share is empty still encodes one text.
    """
    chosen = triplets.triplets[np.asarray(indices)].astype(np.int64)
    in_batch = chosen[:, 2] < 0
    chosen[in_batch, 2] = np.roll(chosen[:, 0], -1)[in_batch]
    own = chosen[share(len(chosen), rank, size)]
    total = len(triplets.texts)
    own[own[:, 1] == own[:, 0], 1] += total  # a second place for the same text
    rows, places = np.unique(own, return_inverse=True)
    return rows % total if len(rows) else chosen[0, :1], places.reshape(own.shape)
