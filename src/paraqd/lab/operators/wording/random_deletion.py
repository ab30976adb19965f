"""Delete random words and punctuation marks (fd)."""

from __future__ import annotations

import random

from paraqd.reading import Problem
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import delete

# words whose loss makes a text clumsy but does not change its meaning
_SMALL = frozenset(
    "a an the of is are was were be been to in on at by for and or that this these those it its he she they his her "
    "their as with from then also so do does did will would has have had there if how what which who when where than "
    "but into can could may might must shall should my your our we you i me him them us s t am".split()
)


class RandomDeletion(Operator):
    """Delete words and punctuation marks at random (fd).

    At least one token is deleted, and at least one token is kept.

    Parameters
    ----------
    rate : float
        The probability of deleting each token.

    """

    name = "RandomDeletion"
    paper_id = "fd"
    polarity = "invalid"
    fault = "content_lost"
    changes = frozenset({"wording", "punctuation"})

    def __init__(self, *, rate: float = 0.2) -> None:
        self.rate = rate

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Delete random tokens; return None if the text has fewer than two tokens."""
        del resources
        tokens = problem.tokens
        if len(tokens) < 2:
            return None
        chosen = [token for token in tokens if rng.random() < self.rate]
        content = [token for token in tokens if _matters(token.text)]
        if content and not any(_matters(token.text) for token in chosen):
            chosen.append(rng.choice(content))  # losing only a comma or an article changes nothing
        if not chosen:
            chosen = [rng.choice(tokens)]
        if len(chosen) == len(tokens):
            chosen.pop(rng.randrange(len(chosen)))
        text = delete(problem, [(token.start, token.end) for token in chosen]).strip()
        return text if text and text != problem.text else None


def _matters(word: str) -> bool:
    """Return True if a token is a content word or a number."""
    return word[0].isalnum() and word.lower() not in _SMALL
