"""Look up words in tables that were derived from WordNet and from the word lists of SCOWL.

``bench/word_tables.py`` writes the tables. The licences of WordNet and SCOWL are next to the tables.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILES = Path(__file__).parents[1] / "files"
UNLISTED = 99  # the level of a word that no list contains


@dataclass(frozen=True, slots=True)
class Sense:
    """A sense of a word: the number of its synset, and how often the word has this sense in tagged texts."""

    synset: int
    count: int


@dataclass(frozen=True, slots=True)
class Synset:
    """A set of synonyms.

    ``part`` is the part of speech: ``n``, ``v``, ``a`` or ``r`` (adverb). ``topic`` is the number of WordNet's
    lexicographer file, such as 13 for food. ``above`` holds the numbers of the synsets of the nearest hypernyms.
    """

    part: str
    topic: int
    above: tuple[int, ...]
    words: tuple[str, ...]


def _lines(name: str) -> list[str]:
    return gzip.decompress((_FILES / name).read_bytes()).decode("ascii").splitlines()


@cache
def _levels() -> dict[str, int]:
    found: dict[str, int] = {}
    for line in _lines("words.txt.gz"):
        level, _, words = line.partition("\t")
        found.update(dict.fromkeys(words.split(), int(level)))
    return found


def level(word: str) -> int:
    """Return how rare a word is, in steps from 10 to 70, or `UNLISTED` if no list contains the word.

    Inflected forms are listed too. Words with capitals are not listed.

    >>> level("box"), level("apples"), level("aples")
    (10, 35, 99)
    """
    return _levels().get(word, UNLISTED)


def is_word(text: str) -> bool:
    """Return True if a text in lower case is an English word."""
    return text in _levels()


@cache
def _tables() -> tuple[tuple[Synset, ...], dict[tuple[str, str], tuple[Sense, ...]]]:
    synsets: list[Synset] = []
    senses: dict[tuple[str, str], list[tuple[int, Sense]]] = {}
    for number, line in enumerate(_lines("wordnet.txt.gz")):
        kind, above, members = line.split("\t")
        words = []
        for member in members.split():
            word, rank, count = member.split("/")
            words.append(word)
            senses.setdefault((word, kind[0]), []).append((int(rank), Sense(number, int(count))))
        parents = tuple(int(parent) for parent in above.split(",") if parent)
        synsets.append(Synset(kind[0], int(kind[1:]), parents, tuple(words)))
    ordered = {key: tuple(sense for _, sense in sorted(found, key=_rank)) for key, found in senses.items()}
    return tuple(synsets), ordered


def _rank(found: tuple[int, Sense]) -> int:
    return found[0]


def senses(word: str, part: str) -> tuple[Sense, ...]:
    """Return the senses of a word in its base form, with the most common sense first.

    >>> len(senses("buy", "v")), senses("buy", "x")
    (5, ())
    """
    return _tables()[1].get((word, part), ())


def synset(number: int) -> Synset:
    """Return the synset with the given number.

    >>> synset(senses("buy", "v")[0].synset).words
    ('buy', 'purchase')
    """
    return _tables()[0][number]


def above(number: int) -> Iterator[int]:
    """Yield the numbers of all hypernyms of a synset, the nearest first."""
    seen: set[int] = set()
    level = list(synset(number).above)
    while level:
        fresh = [parent for parent in dict.fromkeys(level) if parent not in seen]
        seen.update(fresh)
        yield from fresh
        level = [parent for child in fresh for parent in synset(child).above]


@cache
def lemmas(part: str) -> tuple[str, ...]:
    """Return all words with a sense in a part of speech, in alphabetical order."""
    return tuple(sorted(word for word, own in _tables()[1] if own == part))
