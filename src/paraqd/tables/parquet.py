"""Read Parquet files one row group at a time, in batches that limit the memory used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paraqd.extras import optional_imports
from paraqd.tables.formats import SOME_ROWS, TableError, check_names, clear_errors, reason
from paraqd.tables.rows import LostRow, Row

_BATCH_ROWS, _BATCH_BYTES = 1024, 1 << 24


def parquet_columns(path: Path) -> tuple[str, ...]:
    """Return the names of the columns in a Parquet file."""
    with clear_errors(path), open(path, "rb") as raw:
        if not raw.read(1):
            raise TableError(f"{path} is empty; {SOME_ROWS}")
    with open_parquet(path, path) as file:
        return check_names(tuple(file.schema_arrow.names), path)


def parquet_rows(path: Path, only: Sequence[str] | None, lost: Mapping[int, str]) -> Iterator[Row]:
    """Yield every row of a Parquet file.

    ``lost`` maps the index of each row group that cannot be read to the reason. Each row of such a row group is a
    `LostRow`.
    """
    with open_parquet(path, path) as file:
        for group in range(file.num_row_groups):
            if group in lost:
                for _ in range(file.metadata.row_group(group).num_rows):
                    yield LostRow(lost[group])
                continue
            for batch in batches(file, group, only):
                yield from batch.to_pylist()


def group_problem(file: Any, group: int) -> str:
    """Return the reason why a row group cannot be read, or an empty string if it can be read.

    The row group is read and validated but not converted to rows.
    """
    import pyarrow as pa

    rows, found = file.metadata.row_group(group).num_rows, 0
    try:
        for batch in batches(file, group, None):
            batch.validate(full=True)  # detects bytes that are not UTF-8 and wrong offsets
            found += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, (MemoryError, NotImplementedError)) or getattr(error, "errno", None) is not None:
            raise  # the machine failed; the data may be fine
        return first_sentence(error)
    return "" if found == rows else f"it has {found:,} of {rows:,} rows"


def batches(file: Any, group: int, only: Sequence[str] | None) -> Iterator[Any]:
    """Return an iterator over the batches of a row group; large rows come in smaller batches to limit memory use."""
    facts = file.metadata.row_group(group)
    each = max(1, facts.total_byte_size // max(1, facts.num_rows))
    size = max(1, min(_BATCH_ROWS, _BATCH_BYTES // each))
    return iter(file.iter_batches(batch_size=size, row_groups=[group], columns=only, use_threads=False))


@contextmanager
def open_parquet(source: Any, name: str | Path) -> Iterator[Any]:
    """Open a Parquet file from a path or an open file; ``name`` is the file's name in messages."""
    with optional_imports("Parquet files"):
        import pyarrow as pa
        import pyarrow.parquet as pq

    with clear_errors(name):
        try:
            # with a buffer size, pyarrow reads page by page, so that memory use does not depend on the row group size
            with pq.ParquetFile(source, buffer_size=1 << 20, page_checksum_verification=True) as file:
                yield file
        except (pa.ArrowMemoryError, pa.ArrowNotImplementedError) as error:
            raise TableError(f"cannot read {name}: {first_sentence(error)}") from None
        except pa.ArrowException as error:
            message = f"{name} is cut off or not a Parquet file ({first_sentence(error)}); copy or create it again"
            raise TableError(message) from None


def first_sentence(error: Exception) -> str:
    """Return the first sentence of a pyarrow error message, without control characters."""
    shown = "".join(character if character.isprintable() else " " for character in reason(error).split(".")[0])
    return " ".join(shown.split())
