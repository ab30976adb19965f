"""Find numbers that were replaced in place: the words on both sides are the same, but the number is different."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator

from paraqd.reading import Kind, Problem
from paraqd.reading.types import computed_once
from paraqd.scoring.evidence.matching import Amount, amounts_of

_WORD = re.compile(r"[^\W\d_]+")
_MARKS = r"[\s,;:+&*x×-]*"
_JOINED = re.compile(rf"{_MARKS}(?:(?:and|or|to|by|plus|times){_MARKS})?", re.I)
_SIDES = (2, 4, 8)  # numbers of words on each side; if two words are not unique in a text, more words may be
_BOUND = frozenset({Kind.COEFFICIENT, Kind.EXPONENT})
Frame = tuple[tuple[str, ...], tuple[str, ...]]


def swapped_in_place(question: Problem, paraphrase: Problem) -> Iterator[tuple[Amount, Amount, Amount, Amount]]:
    """Yield numbers that changed places between the same words.

    Each result consists of two amounts of the question and the amounts of the paraphrase that have the same values. Two
    numbers side by side, as in *the sum of 4 and 9*, are left out, because their order seldom matters.

    >>> from paraqd.reading import read
    >>> texts = "Ann has 5 red pens and 7 blue pens.", "Ann has 7 red pens and 5 blue pens."
    >>> [tuple(int(item.first.value) for item in found) for found in swapped_in_place(*map(read, texts))]
    [(5, 7, 5, 7)]
    """
    # with more words, two sentences that changed places would look like two numbers that changed places
    pairs = replaced_in_place(question, paraphrase, most_words=_SIDES[0])
    numbers: dict[tuple[Hashable, Hashable], list[int]] = {}
    for number, (a, a_there) in enumerate(pairs):
        numbers.setdefault((a.signed, a_there.signed), []).append(number)
    for number, (a, a_there) in enumerate(pairs):
        for other in numbers.get((a_there.signed, a.signed), ()):
            b, b_there = pairs[other]
            if other > number and not _side_by_side(question, a, b):
                yield a, b, b_there, a_there


def _side_by_side(problem: Problem, a: Amount, b: Amount) -> bool:
    first, last = sorted((a, b), key=lambda item: item.start)
    return _JOINED.fullmatch(problem.text[first.end : last.start]) is not None


def replaced_in_place(
    question: Problem, paraphrase: Problem, *, most_words: int = _SIDES[-1]
) -> list[tuple[Amount, Amount]]:
    """Return pairs of different numbers between the same words, if the words occur only once in each text.

    At most ``most_words`` words on each side are compared.

    >>> from paraqd.reading import read
    >>> texts = "Ann has 5 red pens and 5 blue pens.", "Ann has 5 red pens and 7 blue pens."
    >>> [(a.first.value, b.first.value) for a, b in replaced_in_place(*map(read, texts))]
    [(Fraction(5, 1), Fraction(7, 1))]
    """
    here, there = _frames(question), _frames(paraphrase)
    found = {}
    for frame, item in here.items():
        other = there.get(frame)
        near = max(map(len, frame)) <= most_words
        if near and other is not None and item.signed != other.signed and _alike(item, other):
            found[item.place, other.place] = (item, other)
    return list(found.values())


def _alike(a: Amount, b: Amount) -> bool:
    """Return True if two amounts are of the same kind and have the same unit."""
    one, other = a.first, b.first
    plain = len(a.parts) == len(b.parts) == 1 and not (one.terms or other.terms)
    return plain and one.kind is other.kind and one.kind not in _BOUND and one.unit == other.unit


@computed_once
def _frames(problem: Problem) -> dict[Frame, Amount]:
    """Return the amounts of a text, keyed by the words around each, if these words occur only once.

    An amount can have several keys, with different numbers of words.
    """
    words = [(match.start(), match.group()) for match in _WORD.finditer(problem.text.lower())]
    starts = [start for start, _ in words]
    kept: dict[Frame, Amount] = {}
    for side in _SIDES:
        found = []
        for item in amounts_of(problem):
            first, last = bisect_left(starts, item.start), bisect_left(starts, item.end)
            before = tuple(word for _, word in words[max(0, first - side) : first])
            after = tuple(word for _, word in words[last : last + side])
            found.append(((before, after), item))
        counts = Counter(frame for frame, _ in found)
        # at the beginning or end of the text, there may be too few words to identify an amount
        kept |= {frame: item for frame, item in found if counts[frame] == 1 and len(frame[0]) + len(frame[1]) > side}
    return kept
