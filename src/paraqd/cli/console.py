"""Write results to standard output and all other messages to standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from itertools import groupby
from typing import TYPE_CHECKING, Any

from paraqd.plural import counted
from paraqd.terminal_text import one_line, visible

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult


_IDS = 10  # the number of rows up to which their ids are listed
_FILES_NAMED = 5
_NAMED = 1000  # a report lists no more rows


def stdout() -> Console:
    """Return the console for results. Characters that cannot be encoded appear as question marks."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return _console()


def stderr() -> Console:
    """Return the console for progress and messages."""
    return _console(stderr=True)


def _console(**options: Any) -> Console:
    """Return a console that does not interpret markup or emoji codes and does not pass on raw terminal escapes."""
    from rich.console import Console, RenderHook

    class ShowEscapes(RenderHook):
        def process_renderables(self, renderables: list[Any]) -> list[Any]:
            return [_Visible(renderable) for renderable in renderables]

    console = Console(highlight=False, markup=False, emoji=False, **options)
    console.push_render_hook(ShowEscapes())
    return console


class _Visible:
    """A Rich renderable with its control characters replaced."""

    def __init__(self, renderable: RenderableType) -> None:
        self._renderable = renderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.segment import Segment

        for segment in console.render(self._renderable, options):
            if segment.control:  # rich itself wrote this segment to move the cursor
                yield segment
            else:
                yield Segment(visible(segment.text), segment.style)


def say(message: str) -> None:
    """Write a message to standard error as one line, without wrapping."""
    stderr().print(one_line(message), soft_wrap=True)


def note(message: str) -> None:
    """Write a line above the progress bar.

    While the bar is shown, ``sys.stderr`` is redirected to the bar's console.
    """
    sys.stderr.write(f"{visible(message)}\n")


def fail(message: str) -> None:
    """Write a one-line error message to standard error."""
    sys.stderr.write(f"error: {one_line(message)}\n")


def write_json(data: Any) -> None:
    """Write data to standard output as JSON, for use by other programs."""
    from paraqd.tables.writers import json_text

    sys.stdout.write(json_text(data, encoding=sys.stdout.encoding or "utf-8", indent=2) + "\n")


def is_debugging() -> bool:
    """Return True if unexpected errors should show a traceback."""
    return os.environ.get("PARAQD_DEBUG", "") not in ("", "0")


def named_rows(rows: Iterable[int]) -> str:
    """Return a phrase that names rows by number, with consecutive numbers as ranges.

    >>> named_rows([4, 5, 6, 9]), named_rows([4])
    ('rows 4–6, 9', 'row 4')
    """
    spans: list[list[int]] = []
    for row in rows:
        if spans and row == spans[-1][1] + 1:
            spans[-1][1] = row
        else:
            spans.append([row, row])
    ranges = ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in spans)
    return f"row {ranges}" if ranges.isdecimal() else f"rows {ranges}"


def rows_by_reason(skipped: Iterable[tuple[int, str]]) -> dict[str, list[int]]:
    """Group the numbers of skipped rows by the reason for skipping them.

    >>> rows_by_reason([(4, "blank"), (5, "not text"), (9, "blank")])
    {'blank': [4, 9], 'not text': [5]}
    """
    reasons: dict[str, list[int]] = {}
    for row, why in skipped:
        reasons.setdefault(why, []).append(row)
    return reasons


def listed_rows(skipped: Iterable[tuple[int, str] | tuple[int, str, str]]) -> str:
    """Return a phrase that lists the reasons for skipping rows, with the rows' numbers and, if they are few, their ids.

    >>> listed_rows([(4, "blank"), (5, "blank"), (9, "not text")])
    'blank: rows 4–5; not text: row 9'
    >>> listed_rows([(14, "blank question", "Q-103"), (15, "blank question", "")])
    'blank question: rows 14 (Q-103), 15'
    """
    rows = [(row, why, more[0] if more else "") for row, why, *more in skipped]
    with_ids = any(name for _, _, name in rows) and len(rows) <= _IDS
    listed = []
    for why, numbers in rows_by_reason((row, why) for row, why, _ in rows).items():
        named = named_rows(numbers)
        if with_ids:
            places = [(row, name) for row, reason, name in rows if reason == why]
            each = ", ".join(f"{row} ({_short(name)})" if name else str(row) for row, name in places)
            named = f"row {each}" if len(places) == 1 else f"rows {each}"
        listed.append(f"{why}: {named}")
    return "; ".join(listed)


def listed_error_rows(source: str, errors: int, error_rows: Sequence[tuple[str, int, str, str]]) -> str:
    """Return a phrase that lists rows with errors and the reasons, grouped by file if there are several files.

    ``errors`` is the number of all such rows, and ``error_rows`` contains up to a thousand of them: the file, the row's
    number, the reason, and the row's id.

    >>> listed_error_rows("in.csv", 1, [("in.csv", 4, "blank question", "")])
    'blank question: row 4'
    >>> listed_error_rows("in", 1, [("in/a.csv", 4, "blank question", "")])
    'in/a.csv: blank question: row 4'
    """
    by_file = [
        (file, listed_rows((row, why, name) for _, row, why, name in rows))
        for file, rows in groupby(error_rows, key=lambda place: place[0])
    ]
    more = errors - len(error_rows) if len(error_rows) >= _NAMED else 0
    rest = f"; and {counted(more, 'more row')}" if more else ""
    if [file for file, _ in by_file] == [source]:
        return by_file[0][1] + rest
    listed = [f"{file}: {rows}" for file, rows in by_file[:_FILES_NAMED]]
    if len(by_file) > _FILES_NAMED:
        listed.append(f"and in {counted(len(by_file) - _FILES_NAMED, 'more file')}")
    return "; ".join(listed) + rest


def _short(name: str) -> str:
    return name if len(name) <= 40 else name[:39] + "…"
