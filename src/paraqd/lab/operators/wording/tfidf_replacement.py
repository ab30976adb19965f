"""Replace distinctive words with random words (fc)."""

from __future__ import annotations

import random
from collections import Counter

from paraqd.lab.operators.wording.vocabulary import Vocabulary, cased_like, is_word
from paraqd.reading import Problem
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import splice


class TfidfReplacement(Operator):
    """Replace the most distinctive words with random words (fc).

    The most distinctive words are the words with the highest TF-IDF in the question.

    Parameters
    ----------
    rate : float
        The share of the question's distinct words to replace; at least one word is replaced.

    """

    name = "TfidfReplacement"
    paper_id = "fc"
    polarity = "invalid"
    fault = "incoherent"
    changes = frozenset({"wording"})
    needs = ("vocabulary",)

    def __init__(self, *, rate: float = 0.2) -> None:
        self.rate = rate

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Replace the most distinctive words; return None if the text has no words or the vocabulary is too small."""
        vocabulary: Vocabulary = resources.require("vocabulary", needed_by=self.name)
        words = [token for token in problem.tokens if is_word(token.text)]
        if not words or len(vocabulary.words) < 2:
            return None
        counts = Counter(token.text.lower() for token in words)
        ranked = sorted(counts, key=lambda word: (-counts[word] * vocabulary.idf(word), word))
        chosen = frozenset(ranked[: max(1, round(self.rate * len(counts)))])
        edits = []
        for token in words:
            if token.text.lower() in chosen:
                new = _different_word(token.text, vocabulary, rng)
                edits.append((token.start, token.end, new))
        return splice(problem.text, edits)


def _different_word(word: str, vocabulary: Vocabulary, rng: random.Random) -> str:
    new = word.lower()
    while new == word.lower():
        new = rng.choice(vocabulary.words)
    return cased_like(word, new)
