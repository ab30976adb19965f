"""State a relation from the other party's side."""

from __future__ import annotations

import random

from paraqd.operators.base import Operator, Resources
from paraqd.operators.relations.converses import find
from paraqd.operators.text import splice
from paraqd.reading import Problem


class ConverseRelation(Operator):
    """Reverse a relation's word and its parties: Ann has 5 more than Bob → Bob has 5 fewer than Ann."""

    name = "ConverseRelation"
    polarity = "valid"
    changes = frozenset({"relations", "pronouns", "order", "wording"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Reverse one relation; return None if no relation can be reversed safely."""
        del resources
        found = [each for each in find(problem) if each.right]
        if not found:
            return None
        turned = rng.choice(found)
        new = rng.choice(rng.choice(turned.right))
        return splice(problem.text, [(turned.start, turned.end, new)])
