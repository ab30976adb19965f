"""Replace one or two distinctive words with random terms from the corpus, as the paper's public code does."""

from __future__ import annotations

import random
import re
from collections import Counter

from paraqd.lab.operators.wording.vocabulary import Vocabulary
from paraqd.reading import Problem
from paraqd.rewriting.operator import EVERYTHING, Operator, Resources

_MOST = 2
_CANDIDATES = 4
_TERM = re.compile(r"\b\w\w+\b")


class TopWordReplacement(Operator):
    """Replace one or two of the four most distinctive words, each only where its characters occur first.

    The most distinctive words are those with the highest TF-IDF in the question. The paper's public code replaces
    such words whenever an operator fails. It searches the question for the lower-case word as a plain string, so a name
    is never replaced, *plane* is replaced inside *airplanes*, and a repeated word is replaced only once. The recipe
    ``paper`` does not use this operator, because the test operator fc replaces words in a similar way.
    """

    name = "TopWordReplacement"
    occurrences = 1  # how often a word is replaced; -1 means everywhere
    polarity = "invalid"
    fault = "incoherent"
    changes = EVERYTHING
    baseline = "ParaQD's public code"
    needs = ("vocabulary",)

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Replace the words; return None if no word can be replaced or there are too few terms to draw from."""
        vocabulary: Vocabulary = resources.require("vocabulary", needed_by=self.name)
        terms = vocabulary.terms
        if len(terms) < 2:
            return None
        counts = Counter(_TERM.findall(problem.text.lower()))
        ranked = sorted(counts, key=lambda word: (-counts[word] * vocabulary.idf(word), word))[:_CANDIDATES]
        text, left = problem.text, rng.randint(1, _MOST)
        for word in ranked:
            if left and word in text:
                text = text.replace(word, _different_term(word, terms, rng), self.occurrences)
                left -= 1
        return text if text != problem.text else None


class TopWordReplacementEverywhere(TopWordReplacement):
    """Replace the words that TopWordReplacement replaces, but wherever they occur, to measure the difference."""

    name = "TopWordReplacementEverywhere"
    occurrences = -1


def _different_term(word: str, terms: tuple[str, ...], rng: random.Random) -> str:
    new = word
    while new == word:
        new = rng.choice(terms)
    return new
