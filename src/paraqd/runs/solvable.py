"""Check whether the questions in a file, or in a folder of files, are solvable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

from paraqd.model_folder import SOLVABLE_MODEL, is_shipped
from paraqd.parameters import named
from paraqd.runs.column_types import fitted_row, fitted_schema, typed
from paraqd.runs.engines import OnRows, PieceWorker
from paraqd.runs.failed_rows import ErrorRow, FailedRows, LostRows
from paraqd.runs.locations import Location
from paraqd.runs.output import Output
from paraqd.runs.parts import NO_PARTS, Facts, Parts
from paraqd.runs.pieces import Piece, Reader
from paraqd.runs.run import (
    PieceRows,
    RunOptions,
    Work,
    carry_out,
    check_options,
    check_threads,
    look_at,
    question_columns,
    say_spellings,
)
from paraqd.runs.score_rows import CHUNK, NAMED_ROWS, in_chunks, shown_score
from paraqd.runs.survey import Inputs, check_cells
from paraqd.scoring.solvable import Solvability, SolvableChecker
from paraqd.tables.formats import Format, TableError, kind_of
from paraqd.tables.pair_tables import PairColumns
from paraqd.tables.rows import numbered
from paraqd.tables.table import DEFAULT_COLUMNS, Columns, Row
from paraqd.tables.writers import Schema, output_dialect

# the columns that the check adds, in order
ADDED: Mapping[str, type] = {
    "score": float,
    "solvable": bool,
    "evidence": str,
    "warnings": str,
    "error": str,
    "signature": str,
}
VERDICTS = ("solvable", "unsolvable")
_COUNTED = ("rows", "written", *VERDICTS, "errors", "warned")


@dataclass(frozen=True)
class SolvableReport:
    """The result of checking the questions in a file or a folder.

    ``rows`` is the number of questions, ``written`` is the number of rows in the output, and ``warned`` is the number
    of questions with warnings. ``faults`` counts the unsolvable questions by kind of fault, the most common kind first.
    ``error_rows`` lists up to a thousand rows that could not be checked. ``damage`` contains one line for each row
    group that cannot be read, and ``problems`` one line for each file that cannot be read to its end. ``resumed`` is
    the number of rows that an earlier run had already finished.
    """

    source: str
    out: str
    signature: str
    threshold: float
    rows: int
    written: int
    solvable: int
    unsolvable: int
    errors: int
    warned: int
    faults: Mapping[str, int]
    error_rows: tuple[ErrorRow, ...] = ()
    damage: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    resumed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a JSON-serialisable dictionary."""
        return {
            "source": self.source,
            "out": self.out,
            "rows": self.rows,
            "written": self.written,
            "solvable": self.solvable,
            "unsolvable": self.unsolvable,
            "errors": self.errors,
            "warned": self.warned,
            "faults": dict(self.faults),
            "resumed": self.resumed,
            "damage": list(self.damage),
            "problems": list(self.problems),
            "threshold": self.threshold,
            "signature": self.signature,
        }


def solvable_file(
    source: str | Path,
    out: str | Path,
    *,
    model: str | Path = SOLVABLE_MODEL,
    judge: str | None = None,
    threshold: float | None = None,
    columns: Columns = DEFAULT_COLUMNS,
    only: str | None = None,
    threads: int | None = None,
    overwrite_columns: bool = False,
    **options: Unpack[RunOptions],
) -> SolvableReport:
    r"""Check every question in a file, or in a folder of files, and write the rows with their verdicts.

    The rows and their order are unchanged. The columns ``score``, ``solvable``, ``evidence``, ``warnings``, ``error``
    and ``signature`` are added. If a call is interrupted, repeat the call to resume the work.

    Parameters
    ----------
    source : str or Path
        A CSV, TSV, JSONL, Excel or Parquet file, or a folder of such files; ``-`` reads JSONL from standard input.
    out : str or Path
        A file, whose extension determines the format, or a folder (a name that ends in ``/``).
    model : str or Path
        The name or folder of a model, as in `SolvableChecker.load`.
    judge : str, optional
        ``small`` or ``large``, as in `SolvableChecker.load`.
    threshold : float, optional
        A question is solvable if its score is greater than this threshold (default: the model's threshold).
    columns : Columns
        The column names. The ids are used only in messages.
    only : str, optional
        Write only the rows with this verdict: ``solvable`` or ``unsolvable``.
    threads : int, optional
        The number of threads for the model if this process does the work (default: one per core).
    overwrite_columns : bool
        Replace input columns whose names clash with the added columns.
    **options
        ``workers``, ``overwrite``, ``restart``, ``encoding``, ``progress`` and others; see `RunOptions`.

    Raises
    ------
    TableError
        If a file cannot be read or written. The one-line message explains how to fix the problem.
    ModelError
        If the model cannot be loaded.
    RunInterrupted
        If the user presses Ctrl-C.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> texts = "Ann has 5 pens and buys 3 pens. How many pens has she now?\nAnn has 5.\n"
    >>> _ = (folder / "questions.csv").write_text(f"question\n{texts}")
    >>> report = solvable_file(folder / "questions.csv", folder / "checked.csv")
    >>> report.solvable, dict(report.faults)
    (1, {'question_missing': 1})

    """
    check_options(options)
    if only not in (None, *VERDICTS):
        raise TableError(f"{named('only', only)}: choose {' or '.join(VERDICTS)}")
    place = Location.at(source)
    output = Output.at(place, out, **options)
    check_threads(threads, options)
    if not is_shipped(model):
        model = Path(model).expanduser().absolute()  # workers may have another current folder
    checker = SolvableChecker.load(model, judge=judge, threshold=threshold, threads=threads)
    names: dict[str, str] = {}

    check = question_columns(columns, ADDED, names, overwrite=overwrite_columns)
    inputs = look_at(place, output, options, check=check, least=CHUNK)
    say_spellings(names, columns.question, options)
    target = None if output.file is None else kind_of(output.file).format
    if target is Format.XLSX:
        check_cells(inputs)
    schema: Schema = {**{name: kind for name, kind in inputs.types.items() if name not in ADDED}, **ADDED}
    schema = fitted_schema(schema, ADDED, target)
    settings: dict[str, Any] = {
        "columns": [columns.question],
        "model": checker.signature,
        "encoding": options.get("encoding"),
    }
    if target is None:
        settings |= {"choice_of_rows": only or "all", "set_of_columns": list(schema)}
    job = SolvableJob(
        reader=replace(inputs.reader, lenient=True),
        names=names,
        id_column=columns.id,
        schema=None if output.folder is None else schema,
        only=only,
        model=str(model),
        judge=judge,
        threshold=checker.threshold,
        identity=checker.signature,
        loaded=checker,
    )
    sums = _Counts()
    work = Work(
        command="solvable",
        stage="checking",
        inputs=inputs,
        settings=settings,
        schema=schema,
        metadata={"signature": checker.signature},
        job=lambda parts: replace(job, parts=parts),
        count=lambda piece, facts: sums.include(place.shown(piece.file), facts),
        totals=lambda: {**sums.to_dict(), "signature": checker.signature},
        join=lambda pieces: sums.counting(_joined(job, pieces, schema, inputs, target)),
        dialect=output_dialect(inputs.table),
        problems=lambda: sums.failed.unread,
        summary=lambda: {**sums.to_dict(), "threshold": checker.threshold},
    )
    outcome = carry_out(work, output, options)
    return SolvableReport(
        source=place.given,
        out=str(out),
        signature=checker.signature,
        threshold=checker.threshold,
        **sums.to_dict(),
        error_rows=tuple(sorted(sums.failed.rows)),
        damage=tuple(sorted(sums.failed.damage)),
        problems=outcome.problems,
        resumed=outcome.resumed,
    )


# --- the work -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SolvableJob:
    """A job that checks the questions of pieces.

    The parts contain complete rows with the columns in ``schema``. If ``schema`` is None, the output is a file, and the
    parts contain only the verdicts. ``names`` maps each file to its column with the questions. ``loaded`` is the
    checker of this process. Other processes load ``model``.
    """

    reader: Reader
    names: Mapping[str, str]
    id_column: str
    schema: Schema | None
    only: str | None
    model: str
    judge: str | None
    threshold: float
    identity: str
    parts: Parts = NO_PARTS
    loaded: SolvableChecker | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "loaded": None}

    def worker(self, *, threads: int | None = None) -> SolvableWorker:
        """Return a worker, and load the model if this process has not loaded it yet."""
        checker = self.loaded or SolvableChecker.load(
            self.model, judge=self.judge, threshold=self.threshold, threads=threads
        )
        return SolvableWorker(self, checker)

    def wanted(self, record: Mapping[str, Any]) -> bool:
        """Return True if a row with these columns is written."""
        return self.only is None or _verdict_of(record) == self.only

    def full_row(self, row: Row, record: Mapping[str, Any]) -> Row:
        """Return an input row with the added columns."""
        own = {name: value for name, value in row.items() if name not in ADDED}
        return {**own, **record, "signature": self.identity}


class SolvableWorker(PieceWorker):
    """A worker that checks the questions of pieces."""

    def __init__(self, job: SolvableJob, checker: SolvableChecker) -> None:
        self.identity = checker.signature
        self._job, self._checker = job, checker

    def piece(self, piece: Piece, on_rows: OnRows) -> Facts:
        """Check the questions of a piece, write its part, and return the counts."""
        job, counts, done, lost = self._job, _Counts(), 0, LostRows()
        column = job.names[job.reader.source.shown(piece.file)]
        with job.parts.part(piece.index) as (writer, facts):
            for rows in in_chunks(job.reader.rows(piece)):
                kept: list[Mapping[str, Any]] = []
                lost.add(rows)
                records = self._records(rows, column)
                for (number, row), record in zip(numbered(rows, piece.start + done + 1), records, strict=True):
                    own_id = row.get(job.id_column)
                    counts.add(record, number, "" if own_id is None else str(own_id).strip())
                    if job.schema is None:
                        kept.append(record)
                    elif job.wanted(record):
                        full = job.full_row(row, record)
                        kept.append({name: typed(full.get(name), kind) for name, kind in job.schema.items()})
                writer.write(kept)
                counts.numbers["written"] += len(kept)  # in a file output, joining the parts counts the rows
                done += len(rows)
                if done < piece.rows:  # the run itself reports finished pieces
                    on_rows(done)
            facts.update(counts.to_dict(), error_rows=counts.error_rows, **lost.to_dict())
        return facts

    def _records(self, rows: Sequence[Row], column: str) -> list[dict[str, Any]]:
        """Return the added columns of each row, without the signature."""
        columns = PairColumns(column, (column,))  # as in a pair, the text must not be blank, too long or cut short
        errors = [columns.problem(row, column) for row in rows]
        found = iter(
            self._checker.check_texts([row[column] for row, error in zip(rows, errors, strict=True) if not error])
        )
        return [_record(error) if error else _record(next(found), self._checker.threshold) for error in errors]


def _record(found: Solvability | str, threshold: float = 0.0) -> dict[str, Any]:
    """Return the added columns for a verdict or an error message, without the signature."""
    if isinstance(found, str):
        return {"score": None, "solvable": None, "evidence": [], "warnings": [], "error": found}
    return {
        "score": shown_score(found.score, threshold),
        "solvable": found.solvable,
        "evidence": [piece.to_dict() for piece in found.evidence],
        "warnings": list(found.warnings),
        "error": None,
    }


def _verdict_of(record: Mapping[str, Any]) -> str | None:
    if record["error"] is not None:
        return None
    return "solvable" if record["solvable"] else "unsolvable"


@dataclass
class _Counts:
    """The number of questions by verdict, and the number of unsolvable questions by kind of fault.

    ``error_rows`` holds the questions of a part that could not be checked, and ``failed`` those of all parts.
    """

    numbers: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    error_rows: list[tuple[int, str, str]] = field(default_factory=list)
    failed: FailedRows = field(default_factory=FailedRows)

    def add(self, record: Mapping[str, Any], number: int, own_id: str) -> None:
        """Count a question, given the number and the id of its row."""
        self.numbers.update({"rows": 1, _verdict_of(record) or "errors": 1, "warned": bool(record["warnings"])})
        self.faults.update(piece["kind"] for piece in record["evidence"])
        if record["error"] is not None and len(self.error_rows) < NAMED_ROWS:
            self.error_rows.append((number, record["error"], own_id))

    def include(self, file: str, facts: Facts) -> None:
        """Add the counts of a part."""
        self.numbers.update({name: facts[name] for name in _COUNTED})
        self.faults.update(facts["faults"])
        self.failed.include(file, facts)

    def counting(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Yield the rows of the output file, and count them."""
        self.numbers["written"] = 0
        for row in rows:
            self.numbers["written"] += 1
            yield row

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as a JSON-serialisable dictionary, with the most common fault first."""
        faults = dict(sorted(self.faults.items(), key=lambda item: (-item[1], item[0])))
        return {**{name: self.numbers[name] for name in _COUNTED}, "faults": faults}


def _joined(
    job: SolvableJob, pieces: PieceRows, schema: Schema, inputs: Inputs, target: Format | None
) -> Iterator[Row]:
    """Yield the rows of the output file: the input rows, which are read again, with the verdicts from the parts."""
    from_parquet = inputs.table is None
    for piece, records in pieces:
        for row, record in zip(job.reader.rows(piece), records, strict=True):
            if not job.wanted(record):
                continue
            yield fitted_row(job.full_row(row, record), schema, target, convert=from_parquet)
