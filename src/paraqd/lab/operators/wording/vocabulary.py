"""Count how many questions in a corpus contain each word."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from paraqd.reading import tokenize

_LEAST_COUNT = 2
_MOST_WORDS = 50_000


@dataclass(frozen=True)
class Vocabulary:
    """The words of a corpus in alphabetical order, with their document frequencies and the number of documents.

    ``others`` holds the document frequencies of other tokens that start with a letter or a digit, such as numbers,
    single letters and words with an apostrophe.

    >>> vocabulary = Vocabulary.of(["a red pen", "a blue pen", "a red book"])
    >>> vocabulary.words, round(vocabulary.idf("red"), 2) < round(vocabulary.idf("zebra"), 2)
    (('pen', 'red'), True)
    >>> vocabulary.others
    {'a': 3}
    """

    words: tuple[str, ...]
    frequencies: dict[str, int]
    documents: int
    others: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Vocabulary:
        """Build the vocabulary of a corpus in one pass, without keeping the texts in memory."""
        words: Counter[str] = Counter()
        others: Counter[str] = Counter()
        documents = 0
        for text in texts:
            documents += 1
            tokens = {token.text for token in tokenize(text) if is_term(token.text)}
            words.update({token.lower() for token in tokens if is_word(token)})
            others.update({token.lower() for token in tokens if not is_word(token)})
        frequencies = _commonest(words)
        return cls(tuple(sorted(frequencies)), frequencies, documents, _commonest(others))

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """All words, and all other tokens of more than one character, in alphabetical order."""
        return tuple(sorted((*self.words, *(term for term in self.others if len(term) > 1))))

    def idf(self, term: str) -> float:
        """Return the smoothed inverse document frequency of a word or another token."""
        term = term.lower()
        found = self.frequencies.get(term) or self.others.get(term, 0)
        return math.log((1 + self.documents) / (1 + found)) + 1

    def plain_idf(self, term: str) -> float:
        """Return the unsmoothed inverse document frequency of a term, as in UDA.

        The value is 0 for a term that occurs in every document. A term that was not counted is assumed to occur in one
        document.
        """
        term = term.lower()
        found = self.frequencies.get(term) or self.others.get(term) or 1
        return math.log(max(self.documents, found) / found)

    def draw_uninformative(self, rng: random.Random) -> str | None:
        """Draw a term, favouring uninformative terms as in UDA; return None if the vocabulary is empty.

        A term's score is its document frequency times its inverse document frequency. The weight of a term is
        the difference between the highest score and its own score.
        """
        terms, weights = self._draws
        return rng.choices(terms, cum_weights=weights)[0] if terms else None

    @cached_property
    def _draws(self) -> tuple[tuple[str, ...], tuple[float, ...]]:
        """All terms in alphabetical order, and their cumulative weights."""
        counts = {**self.frequencies, **self.others}
        terms = tuple(sorted(counts))
        scores = [counts[term] * self.plain_idf(term) for term in terms]
        highest = max(scores, default=0.0)
        weights = [highest - score for score in scores]
        if not any(weights):  # all scores are equal
            weights = [1.0] * len(terms)
        return terms, tuple(accumulate(weights))


def is_word(token: str) -> bool:
    """Return True if a token is a word with more than one letter."""
    return len(token) > 1 and token.isalpha()


def is_term(token: str) -> bool:
    """Return True if a token is a word, a letter or a number rather than a punctuation mark."""
    return token[:1].isalnum()


def cased_like(word: str, new: str) -> str:
    """Return ``new``, capitalised if ``word`` starts with a capital.

    >>> cased_like("Tom", "red"), cased_like("pen", "red")
    ('Red', 'red')
    """
    return new.capitalize() if word[0].isupper() else new


def _commonest(counts: Mapping[str, int]) -> dict[str, int]:
    kept = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MOST_WORDS]
    return {term: count for term, count in kept if count >= _LEAST_COUNT}
