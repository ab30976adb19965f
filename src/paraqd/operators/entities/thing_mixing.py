"""Rename a thing in some places only."""

from __future__ import annotations

import random

from paraqd.operators.base import Operator, Resources
from paraqd.operators.entities.things import draw_other_thing, in_form_of, things_in
from paraqd.operators.text import splice
from paraqd.reading import Problem


class ThingMixing(Operator):
    """Rename a thing in some but not all places: 20 apples and 5 apples → 20 apples and 5 hats."""

    name = "ThingMixing"
    polarity = "invalid"
    fault = "entity_changed"
    changes = frozenset({"things"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Rename some mentions of one thing; return None if no thing from the list occurs twice."""
        del resources
        there, new = things_in(problem), draw_other_thing(problem, rng)
        twice = [number for number in sorted(there) if len(there[number]) > 1]
        if not twice or new is None:
            return None
        spans = there[rng.choice(twice)]
        changed = sorted(rng.sample(spans, rng.randint(1, len(spans) - 1)))
        return splice(problem.text, [(a, b, in_form_of(problem.text[a:b], new)) for a, b in changed])
