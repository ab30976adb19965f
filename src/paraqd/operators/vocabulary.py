"""The words of a corpus and how many of its questions each occurs in."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from paraqd.reading import tokenize

_LEAST_COUNT = 2
_MOST_WORDS = 50_000


@dataclass(frozen=True)
class Vocabulary:
    """Words in alphabetical order, their document frequencies, and the number of documents.

    >>> vocabulary = Vocabulary.of(["a red pen", "a blue pen", "a red book"])
    >>> vocabulary.words, round(vocabulary.idf("red"), 2) < round(vocabulary.idf("zebra"), 2)
    (('pen', 'red'), True)
    """

    words: tuple[str, ...]
    frequencies: dict[str, int]
    documents: int

    @classmethod
    def of(cls, texts: Iterable[str]) -> Vocabulary:
        """Count the words of a corpus in one pass; memory holds the vocabulary, not the texts."""
        counts: Counter[str] = Counter()
        documents = 0
        for text in texts:
            documents += 1
            counts.update({token.text.lower() for token in tokenize(text) if is_word(token.text)})
        kept = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MOST_WORDS]
        frequencies = {word: count for word, count in kept if count >= _LEAST_COUNT}
        return cls(tuple(sorted(frequencies)), frequencies, documents)

    def idf(self, word: str) -> float:
        """Return the smoothed inverse document frequency of a word."""
        return math.log((1 + self.documents) / (1 + self.frequencies.get(word.lower(), 0))) + 1


def is_word(token: str) -> bool:
    """Tell whether a token is a word of more than one letter."""
    return len(token) > 1 and token.isalpha()
