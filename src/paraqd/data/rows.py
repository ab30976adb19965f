"""What is read of a file, row by row."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]


class LostRow(Row):
    """A row that is there and cannot be read: it holds nothing, and ``why`` says what is wrong with it.

    ``reason`` is what a library said of it, in words that may be others tomorrow.

    >>> row = LostRow("not valid JSON")
    >>> row.get("question"), row.why
    (None, 'not valid JSON')
    """

    def __init__(self, why: str, reason: str = "") -> None:
        super().__init__()
        self.why, self.reason = why, reason
