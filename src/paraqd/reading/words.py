"""Split texts into words for comparisons of wording, without punctuation and in lower case."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]+(?:[.,/:][^\W_]+)*(?:['’][^\W\d_]+)?")


def words(text: str) -> list[str]:
    """Return the words of a text in lower case. A number counts as a word; punctuation does not.

    >>> words("Tom's 2.5 kg, at $3!")
    ["tom's", '2.5', 'kg', 'at', '3']
    """
    return _WORD.findall(text.lower())


def overlap(one: str, two: str) -> float:
    """Return the Jaccard overlap of two texts' sets of words: 1 if they are the same, 0 if they share no word.

    >>> overlap("Tom has 5 pens.", "Tom owns 5 pens.")
    0.6
    """
    a, b = set(words(one)), set(words(two))
    return len(a & b) / len(a | b) if a or b else 1.0
