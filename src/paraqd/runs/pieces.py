"""Split the rows of files into pieces, and read the pieces.

A piece is a block of consecutive rows from one file. The same files always yield the same pieces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from paraqd.runs.locations import Location
from paraqd.tables.formats import TableError, clear_errors
from paraqd.tables.parquet import batches, first_sentence, group_problem, open_parquet
from paraqd.tables.rows import LostRow
from paraqd.tables.table import Row, Table

LEAST_ROWS, MOST_ROWS = 1024, 65_536
_PARTS = 4096  # the target number of parts: enough for many machines, few enough to list in a second or two
_REMEMBERED = 4096  # the maximum number of row groups whose state is cached


class UnreadableError(TableError):
    """Raised when the rows of a piece cannot be read. Other pieces may still be readable."""


@dataclass(frozen=True)
class Piece:
    """A block of consecutive rows from one file. ``start`` is the index of the first row."""

    index: int
    file: str
    start: int
    rows: int


def rows_of_a_part(rows: int, least: int = LEAST_ROWS) -> int:
    """Return the maximum number of rows in a part, which is at least ``least`` and grows with the input.

    >>> rows_of_a_part(5000), rows_of_a_part(100_000_000), rows_of_a_part(10**10)
    (1024, 24576, 65536)
    """
    even = -(-rows // _PARTS // least) * least
    return min(max(even, least), MOST_ROWS)


def cuts(groups: Iterable[int], size: int) -> list[tuple[int, int]]:
    """Split a file into blocks, given the sizes of its row groups, and return (start, rows) for each block.

    Consecutive small row groups share a block if they fit, and a large row group is split evenly. As a result, an
    unreadable row group affects few rows of other row groups.

    >>> cuts([400, 500, 300, 2500], 1000)
    [(0, 900), (900, 300), (1200, 834), (2034, 833), (2867, 833)]
    """
    found: list[tuple[int, int]] = []
    start = waiting = 0
    for rows in groups:
        if waiting and waiting + rows > size:
            found.append((start, waiting))
            start, waiting = start + waiting, 0
        if rows > size:
            count = -(-rows // size)
            for number in range(count):
                share = rows // count + (number < rows % count)
                found.append((start, share))
                start += share
        else:
            waiting += rows
    return [*found, (start, waiting)] if waiting else found


def even_cuts(rows: int, size: int) -> list[tuple[int, int]]:
    """Split a file into blocks of ``size`` rows, regardless of its row groups; return (start, rows) for each block.

    >>> even_cuts(600, 256)
    [(0, 256), (256, 256), (512, 88)]
    """
    return [(start, min(size, rows - start)) for start in range(0, rows, size)]


class _Cursor(NamedTuple):
    """A position in a file. ``row`` is the index of the next row, and ``rows`` yields the rows from there on."""

    file: str
    only: tuple[str, ...] | None
    row: int
    rows: Iterator[Row]


@dataclass(frozen=True)
class Reader:
    """A reader for pieces. The object is small, because it is sent to every worker.

    ``tables`` maps each text file to the settings for reading it. All other files are Parquet files. If ``lenient`` is
    True, each row in a damaged row group is returned as a `LostRow`, and the rest of the file is read as usual.
    """

    source: Location
    tables: Mapping[str, Table]
    lenient: bool = False
    _cursors: list[_Cursor] = field(default_factory=list, compare=False, repr=False)
    _problems: dict[tuple[str, int], str] = field(default_factory=dict, compare=False, repr=False)

    def __reduce__(self) -> tuple[type[Reader], tuple[Any, ...]]:
        return Reader, (self.source, self.tables, self.lenient)

    def rows(self, piece: Piece, only: Sequence[str] | None = None) -> Iterator[Row]:
        """Yield the rows of a piece, or raise an `UnreadableError` that explains which rows cannot be read and why.

        Reading all pieces in order takes only one pass over the file, regardless of the number of pieces.
        """
        count = 0
        try:
            for row in self._rows(piece, None if only is None else tuple(only)):
                yield row
                count += 1
        except TableError as error:
            raise UnreadableError(f"{self._where(piece)} cannot be read: {error}") from None
        if count != piece.rows:
            raise UnreadableError(f"{self._where(piece)} are no longer there: the file was changed")

    def chunks(self, piece: Piece, size: int, only: Sequence[str] | None = None) -> Iterator[list[Row]]:
        """Yield the rows of a piece in lists of at most ``size`` rows."""
        rows = self.rows(piece, only)
        while chunk := list(islice(rows, size)):
            yield chunk

    def _where(self, piece: Piece) -> str:
        return f"rows {piece.start + 1:,}–{piece.start + piece.rows:,} of {self.source.shown(piece.file)}"

    def _rows(self, piece: Piece, only: tuple[str, ...] | None) -> Iterator[Row]:
        table = self.tables.get(piece.file)
        cursor = self._cursors.pop() if self._cursors else None
        if cursor is not None and (
            (cursor.file, cursor.only) != (piece.file, only)
            or cursor.row > piece.start
            or (table is None and cursor.row < piece.start)  # in Parquet, seeking is faster than reading on
        ):
            cursor = None
        if cursor is None and table is not None:
            cursor = _Cursor(piece.file, only, 0, table.rows())
        elif cursor is None:
            cursor = _Cursor(piece.file, only, piece.start, self._parquet_rows(piece.file, piece.start, only))
        yield from islice(cursor.rows, piece.start - cursor.row, piece.start - cursor.row + piece.rows)
        self._cursors.append(cursor._replace(row=piece.start + piece.rows))

    def _parquet_rows(self, name: str, start: int, only: tuple[str, ...] | None) -> Iterator[Row]:
        """Yield the rows of a Parquet file from row ``start`` onwards."""
        import pyarrow as pa

        with opened_parquet(self.source, name) as file:
            columns = None if only is None else [each for each in only if each in file.schema_arrow.names]
            first = 0
            try:
                for group in range(file.metadata.num_row_groups):
                    rows = file.metadata.row_group(group).num_rows
                    skipped = max(0, start - first)
                    first += rows
                    if skipped >= rows:
                        continue
                    if problem := self._problem(file, name, group):
                        lost = (f"row group {group + 1} cannot be read", problem)
                        yield from (LostRow(*lost) for _ in range(rows - skipped))
                    else:
                        yield from _group_rows(batches(file, group, columns), skipped)
            except (pa.ArrowException, OSError, ValueError) as error:
                if isinstance(error, TableError):
                    raise
                raise TableError(first_sentence(error)) from None

    def _problem(self, file: Any, name: str, group: int) -> str:
        """Return the reason why a row group cannot be read, or an empty string if it can be read.

        The whole row group is checked, so the set of lost rows does not depend on the size of the pieces. Each process
        checks a row group only once.
        """
        if not self.lenient or self.source.local is None:
            return ""
        if (name, group) not in self._problems:
            if len(self._problems) >= _REMEMBERED:
                self._problems.clear()
            self._problems[name, group] = group_problem(file, group)
        return self._problems[name, group]


def _group_rows(found: Iterable[Any], skipped: int) -> Iterator[Row]:
    """Yield the rows in a row group's batches, except for the first ``skipped`` rows."""
    for batch in found:
        if skipped >= batch.num_rows:
            skipped -= batch.num_rows
            continue
        taken = batch.slice(skipped)
        skipped = 0
        taken.validate(full=True)  # detects invalid UTF-8 and offsets that are out of range
        yield from taken.to_pylist()


@contextmanager
def opened_parquet(source: Location, name: str) -> Iterator[Any]:
    """Open a Parquet file in a location."""
    shown = source.shown(name)
    with clear_errors(shown), open_parquet(source.open(name), shown) as file:
        yield file
