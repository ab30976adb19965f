"""Define the operator that changes clauses between the active and the passive voice (fa)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, ClassVar

from paraqd.lab.generators import GREEDY, Decoding, Generator
from paraqd.lab.operators.models.output import ask, checked_valid, draw_seeds, sentences_of
from paraqd.reading import Problem
from paraqd.rewriting.document import parse
from paraqd.rewriting.edits import Edit, compatible, render
from paraqd.rewriting.operator import Operator, Polarity, Resources
from paraqd.rewriting.voice import voice_edits

_PASSIVE = ("generator.fa.passive", "generator.fa")
_GRAMMAR = "generator.fa.grammar"


class ActivePassive(Operator):
    """Change clauses between the active and the passive voice (fa).

    If the resource ``generator.fa.passive`` is available, the model changes one sentence at a time, as in the paper.
    The optional model ``generator.fa.grammar`` then corrects the grammar. If no model is available, rules change every
    clause that has a simple structure. Outputs whose quantities differ from those in the question are discarded and
    counted.
    """

    name: ClassVar[str] = "ActivePassive"
    paper_id: ClassVar[str | None] = "fa"
    polarity: ClassVar[Polarity] = "valid"
    changes: ClassVar[frozenset[str]] = frozenset({"wording", "numbers", "units"})
    stand_in: ClassVar[str | None] = "ActivePassive"
    extras: ClassVar[tuple[str, ...]] = ("augment",)
    needs: ClassVar[tuple[str, ...]] = ("parser",)

    def __init__(self, *, decoding: Decoding = GREEDY) -> None:
        self.decoding = decoding

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Return the problem with its clauses in the other voice, or None if no clause can be changed."""
        return self.apply_batch([problem], [rng], resources)[0]

    def apply_batch(
        self, problems: Sequence[Problem], rngs: Sequence[random.Random], resources: Resources
    ) -> list[str | None]:
        """Return the output of ``apply`` for each problem. All problems are parsed in one batch."""
        generator = _generator(resources)
        if generator is not None:
            outputs = self._by_model(generator, problems, rngs, resources)
        else:
            nlp = resources.require("parser", needed_by=self.name)
            outputs = _by_rule(nlp, problems)
        return [
            None if output is None else checked_valid(problem, output, resources, operator=self.name)
            for problem, output in zip(problems, outputs, strict=True)
        ]

    def source_model(self, resources: Resources) -> str:
        """Return the names of the models, separated by spaces, or an empty string if only rules are used."""
        models = [model for model in (_generator(resources), resources.get(_GRAMMAR)) if model is not None]
        return " ".join(str(model.name) for model in models) if _generator(resources) is not None else ""

    def _by_model(
        self,
        generator: Generator,
        problems: Sequence[Problem],
        rngs: Sequence[random.Random],
        resources: Resources,
    ) -> list[str | None]:
        seeds = draw_seeds(rngs)
        sentences = [sentences_of(problem) for problem in problems]
        for model in filter(None, (generator, resources.get(_GRAMMAR))):
            answers = ask(model, sentences, seeds=seeds, decoding=self.decoding)
            # a sentence stays unchanged if the model has no output for it, so that no sentence is lost
            sentences = [
                [found[0] if found else old for old, found in zip(group, candidates, strict=True)]
                for group, candidates in zip(sentences, answers, strict=True)
            ]
        return [" ".join(group) if group else None for group in sentences]


def _generator(resources: Resources) -> Generator | None:
    return next((resources.get(name) for name in _PASSIVE if name in resources), None)


def _by_rule(nlp: Any, problems: Sequence[Problem]) -> list[str | None]:
    outputs: list[str | None] = []
    for problem, document in zip(problems, parse(nlp, problems), strict=True):
        chosen: list[Edit] = []
        for edit in voice_edits(document) if document is not None else ():
            if compatible(edit, chosen):
                chosen.append(edit)
        outputs.append(render(problem.text, chosen, document.lower) if document is not None and chosen else None)
    return outputs
