"""Find a text's content words and their stems."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeVar

from paraqd.reading import Problem
from paraqd.reading.types import computed_once

T = TypeVar("T")
_MOST_WORDS = 65_536
STOP_WORDS = frozenset(
    "a an the of in on at to for from by with and or but if then than that which who whom whose what "
    "when where why how is are was were be been being am do does did done has have had having it its he "
    "she they them his her hers their theirs him i you we us our your my me this these those there here "
    "as so such not no nor only just also too very will would can could shall should may might must each "
    "every all any some both either neither other another same into onto out off up down over under "
    "about after before between through during per upon within without".split()
)


class Word(NamedTuple):
    """The stem and the span of a content word."""

    stem: str
    start: int
    end: int


@lru_cache(maxsize=_MOST_WORDS)
def stem(word: str) -> str:
    """Return a word without its ending. Most forms of a word have the same stem.

    >>> [stem(w) for w in ("Boxes", "cities", "running", "runs", "travelled")]
    ['box', 'citi', 'run', 'run', 'travel']
    """
    low = word.lower().replace("’", "'").removesuffix("'s")
    for ending, least in (("ings", 4), ("ing", 4), ("ied", 3), ("ies", 3), ("edly", 4), ("ed", 3), ("es", 3), ("s", 3)):
        if low.endswith(ending) and len(low) - len(ending) >= least - 1 and not low.endswith("ss"):
            low = low[: -len(ending)] + ("i" if ending in ("ies", "ied") else "")
            break
    else:
        return low[:-1] + "i" if low.endswith("y") and len(low) > 3 else low.removesuffix("e") if len(low) > 4 else low
    if len(low) > 3 and low[-1] == low[-2] and low[-1] not in "aeiouls":
        low = low[:-1]
    if len(low) > 4 and low.endswith("ll"):
        low = low[:-1]
    return low.removesuffix("e") if len(low) > 4 else low


def bare_name(name: str) -> str:
    """Return a name without a possessive ending.

    >>> bare_name("Ann's"), bare_name("James")
    ('Ann', 'James')
    """
    return name.removesuffix("'s").removesuffix("’s")


class WordCache(dict[str, T]):
    """A cache for a function that takes a word. A lookup is faster than with `lru_cache`."""

    def __init__(self, make: Callable[[str], T]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, word: str) -> T:
        if len(self) >= _MOST_WORDS:
            self.clear()
        value = self[word] = self._make(word)
        return value


def _content_stem(word: str) -> str | None:
    """Return the stem of a content word, or None for any other token."""
    return stem(word) if word[:1].isalpha() and word.lower() not in STOP_WORDS else None


_STEMS = WordCache(_content_stem)


@computed_once
def content_stems(problem: Problem) -> tuple[list[str], list[int]]:
    """Return two lists: the stems of a text's content words, and the start positions of these words."""
    stems = [_STEMS[word] for word in problem.stream.text]
    starts = [start for start, each in zip(problem.stream.start, stems, strict=True) if each is not None]
    return [each for each in stems if each is not None], starts


@computed_once
def content_words(problem: Problem) -> list[Word]:
    """Return a text's content words, in order."""
    ends = dict(zip(problem.stream.start, problem.stream.end, strict=True))
    return [Word(each, start, ends[start]) for each, start in zip(*content_stems(problem), strict=True)]
