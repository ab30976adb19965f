"""Read Parquet files row group by row group, in batches whose size does not depend on the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paraqd.data.formats import TableError, check_names, clear_errors, reason
from paraqd.data.rows import LostRow, Row
from paraqd.extras import optional_imports

_BATCH_ROWS, _BATCH_BYTES = 1024, 1 << 24


def parquet_columns(path: Path) -> tuple[str, ...]:
    """Return the names of the columns."""
    with clear_errors(path), open(path, "rb") as raw:
        if not raw.read(1):
            raise TableError(f"{path} is empty")
    with open_parquet(path, path) as file:
        return check_names(tuple(file.schema_arrow.names), path)


def parquet_rows(path: Path, only: Sequence[str] | None, lost: Mapping[int, str]) -> Iterator[Row]:
    """Yield every row; each row of the row groups in ``lost`` is a `LostRow`."""
    with open_parquet(path, path) as file:
        for group in range(file.num_row_groups):
            if group in lost:
                for _ in range(file.metadata.row_group(group).num_rows):
                    yield LostRow(lost[group])
                continue
            for batch in batches(file, group, only):
                yield from batch.to_pylist()


def group_problem(file: Any, group: int) -> str:
    """Read a row group, without converting it to rows; return why that fails, or an empty string."""
    import pyarrow as pa

    rows, found = file.metadata.row_group(group).num_rows, 0
    try:
        for batch in batches(file, group, None):
            batch.validate(full=True)  # finds bytes that are not UTF-8 and wrong offsets
            found += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, (MemoryError, NotImplementedError)) or getattr(error, "errno", None) is not None:
            raise  # the machine failed; the data may be fine
        return first_sentence(error)
    return "" if found == rows else f"it has {found:,} of {rows:,} rows"


def batches(file: Any, group: int, only: Sequence[str] | None) -> Iterator[Any]:
    """Yield the rows in batches; large rows come in smaller batches, so that memory stays bounded."""
    facts = file.metadata.row_group(group)
    each = max(1, facts.total_byte_size // max(1, facts.num_rows))
    size = max(1, min(_BATCH_ROWS, _BATCH_BYTES // each))
    return iter(file.iter_batches(batch_size=size, row_groups=[group], columns=only, use_threads=False))


@contextmanager
def open_parquet(source: Any, name: str | Path) -> Iterator[Any]:
    """Open a Parquet file by its path, or from an open file; ``name`` is used in messages."""
    with optional_imports("Parquet files"):
        import pyarrow as pa
        import pyarrow.parquet as pq

    with clear_errors(name):
        try:
            # with a buffer size pyarrow reads page by page, so that memory does not depend on the size of row groups
            with pq.ParquetFile(source, buffer_size=1 << 20, page_checksum_verification=True) as file:
                yield file
        except (pa.ArrowMemoryError, pa.ArrowNotImplementedError) as error:
            raise TableError(f"cannot read {name}: {first_sentence(error)}") from None
        except pa.ArrowException as error:
            message = f"{name} is cut off or not a Parquet file ({first_sentence(error)}); copy or create it again"
            raise TableError(message) from None


def first_sentence(error: Exception) -> str:
    """Return the first sentence of a message of pyarrow without control characters, which may come from the file."""
    shown = "".join(sign if sign.isprintable() else " " for sign in reason(error).split(".")[0])
    return " ".join(shown.split())
