"""Translate a question into German and back, sentence by sentence (f1)."""

from __future__ import annotations

import random
from collections.abc import Sequence

from paraqd.lab.generators import GREEDY, Decoding
from paraqd.lab.operators.models.output import ask, checked_valid, draw_seeds, sentences_of
from paraqd.reading import Problem
from paraqd.rewriting.operator import Operator, Resources

DIVERSE = Decoding(num_candidates=5, diversity=0.8)


class Backtranslation(Operator):
    """Translate the question into German and back into English (f1).

    As in the paper, the translation into English uses diverse decoding, and the candidate with the largest Levenshtein
    distance from the original sentence is chosen. An output whose quantities differ from the question's is discarded
    and counted.
    """

    name = "Backtranslation"
    paper_id = "f1"
    polarity = "valid"
    changes = frozenset({"wording", "numbers", "units"})
    stand_in = "RewriteKeepingVoice"
    needs = ("generator.f1.forward", "generator.f1.backward")

    def __init__(
        self,
        *,
        forward: Decoding = GREEDY,
        backward: Decoding = DIVERSE,
    ) -> None:
        self.forward = forward
        self.backward = backward

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Return the back-translation, or None if it is blank, is unchanged or has different quantities."""
        return self.apply_batch([problem], [rng], resources)[0]

    def apply_batch(
        self, problems: Sequence[Problem], rngs: Sequence[random.Random], resources: Resources
    ) -> list[str | None]:
        """Translate the sentences of many problems in batches."""
        to_german = resources.require("generator.f1.forward", needed_by=self.name)
        to_english = resources.require("generator.f1.backward", needed_by=self.name)
        seeds = draw_seeds(rngs)
        english = [sentences_of(problem) for problem in problems]
        found = ask(to_german, english, seeds=seeds, decoding=self.forward)
        german = [[candidates[0] if candidates else "" for candidates in group] for group in found]
        returned = ask(to_english, german, seeds=seeds, decoding=self.backward)
        outputs: list[str | None] = []
        for problem, sentences, candidates in zip(problems, english, returned, strict=True):
            if not sentences:
                outputs.append(None)
                continue
            # If a sentence has no translation, the whole output is discarded, so that no part of the question is lost.
            chosen = [_farthest(s, c) for s, c in zip(sentences, candidates, strict=True)]
            output = " ".join(chosen) if all(chosen) else ""
            outputs.append(checked_valid(problem, output, resources, operator=self.name))
        return outputs

    def source_model(self, resources: Resources) -> str:
        """Return the names of the two models, separated by a space."""
        return " ".join(str(resources.require(need, needed_by=self.name).name) for need in self.needs)


def _farthest(sentence: str, candidates: Sequence[str]) -> str:
    """Return the candidate that differs most from the sentence, or an empty string if there are no candidates.

    >>> _farthest("Tom has 5 apples.", ["Tom has 5 apples.", "Tom owns 5 apples."])
    'Tom owns 5 apples.'
    """
    from rapidfuzz.distance import Levenshtein

    return max(candidates, key=lambda candidate: Levenshtein.distance(sentence, candidate), default="")
