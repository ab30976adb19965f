"""Read CSV, TSV, JSONL, Excel and Parquet files as a stream of rows.

A file is never loaded into memory as a whole. If a file cannot be read, a `TableError` with a one-line message is
raised.
"""

from __future__ import annotations

import atexit
import csv
import hashlib
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from paraqd.data.excel import copy_sheet
from paraqd.data.formats import (
    NOT_UTF8,
    SOME_ROWS,
    STANDARD_INPUT,
    UTF8,
    DamagedError,
    EmptyError,
    Format,
    Kind,
    TableError,
    check_installed,
    check_names,
    is_known,
    kind_of,
    not_regular,
    open_bytes,
    packing_of,
    reason,
    text_encoding,
    undecodable,
)
from paraqd.data.parquet import parquet_columns, parquet_rows
from paraqd.data.rows import LostRow, Row
from paraqd.data.writers import PLAIN, Dialect, check_writable, open_writer, replacing
from paraqd.parameters import named
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
    "text_in",
]

# the maximum length of a line and of a CSV field; the limit prevents a stray quotation mark or a file without line
# breaks from filling the memory
_LIMIT = 1 << 26
_HEADER_LIMIT = 1 << 17
_ESCAPED = re.compile("[\udc80-\udcff]")
_SEPARATORS = (",", ";", "\t", "|")
# other common names for each column, which are used only in suggestions and to detect the separator
_ALIASES: Mapping[str, tuple[str, ...]] = {
    "question": (
        "question_text",
        "problem",
        "text",
        "body",
        "prompt",
        "source",
        "original",
        "sentence1",
        "input",
    ),
    "paraphrase": ("augmented", "rewrite", "target", "candidate", "sentence2", "output", "variant"),
    "label": ("final_label", "valid", "is_valid", "y", "class", "gold"),
    "id": ("question_id", "qid", "uid", "key", "index"),
    "score": ("scores", "cosine", "similarity", "prediction", "paraqd_score"),
}


@dataclass(frozen=True)
class Columns:
    """The column names in a file.

    Attributes
    ----------
    question, paraphrase : str
        The columns that contain the original problem and its paraphrase.
    label : str
        The column that contains the label: 1 for a valid paraphrase, 0 for an invalid paraphrase.
    id : str
        The column that contains the question's id.

    """

    question: str = "question"
    paraphrase: str = "paraphrase"
    label: str = "label"
    id: str = "id"


_STANDARD_INPUT_NAME = "standard input"
DEFAULT_COLUMNS = Columns()


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

    def require(self, columns: Columns, roles: Sequence[str] = ("question",)) -> None:
        """Raise a TableError if a column for one of the given roles is missing."""
        for role in roles:
            self.need(role, getattr(columns, role))

    def need(self, role: str, name: str) -> None:
        """Raise a TableError that suggests a similar column if the column for a role is missing."""
        if name not in self.columns:
            raise TableError(_missing(self, role, name))

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
        rows = _jsonl_rows(self) if self.kind.format is Format.JSONL else _csv_rows(self)
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
    paraqd.data.formats.TableError: pairs.jsonl, row 1: question is not text; correct or remove the row
    """
    value = row.get(column or role)
    value = "" if value is None and allow_blank else value
    if problem := text_problem(value, role, allow_blank=allow_blank, unicode=True):
        shown = f" (column {column!r})" if column not in ("", role) else ""
        raise TableError(f"{where}: {problem}{shown}; correct or remove the row")
    return str(value)


def open_table(source: str | Path, *, encoding: str | None = None, lenient: bool = False) -> Table:
    """Open a table; the file name determines its format, and the first row determines its columns.

    ``-`` means standard input, which must be JSONL and can be compressed. Standard input is copied to a temporary file
    so that its rows can be read several times. If ``lenient`` is True, a line that cannot be read becomes a `LostRow`,
    and reading continues.
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
        table = Table(name=_STANDARD_INPUT_NAME, path=path, kind=kind, lenient=lenient)
    else:
        check_installed(kind)
        table = Table(name=str(source), path=Path(source), kind=kind, lenient=lenient)
    if kind.format is Format.XLSX:
        return _open_workbook(table)
    if kind.format is Format.PARQUET:
        return replace(table, columns=parquet_columns(table.path))
    table = replace(table, encoding=text_encoding(table.path, table.name, kind, encoding))
    if kind.format is Format.JSONL:
        first = next(_jsonl_rows(table), None)
        return replace(table, columns=_names_in(table, first))
    table = replace(table, dialect=_dialect(table))
    header = next(_records(table), (0, None))[1]
    columns = tuple(name.strip() for name in _names_in(table, header))
    if _has_undecodable_bytes(table, *columns):
        raise undecodable(table.path, table.name, table.kind, table.encoding)
    if columns[:1] and columns[0].startswith("{"):
        raise TableError(f"{table.name} contains JSON lines, not {kind.format.upper()}; rename it to .jsonl")
    if not any(columns) and not any(field.strip() for _, record in _records(table) for field in record):
        raise EmptyError(f"{table.name} is empty; {SOME_ROWS}")
    return replace(table, columns=check_names(columns, table.name))


def _open_workbook(table: Table) -> Table:
    """Copy the rows of a workbook to a JSONL file, and return a table that reads the copy."""
    copy = copy_sheet(table.path, table.name)
    notes: tuple[str, ...] = ()
    if copy.others:
        notes = (f"{table.name}: the sheet {copy.sheet!r} is read; other sheets are ignored: {', '.join(copy.others)}",)
    dialect = Dialect(bom=True)  # a CSV output should open in Excel
    kind = Kind(Format.JSONL)
    return replace(
        table, path=copy.path, origin=table.path, kind=kind, columns=copy.columns, dialect=dialect, notes=notes
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
        with tempfile.NamedTemporaryFile(prefix="paraqd-", suffix=".jsonl", delete=False) as file:
            atexit.register(Path(file.name).unlink, missing_ok=True)
            shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
    except OSError as error:
        raise TableError(
            f"cannot copy standard input to a temporary file: {reason(error)}; set TMPDIR to a folder with enough space"
        ) from None
    return Path(file.name)


def suggest(wanted: str, among: Sequence[str], aliases: Sequence[str] = ()) -> str | None:
    """Return the name in ``among`` that equals ``wanted`` or an alias, or the most similar name, or None."""
    from rapidfuzz import fuzz, process

    lowered = {name.casefold(): name for name in reversed(among)}
    for alias in (wanted, *aliases):
        if alias.casefold() in lowered:
            return lowered[alias.casefold()]
    nearest = process.extractOne(wanted.casefold(), list(lowered), scorer=fuzz.ratio, score_cutoff=60)
    return lowered[nearest[0]] if nearest else None


def _missing(table: Table, role: str, name: str) -> str:
    shown = ", ".join(shorten(column, 40) for column in table.columns[:20]) + (", …" if len(table.columns) > 20 else "")
    # in a file with scores, the column valid contains verdicts, not labels
    among = [column for column in table.columns if column != "valid" or "signature" not in table.columns]
    other = {"question": "paraphrase", "paraphrase": "question"}.get(role)
    among = [column for column in among if column.casefold() != other]
    nearest = suggest(name, among, _ALIASES[role] if name == role else ())
    remedy = f"did you mean {named(role, nearest)}?" if nearest else f"name the column with {named(role, 'NAME')}"
    return f"{table.name} has no column {name!r} (it has: {shown}); {remedy}"


def shorten(text: str, length: int) -> str:
    """Truncate a text to a maximum length for use in a message.

    >>> shorten("how many apples", 8)
    'how man…'
    """
    return text if len(text) <= length else text[: length - 1] + "…"


def _lines(file: TextIOWrapper, table: Table) -> Iterator[str]:
    number = 0
    while line := file.readline(_LIMIT + 1):
        number += 1
        if len(line) > _LIMIT:
            raise DamagedError(f"{table.name}, line {number} is longer than {_LIMIT:,} characters")
        yield line


def _decoded(raw: BinaryIO, table: Table, newline: str) -> TextIOWrapper:
    """Return a stream that decodes the file.

    In a lenient table, bytes that are not UTF-8 become surrogates, so only the rows with such bytes are lost.
    """
    errors = "surrogateescape" if table.lenient and table.encoding in UTF8 else "strict"
    return TextIOWrapper(raw, encoding=table.encoding, errors=errors, newline=newline)


def _has_undecodable_bytes(table: Table, *texts: str) -> bool:
    """Return True if the table is lenient and a text contains surrogates for bytes that are not UTF-8."""
    return table.lenient and any(not text.isascii() and _ESCAPED.search(text) for text in texts)


def _lost_row(table: Table, error: DamagedError) -> LostRow:
    """Return a `LostRow` if the table is lenient and later rows can still be read; otherwise raise the error."""
    if not table.lenient or not error.row:
        raise error
    return LostRow(error.row)


# --- CSV and TSV --------------------------------------------------------------------------------


def _records(table: Table) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of the header and of every row that is not blank.

    Stray quotation marks are errors, because guessing their meaning could silently change a text.
    """
    csv.field_size_limit(_LIMIT)
    with open_bytes(table.path, table.kind.packing, table.name) as raw:
        file = _decoded(raw, table, newline="")
        skipped = 1 if table.dialect.hinted else 0
        plain_tsv = table.kind.format is Format.TSV and not table.dialect.hinted
        delimiter = "\t" if plain_tsv else table.dialect.delimiter
        reader = csv.reader(_lines(file, table), delimiter=delimiter, strict=True)
        line = skipped
        try:
            if skipped:
                file.readline()
            for record in reader:
                line = reader.line_num + skipped
                if record:
                    yield line, record
        except UnicodeDecodeError as error:
            raise undecodable(table.path, table.name, table.kind, table.encoding, error.reason) from None
        except csv.Error as error:
            if "end of data" in str(error):
                problem = f"is cut off: a quotation mark in the row of line {line + 1} is never closed; close it"
            else:
                problem = (
                    f"has a stray quotation mark in the row of line {line + 1} ({error}); "
                    "write it twice inside a quoted text"
                )
            raise DamagedError(f"{table.name} {problem}") from None


def _csv_rows(table: Table) -> Iterator[Row]:
    records = _records(table)
    next(records, None)  # the header
    width, columns = len(table.columns), table.columns
    for line, record in records:
        if _has_undecodable_bytes(table, *record):
            yield LostRow(NOT_UTF8)
            continue
        if len(record) > width:
            if any(record[width:]):
                problem = (
                    f"{table.name}, line {line} has {len(record)} fields, but the header has {width}; "
                    "put texts that contain the separator in quotation marks"
                )
                yield _lost_row(table, DamagedError(problem, row="more fields than the header has"))
                continue
            record = record[:width]
        row: Row = dict(zip(columns, record, strict=False))
        for name in columns[len(record) :]:
            row[name] = None
        yield row


def _dialect(table: Table) -> Dialect:
    """Detect the dialect from the header, or from a hint for Excel, such as ``sep=;``, in the first line."""
    bom = table.encoding in ("utf-8-sig", "utf-16")
    with open_bytes(table.path, table.kind.packing, table.name) as raw:
        file = _decoded(raw, table, newline="")
        try:
            first = file.readline(_HEADER_LIMIT + 1)
        except UnicodeDecodeError as error:
            raise undecodable(table.path, table.name, table.kind, table.encoding, error.reason) from None
    if len(first) > _HEADER_LIMIT:
        raise TableError(
            f"the first line of {table.name} is longer than {_HEADER_LIMIT:,} characters; it must be a header with the "
            "column names"
        )
    hint = first.strip().lower()
    if hint.startswith("sep=") and len(hint) == 5:
        return Dialect(delimiter=first.strip()[4], bom=bom, hinted=True)
    if table.kind.format is Format.TSV:
        return Dialect(bom=bom)  # a CSV output uses commas
    known = {name for field in fields(Columns) for name in (field.name, *_ALIASES[field.name])}

    csv.field_size_limit(_LIMIT)  # the limit applies to the whole process, so other code may have lowered it

    def merit(separator: str) -> tuple[int, int]:
        names = next(csv.reader([first], delimiter=separator), [])
        return sum(name.strip().casefold() in known for name in names), len(names)

    return Dialect(delimiter=max(_SEPARATORS, key=merit), bom=bom)


# --- JSONL --------------------------------------------------------------------------------------


def _jsonl_rows(table: Table) -> Iterator[Row]:
    with open_bytes(table.path, table.kind.packing, table.name) as raw:
        file = _decoded(raw, table, newline="\n")
        try:
            for number, line in enumerate(_lines(file, table), start=1):
                if _has_undecodable_bytes(table, line):
                    yield LostRow(NOT_UTF8)
                elif not line.isspace():
                    yield _json_object(table, number, line)
        except UnicodeDecodeError as error:
            raise undecodable(table.path, table.name, table.kind, table.encoding, error.reason) from None


def _json_object(table: Table, number: int, line: str) -> Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:  # a number with thousands of digits raises a plain ValueError
        cut = "" if line.endswith("\n") else "; the file may be cut off there"
        what = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply, or a number is too long"
        if table.name == _STANDARD_INPUT_NAME and not line.lstrip().startswith("{"):
            cut += "; standard input must be JSON lines; use a file for other formats"
        problem = f"{table.name}, line {number} is not valid JSON ({what}){cut}"
        return _lost_row(table, DamagedError(problem, row="not valid JSON"))
    if not isinstance(row, dict):
        problem = f'{table.name}, line {number} is not a JSON object like {{"question": "…"}}'
        return _lost_row(table, DamagedError(problem, row="not a JSON object"))
    return row
