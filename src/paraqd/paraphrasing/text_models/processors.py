"""Adjust the scores for the next token so that a text's output does not depend on the other texts in the batch.

The classes are logits processors for ``transformers``: ``processor(input_ids, scores)`` returns the adjusted scores.
The parameter ``start`` is the number of positions before the first new token.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

_NEVER = float("-inf")
# sampling with a limit on the probability looks at no more tokens than these; to sort all tokens would take most of the
# time
_MOST_TOKENS = 512


def row_key(seed: int, text: str, candidate: int) -> int:
    """Return the 63-bit key for the random numbers of one candidate. The key depends only on the arguments.

    >>> row_key(3407, "a", 0) == row_key(3407, "a", 0) != row_key(3407, "a", 1)
    True
    """
    digest = hashlib.sha256(f"{seed}\x1f{candidate}\x1f{text}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def gumbel(keys: Any, *, step: int, size: int, columns: Any = None) -> Any:
    """Return Gumbel noise as an array with one row per key and ``size`` columns.

    Each value depends only on the row's key, the step and the column, so a row's noise is the same in every batch. If
    ``columns`` is passed, an array with one row per key, only the noise of these columns is returned. The random number
    generator is counter-based, uses the mixing function of SplitMix64 and runs on the device of ``keys``. Adding the
    noise to log-probabilities and taking the argmax yields a sample from the distribution (the Gumbel-max trick). The
    uniform random numbers have a resolution of 23 bits.
    """
    import torch

    if columns is None:
        columns = torch.arange(size, device=keys.device, dtype=torch.int64)[None, :]
    z = keys[:, None] + (columns + (step * size + 1)) * _signed(0x9E3779B97F4A7C15)
    z = (z ^ _shift_right(z, 30)) * _signed(0xBF58476D1CE4E5B9)
    z = (z ^ _shift_right(z, 27)) * _signed(0x94D049BB133111EB)
    z = z ^ _shift_right(z, 31)
    uniform = (_shift_right(z, 41).to(torch.float32) + 0.5) / 2**23
    return -torch.log(-torch.log(uniform))


def _signed(constant: int) -> int:
    """Convert an unsigned 64-bit constant to the signed integer that has the same bits."""
    return constant - 2**64 if constant >= 2**63 else constant


def _shift_right(z: Any, bits: int) -> Any:
    """Shift the bits of ``z`` to the right and fill with zeros, because torch's own shift would copy the sign bit."""
    return (z >> bits) & ((1 << (64 - bits)) - 1)


def keep_top_p(scores: Any, top_p: float) -> Any:
    """Keep the scores of the most likely tokens, and exclude the other tokens.

    The most likely tokens are the smallest set of tokens whose probabilities sum to at least ``top_p``.
    """
    import torch

    if top_p >= 1.0:
        return scores
    ordered, order = torch.sort(scores, descending=True, dim=-1, stable=True)
    probabilities = torch.softmax(ordered, dim=-1)
    before = probabilities.cumsum(dim=-1) - probabilities
    out = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, order, before >= top_p)
    return scores.masked_fill(out, _NEVER)


class LengthLimit:
    """A processor that ends a text's outputs when the text's limit of new tokens is reached."""

    def __init__(self, limits: Sequence[int], *, start: int, eos: Sequence[int]) -> None:
        self._limits = limits
        self._start = start
        self._eos = list(eos)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Allow only end tokens in rows that have reached their limit of new tokens."""
        import torch

        limits = torch.tensor(self._limits, device=scores.device)
        over = limits.repeat_interleave(scores.shape[0] // len(limits)) <= input_ids.shape[1] - self._start
        ended = torch.full_like(scores, _NEVER)
        ended[:, self._eos] = 0.0
        return torch.where(over[:, None], ended, scores)


class KeyedSampling:
    """A processor that adds random noise to the scores so that greedy decoding samples from the distribution.

    ``temperature`` and ``top_p`` are applied before the noise is added.
    """

    def __init__(self, keys: Sequence[int], *, start: int, temperature: float, top_p: float) -> None:
        self._keys = keys
        self._start = start
        self._temperature = temperature
        self._top_p = top_p

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Apply ``temperature`` and ``top_p``, and add Gumbel noise that depends on each row's key."""
        import torch

        keys = torch.tensor(self._keys, device=scores.device, dtype=torch.int64)
        step, size, scaled = input_ids.shape[1] - self._start, scores.shape[1], scores / self._temperature
        if self._top_p >= 1.0:
            return scaled + gumbel(keys, step=step, size=size)
        likely, columns = scaled.topk(min(_MOST_TOKENS, size), dim=-1)
        probabilities = (likely - scaled.logsumexp(dim=-1, keepdim=True)).exp()
        before = probabilities.cumsum(dim=-1) - probabilities
        noisy = likely + gumbel(keys, step=step, size=size, columns=columns)
        return torch.full_like(scores, _NEVER).scatter(-1, columns, noisy.masked_fill(before >= self._top_p, _NEVER))


class HammingDiversity:
    """A processor for diverse beam search in which each group has one beam.

    A text's groups are adjacent rows of the batch. At each step, the model scores all groups at once, and the processor
    then adjusts the groups one after another: a token is penalised for each earlier group that chooses the same token.
    A group that has ended no longer causes penalties.
    """

    def __init__(self, groups: int, *, penalty: float, start: int, eos: Sequence[int]) -> None:
        self._groups = groups
        self._penalty = penalty
        self._start = start
        self._eos = list(eos)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Lower each group's scores for the tokens that earlier groups choose at the same step."""
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
