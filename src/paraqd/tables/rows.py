"""Define the types for a file's rows and for rows that could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

Row = dict[str, Any]
R = TypeVar("R")


class NumberedRow(Row):
    """A row that knows its place in the file.

    ``number`` is the row's number as a spreadsheet program shows it, where the header is row 1, or the line number in a
    JSONL file. ``short`` is True if a line of a CSV file has fewer cells than the header; the missing cells are None.
    """

    __slots__ = ("number", "short")

    def __init__(self, cells: Any = (), number: int = 0, *, short: bool = False) -> None:
        super().__init__(cells)
        self.number, self.short = number, short


class LostRow(NumberedRow):
    """An empty row that replaces a row that could not be read; ``why`` says what is wrong with the unreadable row.

    ``reason`` is an error message from a library and may change with the library's version.

    >>> row = LostRow("not valid JSON")
    >>> row.get("question"), row.why
    (None, 'not valid JSON')
    """

    __slots__ = ("reason", "why")

    def __init__(self, why: str, reason: str = "", number: int = 0) -> None:
        super().__init__(number=number)
        self.why, self.reason = why, reason


def numbered(rows: Iterable[R], start: int = 1) -> Iterator[tuple[int, R]]:
    """Yield each row with its number in the file.

    Rows without a number of their own, such as those of a Parquet file, are counted from ``start``.

    >>> list(numbered([NumberedRow({"a": 1}, 2), {"a": 5}]))
    [(2, {'a': 1}), (2, {'a': 5})]
    """
    for index, row in enumerate(rows, start=start):
        yield getattr(row, "number", 0) or index, row
