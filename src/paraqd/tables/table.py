"""Read CSV, TSV, JSONL, Excel and Parquet files as a stream of rows.

A file is never loaded into memory as a whole. If a file cannot be read, a `TableError` with a one-line message is
raised.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from paraqd.tables.column_names import DEFAULT_COLUMNS, Columns, missing_column, shorten, suggest
from paraqd.tables.excel import OUR_SHEETS, copy_sheet
from paraqd.tables.formats import (
    SOME_ROWS,
    STANDARD_INPUT,
    STANDARD_INPUT_NAME,
    EmptyError,
    Format,
    Kind,
    TableError,
    check_installed,
    check_names,
    is_known,
    kind_of,
    not_regular,
    packing_of,
    reason,
    text_encoding,
    undecodable,
)
from paraqd.tables.parquet import parquet_columns, parquet_rows
from paraqd.tables.row_readers import (
    csv_columns,
    csv_records,
    csv_rows,
    detected_dialect,
    has_undecodable_bytes,
    jsonl_rows,
)
from paraqd.tables.rows import LostRow, Row
from paraqd.tables.temporary import temporary_file
from paraqd.tables.writers import PLAIN, Dialect, check_writable, open_writer, replacing
from paraqd.text_check import text_problem

__all__ = [
    "DEFAULT_COLUMNS",
    "Columns",
    "Dialect",
    "LostRow",
    "Row",
    "Table",
    "TableError",
    "check_writable",
    "default_id",
    "open_table",
    "open_writer",
    "replacing",
    "row_id",
    "shorten",
    "suggest",
    "text_in",
]


@dataclass(frozen=True)
class Table:
    """A file whose columns are known and whose rows can be read several times.

    Attributes
    ----------
    name : str
        The file's name in messages.
    dialect : Dialect
        The dialect of a CSV file. Outputs use the same separator so that the same program can open them.
    lenient : bool
        True if a line that cannot be read becomes a `LostRow`.
    sound : int, optional
        The number of rows before the damaged part of the file; later rows are not read (default: read all rows).
    lost : dict
        The reasons why row groups of a Parquet file cannot be read, keyed by the index of the row group.
    origin : Path, optional
        The file from which ``path`` was copied. Excel files are copied to JSONL.
    notes : tuple of str
        Remarks about the file, such as the sheets of a workbook that are not read.
    sheet : str
        The sheet that is read and those that are not, or an empty string if there is only one.

    """

    name: str
    path: Path
    kind: Kind
    columns: tuple[str, ...] = ()
    encoding: str = "utf-8"
    dialect: Dialect = PLAIN
    lenient: bool = False
    sound: int | None = None
    lost: Mapping[int, str] = field(default_factory=dict)
    origin: Path | None = None
    notes: tuple[str, ...] = ()
    sheet: str = ""

    @property
    def place(self) -> str:
        """The file's name, followed by the sheet if the workbook has several."""
        return f"{self.name} ({self.sheet})" if self.sheet else self.name

    def require(self, columns: Columns, roles: Sequence[str] = ("question",)) -> None:
        """Raise a TableError if a column for one of the given roles is missing."""
        for role in roles:
            self.need(role, getattr(columns, role), columns)

    def need(self, role: str, name: str, columns: Columns = DEFAULT_COLUMNS) -> None:
        """Raise a TableError if the column for a role is missing. The message suggests a similar column.

        Columns that have another role in ``columns`` are not suggested.
        """
        if name not in self.columns:
            others = {self.written_as(other) for key, other in vars(columns).items() if key != role}
            raise TableError(missing_column(self.place, self.columns, role, name, others - {name}))

    def written_as(self, name: str) -> str:
        """Return a column name as the file spells it.

        If no column has exactly this name, and only one column name matches when case and surrounding spaces are
        ignored, return the matching name. Otherwise, return the name unchanged.
        """
        alike = [column for column in self.columns if column.strip().casefold() == name.strip().casefold()]
        return alike[0] if name not in self.columns and len(alike) == 1 else name

    def rows(self, only: Sequence[str] | None = None) -> Iterator[Row]:
        """Yield every row as a dictionary; ``only`` lists the needed columns, and other columns may be skipped."""
        wanted = None if only is None else [name for name in only if name in self.columns]
        if self.kind.format is Format.PARQUET:
            return parquet_rows(self.path, wanted, self.lost)
        table = self
        if self.origin is not None and not self.path.exists():  # another machine of a cluster made the copy
            table = replace(self, path=copy_sheet(self.origin, self.name).path)
        rows = jsonl_rows(table) if self.kind.format is Format.JSONL else csv_rows(self)
        return rows if self.sound is None else islice(rows, self.sound)


def default_id(question: str) -> str:
    """Return the default id of a question, which is the first 16 hex digits of its sha256.

    >>> default_id("What is 2 + 2?")
    '38d46ad3618826cf'
    """
    return hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def row_id(row: Mapping[str, Any], columns: Columns, question: str) -> str:
    """Return the row's id without surrounding spaces, or the question's `default_id` if the row has no id.

    >>> row_id({"id": " 7 "}, DEFAULT_COLUMNS, "What is 2 + 2?"), row_id({}, DEFAULT_COLUMNS, "What is 2 + 2?")
    ('7', '38d46ad3618826cf')
    """
    given = row.get(columns.id)
    return ("" if given is None else str(given).strip()) or default_id(question)


def text_in(row: Mapping[str, Any], role: str, where: str, *, column: str = "", allow_blank: bool = False) -> str:
    """Return a text from a row; raise a TableError if the text is not usable.

    ``role`` is the name of the text in messages, such as ``question``, and ``column`` is the name of its column
    (default: ``role``). If ``allow_blank`` is True, a missing text is returned as an empty string.

    >>> text_in({"question": 5}, "question", "pairs.jsonl, row 1")
    Traceback (most recent call last):
    paraqd.tables.formats.TableError: pairs.jsonl, row 1: question is not text; correct or remove the row
    """
    value = row.get(column or role)
    value = "" if value is None and allow_blank else value
    if problem := text_problem(value, role, allow_blank=allow_blank, unicode=True):
        shown = f" (column {column!r})" if column not in ("", role) else ""
        raise TableError(f"{where}: {problem}{shown}; correct or remove the row")
    return str(value)


def open_table(
    source: str | Path, *, encoding: str | None = None, lenient: bool = False, largest: int | None = None
) -> Table:
    """Open a table; the file name determines its format, and the first row determines its columns.

    ``-`` means standard input, which must be JSONL and can be compressed. Standard input is copied to a temporary file
    so that its rows can be read several times. If ``lenient`` is True, a line that cannot be read becomes a `LostRow`,
    and reading continues. ``largest`` limits the characters in the cells of a workbook (default: no limit).
    """
    if str(source) != STANDARD_INPUT and Path(source).is_dir():
        raise TableError(_folder_message(Path(source)))
    if str(source) != STANDARD_INPUT and Path(source).exists() and not Path(source).is_file():
        raise not_regular(source)
    kind = kind_of(source)
    if str(source) == STANDARD_INPUT:
        path = _copy_standard_input()
        kind = replace(kind, packing=packing_of(path))
        check_installed(kind)
        table = Table(name=STANDARD_INPUT_NAME, path=path, kind=kind, lenient=lenient)
    else:
        check_installed(kind)
        table = Table(name=str(source), path=Path(source), kind=kind, lenient=lenient)
    if kind.format is Format.XLSX:
        return _open_workbook(table, largest)
    if kind.format is Format.PARQUET:
        return replace(table, columns=parquet_columns(table.path))
    table = replace(table, encoding=text_encoding(table.path, table.name, kind, encoding))
    if kind.format is Format.JSONL:
        first = next(jsonl_rows(table), None)
        return replace(table, columns=_names_in(table, first))
    table = replace(table, dialect=detected_dialect(table))
    columns = _names_in(table, csv_columns(table))
    if has_undecodable_bytes(table, *columns):
        raise undecodable(table.path, table.name, table.kind, table.encoding)
    if columns[:1] and columns[0].startswith("{"):
        raise TableError(f"{table.name} contains JSON lines, not {kind.format.upper()}; rename it to .jsonl")
    if not any(columns) and not any(field.strip() for _, _, record in csv_records(table) for field in record):
        raise EmptyError(f"{table.name} is empty; {SOME_ROWS}")
    return replace(table, columns=check_names(columns, table.name))


def _open_workbook(table: Table, largest: int | None) -> Table:
    """Copy the rows of a workbook to a JSONL file, and return a table that reads the copy."""
    copy = copy_sheet(table.path, table.name, largest=largest)
    notes: tuple[str, ...] = ()
    others = [name for name in copy.others if (copy.sheet, name) != OUR_SHEETS]
    if others:
        notes = (f"{table.name}: the sheet {copy.sheet!r} is read; other sheets are ignored: {', '.join(others)}",)
    dialect = Dialect(bom=True)  # a CSV output should open in Excel
    kind = Kind(Format.JSONL)
    return replace(
        table,
        path=copy.path,
        origin=table.path,
        kind=kind,
        columns=copy.columns,
        dialect=dialect,
        notes=notes,
        sheet=f"sheet {copy.sheet!r}; not read: {', '.join(others)}" if others else "",
    )


def _names_in(table: Table, first: Iterable[str] | None) -> tuple[str, ...]:
    if first is None:
        raise EmptyError(f"{table.name} is empty; {SOME_ROWS}")
    return tuple(first)


def _folder_message(folder: Path) -> str:
    """Return the error message for a folder that was passed instead of a file."""
    try:
        names = sorted(path.name for path in folder.iterdir() if path.is_file() and is_known(path))
    except OSError:
        names = []
    return f"{folder} is a folder; pass a file" + (f", such as {folder / names[0]}" if names else "")


def _copy_standard_input() -> Path:
    """Copy standard input to a temporary file that is removed when the process ends, and return the file's path."""
    try:
        path = temporary_file(".jsonl")
        with open(path, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
    except OSError as error:
        raise TableError(
            f"cannot copy standard input to a temporary file: {reason(error)}; set TMPDIR to a folder with enough space"
        ) from None
    return path
