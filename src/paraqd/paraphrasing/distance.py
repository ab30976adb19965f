"""Measure how far two texts are from each other, in their words and in the order of their words."""

from __future__ import annotations

import re
from itertools import pairwise

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


def order_distance(one: str, two: str) -> float:
    """Return the share of neighbouring words that are no longer neighbours: 0 for the same text, up to 1.

    >>> order_distance("In May Tom ran.", "Tom ran in May.")
    0.5
    """
    a, b = words(one), words(two)
    pairs, others = set(pairwise(a)), set(pairwise(b))
    union = pairs | others
    return 1 - len(pairs & others) / len(union) if union else 0.0


def distance(one: str, two: str) -> float:
    """Return the distance of two texts from 0 to 1: the mean of the distances in wording and in word order.

    >>> distance("Tom has 5 pens.", "Tom has 5 pens.")
    0.0
    """
    return (1 - overlap(one, two) + order_distance(one, two)) / 2
