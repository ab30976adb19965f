"""Swap the names of two people in one sentence."""

from __future__ import annotations

import random
import re

from paraqd.reading import Problem, Sentence
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.renaming import renameable
from paraqd.rewriting.text import splice

_ALIKE = re.compile(r"\b(?:and|both|together|or|between|each other|respectively)\b", re.I)
_ONE_WAY = re.compile(
    r"\b(?:than|twice|thrice|half|times|gives?|gave|sells?|sold|lends?|lent|pays?|paid|owes?|sends?|sent|older|"
    r"younger|taller|shorter|faster|slower|more|fewer|less|before|after|ahead|behind|has|have|had)\b",
    re.I,
)


class RoleSwap(Operator):
    """Swap the names of two people with different roles: Tom gives Ann 3 → Ann gives Tom 3."""

    name = "RoleSwap"
    polarity = "invalid"
    fault = "entity_changed"
    changes = frozenset({"names"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Swap two names in one sentence; return None if no sentence mentions two people with different roles."""
        del resources
        candidates = [(a, b) for sentence in problem.sentences for a, b in _pairs(problem, sentence)]
        if not candidates or len(problem.sentences) < 2:
            return None  # in a problem of one sentence, a swap may amount to a consistent renaming
        a, b = rng.choice(candidates)
        text = problem.text
        return splice(text, sorted([(*a, text[slice(*b)]), (*b, text[slice(*a)])]))


def _pairs(problem: Problem, sentence: Sentence) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the spans of the two names in a sentence, as a list of at most one pair.

    The list is empty if the two people may have the same role, or if either name occurs only once in the problem.
    """
    found = [
        (name, span)
        for name, spans in renameable(problem)
        for span in spans
        if sentence.start <= span[0] < sentence.end and len(spans) > 1
    ]
    if len(found) != 2:
        return []
    (name, a), (other, b) = sorted(found, key=lambda each: each[1])
    between = problem.text[a[1] : b[0]]
    if name == other or _ALIKE.search(between) or not _ONE_WAY.search(problem.text[sentence.start : sentence.end]):
        return []
    return [(a, b)]
