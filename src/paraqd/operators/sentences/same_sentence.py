"""f2: the question itself; the encoder's dropout makes it an augmentation."""

from __future__ import annotations

import random

from paraqd.operators.base import Operator, Resources
from paraqd.reading import Problem


class SameSentence(Operator):
    """Returns the question unchanged (f2)."""

    name = "SameSentence"
    paper_id = "f2"
    polarity = "valid"
    changes = frozenset()

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Return the text as it is."""
        del rng, resources
        return problem.text or None
