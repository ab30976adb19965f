"""Score the pairs of a file or of a folder of files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

from paraqd.data.formats import Format, TableError, kind_of
from paraqd.data.rows import LostRow
from paraqd.data.tables import DEFAULT_COLUMNS, Columns, Row
from paraqd.data.writers import PLAIN, Dialect, Schema
from paraqd.runs.column_types import jsonable, plain_value, typed
from paraqd.runs.engines import OnRows, Result
from paraqd.runs.locations import Location
from paraqd.runs.output import Output
from paraqd.runs.pieces import Piece, Reader, UnreadableError
from paraqd.runs.run import Outcome, PieceRows, RunOptions, Work, carry_out, ignore, look_at
from paraqd.runs.score_columns import ScoreColumns
from paraqd.runs.score_rows import (
    CHUNK,
    NAMED_ROWS,
    WHY,
    Counts,
    PairScorer,
    added_columns,
    as_record,
    in_chunks,
    is_wanted,
    scored_chunks,
)
from paraqd.runs.store import NO_PARTS, Facts, Parts
from paraqd.runs.survey import Inputs
from paraqd.scoring.verdict import Verdict

UTF8 = ("utf-8", "utf-8-sig")
Scored = list[Verdict | str]


@dataclass(frozen=True)
class Model:
    """The settings for loading a scorer, as `Scorer.load` takes them; small, and sent to each worker."""

    model: str | None = None
    mode: str = "fused"
    threshold: float | None = None
    skip: bool = True

    def load(self, threads: int | None = None) -> PairScorer:
        """Load the scorer."""
        from paraqd.scoring.scorer import Scorer

        return Scorer.load(self.model, mode=self.mode, threshold=self.threshold, threads=threads, skip=self.skip)


@dataclass(frozen=True)
class ScoredRow:
    """A row of the input: its number, its columns with those that scoring adds, and its verdict or error."""

    number: int
    row: Row
    paraphrase: object
    verdict: Verdict | str


# called with scored rows, in their order, and the number of all rows
Show = Callable[[list[ScoredRow], int], None]


@dataclass(frozen=True)
class ScoreReport:
    """The result of scoring a file or a folder.

    ``written`` rows are in the output. ``faults`` counts the invalid rows by kind of evidence, the commonest first.
    ``error_rows`` names the rows that could not be scored: file, row and reason, the first thousand of them. ``damage``
    has a line for each row group that cannot be read, and ``problems`` for each file that cannot be read to its end.
    ``resumed`` rows were finished by an earlier run.
    """

    source: str
    out: str
    signature: str
    threshold: float
    rows: int
    written: int
    valid: int
    invalid: int
    errors: int
    faults: Mapping[str, int]
    error_rows: tuple[tuple[str, int, str], ...] = ()
    damage: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    parts: int = 0
    resumed: int = 0
    empty_files: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for a program."""
        return {
            "source": self.source,
            "out": self.out,
            "rows": self.rows,
            "written": self.written,
            "valid": self.valid,
            "invalid": self.invalid,
            "errors": self.errors,
            "faults": dict(self.faults),
            "parts": self.parts,
            "resumed": self.resumed,
            "damage": list(self.damage),
            "problems": list(self.problems),
            "empty_files": self.empty_files,
            "threshold": self.threshold,
            "signature": self.signature,
        }


def score_file(
    source: str | Path,
    out: str | Path | None,
    *,
    show: Show | None = None,
    scorer: PairScorer | Model | str | Path | None = None,
    columns: Columns = DEFAULT_COLUMNS,
    only: str | None = None,
    why: bool = False,
    threads: int | None = None,
    keep_going: bool = False,
    overwrite_columns: bool = False,
    **options: Unpack[RunOptions],
) -> ScoreReport:
    r"""Score every pair of a file, or of a folder of files, and write the rows with their verdicts.

    The rows stay as they are, in their order, with the columns ``score``, ``valid``, ``evidence``, ``error`` and
    ``signature`` added. A file is written in one step when everything is scored. A folder is written as Parquet parts.
    A call that was interrupted, even by ``kill -9``, continues where it stopped when it is made again. The rows do not
    depend on the engine or on the number of workers.

    Parameters
    ----------
    source : str or Path
        CSV, TSV, JSONL or Parquet, or a folder of such files; ``-`` is standard input as JSONL.
    out : str or Path, or None
        A file, whose ending gives the format, or a folder (a name that ends in ``/``). With None nothing is written.
    show : callable, optional
        Called with the scored rows of a file, a chunk at a time, and the number of all rows, if nothing is written.
    scorer : Scorer, Model, str or Path, optional
        A loaded scorer, the name or folder of a model, or a `Model` with more settings; the shipped model unless given.
        Several workers load the model themselves, so they need its name.
    columns : Columns
        The names of the columns.
    only : str, optional
        Write only the rows with this verdict, ``valid`` or ``invalid``.
    why : bool
        Add the column ``why`` with the evidence in sentences.
    threads : int, optional
        Threads for the model if this process does the work; one for each core unless given.
    keep_going : bool
        Score the readable rows of damaged text files.
    overwrite_columns : bool
        Replace columns of the input that are called like those that are added.
    **options
        ``workers``, ``engine``, ``overwrite``, ``restart``, ``progress`` and others: see `RunOptions`.

    Raises
    ------
    TableError
        If a file cannot be read or written; the message is one line that says what to do.
    RunInterrupted
        After Ctrl-C.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "pairs.csv").write_text("question,paraphrase\nTom has 5 pens. How many?,Tom has 6. How many?\n")
    >>> report = score_file(folder / "pairs.csv", folder / "scored.csv", scorer="reading")
    >>> report.rows, report.invalid, dict(report.faults)
    (1, 1, {'number_changed': 1})

    """
    if only not in (None, "valid", "invalid"):
        raise TableError(f"--only {only}: choose valid or invalid")
    place = Location.at(source)
    output = Output.at(place, out, **options)
    several = options.get("engine", "local") == "ray" or (options.get("workers") or 1) > 1
    if several and threads is not None:
        other = "--engine ray" if options.get("engine") == "ray" else "--workers"
        raise TableError(f"--threads cannot be combined with {other}: each worker uses one core")
    if out is None and place.kind == "folder":
        raise TableError(f"{place.given} is a folder: say where the parts go with -o NAME/")
    if out is None and several:
        raise TableError("several workers need an output: give -o")
    model, loaded = _loaded(scorer, threads, several=several)
    names = ScoreColumns(columns, why, overwrite_columns)
    inputs = look_at(place, output, options, check=names.check, least=CHUNK, keep_going=keep_going, offer=True)
    for line in names.notes():
        options.get("say", ignore)(line)
    counts = _Sums()
    target = None if output.file is None else kind_of(output.file).format
    schema = names.schema(inputs)
    if target is not None and target is not Format.PARQUET:
        schema = {**dict.fromkeys(schema, str), **names.added}  # text files have no types
    settings: dict[str, Any] = {"columns": [columns.question, columns.paraphrase], "model": loaded.signature}
    if target is None:  # the parts of a file hold verdicts only, whatever is written of them in the end
        settings |= {"choice_of_rows": only or "all", "set_of_columns": list(schema)}
    settings |= {"encoding": options.get("encoding"), **({"choice_to_keep_going": True} if keep_going else {})}
    job = ScoreJob(
        reader=replace(inputs.reader, lenient=True),
        parts=NO_PARTS,
        columns=names,
        schema=None if output.folder is None else schema,
        renamed=names.renamed(inputs),
        only=only,
        model=model,
        loaded=loaded,
    )
    work = Work(
        command="score",
        stage="scoring",
        inputs=inputs,
        settings=settings,
        schema=schema,
        metadata={"signature": loaded.signature},
        job=lambda parts: replace(job, parts=_Shown(show, inputs.rows) if out is None and show else parts),
        count=lambda piece, facts: counts.include(place.shown(piece.file), facts),
        totals=lambda: {**counts.to_dict(), "signature": loaded.signature},
        problems=lambda: counts.unread,
        join=lambda pieces: _joined(job, pieces, schema, inputs, target, loaded.signature),
        dialect=_dialect(inputs),
    )
    outcome = carry_out(work, output, options)
    if target is not None:
        counts.written = {None: counts.rows, "valid": counts.valid, "invalid": counts.invalid}[only]
    return _report(counts, outcome, place.given, str(out or ""), loaded)


def _report(counts: _Sums, outcome: Outcome, source: str, out: str, scorer: PairScorer) -> ScoreReport:
    return ScoreReport(
        source=source,
        out=out,
        signature=scorer.signature,
        threshold=scorer.threshold,
        **counts.to_dict(),
        error_rows=tuple(sorted(counts.error_places)),
        damage=tuple(sorted(counts.damage)),
        problems=outcome.problems,
        parts=outcome.parts,
        resumed=outcome.resumed,
        empty_files=len(outcome.empty),
    )


def _loaded(
    scorer: PairScorer | Model | str | Path | None, threads: int | None, *, several: bool
) -> tuple[Model | None, PairScorer]:
    """Return the settings with which workers load the scorer, and the scorer itself."""
    if scorer is None or isinstance(scorer, str | Path):
        scorer = Model(None if scorer is None else str(scorer))
    if not isinstance(scorer, Model):
        if several:
            raise TableError("several workers load the model themselves: give its name or folder, not a loaded scorer")
        return None, scorer
    if scorer.model is not None and Path(scorer.model).expanduser().exists():  # the same folder on every machine
        scorer = replace(scorer, model=str(Path(scorer.model).expanduser().absolute()))
    return scorer, scorer.load(threads)


@dataclass
class _Sums(Counts):
    """The sum of the counts of many parts; unscored rows are named with their file."""

    error_places: list[tuple[str, int, str]] = field(default_factory=list)
    damage: set[str] = field(default_factory=set)
    _sound: Counter[str] = field(default_factory=Counter)  # readable rows of each file

    @property
    def unread(self) -> list[str]:
        """A line for each file without a readable row."""
        why = {line.partition(", row group")[0]: line for line in sorted(self.damage)}
        return [
            f"{file}: none of its rows can be read" + (f" ({why[file]})" if file in why else "")
            for file, rows in sorted(self._sound.items())
            if not rows
        ]

    def include(self, file: str, facts: Facts) -> None:
        """Add the counts of a part."""
        self._sound[file] += facts["rows"] - facts.get("lost", 0)
        if len(self.damage) < NAMED_ROWS:
            self.damage |= {f"{file}, {line}" for line in facts.get("damage", ())}
        for name in ("rows", "written", "valid", "invalid", "errors"):
            setattr(self, name, getattr(self, name) + facts[name])
        self.faults.update(facts["faults"])
        room = NAMED_ROWS - len(self.error_places)
        self.error_places += [(file, row, why) for row, why in facts["error_rows"][:room]]


# --- the work -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScoreJob:
    """The job of scoring pieces.

    Its parts hold whole rows with the columns of ``schema``. If ``schema`` is None, they hold only the verdicts,
    because a file output takes the rows from the input again. ``loaded`` is the scorer of this process; other processes
    load ``model``.
    """

    reader: Reader
    parts: Parts
    columns: ScoreColumns
    schema: Schema | None
    renamed: Mapping[str, str]
    only: str | None
    model: Model | None
    loaded: PairScorer | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "loaded": None}

    def worker(self, *, threads: int | None = None) -> ScoreWorker:
        """Load the scorer, unless this process has it already."""
        if self.loaded is not None:
            return ScoreWorker(self, self.loaded)
        assert self.model is not None
        return ScoreWorker(self, self.model.load(threads))

    def full_row(self, file: str, row: Row, record: Mapping[str, Any], signature: str) -> Row:
        """Return a row with the columns that scoring adds, without those of an earlier scoring."""
        gone = {*self.columns.added, *({WHY} if file in self.columns.scored else ())}
        own = {self.renamed.get(name, name): value for name, value in row.items() if name not in gone}
        return {**own, **added_columns(record, self.columns.added, signature)}


@dataclass(frozen=True)
class _Shown(Parts):
    """Parts whose rows are shown, and not kept."""

    show: Show
    total: int

    @contextmanager
    def part(self, index: int) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Provide a writer that shows the rows."""
        yield self, {}

    def write(self, rows: list[ScoredRow]) -> None:
        """Show rows."""
        self.show(rows, self.total)


class ScoreWorker:
    """A loaded scorer at work on pieces."""

    def __init__(self, job: ScoreJob, scorer: PairScorer) -> None:
        self._job = job
        self._scorer = scorer
        self.identity = scorer.signature

    def work(self, pieces: Iterable[Piece], on_rows: OnRows) -> Iterator[Result]:
        """Score pieces, and read the first rows of a piece while the last rows of the one before are scored."""
        unreadable: dict[int, UnreadableError] = {}
        chunks = scored_chunks(self._chunks(pieces, unreadable), self._columns, self._scorer)
        for piece, rows, verdicts in chunks:
            try:
                scored = _of_piece(piece, rows, verdicts, chunks)
                result = Result(piece, self._part(piece, scored, unreadable, on_rows))
            except UnreadableError as error:
                result = Result(piece, None, str(error))
            yield result

    def _columns(self, piece: Piece) -> Columns:
        return self._job.columns.of(self._job.reader.source.shown(piece.file))

    def _chunks(
        self, pieces: Iterable[Piece], unreadable: dict[int, UnreadableError]
    ) -> Iterator[tuple[Piece, list[Row]]]:
        for piece in pieces:
            try:
                yield from ((piece, chunk) for chunk in in_chunks(self._job.reader.rows(piece)))
            except UnreadableError as error:
                unreadable[piece.index] = error
                yield piece, []

    def _part(
        self,
        piece: Piece,
        scored: Iterable[tuple[list[Row], Scored]],
        unreadable: Mapping[int, UnreadableError],
        on_rows: OnRows,
    ) -> Facts:
        """Write the part of a piece."""
        job, scorer = self._job, self._scorer
        file = job.reader.source.shown(piece.file)
        paraphrase = job.columns.of(file).paraphrase
        counts, lost, damage = Counts(), 0, set()
        kept: list[Any]
        with job.parts.part(piece.index) as (writer, facts):
            for rows, verdicts in scored:
                kept = []
                for row, verdict in zip(rows, verdicts, strict=True):
                    record = as_record(verdict, scorer.threshold)
                    wanted = is_wanted(record, job.only)
                    counts.add(record, written=wanted)
                    if isinstance(row, LostRow):
                        lost += 1
                        damage |= {f"{row.why} ({row.reason})"} if row.reason else set()
                    if isinstance(job.parts, _Shown):
                        if wanted:
                            full = job.full_row(file, row, record, scorer.signature)
                            kept.append(ScoredRow(piece.start + counts.rows, full, row.get(paraphrase), verdict))
                    elif job.schema is None:
                        kept.append(record)
                    elif wanted:
                        full = job.full_row(file, row, record, scorer.signature)
                        kept.append({name: typed(full.get(name), kind) for name, kind in job.schema.items()})
                writer.write(kept)
                if counts.rows < piece.rows:  # the engine reports finished pieces
                    on_rows(counts.rows)
            if piece.index in unreadable:
                raise unreadable[piece.index]
            named = [(piece.start + row, why) for row, why in counts.error_rows]
            facts.update(counts.to_dict(), error_rows=named, lost=lost, damage=sorted(damage))
        return facts


def _of_piece(
    piece: Piece, rows: list[Row], verdicts: Scored, chunks: Iterator[tuple[Piece, list[Row], Scored]]
) -> Iterator[tuple[list[Row], Scored]]:
    """Yield the chunks of a piece, beginning with the given one; an empty chunk marks an unreadable rest."""
    done = 0
    while True:
        yield rows, verdicts
        done += len(rows)
        if not rows or done >= piece.rows:
            return
        _, rows, verdicts = next(chunks)


# --- a file as output -----------------------------------------------------------------------------


def _joined(
    job: ScoreJob, pieces: PieceRows, schema: Schema, inputs: Inputs, target: Format | None, signature: str
) -> Iterator[Row]:
    """Yield the rows of the input again, with their verdicts from the parts, as the output holds them."""
    from_parquet = inputs.table is None  # JSON lines take what JSON lines gave
    for piece, records in pieces:
        file = job.reader.source.shown(piece.file)
        for row, record in zip(job.reader.rows(piece), records, strict=True):
            if not is_wanted(record, job.only):
                continue
            full = job.full_row(file, row, record, signature)
            if target is Format.PARQUET:
                yield {name: typed(full.get(name), kind) for name, kind in schema.items()}
            elif target is Format.JSONL:
                yield {name: jsonable(value) for name, value in full.items()} if from_parquet else full
            else:
                yield {name: plain_value(full.get(name)) for name in schema}


def _dialect(inputs: Inputs) -> Dialect:
    """Return the CSV dialect of the output, which is that of the input.

    The output is UTF-8. If the input is not, a byte-order mark helps the program that wrote it to read the output.
    """
    table = inputs.table
    if table is None:
        return PLAIN
    return table.dialect if table.encoding in UTF8 else replace(table.dialect, bom=True)
