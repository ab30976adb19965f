"""A relation of which one half only was turned round."""

from __future__ import annotations

import random

from paraqd.operators.base import Operator, Resources
from paraqd.operators.relations.converses import find, tells_apart
from paraqd.operators.text import splice
from paraqd.reading import Problem


class BrokenConverse(Operator):
    """Turns the word or the parties, never both: Ann has 5 more than Bob → Bob has 5 more than Ann."""

    name = "BrokenConverse"
    polarity = "invalid"
    fault = "relation_changed"
    changes = frozenset({"relations", "names", "order"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Turn half of one relation; None where none is sure, or where the parties differ by their names only."""
        del resources
        found = [each for each in find(problem) if each.broken and tells_apart(problem, each)]
        if not found:
            return None
        turned = rng.choice(found)
        new = rng.choice(rng.choice(turned.broken))
        return splice(problem.text, [(turned.start, turned.end, new)])
