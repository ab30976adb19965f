"""Define a row of a file, and a row that could not be read."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]


class LostRow(Row):
    """A row that could not be read: it is empty, and ``why`` says what is wrong with it.

    ``reason`` is the message of a library, which may change with its version.

    >>> row = LostRow("not valid JSON")
    >>> row.get("question"), row.why
    (None, 'not valid JSON')
    """

    def __init__(self, why: str, reason: str = "") -> None:
        super().__init__()
        self.why, self.reason = why, reason
