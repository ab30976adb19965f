"""Rename people throughout the text."""

from __future__ import annotations

import random

from paraqd.reading import Problem
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.renaming import renameable, substitute, words_of
from paraqd.rewriting.text import splice


class ConsistentRenaming(Operator):
    """Rename one or more people throughout the text: Tom … Tom's → Max … Max's."""

    name = "ConsistentRenaming"
    polarity = "valid"
    changes = frozenset({"names"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Rename one or more people; return None if nobody can be renamed safely."""
        del resources
        candidates = renameable(problem)
        if not candidates:
            return None
        chosen = rng.sample(candidates, rng.randint(1, len(candidates)))
        taken = words_of(problem.text)
        edits = []
        for name, spans in chosen:
            new = substitute(name, "PERSON", taken, rng)
            if new is None:
                continue
            taken |= words_of(new)
            edits += [(start, end, new) for start, end in spans]
        text = splice(problem.text, edits)
        return text if text != problem.text else None
