"""Hide some words, and have a masked language model fill the gaps (SSMBA)."""

from __future__ import annotations

import random
from collections.abc import Sequence

from paraqd.lab.generators import Decoding, Generator
from paraqd.lab.operators.models.output import ask, checked_changed, draw_seeds, unchanged
from paraqd.reading import Problem
from paraqd.rewriting.operator import EVERYTHING, Operator, Resources

SAMPLED = Decoding(do_sample=True)


class MaskedReconstruction(Operator):
    """Hide some words, and have a language model fill the gaps (baseline SSMBA).

    As in SSMBA (Ng et al., 2020), 15 % of the tokens are corrupted as in BERT's training, and new tokens are sampled
    from the model. All outputs are labelled valid, although the new tokens may include a wrong number. To get several
    outputs per question, also use the names ``MaskedReconstruction#2``, ``MaskedReconstruction#3`` and so on.

    Parameters
    ----------
    tries : int
        The maximum number of attempts to get an output that differs from the question.

    """

    name = "MaskedReconstruction"
    polarity = "valid"
    changes = EVERYTHING
    stand_in = "generator"
    baseline = "SSMBA"
    needs = ("generator.ssmba",)

    def __init__(self, *, decoding: Decoding = SAMPLED, tries: int = 10) -> None:
        self.decoding = decoding
        self.tries = tries

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Return the reconstruction, or None if it is blank or equals the question."""
        return self.apply_batch([problem], [rng], resources)[0]

    def apply_batch(
        self, problems: Sequence[Problem], rngs: Sequence[random.Random], resources: Resources
    ) -> list[str | None]:
        """Mask and reconstruct many problems in batches."""
        generator: Generator = resources.require("generator.ssmba", needed_by=self.name)
        found = ["" for _ in problems]
        waiting = [place for place, problem in enumerate(problems) if problem.text.strip()]
        asked = list(waiting)
        for _ in range(self.tries):
            seeds = draw_seeds([rngs[place] for place in waiting])
            answers = ask(generator, [[problems[place].text] for place in waiting], seeds=seeds, decoding=self.decoding)
            for place, (candidates,) in zip(waiting, answers, strict=True):
                found[place] = candidates[0] if candidates else ""
            waiting = [place for place in waiting if found[place] and unchanged(problems[place], found[place])]
            if not waiting:
                break
        outputs: list[str | None] = [None] * len(problems)
        for place in asked:
            outputs[place] = checked_changed(problems[place], found[place], resources, operator=self.name)
        return outputs

    def source_model(self, resources: Resources) -> str:
        """Return the name of the model."""
        return str(resources.require("generator.ssmba", needed_by=self.name).name)
