"""How commands speak: results on standard output, all else on standard error, one line for an error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def stdout() -> Console:
    """Return the console for results; a character that its encoding does not know is shown as a question mark."""
    from rich.console import Console

    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return Console(highlight=False)


def stderr() -> Console:
    """Return the console for progress and messages."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def say(message: str) -> None:
    """Write one line to standard error, never wrapped."""
    stderr().print(_one_line(message), markup=False, soft_wrap=True)


def note(message: str) -> None:
    """Write a line above the progress bar, which takes the place of sys.stderr while it is shown."""
    sys.stderr.write(f"{message}\n")


def fail(message: str) -> None:
    """Write the one line that says why nothing was done."""
    sys.stderr.write(f"error: {_one_line(message)}\n")


def write_json(data: Any) -> None:
    """Write data for another program to standard output."""
    from paraqd.data.writers import json_text

    sys.stdout.write(json_text(data, encoding=sys.stdout.encoding or "utf-8", indent=2) + "\n")


def is_debugging() -> bool:
    """Whether unexpected errors are to be shown whole."""
    return os.environ.get("PARAQD_DEBUG", "") not in ("", "0")


def row_ranges(rows: Iterable[int]) -> str:
    """Name rows briefly.

    >>> row_ranges([4, 5, 6, 9])
    '4–6, 9'
    """
    spans: list[list[int]] = []
    for row in rows:
        if spans and row == spans[-1][1] + 1:
            spans[-1][1] = row
        else:
            spans.append([row, row])
    return ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in spans)


def rows_by_reason(skipped: Iterable[tuple[int, str]]) -> dict[str, list[int]]:
    """Gather the rows that were skipped for the same reason.

    >>> rows_by_reason([(4, "blank"), (5, "not text"), (9, "blank")])
    {'blank': [4, 9], 'not text': [5]}
    """
    reasons: dict[str, list[int]] = {}
    for row, why in skipped:
        reasons.setdefault(why, []).append(row)
    return reasons


def named_rows(skipped: Iterable[tuple[int, str]]) -> str:
    """Name the rows that were skipped, with why.

    >>> named_rows([(4, "blank"), (5, "blank"), (9, "not text")])
    'blank: row 4–5; not text: row 9'
    """
    return "; ".join(f"{why}: row {row_ranges(rows)}" for why, rows in rows_by_reason(skipped).items())


def _one_line(message: str) -> str:
    return " ".join(message.split())
