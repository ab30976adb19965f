"""A condition lost: a sentence or clause with something that the solver needs."""

from __future__ import annotations

import random
import re

from paraqd.operators.base import Operator, Resources
from paraqd.reading import Problem

_IF_CLAUSE = re.compile(r"^(?:if|when|given that|assuming that|suppose that|since)\b[^,?]*\d[^,?]*,\s*", re.I)
_TRAILING_IF = re.compile(r",?\s+(?:if|when|given that|assuming that)\b[^,?.]*(?=[?.]?$)", re.I)


class ConditionDeletion(Operator):
    """Deletes a sentence or an if-clause that gives a quantity; the question stays."""

    name = "ConditionDeletion"
    polarity = "invalid"

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Delete one condition; None where there is none beside the question."""
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
    """Return the sentences that give a quantity and ask nothing."""
    asking = {id(s) for s in problem.sentences for q in problem.questions if s.start <= q.start < s.end}
    if not asking:
        return []
    return [
        (s.start, s.end) for s in problem.sentences if id(s) not in asking and _gives_quantity(problem, s.start, s.end)
    ]


def _clauses(problem: Problem) -> list[tuple[int, int]]:
    """Return the if-clauses of the last asking sentence that give a quantity."""
    question = problem.question
    if question is None:
        return []
    sentence = next((s for s in problem.sentences if s.start <= question.start < s.end), None)
    if sentence is None:
        return []
    found = []
    for pattern in (_IF_CLAUSE, _TRAILING_IF):
        match = pattern.search(sentence.text)
        if match is not None:
            start, end = sentence.start + match.start(), sentence.start + match.end()
            if _gives_quantity(problem, start, end) and match.end() - match.start() < 0.8 * len(sentence.text):
                found.append((start, end))
    return found


def _gives_quantity(problem: Problem, start: int, end: int) -> bool:
    return any(start <= q.start and q.end <= end for q in problem.quantities)
