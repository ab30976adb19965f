"""Delete a condition that the solver needs."""

from __future__ import annotations

import random
import re

from paraqd.reading import Problem
from paraqd.rewriting.operator import Operator, Resources

_IF = re.compile(r"(?:if|when|given that|assuming that|suppose that|since)\b", re.I)
_TRAILING_IF = re.compile(r",?\s+(?:if|when|given that|assuming that)\b", re.I)


_MOST_OF_SENTENCE = 0.8


class ConditionDeletion(Operator):
    """Delete a sentence or an if-clause that contains a quantity, but keep the question."""

    name = "ConditionDeletion"
    polarity = "invalid"
    fault = "content_lost"
    changes = frozenset({"sentences"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Delete one condition; return None if the text contains no condition apart from the question."""
        del resources
        options = [*_sentences(problem), *_clauses(problem)]
        if not options:
            return None
        start, end = rng.choice(options)
        left, right = problem.text[:start].rstrip(), problem.text[end:].lstrip()
        if problem.cased and (not left or left[-1] in ".?!"):
            right = right[:1].upper() + right[1:]
        text = f"{left} {right}".strip() if right[:1] not in {"?", "."} else left + right
        return text if text and text != problem.text else None


def _sentences(problem: Problem) -> list[tuple[int, int]]:
    """Return the spans of the sentences that contain a quantity but no question.

    The result is empty if the problem has no question.
    """
    asking = {id(s) for s in problem.sentences for q in problem.questions if s.start <= q.start < s.end}
    if not asking:
        return []
    return [
        (s.start, s.end)
        for s in problem.sentences
        if id(s) not in asking and _contains_quantity(problem, s.start, s.end)
    ]


def _clauses(problem: Problem) -> list[tuple[int, int]]:
    """Return the spans of the if-clauses that contain a quantity and are in the same sentence as the last question."""
    question = problem.question
    if question is None:
        return []
    sentence = next((s for s in problem.sentences if s.start <= question.start < s.end), None)
    if sentence is None:
        return []
    text, start = sentence.text, sentence.start
    spans = []
    comma = text.find(", ")
    if _IF.match(text) and comma > 0:
        spans.append((start, start + comma + 2))
    trailing = list(_TRAILING_IF.finditer(text))
    if trailing and ", " not in text[trailing[-1].end() :]:
        end = len(text.rstrip("?.! "))
        spans.append((start + trailing[-1].start(), start + end))
    return [(s, e) for s, e in spans if _contains_quantity(problem, s, e) and e - s < _MOST_OF_SENTENCE * len(text)]


def _contains_quantity(problem: Problem, start: int, end: int) -> bool:
    return any(start <= q.start and q.end <= end for q in problem.quantities)
