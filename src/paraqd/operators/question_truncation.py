"""The question cut off in the middle."""

from __future__ import annotations

import random

from paraqd.operators.base import Operator, Resources
from paraqd.reading import Problem

_LEAST_LOST = 3  # words: fewer may be no loss ("in total", "altogether")


class QuestionTruncation(Operator):
    """Cuts the text off inside its last question: "How many hours did it take?" → "How many"."""

    name = "QuestionTruncation"
    polarity = "invalid"

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Cut the question; None where it is too short to be cut."""
        del resources
        question = problem.question
        if question is None:
            return None
        words = [t for t in problem.tokens if question.start <= t.start < question.end and t.text[0].isalnum()]
        if len(words) < _LEAST_LOST + 1 or words[-1].end < len(problem.text) - 40:
            return None
        # keep at least the first word and at most half: a question that lost only its last words may still ask
        keep = rng.randint(1, max(1, min(len(words) - _LEAST_LOST, len(words) // 2)))
        return problem.text[: words[keep - 1].end].rstrip() or None
