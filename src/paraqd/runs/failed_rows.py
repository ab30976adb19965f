"""Collect the rows of a run that could not be processed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from paraqd.runs.parts import Facts
from paraqd.runs.score_rows import NAMED_ROWS
from paraqd.tables.rows import LostRow, Row


class ErrorRow(NamedTuple):
    """A row that could not be processed: its file, its number as a spreadsheet shows it, the reason, and its own id."""

    file: str
    row: int
    why: str
    id: str = ""


@dataclass
class LostRows:
    """The rows of a piece that could not be read. ``damage`` says which row groups are damaged, and how."""

    number: int = 0
    damage: set[str] = field(default_factory=set)

    def add(self, rows: Iterable[Row]) -> None:
        """Count those of the rows that could not be read."""
        lost = [row for row in rows if isinstance(row, LostRow)]
        self.number += len(lost)
        self.damage |= {f"{row.why} ({row.reason})" for row in lost if row.reason}

    def to_dict(self) -> Facts:
        """Return the facts that `FailedRows` needs."""
        return {"lost": self.number, "damage": sorted(self.damage)}


@dataclass
class FailedRows:
    """The rows of all pieces that could not be processed.

    ``rows`` lists up to a thousand of them. ``damage`` contains one line for each row group that cannot be read.
    """

    rows: list[ErrorRow] = field(default_factory=list)
    damage: set[str] = field(default_factory=set)
    _sound: Counter[str] = field(default_factory=Counter)  # the number of readable rows in each file

    def include(self, file: str, facts: Facts) -> None:
        """Add the failed rows of a piece."""
        self._sound[file] += facts["rows"] + facts.get("empty_cells", 0) - facts.get("lost", 0)
        if len(self.damage) < NAMED_ROWS:
            self.damage |= {f"{file}, {line}" for line in facts.get("damage", ())}
        self.rows += [ErrorRow(file, *place) for place in facts["error_rows"][: NAMED_ROWS - len(self.rows)]]

    @property
    def unread(self) -> list[str]:
        """One line for each file in which no row can be read."""
        why = {line.partition(", row group")[0]: line for line in sorted(self.damage)}
        return [
            f"{file}: none of its rows can be read" + (f" ({why[file]})" if file in why else "")
            for file, rows in sorted(self._sound.items())
            if not rows
        ]
