"""Paraphrase with a model for general English that tends to lose information (f9)."""

from __future__ import annotations

import random
from collections.abc import Sequence

from paraqd.lab.generators import Decoding
from paraqd.lab.operators.models.output import LOSSY, lossy_paraphrases
from paraqd.reading import Problem
from paraqd.rewriting.operator import EVERYTHING, VARIES, Operator, Resources


class LossyParaphrase(Operator):
    """Paraphrase with a model for general English that tends to lose information (f9).

    The paper's model is Pegasus, fine-tuned on PAWS.
    """

    name = "LossyParaphrase"
    paper_id = "f9"
    polarity = "invalid"
    fault = VARIES
    changes = EVERYTHING
    stand_in = "generator"
    needs = ("generator.f9",)

    def __init__(self, *, decoding: Decoding = LOSSY) -> None:
        self.decoding = decoding

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Return the model's paraphrase, or None if it is blank or has the same words as the question."""
        return self.apply_batch([problem], [rng], resources)[0]

    def apply_batch(
        self, problems: Sequence[Problem], rngs: Sequence[random.Random], resources: Resources
    ) -> list[str | None]:
        """Paraphrase many problems in batches."""
        return lossy_paraphrases(
            problems, rngs, resources, operator=self.name, resource=self.needs[0], decoding=self.decoding
        )

    def source_model(self, resources: Resources) -> str:
        """Return the name of the model."""
        return str(resources.require(self.needs[0], needed_by=self.name).name)
