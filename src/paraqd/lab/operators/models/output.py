"""Request outputs from a model, and discard unusable outputs."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from paraqd.lab.generators import Decoding, Generator
from paraqd.reading import Problem, read
from paraqd.reading.equality import same_quantities
from paraqd.rewriting.operator import Resources

# Outputs are sampled because the most likely output of a small paraphraser is often a valid paraphrase. Truncated
# outputs are kept because the paper reports truncation as a fault of these models.
LOSSY = Decoding(do_sample=True, top_p=0.9, keep_unfinished=True)

# punctuation that does not affect the meaning; arithmetic signs are not included
_MARKS = re.compile(r"[\s.,;:!?\"'`´‘’“”]+")


def draw_seeds(rngs: Sequence[random.Random]) -> list[int]:
    """Draw one seed from each random generator."""
    return [rng.getrandbits(63) for rng in rngs]


def sentences_of(problem: Problem) -> list[str]:
    """Return a problem's sentences as strings."""
    return [sentence.text for sentence in problem.sentences]


def ask(
    generator: Generator, parts: Sequence[Sequence[str]], *, seeds: Sequence[int], decoding: Decoding
) -> list[list[list[str]]]:
    """Request outputs for all parts of all problems in one call, and return the candidates for each part.

    The candidates are nested in the same way as ``parts``.
    """
    texts = [text for group in parts for text in group]
    seed_of = [seed for group, seed in zip(parts, seeds, strict=True) for _ in group]
    answers = iter(generator.generate(texts, seed=seed_of, decoding=decoding))
    return [[next(answers) for _ in group] for group in parts]


def unchanged(problem: Problem, output: str) -> bool:
    """Return True if the output equals the question, ignoring white space."""
    return output.split() == problem.text.split()


def same_wording(problem: Problem, output: str) -> bool:
    """Return True if the output has the question's words and quantities, ignoring case, punctuation and white space."""
    words = _MARKS.sub(" ", output).casefold().split()
    return words == _MARKS.sub(" ", problem.text).casefold().split() and same_quantities(
        problem.quantities, read(output).quantities
    )


def checked_changed(problem: Problem, output: str, resources: Resources, *, operator: str) -> str | None:
    """Return the output, or None if it is blank or unchanged; count a discarded output."""
    if not output.strip():
        resources.dropped(operator, "no output")
    elif unchanged(problem, output):
        resources.dropped(operator, "unchanged")
    else:
        return output
    return None


def checked_valid(problem: Problem, output: str, resources: Resources, *, operator: str) -> str | None:
    """Return the output, or None if it is blank, is unchanged or has different quantities; count a discarded output."""
    checked = checked_changed(problem, output, resources, operator=operator)
    if checked is not None and not same_quantities(problem.quantities, read(checked).quantities):
        resources.dropped(operator, "quantities differ")
        return None
    return checked


def lossy_paraphrases(
    problems: Sequence[Problem],
    rngs: Sequence[random.Random],
    resources: Resources,
    *,
    operator: str,
    resource: str,
    decoding: Decoding,
) -> list[str | None]:
    """Paraphrase problems with a model that tends to lose information.

    The model receives the whole question, or one sentence at a time if it was trained on single sentences. An output
    that is blank or has the same words as the question is discarded and counted.
    """
    generator: Generator = resources.require(resource, needed_by=operator)
    parts = [sentences_of(p) if generator.by_sentence else [p.text] for p in problems]
    answers = ask(generator, parts, seeds=draw_seeds(rngs), decoding=decoding)
    outputs: list[str | None] = []
    for problem, candidates in zip(problems, answers, strict=True):
        outputs.append(None)
        if not problem.text.strip():
            continue
        if not candidates or not all(candidates):
            resources.dropped(operator, "no output")
            continue
        output = " ".join(found[0] for found in candidates)
        if unchanged(problem, output) or same_wording(problem, output):
            resources.dropped(operator, "unchanged")
        else:
            outputs[-1] = output
    return outputs
