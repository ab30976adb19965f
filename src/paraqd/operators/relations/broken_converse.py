"""Reverse only one half of a relation, which changes its meaning."""

from __future__ import annotations

import random

from paraqd.operators.base import Operator, Resources
from paraqd.operators.relations.converses import distinguishes_parties, find
from paraqd.operators.text import splice
from paraqd.reading import Problem


class BrokenConverse(Operator):
    """Reverse a relation's word or its parties, but not both: Ann has 5 more than Bob → Bob has 5 more than Ann."""

    name = "BrokenConverse"
    polarity = "invalid"
    fault = "relation_changed"
    changes = frozenset({"relations", "names", "order"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Reverse half of one relation; return None if no such change is certain to alter the problem."""
        del resources
        found = [each for each in find(problem) if each.broken and distinguishes_parties(problem, each)]
        if not found:
            return None
        turned = rng.choice(found)
        new = rng.choice(rng.choice(turned.broken))
        return splice(problem.text, [(turned.start, turned.end, new)])
