"""Measure how far a paraphrase is from its question in wording and in word order.

The measure ignores what a program can change without rewording anything: typography, spelling and endings of words, the
notation of quantities (*5*, *five*), names of people, and text that is only added or only removed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from paraqd.reading import Problem
from paraqd.scoring.evidence.content_words import stem
from paraqd.scoring.pair_preparation import PreparedPair, prepare_pair

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_LETTER = r"[^\W\d_]"
_SPELLED = re.compile(rf"\b{_LETTER}(?:[-.]{_LETTER}\b)+|\b{_LETTER}(?: {_LETTER}\b){{3,}}")  # p-e-n-s, p e n s
_NAME = "·"  # stands for every name
_SHORTEST, _LENGTHS, _ALIKE = 3, 4, 0.75  # of words that may be the same word in another spelling


def words(text: str) -> list[str]:
    """Return the words and numbers of a text, in lower case.

    >>> words("Tom's 5 pens cost $2.")
    ["tom's", '5', 'pens', 'cost', '2']
    """
    return _WORD.findall(text.lower().replace("’", "'"))


def distance(question: str, paraphrase: str) -> float:
    """Return a number from 0, for a copy, to 1, for texts without a common word.

    It is the mean of two shares of the shorter text: the share of its different words that the other text lacks, and
    the share of its words that are not in the same order in the other text.

    >>> question = "Tom has 5 pens and buys 3 more. How many pens does he have now?"
    >>> distance(question, "Tom has five pens and buys 3 more. How many pens does he have now? The sun is shining.")
    0.0
    >>> round(distance(question, "After buying 3 pens on top of his 5, what is the size of Tom's collection?"), 2)
    0.65
    """
    return prepared_distance(prepare_pair(question, paraphrase))


def prepared_distance(pair: PreparedPair) -> float:
    """Return the distance between the texts of a prepared pair."""
    names = {word for problem in (pair.question, pair.paraphrase) for word in _name_words(problem)}
    here, there = ([_unified(word, names) for word in words(_plain(text))] for text in pair.texts)
    if not here or not there:
        return float(here != there)
    known = frozenset(here)
    there = [word if word in known else _respelled(word, known) for word in there]
    shared = len(known & set(there)) / min(len(known), len(set(there)))
    in_order = common_length(here, there) / min(len(here), len(there))
    return 1 - (shared + in_order) / 2


def common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, which rapidfuzz calls ``LCSseq.similarity``.

    The reward may run where only torch and transformers are installed, so this needs no package. As in rapidfuzz, the
    bits of one integer stand for the places of the first text, so that each word of the second takes a few operations.

    >>> common_length("a b c d".split(), "b d a".split())
    2
    """
    places: dict[str, int] = {}
    for place, item in enumerate(one):
        places[item] = places.get(item, 0) | 1 << place
    free = every = (1 << len(one)) - 1  # the number of bits that are cleared is the length so far
    for item in other:
        found = free & places.get(item, 0)
        free = (free + found | free - found) & every
    return len(one) - free.bit_count()


def _name_words(problem: Problem) -> list[str]:
    return [word.removesuffix("'s") for entity in problem.entities for word in words(entity.text)]


def _unified(word: str, names: set[str]) -> str:
    return _NAME if word.removesuffix("'s") in names else stem(word)


def _plain(text: str) -> str:
    """Return a text without accents, and with the letters of each word together.

    >>> _plain("Tóm has 5 p-e-n-s")
    'Tom has 5 pens'
    """
    letters = unicodedata.normalize("NFKD", text)
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return _SPELLED.sub(lambda match: re.sub(r"[-. ]", "", match[0]), plain)


def _respelled(word: str, known: frozenset[str]) -> str:
    """Return the known word that a word seems to be in another spelling, or the word itself."""
    if len(word) < _SHORTEST or word[0].isdigit():
        return word
    alike = [(_likeness(word, other), other) for other in known if abs(len(word) - len(other)) <= _LENGTHS]
    best, other = max(alike, default=(0.0, word))
    return other if best >= _ALIKE else word


@lru_cache(maxsize=65_536)
def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio() if len(other) >= _SHORTEST else 0.0
