"""UDA's second operator: words that tell little replaced by other words that tell little."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence

from paraqd.operators.base import EVERYTHING, Operator, Resources
from paraqd.operators.text import splice
from paraqd.operators.wording.vocabulary import Vocabulary, cased_like, is_term
from paraqd.reading import Problem, Token


class LowTfidfReplacement(Operator):
    """Replaces words of low TF-IDF by words that tell little (baseline UDA, labelled valid).

    As in UDA (Xie et al., 2020): a word is replaced with a probability that falls with its TF-IDF in the
    question, to zero for the highest; what replaces it is drawn from the corpus, likelier the lower its own
    score is. Its label is UDA's promise, not ours: numbers, units and names are words like any other there, and
    so they are here. Marks stay. How often a term occurs in the corpus is counted in questions.

    Parameters
    ----------
    rate : float
        The share of the question's words that is replaced on average (UDA's p); at least one is.

    """

    name = "LowTfidfReplacement"
    polarity = "valid"
    changes = EVERYTHING
    baseline = "UDA"
    needs = ("vocabulary",)

    def __init__(self, *, rate: float = 0.2) -> None:
        self.rate = rate

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Replace some words; None where no word tells less than another."""
        vocabulary: Vocabulary = resources.require("vocabulary", needed_by=self.name)
        terms = [token for token in problem.tokens if is_term(token.text)]
        chances = replacement_chances([token.text for token in terms], vocabulary, rate=self.rate)
        if not any(chances):
            return None
        chosen = [token for token, chance in zip(terms, chances, strict=True) if rng.random() < chance]
        if not chosen:
            chosen = rng.choices(terms, weights=chances)
        result = splice(problem.text, _edits(problem.text, chosen, vocabulary, rng))
        return result if result != problem.text else None


def replacement_chances(terms: Sequence[str], vocabulary: Vocabulary, *, rate: float) -> list[float]:
    """Return the probability of each term of a question to be replaced: ``rate`` on average, before it is cut at 1.

    >>> vocabulary = Vocabulary.of(["the red pen", "the red cap", "the blue cap", "the pen"])
    >>> [round(chance, 2) for chance in replacement_chances(["the", "blue", "cap"], vocabulary, rate=0.3)]
    [0.6, 0.0, 0.3]
    """
    counts = Counter(term.lower() for term in terms)
    scores = [counts[term.lower()] * vocabulary.plain_idf(term) for term in terms]
    below = [max(scores, default=0.0) - score for score in scores]
    total = sum(below)
    return [min(1.0, rate * len(terms) * gap / total) if total else 0.0 for gap in below]


def _edits(
    text: str, tokens: Sequence[Token], vocabulary: Vocabulary, rng: random.Random
) -> Iterator[tuple[int, int, str]]:
    """Draw what replaces each token, with a space where it would be glued to its neighbour (5km)."""
    starts = {token.start for token in tokens}
    for token in tokens:
        drawn = vocabulary.draw_uninformative(rng)
        if drawn is None:
            continue
        before = " " if text[max(token.start - 1, 0) : token.start].isalnum() else ""
        after = " " if token.end not in starts and text[token.end : token.end + 1].isalnum() else ""
        yield token.start, token.end, f"{before}{cased_like(token.text, drawn)}{after}"
