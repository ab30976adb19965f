"""Find near twins: questions so similar to held-out questions that training on them would leak test data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_LIKE = 85  # the lowest similarity of near twins, from 0 to 100; a few different words are allowed


def near_twins(texts: Sequence[str], held_out: Iterable[str]) -> list[bool]:
    """Return, for each text, True if it matches a held-out text except for numbers, word order and one or two words.

    >>> near_twins(["Ann has 7 pens. How many are left?", "A car goes 5 km."], ["Ann has 12 pens, how many are left?"])
    [True, False]
    """
    from rapidfuzz import fuzz, process

    others = [_bare(text) for text in held_out]
    return [
        process.extractOne(_bare(text), others, scorer=fuzz.ratio, score_cutoff=_LIKE) is not None for text in texts
    ]


def likeness(one: str, other: str) -> float:
    """Return the similarity of two texts, from 0 to 100, ignoring numbers and word order.

    >>> likeness("Ann has 7 pens.", "Has Ann 12 pens?")
    100.0
    """
    from rapidfuzz import fuzz

    return float(fuzz.ratio(_bare(one), _bare(other)))


def _bare(text: str) -> str:
    """Return the sorted words of a text, in lower case and without punctuation, with 0 in place of every number."""
    return " ".join(sorted(re.findall(r"\w+", _NUMBER.sub("0", text.lower()))))
