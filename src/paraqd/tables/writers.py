"""Write rows to CSV, TSV, JSONL, Excel and Parquet files; the same rows always produce the same bytes."""

from __future__ import annotations

import csv
import gzip
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from io import BufferedWriter, RawIOBase, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from paraqd.errors import OutputExistsError
from paraqd.files import atomic_write, check_regular
from paraqd.parameters import named
from paraqd.tables.formats import (
    STANDARD_INPUT,
    UTF8,
    Format,
    Kind,
    Packing,
    TableError,
    check_installed,
    clear_errors,
    kind_of,
)
from paraqd.tables.formulas import marked
from paraqd.tables.workbook import open_workbook

if TYPE_CHECKING:
    from paraqd.tables.table import Table

ROW_GROUP = 16_384  # the number of rows in a Parquet row group, regardless of how many rows are written at a time
_GROUP_CHARACTERS = 1 << 24  # limits the size of a row group, because it stays in memory until it is complete

COMPRESSION: Mapping[str, Any] = {"compression": "zstd", "compression_level": 3}

# maps each column, in order, to its type: str, int, float, bool or, for Parquet, a pyarrow type
Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Dialect:
    """The separator of a CSV file, and whether the file starts with the byte-order mark that Excel needs.

    ``hinted`` is True if the first line is a hint for Excel, such as ``sep=;``. Outputs never contain such a hint.
    ``decimal`` is the decimal sign of its numbers.
    """

    delimiter: str = ","
    bom: bool = False
    hinted: bool = False
    decimal: str = "."

    @property
    def for_spreadsheet(self) -> bool:
        """True if the file is made for a spreadsheet program, so that no text in it may look like a formula."""
        return self.bom or self.hinted or self.delimiter == ";"


PLAIN = Dialect()


def output_dialect(table: Table | None, *, for_excel: bool = False) -> Dialect:
    """Return the CSV dialect of an output file, which is the dialect of the input file, if there is a single one.

    The output is always UTF-8. If the input is not UTF-8 or has a hint for Excel, the output has a byte-order mark,
    because the program that wrote the input may otherwise not recognise UTF-8.
    """
    if table is None:
        return replace(PLAIN, bom=for_excel)
    given = table.dialect
    return replace(given, bom=for_excel or given.bom or given.hinted or table.encoding not in UTF8, hinted=False)


class Writer(Protocol):
    """An object that writes rows."""

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write rows in order."""


def check_writable(path: str | Path) -> Kind:
    """Return the kind of an output file; raise a TableError if the file cannot be written."""
    if str(path) == STANDARD_INPUT:
        raise TableError(
            f"the output must be a file: use {named('out', 'NAME.csv')} (or .tsv, .jsonl, .xlsx, .parquet)"
        )
    kind = kind_of(path)
    check_installed(kind)
    check_place(Path(path))
    return kind


def check_place(path: Path) -> None:
    """Raise a TableError if no file can be written at a path, or if it names a folder, a pipe or a device."""
    if path.is_dir():
        raise TableError(f"cannot write {path}: it is a folder; pass a file name")
    parent = path.parent
    if not parent.exists():
        raise TableError(f"cannot write {path}: there is no folder {parent}; create it first")
    if not parent.is_dir():
        raise TableError(f"cannot write {path}: {parent} is not a folder; choose another folder")
    if not os.access(parent, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise TableError(f"cannot write {path}: no permission to write there; choose another folder")
    with clear_errors(path, "write"):
        check_regular(path)


def check_outputs(outputs: Sequence[str | Path], inputs: Sequence[str | Path], *, overwrite: bool) -> None:
    """Raise a TableError or an OutputExistsError if an output file cannot be written.

    An output must not be one of the inputs, and an existing file is replaced only if ``overwrite`` is True.
    """
    if len({Path(out).resolve() for out in outputs}) < len(outputs):
        raise OutputExistsError(f"{outputs[0]} is named twice: choose another name for one of the outputs")
    for out in outputs:
        check_writable(out)
        if any(_same_file(Path(out), Path(name)) for name in inputs):
            raise OutputExistsError(f"{out} is also an input: choose another name for the output")
        if Path(out).exists() and not overwrite:
            raise OutputExistsError(f"{out} already exists: pass --overwrite to replace it, or choose another name")


def _same_file(one: Path, two: Path) -> bool:
    return one.samefile(two) if one.exists() and two.exists() else one.resolve() == two.resolve()


@contextmanager
def replacing(path: Path, *, beside: Path | None = None) -> Iterator[Path]:
    """Yield the path of a temporary file, which atomically replaces ``path`` when the block ends.

    ``beside`` is the folder for the temporary file, which must be on the same disk (default: the folder of ``path``).
    If ``path`` is a symbolic link, the link's target is replaced, and ``beside`` is ignored, because the target may be
    on a different disk.
    """
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    folder = target.parent if path.is_symlink() else beside or path.parent
    with clear_errors(path, "write"), atomic_write(target, folder / f".{path.name}.{os.getpid()}.writing") as temporary:
        yield temporary


def replace_json(path: Path, data: Any) -> None:
    """Write data as JSON atomically: readers find either the old file or the new file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


@contextmanager
def open_writer(
    path: Path,
    schema: Schema,
    *,
    kind: Kind | None = None,
    dialect: Dialect = PLAIN,
    metadata: Mapping[str, Any] | None = None,
    summary: Mapping[str, Any] | None = None,
) -> Iterator[Writer]:
    """Open a file for writing rows with the columns of ``schema``.

    By default, the extension of the file name determines the kind of file; pass ``kind`` if the name has no such
    extension, as with a temporary file. In a Parquet file, ``metadata`` is stored in the schema as JSON under the key
    ``paraqd``. Excel files have a second sheet with the counts in ``summary`` (default: counts of the verdicts) and
    ``metadata``. Other formats ignore both.
    """
    kind = kind or kind_of(path)
    dialect = replace(dialect, hinted=False)  # an output has no hint, so that its marks must not depend on one
    with ExitStack() as stack:
        if kind.format is Format.PARQUET:
            yield stack.enter_context(_open_parquet(path, schema, metadata))
            return
        if kind.format is Format.XLSX:
            yield stack.enter_context(open_workbook(path, schema, summary, metadata))
            return
        raw = stack.enter_context(open(path, "wb"))
        stream: Any = raw
        if kind.packing is Packing.ZSTD:
            import pyarrow as pa

            stream = stack.enter_context(pa.CompressedOutputStream(_Sink(raw), Packing.ZSTD.name.lower()))
            stream = stack.enter_context(BufferedWriter(stream, 1 << 16))
        elif kind.packing is Packing.GZIP:
            # without a name and a time in the header, the same rows produce the same bytes
            stream = stack.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0))
            stream = stack.enter_context(BufferedWriter(stream, 1 << 16))
        bom = dialect.bom and kind.format is not Format.JSONL
        text = TextIOWrapper(stream, encoding="utf-8-sig" if bom else "utf-8", newline="")
        stack.callback(text.flush)
        if kind.format is Format.JSONL:
            yield _JsonlWriter(text, schema)
        else:
            yield _CsvWriter(text, schema, replace(dialect, delimiter="\t") if kind.format is Format.TSV else dialect)


def write_rows(out: str | Path, schema: Schema, rows: Iterable[Mapping[str, Any]], *, dialect: Dialect = PLAIN) -> Path:
    """Write rows to a file atomically, in the format that the file name determines, and return the path."""
    kind, path = check_writable(out), Path(out)
    with replacing(path) as temporary, open_writer(temporary, schema, kind=kind, dialect=dialect) as writer:
        writer.write(rows)
    return path


def json_text(data: Any, *, encoding: str = "utf-8", indent: int | None = None) -> str:
    r"""Return data as JSON; escape non-ASCII characters if the encoding cannot represent the text.

    JSON has no numbers for NaN and infinity, so these values become strings.

    >>> json_text("5 €"), json_text("5 €", encoding="ascii")
    ('"5 €"', '"5 \\u20ac"')
    >>> json_text([float("nan"), -1e400])
    '["NaN", "-Infinity"]'
    """
    try:
        try:
            text = json.dumps(data, ensure_ascii=False, indent=indent, allow_nan=False)
        except ValueError:
            data = _finite(data)
            text = json.dumps(data, ensure_ascii=False, indent=indent)
    except RecursionError:
        raise TableError("a value is nested too deeply to be written as JSON; remove its column") from None
    try:
        text.encode(encoding)
    except UnicodeEncodeError:  # no encoding can represent half of a surrogate pair
        return json.dumps(data, indent=indent)
    return text


def _finite(data: Any) -> Any:
    """Return data in which the strings NaN, Infinity and -Infinity replace the numbers that JSON cannot represent."""
    if isinstance(data, float) and not math.isfinite(data):
        return json.dumps(data)
    if isinstance(data, Mapping):
        return {key: _finite(value) for key, value in data.items()}
    return [_finite(value) for value in data] if isinstance(data, list | tuple) else data


class _JsonlWriter:
    def __init__(self, file: TextIOWrapper, schema: Schema) -> None:
        self._file = file
        self._columns = tuple(schema)

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        for row in rows:
            self._file.write(json_text({name: row.get(name) for name in self._columns}) + "\n")


class _CsvWriter:
    """A writer of CSV files that preserves all texts, including texts with a lone carriage return."""

    def __init__(self, file: TextIOWrapper, schema: Schema, dialect: Dialect) -> None:
        delimiter = dialect.delimiter
        self._dialect = dialect
        self._columns = tuple(schema)
        self._plain = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        self._quoting = csv.writer(file, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
        self._plain.writerow([self._field(name) for name in self._columns])

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        for row in rows:
            fields = [self._field(row.get(name)) for name in self._columns]
            # before Python 3.13, csv does not quote a lone \r, which readers would interpret as the end of the row
            carriage = any("\r" in field for field in fields)
            (self._quoting if carriage else self._plain).writerow(fields)

    def _field(self, value: Any) -> str:
        if value is None:
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, float):
            return str(value).replace(".", self._dialect.decimal)
        if isinstance(value, str):
            return marked(value, for_spreadsheet=self._dialect.for_spreadsheet)
        return str(value)


class ParquetRows:
    """A writer that divides the rows of an open Parquet file into row groups of a fixed size."""

    def __init__(self, file: Any, schema: Any) -> None:
        self._file = file
        self._schema = schema
        self._columns: dict[str, list[Any]] = {name: [] for name in schema.names}
        self._waiting = self._characters = 0

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write rows in order."""
        for row in rows:
            for name, column in self._columns.items():
                value = row.get(name)
                column.append(value)
                if isinstance(value, str | bytes):
                    self._characters += len(value)
            self._waiting += 1
            if self._waiting == ROW_GROUP or self._characters >= _GROUP_CHARACTERS:
                self.flush()

    def flush(self) -> None:
        """Write the rows collected so far as a row group."""
        import pyarrow as pa

        if self._waiting:
            table = pa.Table.from_pydict(self._columns, schema=self._schema)
            self._file.write_table(table, row_group_size=ROW_GROUP)
            for column in self._columns.values():
                column.clear()
            self._waiting = self._characters = 0


def arrow_schema(schema: Schema, metadata: Mapping[str, Any] | None = None) -> Any:
    """Return a pyarrow schema that stores ``metadata`` as JSON under the key ``paraqd``."""
    import pyarrow as pa

    types: dict[Any, Any] = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    arrow = pa.schema([pa.field(name, types.get(kind, kind)) for name, kind in schema.items()])
    if metadata is not None:
        arrow = arrow.with_metadata({"paraqd": json.dumps(metadata, ensure_ascii=False, sort_keys=True)})
    return arrow


@contextmanager
def _open_parquet(path: Path, schema: Schema, metadata: Mapping[str, Any] | None) -> Iterator[ParquetRows]:
    import pyarrow.parquet as pq

    arrow = arrow_schema(schema, metadata)
    with open(path, "wb") as raw, pq.ParquetWriter(_Sink(raw), arrow, **COMPRESSION) as file:
        writer = ParquetRows(file, arrow)
        yield writer
        writer.flush()


class _Sink(RawIOBase):
    """A stream that forwards bytes until a write fails and then ignores further writes.

    Otherwise, pyarrow would repeat the failed write when the process ends, and print the error.
    """

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._failed = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if not self._failed:
            self._failed = True
            self._raw.write(data)
            self._failed = False
        return len(data)
