"""Parquet read row group by row group, in pieces whose size does not depend on the file's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from paraqd.data.formats import TableError, check_names, explained, reason
from paraqd.data.rows import LostRow, Row

_BATCH_ROWS, _BATCH_BYTES = 1024, 1 << 24


class Group(NamedTuple):
    """A row group that has been looked through; ``problem`` says why it cannot be read."""

    first: int
    rows: int
    problem: str


def parquet_columns(path: Path) -> tuple[str, ...]:
    """Return the names of the columns."""
    with explained(path), open(path, "rb") as raw:
        if not raw.read(1):
            raise TableError(f"{path} is empty")
    with opened(path, path) as file:
        return check_names(tuple(file.schema_arrow.names), path)


def parquet_rows(path: Path, only: Sequence[str] | None, lost: Mapping[int, str]) -> Iterator[Row]:
    """Yield every row; ``lost`` are the row groups that cannot be read, of which each row is a `LostRow`."""
    with opened(path, path) as file:
        for group in range(file.num_row_groups):
            if group in lost:
                for _ in range(file.metadata.row_group(group).num_rows):
                    yield LostRow(lost[group])
                continue
            for batch in batches(file, group, only):
                yield from batch.to_pylist()


def parquet_groups(path: Path) -> Iterator[Group]:
    """Read every row group once, without making rows of it, and say which are damaged."""
    first = 0
    with opened(path, path) as file:
        for group in range(file.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            yield Group(first, rows, group_problem(file, group))
            first += rows


def group_problem(file: Any, group: int) -> str:
    """Read a row group, without making rows of it, and say why it cannot be; nothing where it is sound."""
    import pyarrow as pa

    rows, found = file.metadata.row_group(group).num_rows, 0
    try:
        for batch in batches(file, group, None):
            batch.validate(full=True)  # bytes that are no UTF-8, offsets that lead nowhere
            found += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, (MemoryError, NotImplementedError)) or getattr(error, "errno", None) is not None:
            raise  # the machine's fault, not the data's
        return brief(error)
    return "" if found == rows else f"{found:,} of {rows:,} rows are there"


def batches(file: Any, group: int, only: Sequence[str] | None) -> Iterator[Any]:
    """Yield some rows at a time: fewer where they are large, so that memory does not depend on that."""
    facts = file.metadata.row_group(group)
    each = max(1, facts.total_byte_size // max(1, facts.num_rows))
    size = max(1, min(_BATCH_ROWS, _BATCH_BYTES // each))
    return iter(file.iter_batches(batch_size=size, row_groups=[group], columns=only, use_threads=False))


@contextmanager
def opened(source: Any, name: str | Path) -> Iterator[Any]:
    """Open a Parquet file by its path, or one that is open for reading; ``name`` is what messages call it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with explained(name):
        try:
            # a buffer size makes pyarrow read page by page: memory does not depend on the row groups' size
            with pq.ParquetFile(source, buffer_size=1 << 20, page_checksum_verification=True) as file:
                yield file
        except (pa.ArrowMemoryError, pa.ArrowNotImplementedError) as error:
            raise TableError(f"cannot read {name}: {brief(error)}") from None
        except pa.ArrowException as error:
            message = f"{name} is cut off or not a Parquet file ({brief(error)}); copy or make it again"
            raise TableError(message) from None


def brief(error: Exception) -> str:
    """Return the first sentence of what pyarrow says, which may quote bytes of the file."""
    shown = "".join(sign if sign.isprintable() else " " for sign in reason(error).split(".")[0])
    return " ".join(shown.split())
