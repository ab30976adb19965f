"""Reword a problem with rules.

Several finders look for possible edits in one parse of the problem. Edits reword the question, move clauses and
adverbials, merge and split sentences, change the voice, or replace words. The operator then applies as many compatible
edits as possible.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import ClassVar

from paraqd.reading import Problem, read
from paraqd.reading.equality import same_quantities
from paraqd.rewriting.adverbials import adverbial_edits
from paraqd.rewriting.conditions import condition_edits
from paraqd.rewriting.document import Document, parse
from paraqd.rewriting.edits import Edit, compatible, render
from paraqd.rewriting.existence import existence_edits
from paraqd.rewriting.function_words import function_word_edits
from paraqd.rewriting.how_questions import how_edits
from paraqd.rewriting.measures import measure_edits
from paraqd.rewriting.objects import object_edits
from paraqd.rewriting.openers import opener_edits
from paraqd.rewriting.operator import Operator, Polarity, Resources
from paraqd.rewriting.phrases import phrase_edits
from paraqd.rewriting.questions import question_edits
from paraqd.rewriting.sentences import sentence_edits
from paraqd.rewriting.subjects import subject_edits
from paraqd.rewriting.subordinates import subordinate_edits
from paraqd.rewriting.synonyms import synonym_edits
from paraqd.rewriting.time_questions import time_edits
from paraqd.rewriting.voice import voice_edits
from paraqd.rewriting.wording import wording_edits
from paraqd.rewriting.work import work_edits

Finder = Callable[[Document], list[Edit]]

# groups of finders; edits from the first groups change the text most, so they are chosen first
_FINDERS: tuple[tuple[Finder, ...], ...] = (
    (
        adverbial_edits,
        condition_edits,
        existence_edits,
        how_edits,
        opener_edits,
        question_edits,
        sentence_edits,
        subject_edits,
        subordinate_edits,
        time_edits,
    ),
    (measure_edits, object_edits, work_edits),
    (phrase_edits,),
    (synonym_edits, function_word_edits, wording_edits),
)
# within a group, a family with a higher weight is more likely to be chosen early (default: 1.0)
_WEIGHTS = {
    "sentence.after": 3.0,
    "condition.postponed": 3.0,
    "condition.fronted": 3.0,
    "adverbial.front": 2.0,
    "adverbial.end": 2.0,
    "opener.statement": 0.3,
    "opener.question": 0.3,
}
_OPENER_RATE = 0.9
_DIGITS = re.compile(r"\d+")


class Rewrite(Operator):
    """Reword a problem while keeping its numbers, units, names and question.

    ``rate`` is the probability that an edit is applied if it is compatible with the edits already chosen.
    """

    name: ClassVar[str] = "Rewrite"
    polarity: ClassVar[Polarity] = "valid"
    changes: ClassVar[frozenset[str]] = frozenset({"wording", "numbers", "units", "order", "question"})
    extras: ClassVar[tuple[str, ...]] = ("augment",)
    needs: ClassVar[tuple[str, ...]] = ("parser",)
    finders: ClassVar[tuple[tuple[Finder, ...], ...]] = (
        _FINDERS[0],
        (voice_edits, *_FINDERS[1]),
        *_FINDERS[2:],
    )

    def __init__(self, *, rate: float = 1.0) -> None:
        self.rate = rate

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Return the reworded problem, or None if no edit applies or the edits would change a quantity."""
        return self.apply_batch([problem], [rng], resources)[0]

    def apply_batch(
        self, problems: Sequence[Problem], rngs: Sequence[random.Random], resources: Resources
    ) -> list[str | None]:
        """Return the output of ``apply`` for each problem. All problems are parsed in one batch."""
        nlp = resources.require("parser", needed_by=self.name)
        documents = parse(nlp, problems)
        return [
            None if document is None else self._rewrite(problem, document, rng, resources)
            for problem, document, rng in zip(problems, documents, rngs, strict=True)
        ]

    def _rewrite(self, problem: Problem, document: Document, rng: random.Random, resources: Resources) -> str | None:
        chosen = self._choose(document, rng)
        quantities_differ = False
        while chosen:
            text = render(problem.text, chosen, document.lower)
            if text != problem.text:
                if _keeps_quantities(problem, text):
                    return text
                quantities_differ = True
            chosen = chosen[: len(chosen) // 2]
        if quantities_differ:
            resources.dropped(self.name, "quantities differ")
        return None

    def _choose(self, document: Document, rng: random.Random) -> list[Edit]:
        """Choose compatible edits at random, starting with those that change the text most."""
        chosen: list[Edit] = []
        skipped: list[Edit] = []
        for finders in self.finders:
            choices: dict[tuple[str, int], list[Edit]] = defaultdict(list)
            for finder in finders:
                for edit in document.found_by(finder):
                    choices[edit.family, edit.replacements[0].start].append(edit)
            ranked = [(rng.random() ** (1 / _WEIGHTS.get(family, 1.0)), family, place) for family, place in choices]
            for _, family, place in sorted(ranked, reverse=True):
                edit = rng.choice(choices[family, place])
                rate = self.rate * _OPENER_RATE if family.startswith("opener") else self.rate
                if not compatible(edit, chosen):
                    continue
                (chosen if rng.random() < rate else skipped).append(edit)
        return chosen or skipped[:1]


class RewriteKeepingVoice(Rewrite):
    """Reword a problem without changing the voice of its clauses.

    This operator is the stand-in for back-translation (f1). Changes of voice are excluded because the paper reserves
    them (operator fa) for testing.
    """

    name: ClassVar[str] = "RewriteKeepingVoice"
    finders: ClassVar[tuple[tuple[Finder, ...], ...]] = _FINDERS


def _keeps_quantities(problem: Problem, text: str) -> bool:
    if Counter(_DIGITS.findall(problem.text)) != Counter(_DIGITS.findall(text)):
        return False
    return same_quantities(problem.quantities, read(text).quantities)
