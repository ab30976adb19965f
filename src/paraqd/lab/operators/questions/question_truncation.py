"""Cut the text off in the middle of its last question."""

from __future__ import annotations

import random

from paraqd.reading import Problem
from paraqd.rewriting.operator import Operator, Resources

# a text that ends with one of these words is clearly incomplete, whereas "Find the area" could still be a question
_BREAKS_OFF = frozenset(
    "how many much what which who when where in by at of to from for with the a an is are was were did does do will "
    "would can could should has have had find calculate determine compute then if after before between and or his her "
    "their its be been than that".split()
)
_LEAST_LOST = 3  # the loss of fewer words may not matter ("in total", "altogether")


class QuestionTruncation(Operator):
    """Cut the text off in the middle of its last question: "How many hours did it take?" → "How many"."""

    name = "QuestionTruncation"
    polarity = "invalid"
    fault = "question_lost"
    changes = frozenset({"question"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Cut the text off; return None if no cut would leave the text clearly incomplete."""
        del resources
        question = problem.question
        if question is None:
            return None
        words = [t for t in problem.tokens if question.start <= t.start < question.end and t.text[0].isalnum()]
        if len(words) < _LEAST_LOST + 1 or words[-1].end < len(problem.text) - 40:
            return None
        half = words[: max(1, min(len(words) - _LEAST_LOST, len(words) // 2))]
        places = [word for word in half if word.text.lower() in _BREAKS_OFF]
        if not places:
            return None
        return problem.text[: rng.choice(places).end].rstrip() or None
