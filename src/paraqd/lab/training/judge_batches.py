"""Plan batches for training a judge, and gather their rows on the device.

Each batch has one of a few fixed lengths, so a GPU can capture one training step per length and replay it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.lab.training.judge_tokens import JudgeTokens

# the greatest lengths are for language models, which read the question twice
_SHORT = [24, *range(32, 129, 8), 144, 160, 176, 192, 208, 232, 256, 288, 320]
LENGTHS = np.array([*_SHORT, 384, 448, 512, 576, 640, 768, 896, 1024, 1184, 1344])
NO_ROW = -1
Batch = tuple[int, NDArray[np.int64]]  # the length in tokens, and the row indices; NO_ROW fills an incomplete batch


def plan_epoch(
    lengths: NDArray[np.int64], *, tokens: int, rng: np.random.Generator, rows: NDArray[np.int64] | None = None
) -> list[Batch]:
    """Return the batches of one epoch in random order. Every row is in exactly one batch.

    A batch of length L has ``tokens // L`` rows. Rows that do not fill a batch move to the next greater length. If
    ``rows`` is passed, the epoch consists of these rows only.

    >>> batches = plan_epoch(np.array([20, 30, 30]), tokens=64, rng=np.random.default_rng(0))
    >>> [(length, len(rows)) for length, rows in batches]
    [(32, 2), (32, 2)]
    >>> sorted(row for _, rows in batches for row in rows.tolist() if row != NO_ROW)
    [0, 1, 2]
    """
    order = rng.permutation(len(lengths) if rows is None else rows)
    slot = np.searchsorted(LENGTHS, lengths[order])
    longest = int(LENGTHS[slot.max(initial=0)])
    left, batches = order[:0], []
    for number, length in enumerate(LENGTHS.tolist()):
        if length > longest:
            break
        some, size = np.concatenate([left, order[slot == number]]), max(1, tokens // length)
        full = len(some) // size
        batches += [(length, some[i * size : (i + 1) * size]) for i in range(full)]
        left = some[full * size :]
    if len(left):
        batches.append((longest, np.concatenate([left, np.full(size - len(left), NO_ROW)])))
    return [batches[i] for i in rng.permutation(len(batches))]


class DeviceRows:
    """Tokenised pairs on a device, where batches are gathered and padded."""

    def __init__(self, tokens: JudgeTokens, teacher: NDArray[np.float32] | None, device: str) -> None:
        import torch

        def put(array: Any, dtype: Any) -> Any:
            return torch.from_numpy(np.ascontiguousarray(array)).to(device, dtype)

        self.device = device
        self._ids, self._types = put(tokens.ids, torch.int32), put(tokens.types, torch.int8)
        self._faults, self._start = put(tokens.faults, torch.int8), put(tokens.offsets[:-1], torch.int64)
        self._length, self._labels = put(tokens.lengths, torch.int64), put(tokens.labels, torch.float32)
        self._kinds, self._weights = put(tokens.kinds, torch.int64), put(tokens.weights, torch.float32)
        self._teacher = None if teacher is None else put(teacher, torch.float32)

    def gather(self, rows: Any, length: int) -> dict[str, Any]:
        """Return the given rows, padded to ``length``. Rows with the index `NO_ROW` have no weight in the loss."""
        import torch

        real, row = rows >= 0, rows.clamp(min=0)
        place = torch.arange(length, device=rows.device)
        mask = place[None] < self._length[row][:, None]
        index = (self._start[row][:, None] + place).clamp(max=len(self._ids) - 1)
        return {
            "input_ids": torch.where(mask, self._ids[index].long(), 0),
            "token_type_ids": torch.where(mask, self._types[index].long(), 0),
            "attention_mask": mask,
            "faults": torch.where(mask & real[:, None], self._faults[index].long(), -1),
            "labels": self._labels[row],
            "kinds": torch.where(real, self._kinds[row], -1),
            "weights": torch.where(real, self._weights[row], 0.0),
            "teacher": None if self._teacher is None else self._teacher[row],
        }

    def gather_trimmed(self, rows: Any) -> dict[str, Any]:
        """Return the given rows except `NO_ROW`, padded to the length of the longest row."""
        real = rows[rows != NO_ROW]
        return self.gather(real, int(self._length[real].max()))
