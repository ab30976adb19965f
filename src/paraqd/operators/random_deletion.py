"""fd: tokens deleted at random."""

from __future__ import annotations

import random

from paraqd.operators.base import Operator, Resources
from paraqd.operators.text import delete
from paraqd.reading import Problem


class RandomDeletion(Operator):
    """Deletes each token with a given probability, at least one and never all (fd).

    Parameters
    ----------
    rate : float
        The probability of a token to be deleted.

    """

    name = "RandomDeletion"
    paper_id = "fd"
    polarity = "invalid"

    def __init__(self, *, rate: float = 0.2) -> None:
        self.rate = rate

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Delete tokens; None where there are fewer than two."""
        del resources
        tokens = problem.tokens
        if len(tokens) < 2:
            return None
        chosen = [token for token in tokens if rng.random() < self.rate]
        words = [token for token in tokens if token.text[0].isalnum()]
        if words and not any(token.text[0].isalnum() for token in chosen):
            chosen = [rng.choice(words)]  # a lost comma changes nothing
        if not chosen:
            chosen = [rng.choice(tokens)]
        if len(chosen) == len(tokens):
            chosen.pop(rng.randrange(len(chosen)))
        text = delete(problem, [(token.start, token.end) for token in chosen]).strip()
        return text if text and text != problem.text else None
