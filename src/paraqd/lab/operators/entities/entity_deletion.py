"""Delete a name but keep the words around it, so the sentence no longer makes sense."""

from __future__ import annotations

import random
import re

from paraqd.reading import Problem
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import splice

_WORD_BEFORE = re.compile(r"\b(?:from|to|in|at|between|near|with|for|of|by|and)\s+$", re.I)
_SENTENCE_START = re.compile(r"(?:^|[.?!]\s+)$")


class EntityDeletion(Operator):
    """Delete a name but keep the words around it: from Rome at 20 km/h → from at 20 km/h."""

    name = "EntityDeletion"
    polarity = "invalid"
    fault = "incoherent"
    changes = frozenset({"names"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Delete a name that opens a sentence or follows a preposition or "and"; return None if there is none."""
        del resources
        text = problem.text
        found = [
            (entity.start, entity.end)
            for entity in problem.entities
            if entity.end < len(text)
            and text[entity.end] == " "
            and (
                _WORD_BEFORE.search(text, max(0, entity.start - 12), entity.start)
                or self._opens_sentence(text, entity.start)
            )
        ]
        if not found:
            return None
        start, end = rng.choice(found)
        return splice(text, [(start, end + 1, "")])

    @staticmethod
    def _opens_sentence(text: str, start: int) -> bool:
        return _SENTENCE_START.search(text[max(0, start - 3) : start]) is not None
