"""Write an operator and apply it to sample questions.

python examples/own_operator.py
"""

from __future__ import annotations

import csv
import random
from pathlib import Path

from paraqd import read
from paraqd.lab.operators import Operator, Resources, derive_rng
from paraqd.reading import Problem

OPENINGS = ("Please read carefully.", "Here is a problem for you.")


class PoliteOpening(Operator):
    """Put a polite sentence before the question."""

    name = "PoliteOpening"
    polarity = "valid"
    changes = frozenset({"sentences"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Return the question after a polite sentence, or None if the question is empty."""
        del resources
        return f"{rng.choice(OPENINGS)} {problem.text}" if problem.sentences else None


if __name__ == "__main__":
    operator = PoliteOpening()
    with (Path(__file__).parents[1] / "samples" / "questions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))[:3]
    for row in rows:
        print(operator.apply(read(row["question"]), derive_rng(1, row["id"], operator.name), Resources()))
