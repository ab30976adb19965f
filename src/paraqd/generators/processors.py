"""Adjust logits before a token is chosen, so that each text's result is independent of the other texts in the batch.

The classes implement the interface of logits processors in ``transformers``, ``(input_ids, scores) -> scores``.
``start`` is the number of positions before the first new token.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

_NEVER = float("-inf")


def row_key(seed: int, text: str, candidate: int) -> int:
    """Return a 63-bit key for a candidate's random numbers, derived only from the seed, the text and ``candidate``.

    >>> row_key(3407, "a", 0) == row_key(3407, "a", 0) != row_key(3407, "a", 1)
    True
    """
    digest = hashlib.sha256(f"{seed}\x1f{candidate}\x1f{text}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def gumbel(keys: Any, *, step: int, size: int) -> Any:
    """Return Gumbel noise of shape (rows, size) that depends only on each row's key, the step and the column.

    The random number generator is counter-based and uses the mixing function of SplitMix64. The noise is therefore
    computed on the device, and a row's noise is the same in any batch. Adding the noise to log-probabilities and
    taking the maximum samples exactly from the distribution (the Gumbel-max trick), up to the resolution of 23 random
    bits.
    """
    import torch

    counter = torch.arange(step * size + 1, (step + 1) * size + 1, device=keys.device, dtype=torch.int64)
    z = keys[:, None] + counter[None, :] * _signed(0x9E3779B97F4A7C15)
    z = (z ^ _shift(z, 30)) * _signed(0xBF58476D1CE4E5B9)
    z = (z ^ _shift(z, 27)) * _signed(0x94D049BB133111EB)
    z = z ^ _shift(z, 31)
    uniform = (_shift(z, 41).to(torch.float32) + 0.5) / 2**23
    return -torch.log(-torch.log(uniform))


def _signed(constant: int) -> int:
    """Convert an unsigned 64-bit constant to the signed integer with the same bits, which is how torch stores it."""
    return constant - 2**64 if constant >= 2**63 else constant


def _shift(z: Any, bits: int) -> Any:
    """Shift right and fill with zeros, because torch's own shift preserves the sign."""
    return (z >> bits) & ((1 << (64 - bits)) - 1)


def keep_top_p(scores: Any, top_p: float) -> Any:
    """Exclude all tokens outside the smallest set of likely tokens whose probabilities sum to at least ``top_p``."""
    import torch

    if top_p >= 1.0:
        return scores
    ordered, order = torch.sort(scores, descending=True, dim=-1, stable=True)
    probabilities = torch.softmax(ordered, dim=-1)
    before = probabilities.cumsum(dim=-1) - probabilities
    out = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, order, before >= top_p)
    return scores.masked_fill(out, _NEVER)


class LengthLimit:
    """A processor that ends each row at the row's own limit, so that the output does not depend on the batch."""

    def __init__(self, limits: Sequence[int], *, start: int, eos: Sequence[int]) -> None:
        self._limits = limits
        self._start = start
        self._eos = list(eos)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Allow only end tokens in a row that has reached its limit of new tokens."""
        import torch

        limits = torch.tensor(self._limits, device=scores.device)
        over = limits.repeat_interleave(scores.shape[0] // len(limits)) <= input_ids.shape[1] - self._start
        ended = torch.full_like(scores, _NEVER)
        ended[:, self._eos] = 0.0
        return torch.where(over[:, None], ended, scores)


class KeyedSampling:
    """A processor that turns a subsequent greedy choice into a sample.

    The sample comes from the distribution after ``temperature`` and ``top_p`` have been applied.
    """

    def __init__(self, keys: Sequence[int], *, start: int, temperature: float, top_p: float) -> None:
        self._keys = keys
        self._start = start
        self._temperature = temperature
        self._top_p = top_p

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Apply ``temperature`` and ``top_p``, and add each row's Gumbel noise."""
        import torch

        keys = torch.tensor(self._keys, device=scores.device, dtype=torch.int64)
        kept = keep_top_p(scores / self._temperature, self._top_p)
        return kept + gumbel(keys, step=input_ids.shape[1] - self._start, size=scores.shape[1])


class HammingDiversity:
    """A processor for diverse beam search with groups of one beam. A text's groups are rows of the same batch.

    A group's penalties depend only on the tokens that earlier groups choose at the same step. The model therefore runs
    once per step for all groups, and this processor then chooses tokens for the groups one after another. A group that
    has ended no longer causes penalties.
    """

    def __init__(self, groups: int, *, penalty: float, start: int, eos: Sequence[int]) -> None:
        self._groups = groups
        self._penalty = penalty
        self._start = start
        self._eos = list(eos)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Lower each group's scores for the tokens that earlier groups choose at this step."""
        import torch

        eos = torch.tensor(self._eos, device=scores.device)
        running = ~torch.isin(input_ids[:, self._start :], eos).any(dim=1)
        running = running.view(-1, self._groups, 1).to(scores.dtype)
        grouped = scores.reshape(-1, self._groups, scores.shape[1]).clone()
        cost = torch.zeros_like(grouped[:, 0])
        for group in range(1, self._groups):
            chosen = grouped[:, group - 1].argmax(dim=-1, keepdim=True)
            cost = cost.scatter_add(1, chosen, running[:, group - 1] * self._penalty)
            grouped[:, group] -= cost
        return grouped.reshape(scores.shape)
