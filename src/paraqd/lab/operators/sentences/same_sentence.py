"""Return the question unchanged (f2).

In training, the encoder's dropout makes the embeddings of the two identical texts differ.
"""

from __future__ import annotations

import random

from paraqd.reading import Problem
from paraqd.rewriting.operator import Operator, Resources


class SameSentence(Operator):
    """Return the question unchanged (f2)."""

    name = "SameSentence"
    paper_id = "f2"
    polarity = "valid"
    changes = frozenset()

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Return the text unchanged."""
        del rng, resources
        return problem.text or None
