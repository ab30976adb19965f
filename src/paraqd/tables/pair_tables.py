"""Find the pairs in tables that have one or several paraphrases in each row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from paraqd.parameters import named
from paraqd.tables.column_names import DEFAULT_COLUMNS, Columns, listed
from paraqd.tables.formats import TableError
from paraqd.tables.rows import LostRow, Row
from paraqd.tables.table import Table
from paraqd.text_check import is_blank, pair_problem

WIDE = ("score", "decision", "why")  # the endings of the columns that scoring adds beside each paraphrase


@dataclass(frozen=True)
class PairColumns:
    """The columns of a table that contain pairs, as the table spells them.

    Attributes
    ----------
    question, id : str
        The columns with the question and its id. The column with the id may be missing.
    paraphrases : tuple of str
        The columns with the paraphrases.
    several : bool
        True if each row can have several paraphrases, so that an empty cell is not an error.

    """

    question: str
    paraphrases: tuple[str, ...]
    id: str = DEFAULT_COLUMNS.id
    several: bool = False

    def filled(self, row: Row) -> list[str]:
        """Return the columns with a row's paraphrases, without empty cells if there are several paraphrases.

        For a row that could not be read, the only column is "".
        """
        if not self.several:
            return [self.paraphrases[0]]
        if isinstance(row, LostRow):
            return [""]
        return [column for column in self.paraphrases if not _is_empty(row.get(column))]

    def problem(self, row: Row, column: str) -> str:
        """Return the reason why a row's pair cannot be scored, or an empty string if it can be scored.

        A missing or blank paraphrase can be scored, unless the row is too short to have one.
        """
        if isinstance(row, LostRow):
            return row.why
        question, paraphrase = row.get(self.question), row.get(column)
        problem = pair_problem(question, "" if paraphrase is None else paraphrase)
        for name in [self.question, *([] if problem else [column])]:
            if row.get(name) is None and getattr(row, "short", False):
                return f"the row ends before the column {name!r}"
        return problem

    def id_of(self, row: Row) -> str:
        """Return a row's own id, or an empty string if it has none."""
        value = row.get(self.id)
        return "" if value is None else str(value).strip()


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str) and is_blank(value))


# --- columns --------------------------------------------------------------------------------------


def pair_columns(
    table: Table, columns: Columns, paraphrases: Sequence[str] = (), *, several: bool = False
) -> PairColumns:
    """Find the columns of a table that contain pairs, or raise a TableError if one is missing.

    ``paraphrases`` contains names, lists or patterns as in `match_columns` (default: the name in ``columns``). Case and
    surrounding spaces of names are ignored if the name is still unique. There can be several paraphrases in a row if
    ``several`` is True, or if ``paraphrases`` is anything but the name of one column.
    """
    given = tuple(paraphrases) or (columns.paraphrase,)
    question, own_id = table.written_as(columns.question), table.written_as(columns.id)
    used = Columns(question=question, paraphrase=given[0], label=columns.label, id=own_id)
    table.need("question", question, used)
    single = table.written_as(given[0])
    if len(given) == 1 and (single in table.columns or not ("," in single or "*" in single)):
        table.need("paraphrase", single, used)
        if single == question:
            raise TableError(f"the question and the paraphrase cannot both be the column {question!r}")
        return PairColumns(question, (single,), own_id, several)
    found: list[str] = []
    for name in given:
        matched = match_columns([name], table.columns, taken=(question, own_id))
        if not matched:
            _refuse(table, name, used)
        if question in matched:
            raise TableError(f"the question and the paraphrase cannot both be the column {question!r}")
        found += matched
    return PairColumns(question, tuple(dict.fromkeys(found)), own_id, several=True)


def _refuse(table: Table, name: str, used: Columns) -> None:
    """Raise the TableError for a name, list or pattern to which no column corresponds."""
    for part in _parts(name):
        if not match_columns([part], table.columns, taken=(used.question, used.id)):
            if "*" not in part:
                table.need("paraphrase", part, used)
            shown = listed(table.columns)
            raise TableError(
                f"{table.place} has no column for {named('paraphrase', part)} (it has: {shown}); name the columns with "
                "the paraphrases"
            )


def match_columns(patterns: Sequence[str], columns: Sequence[str], *, taken: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the columns that names, comma-separated lists of names, or patterns with a star denote.

    A column of exactly that name takes precedence, even if the name contains a comma or a star. Otherwise, case and
    surrounding spaces are ignored if the name is still unique. Patterns ignore case as well. A star does not stand for
    columns in ``taken``, nor for columns that scoring has added beside the paraphrases, such as ``V1_score``. If a part
    of a list denotes no column, nothing in the list does.

    >>> match_columns(["V*"], ["id", "V1", "V2", "V1_score"]), match_columns(["v2, V1"], ["V1", "V2"])
    (('V1', 'V2'), ('V2', 'V1'))
    >>> match_columns(["a,b"], ["a", "b", "a,b"]), match_columns(["x"], ["a"])
    (('a,b',), ())
    """
    found: list[str] = []
    for pattern in patterns:
        parts = [_matched(part, columns, taken) for part in _parts(pattern, columns)]
        if all(parts):
            found += [column for part in parts for column in part]
    return tuple(dict.fromkeys(found))


def _parts(pattern: str, columns: Sequence[str] = ()) -> list[str]:
    if "," not in pattern or _alike(pattern, columns):
        return [pattern]
    return [part for part in pattern.split(",") if part.strip()]


def _matched(part: str, columns: Sequence[str], taken: Sequence[str]) -> list[str]:
    if alike := _alike(part, columns):
        return [alike]
    if "*" not in part:
        return []
    pattern = re.compile(".*".join(map(re.escape, part.strip().split("*"))), re.DOTALL | re.IGNORECASE)
    added = {f"{column}_{ending}" for column in columns for ending in WIDE}
    free = [column for column in columns if column and column not in taken and column not in added]
    return [column for column in free if pattern.fullmatch(column)]


def _alike(name: str, columns: Sequence[str]) -> str:
    """Return the column of this name, or the only column that differs in case and spaces, or an empty string."""
    if name in columns:
        return name
    alike = [column for column in columns if column.strip().casefold() == name.strip().casefold()]
    return alike[0] if len(alike) == 1 else ""
