"""Compare two texts word by word, to display their differences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate
from typing import Literal, NamedTuple

_PIECES = re.compile(r"\w+|\s+|[^\w\s]")
_COMPARED = 1500  # tokens; longer texts are shown as replaced entirely, because comparison takes quadratic time
_MOST_WORK = 5_000_000  # visits of equal tokens; a text that repeats a few words would need a hundred million


class Segment(NamedTuple):
    """A piece of text that is in both texts (``=``), only in the first (``-``), or only in the second (``+``)."""

    sign: Literal["=", "-", "+"]
    text: str


def differences(before: str, after: str) -> list[Segment]:
    """Return the unchanged, removed and added segments, in order.

    >>> differences("It is 5 km away.", "It is 5 kilometres away.")[1:3]
    [Segment(sign='-', text='km'), Segment(sign='+', text='kilometres')]
    """
    if before == after:
        return [Segment("=", before)]
    old, new = _PIECES.findall(before), _PIECES.findall(after)
    if max(len(old), len(new)) > _COMPARED:
        return [Segment("-", before), Segment("+", after)]
    return list(_merged(_Matcher(old, new).get_opcodes(), old, new))


class _Matcher(SequenceMatcher[str]):
    """A matcher that stops after a certain amount of work, and then takes the rest of the texts as different."""

    def __init__(self, old: list[str], new: list[str]) -> None:
        super().__init__(None, old, new, autojunk=False)
        counts = Counter(new)
        self._visits = [0, *accumulate(counts[token] for token in old)]
        self._work_left = _MOST_WORK

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        self._work_left -= self._visits[-1 if ahi is None else ahi] - self._visits[alo]
        return super().find_longest_match(alo, ahi, blo, bhi) if self._work_left >= 0 else Match(alo, blo, 0)


def _merged(opcodes: Sequence[tuple[str, int, int, int, int]], old: list[str], new: list[str]) -> Iterator[Segment]:
    """Yield segments. Changes that are separated only by white space are merged to make them easier to read."""
    removed = added = ""
    for tag, i, j, k, m in opcodes:
        kept = "".join(old[i:j])
        if tag != "equal":
            removed += kept
            added += "".join(new[k:m])
        elif kept.isspace() and (removed or added):
            removed += kept
            added += kept
        else:
            yield from _change(removed, added)
            removed = added = ""
            yield Segment("=", kept)
    yield from _change(removed, added)


def _change(removed: str, added: str) -> Iterator[Segment]:
    tail = ""
    while removed[-1:].isspace() and removed[-1:] == added[-1:]:
        tail = removed[-1] + tail
        removed, added = removed[:-1], added[:-1]
    if removed:
        yield Segment("-", removed)
    if added:
        yield Segment("+", added)
    if tail:
        yield Segment("=", tail)
