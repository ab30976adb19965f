"""Apply the steps of a plan to a chunk of questions in a single process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from paraqd.extras import MissingExtraError
from paraqd.lab.operators import MissingResourceError, Noted, Operator, Resources, derive_rng, get
from paraqd.lab.operators.plan import AugmentError, Step
from paraqd.model_runtime import GeneratorUnavailableError
from paraqd.reading import Problem, read
from paraqd.reading.entities import PipelineUnavailableError
from paraqd.tables.questions import Question

BINS = 20  # number of bins in the histogram of normalised edit distances
_MOST_COMPARED = 10_000  # compare at most this many characters, because the edit distance takes quadratic time


# exceptions that end the run, because they would occur for every question
FATAL = (
    AugmentError,
    GeneratorUnavailableError,
    MissingExtraError,
    MissingResourceError,
    PipelineUnavailableError,
)


@dataclass
class Tally:
    """The statistics for one step: edit distances and the counts of questions, outputs, discards, errors and notes."""

    seen: int = 0
    applied: int = 0
    edits: int = 0
    normalised: float = 0.0
    histogram: list[int] = field(default_factory=lambda: [0] * BINS)
    dropped: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)

    def count(self, question: str, paraphrase: str, note: str = "") -> None:
        """Count an output, its note and its edit distance from the question."""
        from rapidfuzz.distance import Levenshtein

        if note:
            self.notes[note] = self.notes.get(note, 0) + 1
        a, b = question[:_MOST_COMPARED], paraphrase[:_MOST_COMPARED]
        distance = Levenshtein.distance(a, b)
        share = distance / max(len(a), len(b), 1)
        self.applied += 1
        self.edits += distance
        self.normalised += share
        self.histogram[min(int(share * BINS), BINS - 1)] += 1

    def add(self, other: Tally) -> None:
        """Add another chunk's tally to this tally."""
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
    """The outputs of one step for a chunk.

    ``texts`` has one entry per question: the paraphrase and its note, or None if there is no output. ``tally`` holds
    the counts.
    """

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
    """Apply every step to every question, and return one `Outputs` per step.

    An operator's random generator depends only on the seed, the question's id and the step's name. If a rule operator
    raises an exception for a question, the exception is counted, and the run continues without that output. If a
    resource is missing or a model fails, the exception is raised.
    """
    if not steps:
        return []
    entities = resources.get("entities")
    problems = [read(question.text, entities=entities) for question in questions]
    return [_apply_step(step, questions, problems, seed, resources) for step in steps]


def _apply_step(
    step: Step, questions: Sequence[Question], problems: Sequence[Problem], seed: int, resources: Resources
) -> Outputs:
    operator = _operator(step.runs)
    tally = Tally(seen=len(questions))
    rngs = [derive_rng(seed, question.id, step.name) for question in questions]
    resources.drops.clear()
    outputs: list[str | None]
    try:
        outputs = operator.apply_batch(problems, rngs, resources)
    except FATAL:
        raise
    except (Exception, SystemExit):
        if step.models:  # a model that fails on one batch would probably fail on the next batch
            raise
        outputs = _apply_one_by_one(step, operator, questions, problems, seed, resources, tally)
    texts: list[tuple[str, str] | None] = []
    for question, text in zip(questions, outputs, strict=True):
        if text is None:
            texts.append(None)
            continue
        note = text.note if isinstance(text, Noted) else ""
        tally.count(question.text, text, note)
        texts.append((str(text), note))
    for (_, reason), times in sorted(resources.drops.items()):
        tally.dropped[reason] = tally.dropped.get(reason, 0) + times
    return Outputs(texts=texts, tally=tally)


def _apply_one_by_one(
    step: Step,
    operator: Operator,
    questions: Sequence[Question],
    problems: Sequence[Problem],
    seed: int,
    resources: Resources,
    tally: Tally,
) -> list[str | None]:
    """Apply an operator that failed on the batch to one question at a time, and count the failures."""
    resources.drops.clear()
    outputs: list[str | None] = []
    for question, problem in zip(questions, problems, strict=True):
        try:
            outputs.append(operator.apply(problem, derive_rng(seed, question.id, step.name), resources))
        except FATAL:
            raise
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {error}"[:200]
            tally.failed[reason] = tally.failed.get(reason, 0) + 1
            outputs.append(None)
    return outputs
