"""Reverse a relation in a way that keeps its meaning."""

from __future__ import annotations

import random

from paraqd.reading import Problem
from paraqd.rewriting.converses import find
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import splice


class ConverseRelation(Operator):
    """State a relation from the other party's side: Ann has 5 more than Bob → Bob has 5 fewer than Ann."""

    name = "ConverseRelation"
    polarity = "valid"
    changes = frozenset({"relations", "pronouns", "order", "wording"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Return the problem with one relation reversed, or None if no relation can be reversed safely."""
        del resources
        found = [each for each in find(problem) if each.right]
        if not found:
            return None
        converse = rng.choice(found)
        new = rng.choice(rng.choice(converse.right))
        return splice(problem.text, [(converse.start, converse.end, new)])
