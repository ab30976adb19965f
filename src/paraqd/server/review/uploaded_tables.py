"""Read tables of strangers: limit what they unpack to, and make their cells storable."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paraqd.errors import ParaqdError
from paraqd.tables.formats import TableError, reason
from paraqd.tables.rows import Row
from paraqd.tables.table import Table

_CELL = 8  # bytes; what a cell counts at least, even if it is empty
# characters that a workbook or UTF-8 cannot represent
_UNUSABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def check_size(path: Path, largest: int) -> None:
    """Raise a TableError if unpacking a file would need more than ``largest`` bytes."""
    size = 0
    try:
        if path.suffix == ".xlsx":
            with zipfile.ZipFile(path) as archive:
                size = sum(each.file_size for each in archive.infolist())
        elif path.suffix == ".parquet":
            size = _parquet_size(path, largest)
    except Exception:  # the reader explains what is wrong
        return
    if size > largest:
        raise _too_large(path, largest)


def _too_large(name: str | Path, largest: int) -> TableError:
    return TableError(f"{name} needs more than {largest / 1e6:,.0f} MB unpacked; divide it into several files")


def _parquet_size(path: Path, largest: int) -> int:
    """Return the size of a file's values. A value that is repeated is stored once, but counts each time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    facts = pq.ParquetFile(path).metadata
    size, texts = 0, []
    for place in range(facts.num_columns):
        column = facts.schema.column(place)
        if column.physical_type == "BYTE_ARRAY":
            texts.append(column.path)
        width = max(_CELL, column.length or 0)
        for group in range(facts.num_row_groups):
            chunk = facts.row_group(group).column(place)
            size += max(chunk.num_values * width, chunk.total_uncompressed_size)
    if size <= largest and texts:
        # a column of JSON would be read as a special type, with every text in full
        plain = {"arrow_extensions_enabled": False} if int(pa.__version__.split(".")[0]) > 20 else {}
        with pq.ParquetFile(path, read_dictionary=texts, buffer_size=1 << 20, **plain) as file:
            for batch in file.iter_batches(batch_size=1024, use_threads=False):
                size += sum(map(_repeated_size, batch.columns))
                if size > largest:
                    break
    return size


def _repeated_size(column: Any) -> int:
    """Return the bytes of the texts in a column whose texts are stored once each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        lengths = pc.binary_length(column.dictionary).cast(pa.int64())
        return int(pc.sum(lengths.take(column.indices)).as_py() or 0)
    if pa.types.is_struct(column.type):
        return sum(map(_repeated_size, column.flatten()))
    if pa.types.is_map(column.type):
        return _repeated_size(column.keys) + _repeated_size(column.items)
    if hasattr(column, "flatten"):  # lists of all kinds
        return _repeated_size(column.flatten())
    return 0


@contextmanager
def clear_reading(name: str) -> Iterator[None]:
    """Turn the errors of codecs and parsers into a TableError."""
    try:
        yield
    except ParaqdError:
        raise
    except (UnicodeError, LookupError, ValueError, RecursionError) as error:
        raise TableError(f"{name} cannot be read ({reason(error)}); check its encoding, or save it again") from None


def read_rows(table: Table, largest: int) -> Iterator[Row]:
    """Yield the rows of a table; raise a TableError if they need more than ``largest`` bytes."""
    size = 0
    with clear_reading(table.name):
        for row in table.rows():
            size += sum(_CELL + len(value) if isinstance(value, str | bytes) else _CELL for value in row.values())
            if size > largest:
                raise _too_large(table.name, largest)
            yield row


def check_column_names(table: Table) -> None:
    """Raise a TableError if the name of a column cannot be written to a file again."""
    for name in table.columns:
        if _UNUSABLE.search(name):
            raise TableError(f"the column {name[:100]!a} has a character that cannot be shown; rename the column")


def storable(value: Any) -> Any:
    r"""Return a cell as JSON can represent it.

    >>> from datetime import date
    >>> storable("7 \ud83d"), storable(date(2026, 5, 1)), storable([b"x"])
    ('7 ?', '2026-05-01', ['x'])
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    with clear_reading("the table"):
        return json.loads(json.dumps(value, ensure_ascii=False, default=_as_text).encode("utf-8", "replace"))


def _as_text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
