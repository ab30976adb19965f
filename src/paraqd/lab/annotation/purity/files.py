"""Check the labels of all pairs in a file, and report the results for each operator."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Unpack

from paraqd.lab.annotation.purity.check import NO_PROMISES, check_pair
from paraqd.lab.annotation.purity.pair import Finding, Promise
from paraqd.runs.engines import OnRows, PieceWorker
from paraqd.runs.locations import Location
from paraqd.runs.output import Output
from paraqd.runs.parts import NO_PARTS, Facts, Parts
from paraqd.runs.pieces import Piece, Reader
from paraqd.runs.run import RunOptions, Work, carry_out, check_options, look_at
from paraqd.tables.rows import numbered
from paraqd.tables.table import DEFAULT_COLUMNS, Columns, Row, row_id
from paraqd.text_check import text_problem
from paraqd.version import __version__

# the columns of the file of offending pairs, in order
OFFENDERS: Mapping[str, type] = {
    "id": str,
    "operator": str,
    "label": int,
    "reason": str,
    "suspicious": bool,
    "question": str,
    "paraphrase": str,
    "note": str,
}
UNNAMED = "(no operator)"
_CHUNK = 512
_NAMED_ROWS = 100  # the maximum number of skipped rows that a report lists individually
_LABELS = {"1": 1, "0": 0, "1.0": 1, "0.0": 0, "true": 1, "false": 0, "valid": 1, "invalid": 0}


class LabelledPair(NamedTuple):
    """The values that the check reads from a row."""

    id: str
    question: str
    paraphrase: str
    operator: str
    label: int
    note: str


@dataclass(frozen=True)
class Offender:
    """A pair that breaks its operator's promise or is suspicious, together with the finding."""

    item: LabelledPair
    finding: Finding


@dataclass(frozen=True)
class OperatorPurity:
    """The purity of one operator's pairs.

    ``n`` is the number of all checked pairs: pure pairs, impure pairs and consistent renamings. ``reasons`` counts the
    impure pairs by reason, and ``doubts`` counts the suspicious pairs by reason.
    """

    name: str
    label: int
    n: int
    impure: int
    suspicious: int
    consistent_renamings: int
    reasons: dict[str, int]
    doubts: dict[str, int]
    examples: tuple[Offender, ...]

    @property
    def pure(self) -> int:
        """The number of pairs that keep the operator's promise, excluding consistent renamings."""
        return self.n - self.impure - self.consistent_renamings

    @property
    def purity(self) -> float:
        """The share of pure pairs among pure and impure pairs, or 1 if all pairs are consistent renamings."""
        judged = self.pure + self.impure
        return self.pure / judged if judged else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return the purity as a JSON-serialisable dictionary."""
        return {
            "label": self.label,
            "n": self.n,
            "pure": self.pure,
            "impure": self.impure,
            "suspicious": self.suspicious,
            "consistent_renamings": self.consistent_renamings,
            "purity": self.purity,
            "reasons": self.reasons,
            "doubts": self.doubts,
        }


@dataclass(frozen=True)
class PurityReport:
    """The result of a check, with the operators in the order in which they first occur.

    ``skipped`` is the number of rows without a usable pair, and ``skipped_rows`` lists the first few of them, each with
    its row number and the reason why it was skipped. ``resumed`` is the number of rows that an earlier run finished.
    ``problems`` lists the input files that could not be read.
    """

    source: str
    operators: tuple[OperatorPurity, ...]
    skipped: int = 0
    skipped_rows: tuple[tuple[int, str], ...] = ()
    resumed: int = 0
    problems: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """The number of pairs that were checked."""
        return sum(operator.n for operator in self.operators)

    @property
    def purity(self) -> float:
        """The share of pure pairs among the pure and impure pairs of all operators."""
        pure = sum(operator.pure for operator in self.operators)
        judged = pure + sum(operator.impure for operator in self.operators)
        return pure / judged if judged else 1.0

    @property
    def lowest(self) -> float:
        """The lowest purity of any operator."""
        return min((operator.purity for operator in self.operators), default=1.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a JSON-serialisable dictionary."""
        return {
            "source": self.source,
            "n": self.n,
            "purity": self.purity,
            "lowest": self.lowest,
            "skipped": self.skipped,
            "operators": {operator.name: operator.to_dict() for operator in self.operators},
        }


# the position of a row: the index of its piece, and its row number
_Position = tuple[int, int]


@dataclass
class _Tally:
    label: int
    first: _Position
    n: int = 0
    impure: int = 0
    suspicious: int = 0
    consistent: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    doubts: dict[str, int] = field(default_factory=dict)
    bad: list[tuple[_Position, Offender]] = field(default_factory=list)
    odd: list[tuple[_Position, Offender]] = field(default_factory=list)


class Collector:
    """A collector of findings. The result does not depend on the order in which the findings are added."""

    def __init__(self, *, examples: int = 3) -> None:
        self._examples = examples
        self._tallies: dict[str, _Tally] = {}
        self.skipped = 0
        self.skipped_rows: list[tuple[int, str]] = []

    def add(self, item: LabelledPair, finding: Finding, position: _Position = (0, 0)) -> None:
        """Count one finding; the findings with the lowest positions become the report's examples."""
        tally = self._tallies.setdefault(item.operator, _Tally(item.label, position))
        tally.n += 1
        if not finding.ok:
            tally.impure += 1
            _add(tally.reasons, {finding.reason: 1})
            self._keep(tally.bad, [(position, Offender(item, finding))])
            return
        tally.consistent += finding.consistent_renaming
        if finding.suspicious:
            tally.suspicious += 1
            _add(tally.doubts, {finding.reason: 1})
            self._keep(tally.odd, [(position, Offender(item, finding))])

    def skip(self, number: int, why: str) -> None:
        """Count a row that cannot be checked, and remember the reason."""
        self.skipped += 1
        if len(self.skipped_rows) < _NAMED_ROWS:
            self.skipped_rows.append((number, why))

    def _keep(self, kept: list[tuple[_Position, Offender]], more: Sequence[tuple[_Position, Offender]]) -> None:
        kept += more
        kept.sort(key=lambda example: example[0])
        del kept[self._examples :]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as a JSON-serialisable dictionary, which `include` adds to another collector."""
        tallies = {name: asdict(tally) for name, tally in self._tallies.items()}
        return {"tallies": tallies, "skipped": self.skipped, "skipped_rows": self.skipped_rows}

    def include(self, data: Facts, file: str) -> None:
        """Add the counts for a piece of the input; append the file name to each reason for skipping a row."""
        self.skipped += data["skipped"]
        self.skipped_rows += [(row, f"{why}, {file}" if file else why) for row, why in data["skipped_rows"]]
        for name, other in data["tallies"].items():
            first = tuple(other["first"])
            tally = self._tallies.setdefault(name, _Tally(other["label"], first))
            if first < tally.first:
                tally.first, tally.label = first, other["label"]
            for key in ("n", "impure", "suspicious", "consistent"):
                setattr(tally, key, getattr(tally, key) + other[key])
            _add(tally.reasons, other["reasons"])
            _add(tally.doubts, other["doubts"])
            self._keep(tally.bad, [_example(example) for example in other["bad"]])
            self._keep(tally.odd, [_example(example) for example in other["odd"]])

    def operators(self) -> tuple[OperatorPurity, ...]:
        """Return the purity of each operator."""
        return tuple(
            OperatorPurity(
                name=name,
                label=tally.label,
                n=tally.n,
                impure=tally.impure,
                suspicious=tally.suspicious,
                consistent_renamings=tally.consistent,
                reasons=_commonest(tally.reasons),
                doubts=_commonest(tally.doubts),
                examples=tuple([offender for _, offender in (*tally.bad, *tally.odd)][: self._examples]),
            )
            for name, tally in sorted(self._tallies.items(), key=lambda item: item[1].first)
        )


def _add(counts: dict[str, int], more: Mapping[str, int]) -> None:
    for name, number in more.items():
        counts[name] = counts.get(name, 0) + number


def _commonest(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _example(data: Sequence[Any]) -> tuple[_Position, Offender]:
    """Restore an example from the output of `Collector.to_dict`."""
    (piece, row), offender = data
    item = offender["item"]
    pair = LabelledPair(*item) if isinstance(item, list | tuple) else LabelledPair(**item)
    return (piece, row), Offender(pair, Finding(**offender["finding"]))


def check_file(
    source: str | Path,
    *,
    promises: Mapping[str, Promise] = NO_PROMISES,
    offenders: str | Path | None = None,
    examples: int = 3,
    columns: Columns = DEFAULT_COLUMNS,
    **options: Unpack[RunOptions],
) -> PurityReport:
    """Check every pair in a file or in a folder of files.

    Parameters
    ----------
    source : str or Path
        A CSV, TSV, JSONL or Parquet file with the columns question, paraphrase and label, and optionally operator, note
        and id, as written by ``paraqd lab augment``; or a folder of such files.
    promises : mapping of str to Promise
        The promises, keyed by the operator's name, such as ``paraqd.lab.operators.declarations()``. A pair without an
        operator, or whose operator has no promise, is checked only against its label.
    offenders : str or Path, optional
        A file or folder for the pairs that break their operator's promise or are suspicious. If ``offenders`` is
        passed, an interrupted run can be continued by calling the function again with the same arguments.
    examples : int
        The maximum number of offending pairs that the report shows for each operator.
    columns : Columns
        The column names.
    **options
        Options such as ``workers``, ``engine``, ``overwrite``, ``restart`` and ``progress``; see
        `paraqd.runs.run.RunOptions`.

    """
    check_options(options)
    place = Location.at(source)
    output = Output.at(place, offenders, **options)
    inputs = look_at(
        place,
        output,
        options,
        check=lambda table: table.require(columns, ("question", "paraphrase", "label")),
        least=_CHUNK,
    )
    collector = Collector(examples=examples)
    job = PurityJob(inputs.reader, columns, dict(promises), examples)
    work = Work(
        command="purity",
        stage="checking",
        inputs=inputs,
        settings={
            "columns": [columns.question, columns.paraphrase, columns.label, columns.id],
            "version": __version__,
            "set_of_promises": _digest(promises),
            "number_of_examples": examples,
            "encoding": options.get("encoding"),
        },
        schema=OFFENDERS,
        job=lambda parts: replace(job, parts=parts),
        count=lambda piece, facts: collector.include(facts, place.shown(piece.file) if piece.file else ""),
        totals=lambda: {"pairs": sum(operator.n for operator in collector.operators())},
    )
    outcome = carry_out(work, output, options)
    return PurityReport(
        source=place.given,
        operators=collector.operators(),
        skipped=collector.skipped,
        skipped_rows=tuple(sorted(collector.skipped_rows)[:_NAMED_ROWS]),
        resumed=outcome.resumed,
        problems=outcome.problems,
    )


def _digest(promises: Mapping[str, Promise]) -> str:
    """Return eight hex digits that identify the promises."""
    plain = [(name, each.polarity, each.fault, sorted(each.changes)) for name, each in sorted(promises.items())]
    return hashlib.sha256(repr(plain).encode()).hexdigest()[:8]


@dataclass(frozen=True)
class PurityJob:
    """The job that checks the pairs of an input and writes the offending pairs."""

    reader: Reader
    columns: Columns
    promises: Mapping[str, Promise]
    examples: int
    parts: Parts = NO_PARTS
    identity: ClassVar[str] = f"paraqd:{__version__}"

    def worker(self, *, threads: int | None = None) -> PurityWorker:
        """Create a worker; ``threads`` is ignored."""
        del threads
        return PurityWorker(self)


class PurityWorker(PieceWorker):
    """A worker that checks the pairs in pieces of the input."""

    identity = PurityJob.identity

    def __init__(self, job: PurityJob) -> None:
        self._job = job

    def piece(self, piece: Piece, on_rows: OnRows) -> Facts:
        """Check the pairs in a piece, and return the counts."""
        job, collector, done = self._job, Collector(examples=self._job.examples), 0
        columns = job.columns
        only = [columns.question, columns.paraphrase, columns.label, columns.id, "operator", "note"]
        with job.parts.part(piece.index) as (writer, facts):
            for rows in job.reader.chunks(piece, _CHUNK, only):
                writer.write(self._offending(piece, rows, done, collector))
                done += len(rows)
                if done < piece.rows:  # the engine reports finished pieces
                    on_rows(done)
            facts.update(collector.to_dict())
        return facts

    def _offending(self, piece: Piece, rows: Sequence[Row], done: int, collector: Collector) -> Iterator[Row]:
        for number, row in numbered(rows, piece.start + done + 1):
            item = _labelled_pair(row, self._job.columns)
            if isinstance(item, str):
                collector.skip(number, item)
                continue
            texts = item.question, item.paraphrase
            finding = check_pair(*texts, item.operator, item.label, item.note, promises=self._job.promises)
            collector.add(item, finding, (piece.index, number))
            if not finding.ok or finding.suspicious:
                yield {**item._asdict(), "reason": finding.reason, "suspicious": finding.suspicious}


def _labelled_pair(row: Row, columns: Columns) -> LabelledPair | str:
    """Return the row's pair, or the reason the row is skipped."""
    question, paraphrase = row.get(columns.question), row.get(columns.paraphrase)
    label = _LABELS.get(str(row.get(columns.label)).strip().lower())
    if text_problem(question, "question"):
        return "no question"
    if not isinstance(paraphrase, str):
        return "no paraphrase"
    if label is None:
        return "the label is not 1 or 0"
    name, note = str(row.get("operator") or UNNAMED), str(row.get("note") or "")
    if text_problem(f"{question}{paraphrase}", unicode=True):
        return "not valid Unicode"
    return LabelledPair(row_id(row, columns, str(question)), str(question), paraphrase, name, label, note)
