"""Delete the last sentence (f6)."""

from __future__ import annotations

import random

from paraqd.reading import Problem
from paraqd.rewriting.operator import Operator, Resources

_TOKENS = 3  # the number of tokens deleted if the problem has only one sentence


class LastSentenceDeletion(Operator):
    """Delete the last sentence or, if there is only one sentence, the last three words or punctuation marks (f6)."""

    name = "LastSentenceDeletion"
    paper_id = "f6"
    polarity = "invalid"
    fault = "question_lost"
    changes = frozenset({"sentences"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Delete the end of the text; return None if nothing important would be deleted or nothing would remain."""
        del rng, resources
        if len(problem.sentences) > 1:
            return (
                problem.text[: problem.sentences[-2].end].strip() or None if _last_sentence_matters(problem) else None
            )
        if len(problem.tokens) <= _TOKENS or not any(t.text[0].isalnum() for t in problem.tokens[-_TOKENS:]):
            return None
        return problem.text[: problem.tokens[-_TOKENS].start].strip() or None


def _last_sentence_matters(problem: Problem) -> bool:
    """Return True if the last sentence contains the question or a quantity (unlike "Justify your answer")."""
    last = problem.sentences[-1]
    question = problem.question
    asked_before = question is not None and question.start < last.start
    return not asked_before or any(q.start >= last.start for q in problem.quantities)
