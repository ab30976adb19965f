"""Replace uninformative words with other uninformative words (UDA)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence

from paraqd.lab.operators.wording.vocabulary import Vocabulary, cased_like, is_term
from paraqd.reading import Problem, Token
from paraqd.rewriting.operator import EVERYTHING, Operator, Resources
from paraqd.rewriting.text import splice


class LowTfidfReplacement(Operator):
    """Replace uninformative words with other uninformative words (baseline UDA).

    As in UDA (Xie et al., 2020), the probability of replacing a word decreases as the word's TF-IDF in the question
    increases, and is zero for the word with the highest TF-IDF. Each question counts as one document. The replacements
    are drawn from the corpus, and uninformative words are more likely to be drawn. As in UDA, all outputs are
    labelled valid, although numbers, units and names may also be replaced. Punctuation is kept.

    Parameters
    ----------
    rate : float
        The expected share of the question's words to replace (p in UDA); at least one word is replaced.

    """

    name = "LowTfidfReplacement"
    polarity = "valid"
    changes = EVERYTHING
    baseline = "UDA"
    needs = ("vocabulary",)

    def __init__(self, *, rate: float = 0.2) -> None:
        self.rate = rate

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Replace some words; return None if all words have the same TF-IDF."""
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
    """Return the probability of replacing each term in a question.

    Before each probability is limited to 1, the mean of the probabilities is ``rate``.

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
    """Yield an edit for each token, adding a space where the new word would touch a neighbouring token."""
    starts = {token.start for token in tokens}
    for token in tokens:
        drawn = vocabulary.draw_uninformative(rng)
        if drawn is None:
            continue
        before = " " if text[max(token.start - 1, 0) : token.start].isalnum() else ""
        after = " " if token.end not in starts and text[token.end : token.end + 1].isalnum() else ""
        yield token.start, token.end, f"{before}{cased_like(token.text, drawn)}{after}"
