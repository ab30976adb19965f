"""Define operators that fall back to replacing high-TF-IDF words, as the paper's public code does.

The public code trains on such replacements, although fc, one of the operators that produced the test sets, replaces
words in the same way. The operators in this module exist to measure the effect of this overlap. Only the recipe
``public-code`` uses these operators.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import ClassVar

from paraqd.lab.operators.entities.entity_replacement import EntityReplacement
from paraqd.lab.operators.models.lossy_paraphrase import LossyParaphrase
from paraqd.lab.operators.numbers.number_removal import NumberRemoval
from paraqd.lab.operators.units.unit_replacement import UnitReplacement
from paraqd.lab.operators.wording.top_word_replacement import TopWordReplacement
from paraqd.reading import Problem
from paraqd.rewriting.operator import VARIES, Operator, Resources


class _OrTopWords(Operator, declared=False):
    """Apply the operator ``first``, and fall back to `TopWordReplacement` if ``first`` does not apply.

    ``skipped`` is the share of the questions for which ``first`` is not tried.
    """

    polarity = "invalid"
    fault = VARIES
    changes = TopWordReplacement.changes
    baseline = TopWordReplacement.baseline
    first: ClassVar[type[Operator]]
    settings: ClassVar[Mapping[str, int]] = {}  # of the first operator
    skipped: ClassVar[float] = 0.0

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Apply the first operator, or replace words if it does not apply; return None if neither is possible."""
        return self.apply_batch([problem], [rng], resources)[0]

    def apply_batch(
        self, problems: Sequence[Problem], rngs: Sequence[random.Random], resources: Resources
    ) -> list[str | None]:
        """Apply the first operator to many problems, and replace words in the problems to which it does not apply."""
        for need in self.needs:
            resources.require(need, needed_by=self.name)
        tried = [i for i, rng in enumerate(rngs) if not self.skipped or rng.random() >= self.skipped]
        outputs: list[str | None] = [None] * len(problems)
        produced = self.first(**self.settings).apply_batch(
            [problems[i] for i in tried], [rngs[i] for i in tried], resources
        )
        for i, output in zip(tried, produced, strict=True):
            outputs[i] = output
        fallback = TopWordReplacement()
        return [
            fallback.apply(problem, rng, resources) if output is None else output
            for problem, rng, output in zip(problems, rngs, outputs, strict=True)
        ]

    def source_model(self, resources: Resources) -> str:
        """Return the name of the first operator's model, or an empty string if the operator has no model."""
        return self.first(**self.settings).source_model(resources)


class EntitiesOrTopWords(_OrTopWords):
    """Replace or delete names; if there are none, replace distinctive words (the public code's f7)."""

    name = "EntitiesOrTopWords"
    needs = TopWordReplacement.needs
    first = EntityReplacement


class NumbersOrTopWords(_OrTopWords):
    """Delete numbers; if there are none, replace distinctive words (the public code's f8)."""

    name = "NumbersOrTopWords"
    needs = TopWordReplacement.needs
    first = NumberRemoval


class ParaphraseOrTopWords(_OrTopWords):
    """Paraphrase with a model that tends to lose information, or replace distinctive words (the public code's f9).

    In 396 of the 654 published outputs, only lower-case words are replaced. The paraphraser is therefore skipped for
    that share of the questions.
    """

    name = "ParaphraseOrTopWords"
    stand_in = LossyParaphrase.stand_in
    needs = (*LossyParaphrase.needs, *TopWordReplacement.needs)
    first = LossyParaphrase
    skipped = 396 / 654


class UnitsOrTopWords(_OrTopWords):
    """Replace one or two units; if there are none, replace distinctive words (the public code's f10)."""

    name = "UnitsOrTopWords"
    needs = TopWordReplacement.needs
    first = UnitReplacement
    settings = {"most": 2}  # noqa: RUF012
