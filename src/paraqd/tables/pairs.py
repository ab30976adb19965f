"""Read labelled pairs from a file and check them for errors."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraqd.tables.labels import ALSO_READ, binary_label
from paraqd.tables.numbers import read_number
from paraqd.tables.rows import numbered
from paraqd.tables.table import DEFAULT_COLUMNS, Columns, Row, TableError, open_table, row_id, shorten, text_in

OPERATOR_COLUMN = "operator"

_SHOWN = 60  # the number of characters of a value that a message shows
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]{0,3},[0-9]+")


@dataclass(frozen=True)
class Pair:
    """A question, a paraphrase, and a label that is 1 (valid), 0 (invalid) or None (unknown).

    ``row`` is the pair's row number as a spreadsheet shows it, or its line in a JSONL file. Pairs with the same
    ``group`` are not independent; for example, their questions may be rewordings of the same problem.
    """

    id: str
    question: str
    paraphrase: str
    label: int | None
    operator: str = ""
    score: float | None = None
    row: int = 0
    group: str = ""


def read_pairs(
    source: str | Path,
    *,
    columns: Columns = DEFAULT_COLUMNS,
    encoding: str | None = None,
    labelled: bool = True,
    score_column: str = "score",
    scored: bool = False,
    contradictions: bool = False,
    operator_column: str = OPERATOR_COLUMN,
    group_column: str | None = None,
) -> list[Pair]:
    """Read all pairs from a file.

    Parameters
    ----------
    source : str or Path
        A CSV, TSV, JSONL or Parquet file with columns for the question and the paraphrase, and optionally for the
        label, the id, the operator and the score. ``-`` means standard input, which must be JSONL.
    columns, encoding
        The column names, and the encoding of a text file that is not UTF-8.
    labelled : bool
        Require a label for every pair. If False, labels can be blank, and the label column can be missing.
    score_column : str
        The name of the score column. If the column exists, it must have a finite number in every row.
    scored : bool
        Require the score column.
    contradictions : bool
        Allow a pair to appear twice with different labels, as in a published test set that must not be changed.
    operator_column, group_column : str
        The columns from which ``operator`` and ``group`` are read, if the columns exist.

    Returns
    -------
    list of Pair
        The pairs in the order of the file. All pairs of a question can have the same id.

    Raises
    ------
    TableError
        If the file has no rows, a label is not 0 or 1, a score is not a finite number, a question is blank or not a
        string, an id belongs to two different questions, or a pair appears twice with different labels.

    """
    table = open_table(source, encoding=encoding)
    table.require(columns, ("question", "paraphrase", "label") if labelled else ("question", "paraphrase"))
    if scored:
        table.need("score", score_column, columns)
    wanted = [columns.question, columns.paraphrase, columns.label, columns.id, operator_column, score_column]
    wanted += [] if group_column is None else [group_column]
    has_scores = score_column in table.columns
    pairs = []
    for number, row in numbered(table.rows(wanted)):
        where = f"{table.name}, row {number}"
        pairs.append(
            Pair(
                row=number,
                **_texts(row, columns, where),
                label=_label(row.get(columns.label), columns.label, where, needed=labelled),
                operator=str(row.get(operator_column) or ""),
                score=_score(row.get(score_column), score_column, where, table.dialect.decimal) if has_scores else None,
                group="" if group_column is None else str(row.get(group_column) or ""),
            )
        )
    if not pairs:
        raise TableError(f"{table.name} has no rows; pass a file with at least one pair")
    _check_ids(pairs, table.name)
    if not contradictions:
        _check_labels(pairs, table.name)
    return pairs


def both_classes(pairs: Sequence[Pair], source: str | Path) -> None:
    """Raise a TableError unless there are both valid and invalid pairs.

    >>> both_classes([Pair("a", "How many?", "How much?", 1)], "pairs.csv")
    Traceback (most recent call last):
    paraqd.tables.formats.TableError: pairs.csv has only valid pairs; both labels, 1 and 0, are needed
    """
    labels = {pair.label for pair in pairs}
    if {0, 1} <= labels:
        return
    if labels <= {None}:
        raise TableError(f"{source} has no labelled pairs; both labels, 1 and 0, are needed")
    only = "valid" if 1 in labels else "invalid"
    raise TableError(f"{source} has only {only} pairs; both labels, 1 and 0, are needed")


def _texts(row: Row, columns: Columns, where: str) -> dict[str, str]:
    question = text_in(row, "question", where, column=columns.question)
    # a blank paraphrase is not an error but an invalid paraphrase
    paraphrase = text_in(row, "paraphrase", where, column=columns.paraphrase, allow_blank=True)
    return {"id": row_id(row, columns, question), "question": question, "paraphrase": paraphrase}


def _label(value: Any, column: str, where: str, *, needed: bool) -> int | None:
    try:
        found = binary_label(value)
    except ValueError:
        raise TableError(
            f"{where}: {column!r} is {_shown(value)}; a label must be 1 (valid) or 0 (invalid); {ALSO_READ}"
        ) from None
    if found is None and needed:
        raise TableError(f"{where}: {column!r} is blank; fill in 1 (valid) or 0 (invalid), or remove the row")
    return found


def _score(value: Any, column: str, where: str, decimal: str) -> float:
    try:
        score = read_number(value, decimal)
    except ValueError:
        if value is None or not str(value).strip():
            raise TableError(f"{where}: {column!r} is blank; fill in the score, or remove the row") from None
        raise TableError(
            f"{where}: {column!r} is {_shown(value)}, which is not a number{_with_a_point(value)}"
        ) from None
    if not math.isfinite(score):
        raise TableError(f"{where}: {column!r} is {_shown(value)}; a score must be a finite number")
    return score


def _with_a_point(value: Any) -> str:
    """Return advice for a number with a decimal comma, or an empty string for other values.

    >>> _with_a_point("0,8373")
    '; write it with a decimal point: 0.8373'
    """
    text = str(value).strip()
    return f"; write it with a decimal point: {text.replace(',', '.')}" if _DECIMAL_COMMA.fullmatch(text) else ""


def _shown(value: Any) -> str:
    return shorten(repr(value) if isinstance(value, str) else str(value), _SHOWN)


def _check_ids(pairs: Sequence[Pair], name: str) -> None:
    first: dict[str, Pair] = {}
    for pair in pairs:
        known = first.setdefault(pair.id, pair)
        if known.question != pair.question:
            raise TableError(
                f"{name}: the id {_shown(pair.id)} belongs to two different questions, in rows {known.row} and "
                f"{pair.row}; give each question its own id, or remove the ids"
            )


def _check_labels(pairs: Sequence[Pair], name: str) -> None:
    first: dict[tuple[str, str], Pair] = {}
    for pair in pairs:
        if pair.label is None:
            continue
        known = first.setdefault((pair.question, pair.paraphrase), pair)
        if known.label != pair.label:
            raise TableError(
                f"{name}: rows {known.row} and {pair.row} have the same pair with the labels {known.label} and "
                f"{pair.label}; remove the wrong row"
            )
