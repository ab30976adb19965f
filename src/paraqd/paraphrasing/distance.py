"""Measure how far two texts are from each other, in their words and in the order of their words.

`Wording` holds what the measures need of a text, so that a text that is compared with many others is split only once.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, TypeVar

from paraqd.reading import read
from paraqd.reading.words import overlap, words

__all__ = ["Wording", "distance", "order_distance", "overlap", "words"]

# words that frame a problem, as in *We know that …* and *Work out …*, and other words that carry little meaning
_FRAME = frozenset(
    "a an and are as asked assume assuming at based be been being below calculate can compute could determine did do "
    "does fact facts figure find following for from given had has have here how i if imagine in information is it its "
    "know knowing known let like many me much must need needs now of on our out please problem question read say so "
    "solve some story suppose supposing task tell that the then there these they this to told us using want was we "
    "were what what's when which who will wish with work would you your".split()
)

T = TypeVar("T")


class Wording(NamedTuple):
    """The set of a text's words and the set of its pairs of neighbouring words.

    >>> Wording.of("Tom ran.").pairs
    frozenset({('tom', 'ran')})
    """

    words: frozenset[str]
    pairs: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, text: str) -> Wording:
        """Return the wording of a text."""
        found = words(text)
        return cls(frozenset(found), frozenset(pairwise(found)))

    @classmethod
    def of_content(cls, text: str) -> Wording:
        """Return the wording of what a text says: without the words of a frame, and with numbers and units in one form.

        >>> told, known = ("You are told that Tom ran twelve km. How far?", "We know Tom ran 12 kilometers. How far?")
        >>> Wording.of_content(told) == Wording.of_content(known)
        True
        """
        parts, last = [], 0
        for each in read(text).quantities:
            parts += [text[last : each.start], f" {each.value} {each.unit or ''} "]
            last = each.end
        found = [word for word in words("".join([*parts, text[last:]])) if word not in _FRAME]
        return cls(frozenset(found), frozenset(pairwise(found)))

    def overlap(self, other: Wording) -> float:
        """Return the overlap of words, as the function `overlap` does."""
        return _share(self.words, other.words)

    def order_distance(self, other: Wording) -> float:
        """Return the distance in word order, as the function `order_distance` does."""
        return 1 - _share(self.pairs, other.pairs)

    def distance(self, other: Wording) -> float:
        """Return the distance, as the function `distance` does."""
        return (1 - self.overlap(other) + self.order_distance(other)) / 2


def order_distance(one: str, two: str) -> float:
    """Return the share of neighbouring words that are no longer neighbours: 0 for the same text, up to 1.

    >>> order_distance("In May Tom ran.", "Tom ran in May.")
    0.5
    """
    return Wording.of(one).order_distance(Wording.of(two))


def distance(one: str, two: str) -> float:
    """Return the distance of two texts from 0 to 1: the mean of the distances in wording and in word order.

    >>> distance("Tom has 5 pens.", "Tom has 5 pens.")
    0.0
    """
    return Wording.of(one).distance(Wording.of(two))


def _share(one: frozenset[T], two: frozenset[T]) -> float:
    """Return the share of items that two sets have in common; 1 if both are empty."""
    common = len(one & two)
    union = len(one) + len(two) - common
    return common / union if union else 1.0
