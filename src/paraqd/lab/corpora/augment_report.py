"""Collect statistics and examples for the report on an augmentation."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from paraqd.lab.operators.apply import Tally
from paraqd.lab.operators.plan import Plan, Step

EXAMPLES = 3
SKIPPED_NAMED = 1000  # the maximum number of skipped rows listed one by one; further rows are only counted


class Example(NamedTuple):
    """A question and the paraphrase that an operator produced from the question."""

    id: str
    question: str
    paraphrase: str


@dataclass(frozen=True)
class OperatorReport:
    """The statistics for one operator.

    ``edit_distance`` is the mean normalised Levenshtein distance between question and output (0: identical, 1: nothing
    in common), and ``edit_characters`` is the mean distance in characters. ``histogram`` counts the outputs by
    normalised distance, in bins of width 0.05. ``dropped`` counts the discarded outputs, and ``failed`` counts the
    questions for which the operator raised an exception; both are keyed by the reason. ``notes`` counts the outputs,
    keyed by the operator's note.
    """

    name: str
    paper_id: str
    label: int
    stand_in: bool
    source_model: str
    questions: int
    applied: int
    edit_distance: float | None
    edit_characters: float | None
    histogram: tuple[int, ...]
    dropped: Mapping[str, int]
    failed: Mapping[str, int]
    notes: Mapping[str, int]
    examples: tuple[Example, ...]

    @property
    def applied_percent(self) -> float:
        """The percentage of questions for which the operator produced an output."""
        return 100 * self.applied / self.questions if self.questions else 0.0


@dataclass(frozen=True)
class AugmentReport:
    """The result of an augmentation.

    ``resumed`` is the number of rows that an earlier run had already finished. ``problems`` contains one line for each
    input file that could not be read.
    """

    out: str
    recipe: str
    seed: int
    version: str
    rows: int
    questions: int
    skipped: int
    skipped_rows: tuple[tuple[int, str], ...]
    written: int
    operators: tuple[OperatorReport, ...]
    left_out: Mapping[str, str]
    resumed: int
    seconds: float
    problems: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """True if every input file could be read."""
        return not self.problems

    @property
    def failed(self) -> int:
        """The number of exceptions that operators raised."""
        return sum(sum(operator.failed.values()) for operator in self.operators)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a JSON-serialisable dictionary."""
        data = asdict(self)
        for plain, operator in zip(data["operators"], self.operators, strict=True):
            plain["applied_percent"] = round(operator.applied_percent, 2)
            plain["examples"] = [example._asdict() for example in operator.examples]
        data["skipped_rows"] = [{"row": row, "reason": why} for row, why in self.skipped_rows]
        return data | {"complete": self.complete, "failed": self.failed}


@dataclass
class Collector:
    """A collector for a report's statistics and examples.

    A worker fills a collector while it processes a piece. The run then merges the data of all pieces with `include`.
    """

    plan: Plan
    tallies: list[Tally] = field(init=False)
    questions: int = 0
    skipped: int = 0
    skipped_rows: list[tuple[int, str]] = field(default_factory=list)
    written: int = 0
    _examples: list[list[tuple[int, Example]]] = field(init=False)

    def __post_init__(self) -> None:
        self.tallies = [Tally() for _ in self.plan.steps]
        self._examples = [[] for _ in self.plan.steps]

    def add_chunk(self, questions: int, skipped: Sequence[tuple[int, str]], tallies: Sequence[Tally]) -> None:
        """Add the statistics for one chunk of questions."""
        self.questions += questions
        self.skipped += len(skipped)
        self.skipped_rows += skipped[: SKIPPED_NAMED - len(self.skipped_rows)]
        for mine, other in zip(self.tallies, tallies, strict=True):
            mine.add(other)

    def add_output(self, step: int, example: Example) -> None:
        """Count an output, and keep the output as an example if its hash is among the lowest.

        The choice by hash spreads the examples over the whole corpus.
        """
        self.written += 1
        self._keep(step, zlib.crc32(f"{step} {example.id}".encode("utf-8", "surrogatepass")), example)

    def _keep(self, step: int, key: int, example: Example) -> None:
        kept = self._examples[step]
        if len(kept) < EXAMPLES or key < kept[-1][0]:
            kept.append((key, example))
            kept.sort(key=lambda item: item[0])
            del kept[EXAMPLES:]

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary that another collector can merge with `include`."""
        return {
            "questions": self.questions,
            "skipped": self.skipped,
            "skipped_rows": self.skipped_rows,
            "written": self.written,
            "tallies": [asdict(tally) for tally in self.tallies],
            "examples": self._examples,
        }

    def include(self, data: Mapping[str, Any], file: str = "", start: int = 0) -> None:
        """Merge the data of a piece.

        If ``file`` is not empty, the file's name is added to the reason for each skipped row. ``start`` is the number
        of rows in all earlier pieces.
        """
        del start
        self.questions += data["questions"]
        self.skipped += data["skipped"]
        self.written += data["written"]
        rows = data["skipped_rows"][: SKIPPED_NAMED - len(self.skipped_rows)]
        self.skipped_rows += [(row, f"{why}, {file}" if file else why) for row, why in rows]
        for mine, other in zip(self.tallies, data["tallies"], strict=True):
            mine.add(Tally(**other))
        for step, kept in enumerate(data["examples"]):
            for key, example in kept:
                self._keep(step, key, Example(*example))

    def operators(self) -> tuple[OperatorReport, ...]:
        """Return a report for each operator."""
        return tuple(
            _operator_report(step, tally, [example for _, example in examples])
            for step, tally, examples in zip(self.plan.steps, self.tallies, self._examples, strict=True)
        )


def _operator_report(step: Step, tally: Tally, examples: Sequence[Example]) -> OperatorReport:
    applied = tally.applied
    return OperatorReport(
        name=step.name,
        paper_id=step.paper_id,
        label=step.label,
        stand_in=step.stand_in,
        source_model=step.source_model,
        questions=tally.seen,
        applied=applied,
        edit_distance=round(tally.normalised / applied, 4) if applied else None,
        edit_characters=round(tally.edits / applied, 2) if applied else None,
        histogram=tuple(tally.histogram),
        dropped=tally.dropped,
        failed=tally.failed,
        notes=tally.notes,
        examples=tuple(examples),
    )
