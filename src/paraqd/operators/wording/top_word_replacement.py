"""Replace one or two distinctive words with random terms from the corpus."""

from __future__ import annotations

import random
from collections import Counter

from paraqd.operators.base import EVERYTHING, Operator, Resources
from paraqd.operators.text import splice
from paraqd.operators.wording.vocabulary import Vocabulary, cased_like, is_word
from paraqd.reading import Problem

_MOST = 2


class TopWordReplacement(Operator):
    """Replace the one or two most distinctive words with random words, numbers or names.

    The most distinctive words are the words with the highest TF-IDF in the question. The paper's public code silently
    replaces such words whenever an operator fails. The recipe ``paper`` does not use this operator, because the
    test operator fc replaces words in a similar way.
    """

    name = "TopWordReplacement"
    polarity = "invalid"
    fault = "incoherent"
    changes = EVERYTHING
    baseline = "ParaQD's public code"
    needs = ("vocabulary",)

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Replace all occurrences of the words; return None if there are no words or too few terms to draw from."""
        vocabulary: Vocabulary = resources.require("vocabulary", needed_by=self.name)
        words = [token for token in problem.tokens if is_word(token.text)]
        terms = (*vocabulary.words, *sorted(vocabulary.others))
        if not words or len(terms) < 2:
            return None
        counts = Counter(token.text.lower() for token in words)
        ranked = sorted(counts, key=lambda word: (-counts[word] * vocabulary.idf(word), word))
        new = {word: _different_term(word, terms, rng) for word in ranked[: rng.randint(1, _MOST)]}
        edits = [
            (token.start, token.end, cased_like(token.text, new[token.text.lower()]))
            for token in words
            if token.text.lower() in new
        ]
        return splice(problem.text, edits)


def _different_term(word: str, terms: tuple[str, ...], rng: random.Random) -> str:
    new = word
    while new == word:
        new = rng.choice(terms)
    return new
