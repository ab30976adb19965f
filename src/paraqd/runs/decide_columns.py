"""Find the scores in scored files, and the columns that follow from them."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paraqd.runs.score_rows import DECISION, VERDICTS
from paraqd.tables.numbers import read_number
from paraqd.tables.table import Table

SCORE = "score"
ERROR = "error"  # the decision beside a paraphrase that could not be scored
# spreadsheet programs write true and false in the user's language
_TRUTHS = {
    **dict.fromkeys(("true", "wahr", "vrai", "verdadero", "vero"), "valid"),
    **dict.fromkeys(("false", "falsch", "faux", "falso"), "invalid"),
}


@dataclass(frozen=True)
class ScoreGroup:
    """The columns of one score: its own, and those that follow from it. ``wide`` is True for ``V1_score``."""

    score: str
    valid: str
    decision: str
    wide: bool = False

    @property
    def types(self) -> dict[str, type]:
        """The columns with their types."""
        return {self.score: float, self.valid: bool, self.decision: str}

    @property
    def words(self) -> dict[str, Collection[str]]:
        """The columns that follow from the score, with the words that they can contain."""
        return {self.valid: _TRUTHS.keys(), self.decision: (*VERDICTS, ERROR)}


def groups_in(table: Table, score_column: str = SCORE) -> tuple[ScoreGroup, ...]:
    """Return the columns of the scores in a table; raise a TableError if there is no column with scores."""
    names = set(table.columns)
    found = []
    if score_column in names:
        found.append(ScoreGroup(score_column, "valid", DECISION))
    for name in table.columns:
        stem = name.removesuffix(f"_{SCORE}")
        if stem != name and f"{stem}_{DECISION}" in names:
            found.append(ScoreGroup(name, f"{stem}_valid", f"{stem}_{DECISION}", wide=True))
    if not found:
        table.need(SCORE, score_column)
    return tuple(found)


def placed(names: Sequence[str], groups: Sequence[ScoreGroup], *, decided: bool) -> list[str]:
    """Return the names of the output columns: ``decision`` follows ``valid``, which follows ``score``.

    ``decided`` is True if a column ``decision`` is added where it is missing.
    A wide group has no column ``valid`` unless the input has one, and its decision stays where it is.
    """
    found = list(names)
    for group in groups:
        if group.wide:
            continue
        if group.valid not in found:
            found.insert(found.index(group.score) + 1, group.valid)
        if decided and group.decision not in found:
            found.insert(found.index(group.valid) + 1, group.decision)
    return found


def score_in(row: Mapping[str, Any], group: ScoreGroup) -> tuple[float | None, str]:
    """Return the score in a row, or None and the reason why it cannot be used.

    There is no reason if a wide group has no score because its cell has no paraphrase.

    >>> score_in({"score": "0,75"}, ScoreGroup("score", "valid", "decision"))
    (0.75, '')
    >>> score_in({"score": "high"}, ScoreGroup("score", "valid", "decision"))
    (None, "the score 'high' is not a number from -1 to 1")
    """
    value = row.get(group.score)
    text = "" if value is None else str(value).strip()
    if not text:
        if group.wide and str(row.get(group.decision) or "").strip().lower() != ERROR:
            return None, ""
        why = f"{group.score.removesuffix(SCORE)}why" if group.wide else "error"
        return None, " ".join(str(row.get(why) or "").split()) or "no score"
    try:
        score = read_number(text, ",")  # spreadsheets of many countries write a comma
    except ValueError:
        score = math.nan
    if isinstance(value, bool) or not -1 <= score <= 1:
        return None, f"the score {value!r} is not a number from -1 to 1"
    return score, ""


def evidence_in(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the evidence in a scored row; an empty list if there is none or it cannot be read."""
    value = row.get("evidence")
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return []
    return [each for each in found if isinstance(each, Mapping) and "kind" in each] if isinstance(found, list) else []


def decision_before(row: Mapping[str, Any], group: ScoreGroup) -> str:
    """Return the decision in a row before it is replaced, or "" if there is none."""
    given = str(row.get(group.decision) or "").strip().lower()
    if given in VERDICTS:
        return given
    valid = row.get(group.valid)
    return _TRUTHS.get("" if valid is None else str(valid).strip().lower(), "")
