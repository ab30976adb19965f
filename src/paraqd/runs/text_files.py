"""Text files looked through once: their rows are counted, and what their columns hold is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from paraqd.data.formats import DamagedError, Format
from paraqd.data.rows import LostRow
from paraqd.data.tables import Table, open_table
from paraqd.runs.column_types import Held

_TOLD = 4096  # rows between two calls


@dataclass
class Read:
    """What a file holds: its rows, those of them that can be read, its columns, and what is wrong behind the last row.

    ``held`` is known of JSON lines alone: in CSV everything is text.
    """

    rows: int = 0
    sound: int = 0
    held: dict[str, Held] = field(default_factory=dict)
    damage: DamagedError | None = None

    @property
    def gained(self) -> str:
        """Which rows can be had in spite of the damage."""
        return (
            "the other rows" if self.damage is not None and self.damage.row else f"the {self.rows:,} rows before that"
        )


def read_through(table: Table, on_rows: Callable[[int], None] | None = None) -> Read:
    """Read every row of a CSV or JSONL file, as far as that can be done."""
    read = Read(held={name: Held() for name in table.columns})
    jsonl = table.kind.format is Format.JSONL
    try:
        for row in table.rows():
            read.rows += 1
            read.sound += not isinstance(row, LostRow)
            if jsonl:
                for name, value in row.items():
                    read.held.setdefault(name, Held()).add(value)
            if on_rows is not None and read.rows % _TOLD == 0:
                on_rows(read.rows)
    except DamagedError as error:
        read.damage = error
    return read


def offered(read: Read) -> str:
    """Say what is wrong with a file, and what can be done about it.

    >>> offered(Read(rows=5, damage=DamagedError("in.csv is cut off")))
    'in.csv is cut off; to score the 5 rows before that, give --keep-going'
    """
    return f"{read.damage}; to score {read.gained}, give --keep-going"


def has_more(table: Table, read: Read) -> bool:
    """Tell whether some rows of a damaged file can be had: those before the damage, or those behind a broken line."""
    if read.rows:
        return True
    broken_line = read.damage is not None and read.damage.row
    return bool(broken_line) and read_through(replace(table, lenient=True)).sound > 0


def open_past_first_line(source: str | Path, *, encoding: str | None, lenient: bool) -> Table:
    """Open a file so that a first line that cannot be read is found when the rows are read, as any other is."""
    return replace(open_table(source, encoding=encoding, lenient=True), lenient=lenient)
