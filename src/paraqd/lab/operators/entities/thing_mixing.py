"""Rename a thing in only some places."""

from __future__ import annotations

import random

from paraqd.lab.operators.entities.things import draw_other_thing, in_form_of, things_in
from paraqd.reading import Problem
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import splice


class ThingMixing(Operator):
    """Rename a thing in only some places: 20 apples and 5 apples → 20 apples and 5 hats."""

    name = "ThingMixing"
    polarity = "invalid"
    fault = "entity_changed"
    changes = frozenset({"things"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Rename some mentions of one thing; return None if no listed thing occurs more than once."""
        del resources
        found, new = things_in(problem), draw_other_thing(problem, rng)
        repeated = [thing for thing in sorted(found) if len(found[thing]) > 1]
        if not repeated or new is None:
            return None
        spans = found[rng.choice(repeated)]
        changed = sorted(rng.sample(spans, rng.randint(1, len(spans) - 1)))
        return splice(problem.text, [(a, b, in_form_of(problem.text[a:b], new)) for a, b in changed])
