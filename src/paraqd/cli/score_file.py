"""A file of pairs scored: the same rows in the same order, written whole or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from paraqd.cli.score_journal import Journal, hold_journal, journal_path
from paraqd.data.formats import CannotWriteError, Format, TableError, explained
from paraqd.data.parquet import parquet_groups
from paraqd.data.tables import Columns, Row, Table, check_writable, open_writer, replacing
from paraqd.data.writers import sweep
from paraqd.runs.column_types import Held, arrow_types, jsonable, plain_value, typed
from paraqd.runs.score_folder import as_written, check_columns, left_out, other_names, stale
from paraqd.runs.score_rows import (
    ADDED,
    ADDED_WITH_WHY,
    WHY,
    Counts,
    Judged,
    PairScorer,
    in_chunks,
    judged_chunks,
    wanted,
)
from paraqd.runs.text_files import has_more, offered, open_past_first_line, read_through

OnProgress = Callable[[str, int, int | None], None]
Say = Callable[[str], None]


class ScoringInterrupted(KeyboardInterrupt):  # it is an interrupt, not an error
    """Ctrl-C while scoring: ``rows`` of ``total`` are finished, and kept in ``journal`` unless they were shown."""

    def __init__(self, rows: int, total: int, journal: Path | None = None) -> None:
        super().__init__(rows, total, journal)
        self.rows, self.total, self.journal = rows, total, journal


@dataclass(frozen=True)
class Source:
    """Pairs that have been looked through: what a first pass over the file tells.

    ``types`` is what each of its columns holds, as `open_writer` takes it; ``sha256`` that of the file's bytes, and
    ``state`` what changes when somebody writes to it;
    ``notes`` are things to say before the work begins. ``damage`` says what is wrong with a file of which only the
    rows before that are scored.
    """

    table: Table
    columns: Columns
    rows: int
    types: Mapping[str, Any]
    sha256: str
    state: tuple[int, int]
    added: Mapping[str, type] = field(default_factory=lambda: ADDED)
    stale: bool = False  # it has sentences of an earlier scoring, which this one does not replace
    notes: tuple[str, ...] = ()
    damage: str = ""

    def chunks(self, start: int = 0) -> Iterator[list[Row]]:
        """Yield the rows from a place on, some hundred at a time."""
        rows = islice(self.table.rows(), start, None)
        return in_chunks(map(_without_why, rows) if self.stale else rows)


def look_through(
    source: str,
    columns: Columns,
    *,
    encoding: str | None,
    overwrite_columns: bool,
    why: bool = False,
    keep_going: bool = False,
    on_progress: OnProgress,
) -> Source:
    """Read the whole file once: flaws are found before any work is done, and the rows are counted.

    A TableError says in one line what is wrong: a column that is missing or that scoring would write over, a row that
    cannot be read. With ``keep_going`` what can be read of a damaged file is enough. The lost row groups of a Parquet
    file never hold up the others: which rows they are is known.
    """
    table = open_past_first_line(source, encoding=encoding, lenient=keep_going)
    state = _state(table)
    added = ADDED_WITH_WHY if why else ADDED
    jsonl = table.kind.format is Format.JSONL
    if not jsonl:  # the columns are known before the rows are
        check_columns(table, as_written(table, columns), added, overwrite_columns=overwrite_columns)
    seen: dict[str, Held] = {}
    on_progress("reading", 0, None)
    notes: list[str] = []
    damage = ""
    if table.kind.format is Format.PARQUET:
        rows, lost = _read_groups(table, on_progress, notes)
        table = replace(table, lost=lost)
    else:
        read = read_through(table, lambda rows: on_progress("reading", rows, None))
        if read.damage is not None and not (keep_going and read.sound):
            raise read.damage if keep_going or not has_more(table, read) else TableError(offered(read))
        if read.rows and not read.sound:
            raise TableError(f"no line of {table.name} can be read")
        rows, seen = read.rows, read.held
        damage = str(read.damage or "")
        table = replace(table, sound=rows if damage else None)
    if not rows:
        raise TableError(f"{table.name} has no rows")
    if jsonl:
        table = replace(table, columns=tuple(seen))
        check_columns(table, as_written(table, columns), added, overwrite_columns=overwrite_columns)
    digest = _digest(table)
    types = arrow_types(table) if table.kind.format is Format.PARQUET else {n: h.type for n, h in seen.items()}
    meant = as_written(table, columns)
    notes += other_names(table.name, columns, meant)
    old = not why and stale(table.columns, meant)
    notes += [left_out(table.name)] if old else []
    if table.columns.count("") > 1:
        notes.append(f"warning: {table.name} has several columns without a name; the last of them is kept")
    return Source(table, meant, rows, types, digest, state, added, stale=old, notes=tuple(notes), damage=damage)


def _digest(table: Table) -> str:
    with explained(table.path), open(table.path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _changed(source: Source) -> bool:
    """Whether a file has other bytes than when it was looked through."""
    return _state(source.table) != source.state and _digest(source.table) != source.sha256


def _state(table: Table) -> tuple[int, int]:
    """Return a file's size and when it was last written."""
    with explained(table.path):
        found = table.path.stat()
    return found.st_size, found.st_mtime_ns


def _read_groups(table: Table, on_progress: OnProgress, notes: list[str]) -> tuple[int, dict[int, str]]:
    """Return how many rows a Parquet file has, and what to say of those in each row group that cannot be read."""
    rows, lost, read = 0, {}, 0
    groups = 0
    problem = ""
    for groups, group in enumerate(parquet_groups(table.path), start=1):
        rows += group.rows
        if group.problem:
            problem = f"{table.name}, row group {groups} cannot be read ({group.problem})"
            notes.append(f"{problem}: rows {group.first + 1:,} to {rows:,} are lost")
            lost[groups - 1] = f"row group {groups} cannot be read"
        else:
            read += group.rows
        on_progress("reading", rows, None)
    if lost and not read:
        raise TableError(f"{problem}, nor any other; copy or make it again" if len(lost) > 1 else problem)
    return rows, lost


def score_to_file(
    source: Source,
    out: str,
    scorer: PairScorer,
    *,
    only: str | None = None,
    restart: bool = False,
    on_progress: OnProgress,
    say: Say,
) -> Counts:
    """Score every row and write the rows with their verdicts.

    Finished rows are kept beside ``out``: a run that was broken off, even by ``kill -9``, goes on where it was when it
    is started again. Rows that were finished with another input or other options are thrown away with ``restart``
    alone. Ctrl-C raises `ScoringInterrupted`.
    """
    settings = {
        "input": source.sha256,
        "encoding": source.table.encoding,
        "columns": [source.columns.question, source.columns.paraphrase],
        "signature": scorer.signature,
    }
    with hold_journal(out, settings, restart=restart) as journal:
        if journal.thrown_away:
            say(journal.thrown_away)
        if journal.rows:
            say(f"going on after {journal.rows:,} rows that were scored before")
        try:
            _score_rest(source, scorer, journal, on_progress)
            counts = _join(source, out, scorer.signature, journal, only, on_progress)
        except KeyboardInterrupt:
            raise ScoringInterrupted(journal.rows, source.rows, journal.path) from None
        except CannotWriteError as error:
            if not journal.rows:
                raise
            kept = f"the {journal.rows:,} rows that are scored are kept in {journal.path}"
            raise TableError(f"{error}; {kept}: make room and run the same command again") from None
        except TableError:
            if not _changed(source):
                raise
            journal.forget()  # of use to nobody
            raise TableError(
                f"{source.table.name} was changed while it was being scored; run the same command again"
            ) from None
    journal_path(out).unlink(missing_ok=True)
    return counts


def _score_rest(source: Source, scorer: PairScorer, journal: Journal, on_progress: OnProgress) -> None:
    on_progress("scoring", journal.rows, source.rows)
    for _, found in judged_chunks(source.chunks(journal.rows), source.columns, scorer):
        journal.add(found)
        on_progress("scoring", journal.rows, source.rows)


def _join(
    source: Source, out: str, signature: str, journal: Journal, only: str | None, on_progress: OnProgress
) -> Counts:
    """Put the rows and what was found about them together as the output, in one step."""
    counts = Counts()
    kind = check_writable(out)
    sweep(Path(out))  # the journal is held by this process alone
    schema = _schema(source, kind.format)
    dialect = source.table.dialect
    if source.table.encoding not in ("utf-8", "utf-8-sig"):
        # what is written is UTF-8: the program that wrote another encoding tells that by the mark alone
        dialect = replace(dialect, bom=True)
    with ExitStack() as stack:
        temporary = stack.enter_context(replacing(Path(out)))
        metadata = {"signature": signature}
        writer = stack.enter_context(open_writer(temporary, schema, kind=kind, dialect=dialect, metadata=metadata))
        for rows in _joined(source, journal):
            kept = []
            for row, judged in rows:
                keep = wanted(judged, only)
                counts.add(judged, written=keep)
                if keep:
                    kept.append(
                        _written({**row, **judged.columns(source.added, signature)}, schema, source, kind.format)
                    )
            writer.write(kept)
            on_progress("writing", counts.rows, source.rows)
    return counts


def _joined(source: Source, journal: Journal) -> Iterator[list[tuple[Row, Judged]]]:
    judged = journal.judged()
    rows = 0
    for chunk in source.chunks():
        rows += len(chunk)
        yield list(zip(chunk, islice(judged, len(chunk)), strict=False))
    if not rows == journal.rows == source.rows or _changed(source):
        raise TableError(f"{source.table.name} has other rows than at the beginning")


# --- what is written ------------------------------------------------------------------------------


def _without_why(row: Row) -> Row:
    row.pop(WHY, None)
    return row


def _schema(source: Source, target: Format) -> dict[str, Any]:
    replaced = {*source.added, *({WHY} if source.stale else ())}
    own = {name: held for name, held in source.types.items() if name not in replaced}
    if target is not Format.PARQUET:
        own = dict.fromkeys(own, str)  # they have no types
    return {**own, **source.added}


def _written(row: Row, schema: Mapping[str, Any], source: Source, target: Format) -> Row:
    """Return a row as its file can hold it."""
    if target is Format.PARQUET:
        return {name: typed(row.get(name), held) for name, held in schema.items()}
    if target is Format.JSONL:
        from_parquet = source.table.kind.format is Format.PARQUET  # what JSONL gave, JSONL takes
        return {name: jsonable(value) for name, value in row.items()} if from_parquet else row
    return {name: plain_value(row.get(name)) for name in schema}
