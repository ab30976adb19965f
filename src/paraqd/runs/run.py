"""Carry out a run: process the pieces of the input, and complete the output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, TypedDict

from paraqd.parameters import named
from paraqd.plural import counted
from paraqd.progress import Progress, silent
from paraqd.runs.engines import Engine, Job, engine_for
from paraqd.runs.locations import Location
from paraqd.runs.manifest import make_manifest
from paraqd.runs.output import Output, check_beside, write_beside
from paraqd.runs.parts import NO_PARTS, Facts, JsonParts, ParquetParts, Parts, packed
from paraqd.runs.pieces import Piece
from paraqd.runs.score_columns import check_clash
from paraqd.runs.store import Store, hold_store
from paraqd.runs.survey import Check, Inputs, of_files, survey
from paraqd.tables.formats import CannotWriteError, TableError, encoding_name, kind_of
from paraqd.tables.table import Columns, Row, Table, open_writer, replacing
from paraqd.tables.writers import PLAIN, Dialect, Schema

Say = Callable[[str], None]
PieceRows = Iterator[tuple[Piece, Iterator[Row]]]


def ignore(line: str) -> None:
    """Ignore a message. This is the default for the options ``say`` and ``warn``."""


class RunOptions(TypedDict, total=False):
    """The options that every run over a file or a folder accepts.

    - ``workers``: the number of worker processes, which use one core each. By default, the engine ``local`` works in
      this process, and the engine ``ray`` uses all cores of the cluster. A script that uses several workers must guard
      its entry point with ``if __name__ == "__main__":``.
    - ``engine``: ``local`` (the default), ``ray``, or a custom engine.
    - ``address``: the ``HOST:PORT`` of a Ray cluster. By default, a cluster is started on this machine.
    - ``verbose``: show Ray's messages.
    - ``encoding``: the encoding of all text files that are read (default: UTF-8).
    - ``part_rows``: the maximum number of rows in a part. An interruption loses at most one part per worker.
    - ``overwrite``: replace a finished output. A file is replaced when the new file is complete. The parts in a folder
      are removed when the work begins, after the input, the options, the model and the installed packages have been
      checked.
    - ``restart``: discard an unfinished run, and start again.
    - ``progress``: a function that is called with the stage, the number of rows processed, and the total number of rows
      (None if unknown).
    - ``say``: a function that is called with one-line messages, such as the number of rows that are already finished.
    - ``warn``: a function that is called with each problem in the input before the work begins. The report also lists
      these problems.
    """

    workers: int | None
    engine: str | Engine
    address: str | None
    verbose: bool
    encoding: str | None
    part_rows: int | None
    overwrite: bool
    restart: bool
    progress: Progress | None
    say: Say
    warn: Say


def check_options(options: RunOptions) -> None:
    """Raise a TypeError if the name of an option is unknown, and a TableError if an option's value is invalid."""
    if unknown := sorted(set(options) - set(RunOptions.__annotations__)):
        raise TypeError(f"unknown option {unknown[0]!r}: the options are {', '.join(RunOptions.__annotations__)}")
    part_rows = options.get("part_rows")
    if part_rows is not None and part_rows < 1:
        raise TableError(f"{named('part_rows', part_rows)}: at least one is needed")
    if (encoding := options.get("encoding")) is not None:
        encoding_name(encoding)


def several_workers(options: RunOptions) -> bool:
    """Return True if worker processes do the work, not this process."""
    return options.get("engine", "local") == "ray" or (options.get("workers") or 1) > 1


def check_threads(threads: int | None, options: RunOptions) -> None:
    """Raise a TableError if a number of threads is given although worker processes do the work."""
    if threads is not None and several_workers(options):
        other = "engine" if options.get("engine") == "ray" else "workers"
        raise TableError(
            f"{named('threads', threads)} cannot be combined with {named(other, options.get(other))}: "
            "each worker uses one core"
        )


def question_columns(columns: Columns, added: Mapping[str, type], names: dict[str, str], *, overwrite: bool) -> Check:
    """Return a check of a file's columns, which also writes the column with the questions to ``names``."""

    def check(table: Table) -> None:
        names[table.name] = table.written_as(columns.question)
        table.need("question", names[table.name], columns)
        check_clash(table, added, [("question", names[table.name])], overwrite=overwrite)

    return check


def say_spellings(names: Mapping[str, str], wanted: str, options: RunOptions) -> None:
    """Name the files whose column has another spelling than the wanted one, such as *Question* for *question*."""
    for file, name in sorted(names.items()):
        if name != wanted:
            options.get("say", ignore)(f"{file} has no column {wanted!r}; using {name!r}")


class RunInterrupted(KeyboardInterrupt):  # not an error, so its name does not end in Error
    """Raised when Ctrl-C interrupts a run.

    Attributes
    ----------
    rows, total : int
        The number of finished rows, and the total number of rows.
    kept : str
        The folder that holds the finished parts, or an empty string if the run does not write an output.
    parts, total_parts : int
        The number of finished parts, and the total number of parts.

    """

    def __init__(self, rows: int, total: int, kept: str = "", parts: int = 0, total_parts: int = 0) -> None:
        super().__init__(rows, total, kept, parts, total_parts)
        self.rows, self.total, self.kept = rows, total, kept
        self.parts, self.total_parts = parts, total_parts


def _chained(pieces: PieceRows) -> Iterator[Row]:
    return chain.from_iterable(rows for _, rows in pieces)


@dataclass(frozen=True, kw_only=True)
class Work:
    """The description of a run.

    ``settings`` contains all settings that the results depend on. ``schema`` and ``metadata`` describe the output.
    ``job`` is called with the parts to write and returns the job. ``count`` is called with every finished piece and its
    counts, in any order. At the end, ``totals`` returns the total counts, and ``problems`` returns the reasons why the
    run cannot be marked as finished. ``join`` turns the rows of the parts into the rows of an output file. If
    ``beside`` is True, a record of how the output file was produced is written to ``OUT.meta.json``. ``summary``
    returns the counts for the second sheet of an Excel file (default: counts of the verdicts in the rows).
    """

    command: str
    stage: str
    inputs: Inputs
    settings: Mapping[str, Any]
    schema: Schema
    job: Callable[[Parts], Job]
    count: Callable[[Piece, Facts], None]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    totals: Callable[[], Facts] = dict
    problems: Callable[[], Sequence[str]] = tuple
    join: Callable[[PieceRows], Iterable[Row]] = _chained
    dialect: Dialect = PLAIN
    beside: bool = False
    summary: Callable[[], Mapping[str, Any]] | None = None


def look_at(source: Location, output: Output, options: RunOptions, *, check: Check, least: int, **how: Any) -> Inputs:
    """Survey the input of a run.

    For a file output, ``least`` is the minimum number of rows in a piece. Other arguments are passed on to `survey`.
    """
    return survey(
        source,
        check=check,
        progress=options.get("progress") or silent,
        encoding=options.get("encoding"),
        part_rows=options.get("part_rows"),
        for_file=least if output.folder is None else None,
        **how,
    )


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run.

    ``rows`` is the number of finished rows, ``resumed`` is the number of rows that an earlier run had already finished,
    and ``parts`` is the number of parts. ``problems`` contains one line for each problem, and ``empty`` contains the
    names of the empty input files.
    """

    rows: int
    resumed: int
    parts: int
    problems: tuple[str, ...]
    empty: tuple[str, ...] = ()


def carry_out(work: Work, output: Output, options: RunOptions) -> Outcome:
    """Process every piece that is not finished yet, and complete the output.

    Each part is written atomically and identified by its piece. A run that was interrupted, even by ``kill -9``, can
    therefore be resumed with any engine, and no row is lost or duplicated.
    """
    engine = engine_for(
        options.get("engine", "local"),
        workers=options.get("workers"),
        address=options.get("address"),
        verbose=options.get("verbose", False),
    )
    run = _Run(
        work,
        output,
        engine,
        options.get("progress") or silent,
        options.get("say", ignore),
        options.get("warn", ignore),
    )
    return run.carry_out(overwrite=options.get("overwrite", False), restart=options.get("restart", False))


@dataclass
class _Run:
    work: Work
    output: Output
    engine: Engine
    progress: Progress
    say: Say
    warn: Say
    rows: int = 0
    parts: Parts | None = None  # None until the folder of the parts is locked
    facts: dict[int, str] = field(default_factory=dict)  # the packed counts of each finished part of a file

    def carry_out(self, *, overwrite: bool, restart: bool) -> Outcome:
        inputs, place = self.work.inputs, self.output.parts
        with self._explained():
            if place is None:
                return self._work(NO_PARTS, None)
            if self.work.beside and self.output.file is not None:
                check_beside(self.output.file)
            self.output.discard_earlier()
            with hold_store(place, self.output.file) as store:
                manifest = make_manifest(self.work.command, self.work.settings, inputs)
                run = store.begin(manifest, source=Path(inputs.source.given).name, overwrite=overwrite, restart=restart)
                digits = max(5, len(str(len(inputs.pieces) - 1)))
                if self.output.file is None:
                    self.parts = ParquetParts(place, run, digits, self.work.schema, self.work.metadata)
                else:
                    self.parts = JsonParts(place, run, digits)
                try:
                    return self._work(self.parts, store)
                except TableError:
                    self._raise_if_changed(store)
                    raise

    def _work(self, parts: Parts, store: Store | None) -> Outcome:
        work, inputs = self.work, self.work.inputs
        left = {piece.index: piece for piece in inputs.pieces}
        for index, facts in store.done(parts, inputs) if store is not None else ():
            self._count(left.pop(index), facts)
        for note in inputs.notes:
            self.say(note)
        if empty := inputs.empty:
            self.say(of_files(f"{empty[0]} is empty", len(empty)))
        if resumed := self.rows:
            self.say(
                f"continuing after {counted(resumed, 'row')} that {'was' if resumed == 1 else 'were'} finished before"
            )
        problems = list(inputs.problems)
        for problem in problems:
            self.warn(problem)
        fatal = [*self._process(parts, list(left.values())), *work.problems()]
        problems += fatal
        if isinstance(parts, JsonParts):
            assert store is not None
            self._finish_file(parts, store, fatal)
        else:
            self._finish_folder(store, problems)
        return Outcome(self.rows, resumed, len(inputs.pieces), tuple(sorted(problems)), inputs.empty)

    def _process(self, parts: Parts, todo: Sequence[Piece]) -> list[str]:
        """Have the engine process the pieces, and return one line for each piece that failed."""
        found: list[str] = []
        self._report()
        with closing(self.engine(self.work.job(parts), todo, self._report)) as results:
            for result in results if todo else ():
                if result.facts is None:
                    name = "" if self.output.folder is None else f"{parts.name(result.piece.index)} is missing: "
                    found.append(f"{name}{result.problem}")
                    continue
                self._count(result.piece, result.facts)
                self._report()
        return found

    def _count(self, piece: Piece, facts: Facts) -> None:
        self.rows += piece.rows
        if self.output.file is not None:
            self.facts[piece.index] = packed(facts)
        self.work.count(piece, facts)

    def _report(self, more: int = 0) -> None:
        self.progress(self.work.stage, self.rows + more, self.work.inputs.rows)

    def _finish_folder(self, store: Store | None, problems: Sequence[str]) -> None:
        if problems or store is None:
            return
        self._check_rows()
        if self.work.inputs.changed():
            raise TableError("the input was changed")
        store.succeed(self.work.totals())

    def _check_rows(self) -> None:
        rows = sum(file.rows for file in self.work.inputs.files)
        if self.rows != rows:
            raise RuntimeError(f"{self.rows} rows were counted, but the input has {rows}: parts are missing")

    def _finish_file(self, parts: JsonParts, store: Store, problems: Sequence[str]) -> None:
        """Join the parts into the output file atomically, and remove the parts."""
        work, file = self.work, self.output.file
        assert file is not None and store.place.local is not None
        if problems:
            more = f" (and {counted(len(problems) - 1, 'more problem')})" if len(problems) > 1 else ""
            raise TableError(f"{problems[0]}{more}")
        self._check_rows()
        if not store.written:
            self._join(parts, store, file)
        if work.beside:
            write_beside(file, work.metadata)  # written last, because it states that the rows are complete
        store.clear()

    def _join(self, parts: JsonParts, store: Store, file: Path) -> None:
        work = self.work
        with replacing(file, beside=store.place.local) as temporary:
            with open_writer(
                temporary,
                work.schema,
                kind=kind_of(file),
                dialect=work.dialect,
                metadata=work.metadata,
                summary=None if work.summary is None else work.summary(),
            ) as writer:
                writer.write(work.join(self._stored(parts)))
                if work.inputs.changed():
                    raise TableError("the input was changed")
            store.note_written(temporary, self.facts)

    def _stored(self, parts: JsonParts) -> PieceRows:
        done = 0
        for piece in self.work.inputs.pieces:
            yield piece, parts.rows(piece.index)
            done += piece.rows
            self.progress("writing", done, self.work.inputs.rows)

    def _raise_if_changed(self, store: Store) -> None:
        """Raise a TableError if the input was changed during the run. In that case, discard the parts of a file output.

        The parts of a folder output are kept until the run is restarted.
        """
        if name := self.work.inputs.changed():
            remedy = "run the same command again"
            if self.output.file is not None:
                store.clear()
            else:
                remedy += f" with {named('restart')}"
            raise TableError(f"{name} was changed during the run; {remedy}") from None

    def _interrupted(self, kept: str) -> RunInterrupted:
        """Return the exception to raise after Ctrl-C.

        The stored parts are counted again, because workers may have written parts that they have not reported yet.
        """
        inputs, rows, stored = self.work.inputs, self.rows, self._stored_pieces()
        if self.parts is not None:
            rows = sum(piece.rows for piece in stored)
        return RunInterrupted(rows, inputs.rows, kept, len(stored), len(inputs.pieces))

    def _stored_pieces(self) -> list[Piece]:
        if self.parts is None or self.output.parts is None:
            return []
        names = set(self.output.parts.names())
        return [piece for piece in self.work.inputs.pieces if self.parts.name(piece.index) in names]

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """On Ctrl-C or a write error, raise an exception that states the number of finished rows and their folder."""
        kept = "" if self.output.parts is None else self.output.parts.given
        try:
            yield
        except KeyboardInterrupt:
            raise self._interrupted(kept) from None
        except CannotWriteError as error:
            rows = sum(piece.rows for piece in self._stored_pieces())
            if not rows:
                raise
            remedy = "free up space and run the same command again" if error.disk_full else "run the same command again"
            raise TableError(f"{error}; the finished rows ({rows:,}) are kept in {kept}: {remedy}") from None
