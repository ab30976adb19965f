"""Apply the steps of a plan to a chunk of questions, in one process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from paraqd.generators import GeneratorUnavailableError, MissingExtraError
from paraqd.operators import MissingResourceError, Noted, Operator, Resources, derive_rng, get
from paraqd.operators.plan import AugmentError, Step
from paraqd.reading import Problem, read
from paraqd.reading.entities import PipelineUnavailableError

BINS = 20  # in the histogram of normalised edit distances
_COMPARED = 10_000  # characters; comparing takes quadratic time


# errors that concern every question
_FATAL = (
    AugmentError,
    GeneratorUnavailableError,
    MissingExtraError,
    MissingResourceError,
    PipelineUnavailableError,
)


class Question(NamedTuple):
    """One question of a corpus."""

    id: str
    text: str


@dataclass
class Tally:
    """The counts of one step; tallies of chunks can be added."""

    seen: int = 0
    applied: int = 0
    edits: int = 0
    normalised: float = 0.0
    histogram: list[int] = field(default_factory=lambda: [0] * BINS)
    dropped: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)

    def count(self, question: str, paraphrase: str, note: str = "") -> None:
        """Count one output."""
        if note:
            self.notes[note] = self.notes.get(note, 0) + 1
        a, b = question[:_COMPARED], paraphrase[:_COMPARED]
        distance = Levenshtein.distance(a, b)
        share = distance / max(len(a), len(b), 1)
        self.applied += 1
        self.edits += distance
        self.normalised += share
        self.histogram[min(int(share * BINS), BINS - 1)] += 1

    def add(self, other: Tally) -> None:
        """Add the counts of another chunk."""
        self.seen += other.seen
        self.applied += other.applied
        self.edits += other.edits
        self.normalised += other.normalised
        self.histogram = [a + b for a, b in zip(self.histogram, other.histogram, strict=True)]
        self.dropped = dict(Counter(self.dropped) + Counter(other.dropped))
        self.failed = dict(Counter(self.failed) + Counter(other.failed))
        self.notes = dict(Counter(self.notes) + Counter(other.notes))


@dataclass
class Outputs:
    """The outputs of one step for a chunk: (paraphrase, note) or None for each question, and the counts."""

    texts: list[tuple[str, str] | None]
    tally: Tally


@cache
def _operator(name: str) -> Operator:
    return get(name)


def apply_steps(
    questions: Sequence[Question],
    steps: Sequence[Step],
    *,
    seed: int,
    resources: Resources,
) -> list[Outputs]:
    """Apply every step to every question; return one `Outputs` for each step.

    The random generator of an operator depends only on the seed, the id and the name of the step. If an operator raises
    an exception for a question, that output is lost and counted by its error, and the run continues. A missing resource
    or model ends the run.
    """
    if not steps:
        return []
    entities = resources.get("entities")
    problems = [read(question.text, entities=entities) for question in questions]
    return [_apply(step, questions, problems, seed, resources) for step in steps]


def _apply(
    step: Step, questions: Sequence[Question], problems: Sequence[Problem], seed: int, resources: Resources
) -> Outputs:
    operator = _operator(step.runs)
    tally = Tally(seen=len(questions))
    rngs = [derive_rng(seed, question.id, step.name) for question in questions]
    resources.drops.clear()
    made: list[str | None]
    try:
        made = operator.apply_batch(problems, rngs, resources)
    except _FATAL:
        raise
    except Exception:
        if step.models:  # a model that fails on one batch would fail on the next
            raise
        made = _one_by_one(step, operator, questions, problems, seed, resources, tally)
    texts: list[tuple[str, str] | None] = []
    for question, text in zip(questions, made, strict=True):
        if text is None:
            texts.append(None)
            continue
        note = text.note if isinstance(text, Noted) else ""
        tally.count(question.text, text, note)
        texts.append((str(text), note))
    for (_, why), times in sorted(resources.drops.items()):
        tally.dropped[why] = tally.dropped.get(why, 0) + times
    return Outputs(texts=texts, tally=tally)


def _one_by_one(
    step: Step,
    operator: Operator,
    questions: Sequence[Question],
    problems: Sequence[Problem],
    seed: int,
    resources: Resources,
    tally: Tally,
) -> list[str | None]:
    """Apply an operator that raised an exception to each question separately, to lose as few outputs as possible."""
    resources.drops.clear()
    made: list[str | None] = []
    for question, problem in zip(questions, problems, strict=True):
        try:
            made.append(operator.apply(problem, derive_rng(seed, question.id, step.name), resources))
        except _FATAL:
            raise
        except Exception as error:
            why = f"{type(error).__name__}: {error}"[:200]
            tally.failed[why] = tally.failed.get(why, 0) + 1
            made.append(None)
    return made
