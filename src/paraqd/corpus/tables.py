"""Questions and pairs in files: CSV, TSV, JSONL and Parquet, read as a stream of rows.

Nothing here holds a whole file in memory. What cannot be read raises `TableError`, whose message is one line
for the person who gave the file.
"""

from __future__ import annotations

import atexit
import csv
import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any

from paraqd.corpus.formats import (
    STANDARD_INPUT,
    Format,
    Kind,
    TableError,
    explained,
    is_known,
    kind_of,
    open_bytes,
    reason,
    text_encoding,
    undecodable,
)
from paraqd.corpus.writers import PLAIN, Dialect, check_writable, open_writer, replacing

__all__ = [
    "DEFAULT_COLUMNS",
    "Columns",
    "Dialect",
    "Table",
    "TableError",
    "check_writable",
    "default_id",
    "open_table",
    "open_writer",
    "replacing",
]

Row = dict[str, Any]

_FIELD_LIMIT = 1 << 26  # characters in one CSV field; a stray quotation mark must not swallow a whole corpus
_SEPARATORS = (",", ";", "\t", "|")
# what people call the column elsewhere; used only to suggest one, never taken by itself
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
    """What the columns are called in a file."""

    question: str = "question"
    paraphrase: str = "paraphrase"
    label: str = "label"
    id: str = "id"


DEFAULT_COLUMNS = Columns()


@dataclass(frozen=True)
class Table:
    """A file that has been looked at: its columns, and its rows as often as they are wanted.

    ``name`` is what messages call it. ``dialect`` is how a CSV file separates its fields, so that what is
    written can be opened by the same program.
    """

    name: str
    path: Path
    kind: Kind
    columns: tuple[str, ...] = ()
    encoding: str = "utf-8"
    dialect: Dialect = PLAIN

    def require(self, columns: Columns, roles: Sequence[str] = ("question",)) -> None:
        """Raise a TableError unless the columns for these roles are there."""
        for role in roles:
            self.need(role, getattr(columns, role))

    def need(self, role: str, name: str) -> None:
        """Raise a TableError, which names the nearest column, unless the column for this role is there."""
        if name not in self.columns:
            raise TableError(_missing(self, role, name))

    def rows(self, only: Sequence[str] | None = None) -> Iterator[Row]:
        """Yield every row as a dictionary; ``only`` names the columns that are needed (for speed)."""
        wanted = None if only is None else [name for name in only if name in self.columns]
        if self.kind.format is Format.PARQUET:
            return _parquet_rows(self.path, wanted)
        if self.kind.format is Format.JSONL:
            return _jsonl_rows(self)
        return _csv_rows(self)

    def chunks(self, size: int, only: Sequence[str] | None = None) -> Iterator[list[Row]]:
        """Yield the rows in lists of ``size``."""
        rows = self.rows(only)
        while chunk := list(islice(rows, size)):
            yield chunk


def default_id(question: str) -> str:
    """Return the id of a question that has none: the first 16 hex digits of its sha256.

    >>> default_id("What is 2 + 2?")
    '38d46ad3618826cf'
    """
    return hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def open_table(source: str | Path, *, encoding: str | None = None) -> Table:
    """Look at a file: its format by its name, its columns by its first row.

    ``-`` is standard input as JSONL; it is copied to a temporary file, so that its rows can be had again.
    """
    if str(source) != STANDARD_INPUT and Path(source).is_dir():
        raise TableError(_folder(Path(source)))
    kind = kind_of(source)
    if str(source) == STANDARD_INPUT:
        table = Table(name="standard input", path=_spooled(), kind=kind)
    else:
        table = Table(name=str(source), path=Path(source), kind=kind)
    if kind.format is Format.PARQUET:
        return replace(table, columns=_parquet_columns(table.path))
    table = replace(table, encoding=text_encoding(table.path, table.name, kind, encoding))
    if kind.format is Format.JSONL:
        first = next(_jsonl_rows(table), None)
        return replace(table, columns=_filled(table, first))
    table = replace(table, dialect=_dialect(table))
    header = next(_records(table), (0, None))[1]
    columns = tuple(name.strip() for name in _filled(table, header))
    twice = sorted({name for name in columns if name and columns.count(name) > 1})
    if twice:
        raise TableError(f"{table.name} has the column {twice[0]!r} twice; rename one of them")
    return replace(table, columns=columns)


def _filled(table: Table, first: Iterable[str] | None) -> tuple[str, ...]:
    if first is None:
        raise TableError(f"{table.name} is empty")
    return tuple(first)


def _folder(folder: Path) -> str:
    """Say that a file is wanted, and name one of the folder's."""
    try:
        names = sorted(path.name for path in folder.iterdir() if path.is_file() and is_known(path))
    except OSError:
        names = []
    return f"{folder} is a folder: give a file" + (f", such as {folder / names[0]}" if names else "")


def _spooled() -> Path:
    """Copy standard input to a temporary file that goes when the process does."""
    try:
        with tempfile.NamedTemporaryFile(prefix="paraqd-", suffix=".jsonl", delete=False) as file:
            atexit.register(Path(file.name).unlink, missing_ok=True)
            shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
    except OSError as error:
        raise TableError(f"cannot copy standard input to a temporary file: {reason(error)}") from None
    return Path(file.name)


def suggest(wanted: str, among: Sequence[str], aliases: Sequence[str] = ()) -> str | None:
    """Return the name that was probably meant, or None."""
    from rapidfuzz import process

    lowered = {name.casefold(): name for name in reversed(among)}
    for alias in (wanted, *aliases):
        if alias.casefold() in lowered:
            return lowered[alias.casefold()]
    nearest = process.extractOne(wanted.casefold(), list(lowered), score_cutoff=60)
    return lowered[nearest[0]] if nearest else None


def _missing(table: Table, role: str, name: str) -> str:
    shown = ", ".join(table.columns[:20]) + (", …" if len(table.columns) > 20 else "")
    # the verdict of a file that was scored here is no label
    among = [column for column in table.columns if column != "valid" or "signature" not in table.columns]
    nearest = suggest(name, among, _ALIASES[role] if name == role else ())
    option = f"--{role}-column"
    remedy = f"did you mean {option} {_quoted(nearest)}?" if nearest else f"say which it is with {option} NAME"
    return f"{table.name} has no column {name!r} (it has: {shown}); {remedy}"


def _quoted(name: str) -> str:
    return f'"{name}"' if " " in name else name


# --- CSV and TSV --------------------------------------------------------------------------------


def _records(table: Table) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, fields) of every row that is not blank, the header included.

    Quotation marks are read strictly: guessing what a stray one means would change a text unseen.
    """
    csv.field_size_limit(_FIELD_LIMIT)
    with open_bytes(table.path, gzipped=table.kind.gzipped) as raw:
        file = TextIOWrapper(raw, encoding=table.encoding, newline="")
        skipped = 1 if table.dialect.hinted else 0
        reader = csv.reader(file, delimiter=table.dialect.delimiter, strict=True)
        line = skipped
        try:
            if skipped:
                file.readline()
            for record in reader:
                line = reader.line_num + skipped
                if record:
                    yield line, record
        except UnicodeDecodeError as error:
            raise undecodable(table.path, table.name, table.kind, table.encoding, error) from None
        except csv.Error as error:
            if "end of data" in str(error):
                problem = f"is cut off: a quotation mark in the row of line {line + 1} is never closed"
            else:
                problem = (
                    f"has a stray quotation mark in the row of line {line + 1} ({error}); "
                    "inside a quoted text it is written twice"
                )
            raise TableError(f"{table.name} {problem}") from None


def _csv_rows(table: Table) -> Iterator[Row]:
    records = _records(table)
    next(records, None)  # the header
    width, columns = len(table.columns), table.columns
    for line, record in records:
        if len(record) > width:
            if any(record[width:]):
                raise TableError(
                    f"{table.name}, line {line} has {len(record)} fields where the header has {width}; "
                    "put texts that contain the separator in quotation marks"
                )
            record = record[:width]
        row: Row = dict(zip(columns, record, strict=False))
        for name in columns[len(record) :]:
            row[name] = None
        yield row


def _dialect(table: Table) -> Dialect:
    """Tell the separator by the header, or by Excel's hint ``sep=;`` in the first line."""
    bom = table.encoding in ("utf-8-sig", "utf-16")
    with open_bytes(table.path, gzipped=table.kind.gzipped) as raw:
        file = TextIOWrapper(raw, encoding=table.encoding, newline="")
        try:
            first = file.readline(1 << 20)
        except UnicodeDecodeError as error:
            raise undecodable(table.path, table.name, table.kind, table.encoding, error) from None
    hint = first.strip().lower()
    if hint.startswith("sep=") and len(hint) == 5:
        return Dialect(delimiter=first.strip()[4], bom=bom, hinted=True)
    if table.kind.format is Format.TSV:
        return Dialect(delimiter="\t", bom=bom)
    known = {name for field in fields(Columns) for name in (field.name, *_ALIASES[field.name])}

    def merit(separator: str) -> tuple[int, int]:
        names = next(csv.reader([first], delimiter=separator), [])
        return sum(name.strip().casefold() in known for name in names), len(names)

    return Dialect(delimiter=max(_SEPARATORS, key=merit), bom=bom)


# --- JSONL --------------------------------------------------------------------------------------


def _jsonl_rows(table: Table) -> Iterator[Row]:
    with open_bytes(table.path, gzipped=table.kind.gzipped) as raw:
        file = TextIOWrapper(raw, encoding=table.encoding, newline="\n")
        try:
            for number, line in enumerate(file, start=1):
                if not line.isspace():
                    yield _json_object(table.name, number, line)
        except UnicodeDecodeError as error:
            raise undecodable(table.path, table.name, table.kind, table.encoding, error) from None


def _json_object(name: str, number: int, line: str) -> Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:  # ValueError alone: a number of thousands of digits
        cut = "" if line.endswith("\n") else "; the file seems to be cut off there"
        what = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deep, or a number too long"
        raise TableError(f"{name}, line {number} is not valid JSON ({what}){cut}") from None
    if not isinstance(row, dict):
        raise TableError(f'{name}, line {number} is not a JSON object like {{"question": "…"}}')
    return row


# --- Parquet ------------------------------------------------------------------------------------


def _parquet_columns(path: Path) -> tuple[str, ...]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with explained(path):
        with open(path, "rb") as raw:
            if not raw.read(1):
                raise TableError(f"{path} is empty")
        try:
            with pq.ParquetFile(path) as file:
                return tuple(file.schema_arrow.names)
        except pa.ArrowException as error:
            raise TableError(_not_parquet(path, error)) from None


def _parquet_rows(path: Path, only: Sequence[str] | None) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with explained(path):
        try:
            # a buffer size makes pyarrow read page by page: memory does not depend on the row groups' size
            with pq.ParquetFile(path, buffer_size=1 << 20) as file:
                for batch in file.iter_batches(batch_size=1024, columns=only, use_threads=False):
                    yield from batch.to_pylist()
        except pa.ArrowException as error:
            raise TableError(_not_parquet(path, error)) from None


def _not_parquet(path: Path, error: Exception) -> str:
    return f"{path} is cut off or not a Parquet file ({reason(error).split('.')[0]}); copy or make it again"
