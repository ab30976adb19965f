"""Read uploaded tables: new projects, and decisions in exported files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy import select

from paraqd.extras import MissingExtraError
from paraqd.runs.score_rows import PARAPHRASE_COLUMN
from paraqd.server.errors import TooLarge, disk_error
from paraqd.server.review.columns import (
    DECISION_BY,
    KEY,
    NOTE_BY,
    TIME_BY,
    TableColumns,
    find_columns,
    our_columns,
)
from paraqd.server.review.database import Database
from paraqd.server.review.decisions import import_votes
from paraqd.server.review.errors import BadRequest, sentence
from paraqd.server.review.projects import NewPair, NewVote, SourceRow, clean_name, find_project, pair_key
from paraqd.server.review.requests import LONGEST_NOTE, LONGEST_REVIEWER
from paraqd.server.review.tables import pairs
from paraqd.server.review.times import seconds_of
from paraqd.server.review.uploaded_tables import check_column_names, check_size, clear_reading, read_rows, storable
from paraqd.tables.formats import Format, TableError
from paraqd.tables.rows import LostRow, Row, numbered
from paraqd.tables.table import Table, open_table
from paraqd.tables.temporary import temporary_folder
from paraqd.text_check import LONGEST, is_blank, pair_problem

ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".xlsx", ".parquet")
LARGEST_UNPACKED = 100_000_000  # bytes; the server reads no file that needs more
_KNOWN = "Upload a file that ends in .csv, .tsv, .jsonl, .xlsx or .parquet."
_LONGEST_ID = 1000
_CHOICES = {"accept": "accept", "accepted": "accept", "reject": "reject", "rejected": "reject", "none": "none"}


@dataclass(frozen=True)
class Upload:
    """An uploaded table.

    Attributes
    ----------
    columns : tuple of str
        The user's columns, without those that an earlier export added.
    paraphrases : tuple of str
        The columns with the paraphrases.
    table : Table
        The open file.

    """

    columns: tuple[str, ...]
    paraphrases: tuple[str, ...]
    table: Table
    _found: TableColumns
    _ours: Mapping[str, str]
    _most: int
    _longest: int

    def rows(self) -> Iterator[SourceRow]:
        """Yield the rows; raise a TooLarge error if there are too many pairs, and a BadRequest if one is damaged."""
        count = 0
        for number, row in numbered(read_rows(self.table, LARGEST_UNPACKED), start=1):
            made = _source_row(number, row, self._found, self._ours, self.columns, self._longest)
            count += len(made.pairs)
            if count > self._most:
                raise TooLarge(
                    f"The file has more than {self._most:,} pairs. Divide it into several files.",
                    details={"limit": self._most},
                )
            yield made


@contextmanager
def saved_upload(file: BinaryIO, filename: str | None) -> Iterator[tuple[Path, str]]:
    """Save an upload to a temporary file while the block runs; yield its path and the name for messages.

    Errors about the file become a BadRequest that names the file as the user does.
    """
    shown = Path((filename or "").replace("\\", "/")).name[:200] or "the file"
    ending = Path(shown).suffix.lower()
    if ending not in ENDINGS:
        raise _bad_file(f"{shown} is not a table that can be read. {_KNOWN}")
    with tempfile.TemporaryDirectory(prefix="upload-", dir=temporary_folder()) as folder:
        path = Path(folder) / f"upload{ending}"
        with open(path, "wb") as copy:
            shutil.copyfileobj(file, copy, 1 << 20)
        try:
            yield path, shown
        except MissingExtraError as error:
            raise _bad_file(f"The server cannot read this kind of file: {error}.") from None
        except TableError as error:
            if (cause := disk_error(error.__context__)) is not None:  # not the file is bad, but the disk of the server
                raise cause from None
            raise _bad_file(sentence(str(error).replace(str(path), shown))) from None


def _bad_file(message: str) -> BadRequest:
    return BadRequest(message, code="bad_file", details={"columns": [], "hint": _KNOWN})


@contextmanager
def open_upload(
    path: Path,
    shown: str,
    *,
    question: str = "",
    paraphrases: str = "",
    encoding: str | None = None,
    most_pairs: int,
    longest: int = LONGEST,
) -> Iterator[Upload]:
    """Open an uploaded table, and find its columns.

    Raises
    ------
    TableError, BadRequest
        If the file is not a table, needs too much memory, or its columns cannot be found.

    """
    check_size(path, LARGEST_UNPACKED)
    with clear_reading(str(path)):
        table = open_table(path, encoding=encoding or None, largest=LARGEST_UNPACKED)
    try:
        if table.kind.format is Format.JSONL and table.origin is None:  # later rows can have other columns
            table = replace(
                table, columns=tuple(dict.fromkeys(name for row in read_rows(table, LARGEST_UNPACKED) for name in row))
            )
        check_column_names(table)
        ours = our_columns(table.columns)
        users = tuple(column for column in table.columns if column and column not in ours.values())
        found = _find(table, users, ours, question, paraphrases)
        yield Upload(users, found.paraphrases, table, found, ours, most_pairs, longest)
    finally:
        if table.origin is not None:  # the copy of a sheet
            table.path.unlink(missing_ok=True)


def _find(table: Table, users: Sequence[str], ours: Mapping[str, str], question: str, paraphrases: str) -> TableColumns:
    """Return the columns of a table. In an exported file, the keys of the pairs tell which columns they are."""
    column_of = ours.get(PARAPHRASE_COLUMN)
    if column_of is not None and not question and not paraphrases:
        for row in islice(read_rows(table, LARGEST_UNPACKED), 20):
            name, key = _text(row.get(column_of)), _text(row.get(ours[KEY]))
            for each in users:
                if name in users and each != name and pair_key(_text(row.get(each)), _text(row.get(name))) == key:
                    named = {_text(other.get(column_of)) for other in read_rows(table, LARGEST_UNPACKED)}
                    several = [user for user in users if user in named and user != each]
                    return replace(find_columns(users, each, name), paraphrases=tuple(several))
    return find_columns(users, question, paraphrases)


def _source_row(
    number: int, row: Row, found: TableColumns, ours: Mapping[str, str], users: Sequence[str], longest: int
) -> SourceRow:
    if isinstance(row, LostRow):
        return SourceRow(number, {}, (NewPair("", "", problem=row.why),))
    data = {name: storable(row.get(name)) for name in users}
    question, identity = row.get(found.question), _text(row.get(found.id)).strip()[:_LONGEST_ID] if found.id else ""
    given = _votes(number, row, ours)
    key = _text(row.get(ours[KEY])).strip() if ours else ""
    # a file that was exported here or scored has one row for each pair
    only = _text(row.get(ours.get(PARAPHRASE_COLUMN, PARAPHRASE_COLUMN))).strip()
    columns = (only,) if only in found.paraphrases else found.paraphrases
    made, empty = [], 0
    for column in columns:
        paraphrase = row.get(column)
        if paraphrase is None or (isinstance(paraphrase, str) and is_blank(paraphrase)):
            empty += 1
            continue
        problem = pair_problem(question, paraphrase, longest=longest)
        made.append(NewPair(_text(question), _text(paraphrase), identity, column, problem, given, key))
    return SourceRow(number, data, tuple(made), empty)


def _text(value: Any) -> str:
    """Return a cell as a text that every database can store."""
    return "" if value is None else str(value).replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _votes(number: int, row: Row, ours: Mapping[str, str]) -> tuple[NewVote, ...]:
    """Return the votes in a row of an exported file."""
    found = []
    for name, column in ours.items():
        if not name.startswith(DECISION_BY):
            continue
        reviewer = name.removeprefix(DECISION_BY).strip()
        if not 1 <= len(reviewer) <= LONGEST_REVIEWER or not reviewer.isprintable():
            raise BadRequest(f"The column {column[:100]!r} does not name a reviewer.")
        word = _text(row.get(column)).strip().casefold()
        note = _text(row.get(ours.get(NOTE_BY + reviewer, ""))).strip()[:LONGEST_NOTE]
        if not word and not note:
            continue
        decision = _CHOICES.get(word or "none")
        if decision is None:
            raise BadRequest(f"Row {number}: {column!r} is {word[:40]!r}. Write accept, reject or nothing.")
        at = seconds_of(_text(row.get(ours.get(TIME_BY + reviewer, ""))))
        found.append(NewVote(reviewer, decision, note, at))
    return tuple(found)


def merge_decisions(database: Database, project: str, reviewer: str, upload: Upload) -> dict[str, int]:
    """Record the decisions of an exported file in a project, and return how many were new, unknown and unchanged.

    Raises
    ------
    BadRequest
        If the file contains no decisions, or if rows with equal pairs bring different new decisions.

    """
    if not any(name.startswith(DECISION_BY) for name in upload._ours):
        raise BadRequest(
            f"The file contains no decisions: it has no column {KEY} with a column such as {DECISION_BY}NAME. "
            "Import a file that was exported here.",
            code="no_decisions",
        )
    with database.reading() as connection:
        find_project(connection, project)
        keys = select(pairs.c.key, pairs.c.n).where(pairs.c.project == project)
        numbers = {row.key: row.n for row in connection.execute(keys)}
    given: dict[tuple[int, str], list[tuple[int, NewVote]]] = {}
    unknown = 0
    for row in upload.rows():
        for pair in row.pairs:
            n = numbers.get(pair.key) or numbers.get(pair_key(pair.question, pair.paraphrase))
            if n is None:
                unknown += len(pair.votes)
            else:
                for vote in pair.votes:
                    given.setdefault((n, vote.reviewer), []).append((row.line, vote))
    return {**import_votes(database, project, reviewer, given), "unknown": unknown}


def project_name(given: str, shown: str) -> str:
    """Return the name of a project: the given one, or that of the file without its ending.

    >>> project_name("", "Unit 3 (final).xlsx")
    'Unit 3 (final)'
    """
    return clean_name(given) or clean_name(Path(shown).stem) or "Untitled"
