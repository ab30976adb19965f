"""Change a relation's meaning by reversing only its word or only its parties."""

from __future__ import annotations

import random

from paraqd.reading import Problem
from paraqd.rewriting.converses import distinguishes_parties, find
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import splice


class BrokenConverse(Operator):
    """Reverse a relation's word or its parties, but not both: Ann has 5 more than Bob → Bob has 5 more than Ann."""

    name = "BrokenConverse"
    polarity = "invalid"
    fault = "relation_changed"
    changes = frozenset({"relations", "names", "order"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Return the problem with half of one relation reversed.

        Return None if no such change is certain to alter the problem.
        """
        del resources
        found = [each for each in find(problem) if each.broken and distinguishes_parties(problem, each)]
        if not found:
            return None
        converse = rng.choice(found)
        new = rng.choice(rng.choice(converse.broken))
        return splice(problem.text, [(converse.start, converse.end, new)])
