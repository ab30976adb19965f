"""Questions so like one that is kept back that training on them would give its answer away."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_LIKE = 85  # of 100: one or two words of a sentence apart


def near_twins(texts: Sequence[str], kept_back: Iterable[str]) -> list[bool]:
    """Return for each text whether it is a text kept back but for numbers, the order of words, and a word or two.

    >>> near_twins(["Ann has 7 pens. How many are left?", "A car goes 5 km."], ["Ann has 12 pens, how many are left?"])
    [True, False]
    """
    from rapidfuzz import fuzz, process

    others = [_bare(text) for text in kept_back]
    return [
        process.extractOne(_bare(text), others, scorer=fuzz.token_sort_ratio, score_cutoff=_LIKE) is not None
        for text in texts
    ]


def likeness(one: str, other: str) -> float:
    """Return how alike two texts are but for numbers and the order of words, from 0 to 100.

    >>> likeness("Ann has 7 pens.", "Has Ann 12 pens?")
    100.0
    """
    from rapidfuzz import fuzz

    return float(fuzz.token_sort_ratio(_bare(one), _bare(other)))


def _bare(text: str) -> str:
    """Return a text in small letters, with one sign for every number and without punctuation."""
    return " ".join(re.findall(r"\w+", _NUMBER.sub("0", text.lower())))
