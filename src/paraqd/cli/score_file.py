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
from paraqd.corpus.formats import Format, TableError, explained
from paraqd.corpus.tables import Columns, Row, Table, check_writable, open_table, open_writer, replacing
from paraqd.integrations.column_types import Held, arrow_types, jsonable, plain_value, typed
from paraqd.integrations.score_folder import check_columns
from paraqd.integrations.score_rows import ADDED, ADDED_WITH_WHY, CHUNK, Counts, Judged, PairScorer, judge, wanted

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

    ``types`` is what each of its columns holds, as `open_writer` takes it; ``sha256`` that of the file's bytes.
    """

    table: Table
    columns: Columns
    rows: int
    types: Mapping[str, Any]
    sha256: str
    added: Mapping[str, type] = field(default_factory=lambda: ADDED)

    def chunks(self, start: int = 0) -> Iterator[list[Row]]:
        """Yield the rows from a place on, some hundred at a time."""
        rows = islice(self.table.rows(), start, None)
        while chunk := list(islice(rows, CHUNK)):
            yield chunk


def look_through(
    source: str,
    columns: Columns,
    *,
    encoding: str | None,
    overwrite_columns: bool,
    why: bool = False,
    on_progress: OnProgress,
) -> Source:
    """Read the whole file once: flaws are found before any work is done, and the rows are counted.

    A TableError says in one line what is wrong: a column that is missing or that scoring would write over, a row that
    cannot be read.
    """
    table = open_table(source, encoding=encoding)
    added = ADDED_WITH_WHY if why else ADDED
    jsonl = table.kind.format is Format.JSONL
    if not jsonl:  # the columns are known before the rows are
        check_columns(table, columns, added, overwrite_columns=overwrite_columns)
    seen: dict[str, Held] = {name: Held() for name in table.columns}
    rows = 0
    on_progress("reading", 0, None)
    for rows, row in enumerate(table.rows(), start=1):
        if jsonl:
            for name, value in row.items():
                seen.setdefault(name, Held()).add(value)
        if rows % 4096 == 0:
            on_progress("reading", rows, None)
    if not rows:
        raise TableError(f"{table.name} has no rows")
    if jsonl:
        table = replace(table, columns=tuple(seen))
        check_columns(table, columns, added, overwrite_columns=overwrite_columns)
    with explained(table.path), open(table.path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    types = arrow_types(table) if table.kind.format is Format.PARQUET else {n: h.type for n, h in seen.items()}
    return Source(table=table, columns=columns, rows=rows, types=types, sha256=digest, added=added)


def score_to_file(
    source: Source,
    out: str,
    scorer: PairScorer,
    *,
    only: str | None = None,
    on_progress: OnProgress,
    say: Say,
) -> Counts:
    """Score every row and write the rows with their verdicts.

    Finished rows are kept beside ``out``: a run that was broken off, even by ``kill -9``, goes on where it was when it
    is started again. Ctrl-C raises `ScoringInterrupted`.
    """
    settings = {
        "input": source.sha256,
        "encoding": source.table.encoding,
        "columns": [source.columns.question, source.columns.paraphrase],
        "signature": scorer.signature,
    }
    with hold_journal(out, settings) as journal:
        if journal.restarted:
            say(f"{journal.path} is left of a run with another input or model: starting again")
        elif journal.rows:
            say(f"going on after {journal.rows:,} rows that were scored before")
        try:
            _score_rest(source, scorer, journal, on_progress)
            counts = _join(source, out, scorer.signature, journal, only, on_progress)
        except KeyboardInterrupt:
            raise ScoringInterrupted(journal.rows, source.rows, journal.path) from None
    journal_path(out).unlink(missing_ok=True)
    return counts


def _score_rest(source: Source, scorer: PairScorer, journal: Journal, on_progress: OnProgress) -> None:
    on_progress("scoring", journal.rows, source.rows)
    for chunk in source.chunks(journal.rows):
        journal.add(judge(chunk, source.columns, scorer))
        on_progress("scoring", journal.rows, source.rows)


def _join(
    source: Source, out: str, signature: str, journal: Journal, only: str | None, on_progress: OnProgress
) -> Counts:
    """Put the rows and what was found about them together as the output, in one step."""
    counts = Counts()
    kind = check_writable(out)
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
    if not rows == journal.rows == source.rows:
        raise TableError(f"{source.table.name} was changed while it was being scored; run the same command again")


# --- what is written ------------------------------------------------------------------------------


def _schema(source: Source, target: Format) -> dict[str, Any]:
    own = {name: held for name, held in source.types.items() if name not in source.added}
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
