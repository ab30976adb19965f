"""Rename a person in only some places."""

from __future__ import annotations

import random

from paraqd.reading import Problem
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.renaming import renameable, substitute, words_of
from paraqd.rewriting.text import splice


class InconsistentRenaming(Operator):
    """Rename a person in only some places: Tom has 5. Tom eats 2. → Tom has 5. Max eats 2."""

    name = "InconsistentRenaming"
    polarity = "invalid"
    fault = "entity_changed"
    changes = frozenset({"names"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Rename some mentions of one person; return None if no suitable name occurs more than once."""
        del resources
        candidates = [(name, spans) for name, spans in renameable(problem) if len(spans) > 1]
        if not candidates:
            return None
        name, spans = rng.choice(candidates)
        changed = rng.sample(spans, rng.randint(1, len(spans) - 1))
        others = [other for other, _ in renameable(problem) if other != name]
        new = rng.choice(others) if others and rng.random() < 0.5 else None
        new = new or substitute(name, "PERSON", words_of(problem.text), rng)
        if new is None:
            return None
        return splice(problem.text, [(start, end, new) for start, end in changed])
