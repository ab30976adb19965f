"""Define the types for a file's rows and for rows that could not be read."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]


class LostRow(Row):
    """An empty row that replaces a row that could not be read; ``why`` says what is wrong with the unreadable row.

    ``reason`` is an error message from a library and may change with the library's version.

    >>> row = LostRow("not valid JSON")
    >>> row.get("question"), row.why
    (None, 'not valid JSON')
    """

    def __init__(self, why: str, reason: str = "") -> None:
        super().__init__()
        self.why, self.reason = why, reason
