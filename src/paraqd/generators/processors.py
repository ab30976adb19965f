"""Change logits before a token is chosen, for each row independently of the other rows.

The classes are logits processors of ``transformers``: ``(input_ids, scores) -> scores``. ``start`` is the number of
positions before the first new token.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

_NEVER = float("-inf")


def row_key(seed: int, text: str, candidate: int) -> int:
    """Return the 63-bit key of a candidate's random numbers, which depends on its seed, text and number only.

    >>> row_key(3407, "a", 0) == row_key(3407, "a", 0) != row_key(3407, "a", 1)
    True
    """
    digest = hashlib.sha256(f"{seed}\x1f{candidate}\x1f{text}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def gumbel(keys: Any, *, step: int, size: int) -> Any:
    """Return Gumbel noise (rows, size) that depends on the key of a row, the step and the column only.

    The generator is counter-based (the mixing function of SplitMix64): the noise of a row is computed on the device
    and is the same in any batch. Adding it to log-probabilities and taking the largest is exact sampling (Gumbel-max),
    at the resolution of 23 random bits.
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
    """Return a 64-bit constant as a signed integer, as torch stores it."""
    return constant - 2**64 if constant >= 2**63 else constant


def _shift(z: Any, bits: int) -> Any:
    """Shift right and fill with zeros (torch's own shift keeps the sign)."""
    return (z >> bits) & ((1 << (64 - bits)) - 1)


def keep_top_p(scores: Any, top_p: float) -> Any:
    """Exclude all tokens except the most likely ones, which together have ``top_p`` of the probability."""
    import torch

    if top_p >= 1.0:
        return scores
    ordered, order = torch.sort(scores, descending=True, dim=-1, stable=True)
    probabilities = torch.softmax(ordered, dim=-1)
    before = probabilities.cumsum(dim=-1) - probabilities
    out = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, order, before >= top_p)
    return scores.masked_fill(out, _NEVER)


class LengthLimit:
    """A processor that ends each row at its own limit, so that its output does not depend on the batch."""

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
    """A processor that samples: a greedy choice after it is a draw from the tempered, truncated distribution."""

    def __init__(self, keys: Sequence[int], *, start: int, temperature: float, top_p: float) -> None:
        self._keys = keys
        self._start = start
        self._temperature = temperature
        self._top_p = top_p

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Add the Gumbel noise of each row."""
        import torch

        keys = torch.tensor(self._keys, device=scores.device, dtype=torch.int64)
        kept = keep_top_p(scores / self._temperature, self._top_p)
        return kept + gumbel(keys, step=input_ids.shape[1] - self._start, size=scores.shape[1])


class HammingDiversity:
    """Diverse beam search with groups of one beam; all groups of a text are rows of the same batch.

    A group depends only on the tokens of earlier groups at the same step, and all logits of the step are known at
    once. So the groups choose one after another here, and the model runs once per step for all of them. A group that
    has ended no longer counts.
    """

    def __init__(self, groups: int, *, penalty: float, start: int, eos: Sequence[int]) -> None:
        self._groups = groups
        self._penalty = penalty
        self._start = start
        self._eos = list(eos)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Lower the scores of tokens that earlier groups choose at this step."""
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
