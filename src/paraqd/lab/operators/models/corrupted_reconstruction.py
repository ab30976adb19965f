"""Corrupt a question, and have a trained model reconstruct it (fb)."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence

from paraqd.lab.generators import GREEDY, Decoding, Generator
from paraqd.lab.operators.models.output import ask, checked_valid, draw_seeds
from paraqd.reading import Problem, read
from paraqd.rewriting.operator import Operator, Resources, derive_rng

LAST_TOKENS = 3  # the last tokens are kept, because they usually belong to the question


class CorruptedReconstruction(Operator):
    """Shuffle, delete and replace words, and have a model reconstruct the question (fb).

    The paper's model is t5-base. The replacement words are drawn from the question itself. An output whose quantities
    differ from the question's is discarded and counted.
    """

    name = "CorruptedReconstruction"
    paper_id = "fb"
    polarity = "valid"
    changes = frozenset({"wording", "numbers", "units"})
    stand_in = "generator"
    needs = ("generator.fb",)

    def __init__(self, *, decoding: Decoding = GREEDY) -> None:
        self.decoding = decoding

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Return the reconstruction, or None if it is blank, is unchanged or has different quantities."""
        return self.apply_batch([problem], [rng], resources)[0]

    def apply_batch(
        self, problems: Sequence[Problem], rngs: Sequence[random.Random], resources: Resources
    ) -> list[str | None]:
        """Corrupt and reconstruct many problems in batches."""
        generator: Generator = resources.require("generator.fb", needed_by=self.name)
        corrupted = [corrupt(problem, rng) for problem, rng in zip(problems, rngs, strict=True)]
        # If no word may be corrupted, the operator does not apply.
        parts = [[] if text == p.text else [text] for text, p in zip(corrupted, problems, strict=True)]
        answers = ask(generator, parts, seeds=draw_seeds(rngs), decoding=self.decoding)
        outputs: list[str | None] = []
        for problem, part, candidates in zip(problems, parts, answers, strict=True):
            if not part:
                outputs.append(None)
                continue
            output = candidates[0][0] if candidates[0] else ""
            outputs.append(checked_valid(problem, output, resources, operator=self.name))
        return outputs

    def source_model(self, resources: Resources) -> str:
        """Return the name of the model."""
        return str(resources.require("generator.fb", needed_by=self.name).name)


def corrupt(
    problem: Problem,
    rng: random.Random,
    *,
    vocabulary: Sequence[str] = (),
    deleted: float = 0.1,
    replaced: float = 0.1,
    window: float = 2.0,
) -> str:
    """Shuffle words locally, delete some words and replace others; keep numbers, units and the last three tokens.

    No word moves by more than ``window`` positions or across a token that must be kept. If no word may be corrupted,
    return the question unchanged.
    """
    tokens = problem.tokens
    free = _corruptible(problem)
    words = [token.text for token in tokens]
    pool = vocabulary or [words[i] for i in free]
    for run in _runs(free):
        # Sorting by position plus noise moves a word by less than the width of the noise (Lample et al., 2018).
        jittered = sorted(run, key=lambda place: place + rng.uniform(0, window))
        for place, word in zip(run, [words[i] for i in jittered], strict=True):
            words[place] = word
    gone = {place for place in free if rng.random() < deleted}
    for place in free:
        if place not in gone and rng.random() < replaced:
            words[place] = rng.choice(pool)
    if free and not gone and all(words[i] == tokens[i].text for i in free):
        gone.add(rng.choice(free))
    pieces: list[str] = []
    end = 0
    for place, token in enumerate(tokens):
        if place not in gone:
            pieces += [problem.text[end : token.start], words[place]]
        end = token.end
    return "".join([*pieces, problem.text[end:]]).strip() if free else problem.text


def training_pairs(questions: Iterable[str], *, seed: int, vocabulary: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield (corrupted question, question) pairs for training ``generator.fb``.

    The corruptions differ from those that ``apply`` produces with the same seed, so the model is not trained on the
    inputs that it later receives.
    """
    for question in questions:
        problem = read(question)
        rng = derive_rng(seed, question, "CorruptedReconstruction/training")
        corrupted = corrupt(problem, rng, vocabulary=vocabulary)
        if corrupted != question:
            yield corrupted, question


def _corruptible(problem: Problem) -> list[int]:
    """Return the indices of the tokens that may be corrupted."""
    tokens = problem.tokens
    spared: set[int] = set(range(len(tokens) - LAST_TOKENS, len(tokens)))
    spans = sorted(quantity.span for quantity in problem.quantities)
    following = 0
    for place, token in enumerate(tokens):
        while following < len(spans) and spans[following][1] <= token.start:
            following += 1
        inside = following < len(spans) and spans[following][0] < token.end
        if inside or not token.text[:1].isalpha() or any(c.isnumeric() for c in token.text):
            spared.add(place)
    return [place for place in range(len(tokens)) if place not in spared]


def _runs(places: Sequence[int]) -> Iterator[list[int]]:
    """Yield the runs of consecutive indices.

    >>> list(_runs([0, 1, 4, 5, 6]))
    [[0, 1], [4, 5, 6]]
    """
    run: list[int] = []
    for place in places:
        if run and place != run[-1] + 1:
            yield run
            run = []
        run.append(place)
    if run:
        yield run
