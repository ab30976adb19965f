"""Read the pairs of a scored file for a report."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from paraqd.parameters import named
from paraqd.runs.score_rows import PARAPHRASE_COLUMN
from paraqd.tables.formats import EmptyError, TableError
from paraqd.tables.numbers import read_number
from paraqd.tables.rows import numbered
from paraqd.tables.table import Columns, LostRow, Row, Table, open_table

VALID, REVIEW, INVALID, ERROR = DECISIONS = ("valid", "review", "invalid", "error")
_WORDS = {"true": True, "false": False, "1": True, "0": False, "1.0": True, "0.0": False, "wahr": True, "falsch": False}
_THRESHOLD = re.compile(r"\|threshold:(-?[\d.]+)")
_BAND = re.compile(r"\|review:(-?[\d.]+),(-?[\d.]+)")


@dataclass(frozen=True)
class ReportPair:
    """A scored pair.

    ``row`` is the row's number in a spreadsheet or its line in a file without a header. ``decision`` is ``valid``,
    ``review``, ``invalid`` or, if the pair has no score, ``error``. ``evidence`` is as in the file. ``column`` is the
    column of the paraphrase in files with several.
    """

    row: int
    question: str
    paraphrase: str
    score: float | None
    decision: str
    evidence: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
    error: str = ""
    id: str = ""
    column: str = ""


@dataclass(frozen=True)
class ScoredPairs:
    """The pairs of a scored file, with what their signatures say.

    ``threshold`` and ``band`` are None if the rows do not agree on one, or do not name one.
    """

    name: str
    date: str
    pairs: tuple[ReportPair, ...]
    signatures: Mapping[str, int] = field(default_factory=dict)
    threshold: float | None = None
    band: tuple[float, float] | None = None


def read_scored_pairs(
    scored: str | Path, columns: Columns, *, threshold: float | None, most: int, encoding: str | None = None
) -> ScoredPairs:
    """Read a scored file.

    ``threshold`` decides about rows of files with neither a column ``decision`` nor a column ``valid``. A file without
    rows has no pairs. Raise a TableError if the file is not a scored file, or has more than ``most`` pairs.
    """
    path = Path(scored)
    try:
        table = open_table(scored, encoding=encoding)
    except EmptyError:
        return ScoredPairs(path.name, _date(path), (), threshold=threshold)
    question, paraphrase, identity = (
        table.written_as(name) for name in (columns.question, columns.paraphrase, columns.id)
    )
    _check(table, question, paraphrase)
    names = Columns(question=question, paraphrase=paraphrase, id=identity)
    signatures: Counter[str] = Counter()
    pairs: list[ReportPair] = []
    for row, record in numbered(table.rows()):
        if len(pairs) == most:
            raise TableError(
                f"{table.name} has more than {most:,} pairs, too many for a browser: score with "
                f"{named('only', 'invalid')}, or divide the file"
            )
        signature = _text(record.get("signature"))
        signatures[signature] += 1
        where = f"{table.name}, row {row}"
        pairs.append(_pair(row, record, names, where, _decided(table, record, signature, threshold, where)))
    given = {_number(found[1]) for each in signatures if (found := _THRESHOLD.search(each))}
    bands = {(float(found[1]), float(found[2])) for each in signatures if (found := _BAND.search(each))}
    if threshold is None and len(given) == 1:
        threshold = given.pop()
    band = bands.pop() if len(bands) == 1 else None
    return ScoredPairs(path.name, _date(path), tuple(pairs), dict(signatures.most_common()), threshold, band)


def _check(table: Table, question: str, paraphrase: str) -> None:
    table.need("question", question)
    if paraphrase not in table.columns and PARAPHRASE_COLUMN not in table.columns:
        table.need("paraphrase", paraphrase)
    if "score" not in table.columns:
        wide = [name for name in table.columns if name.endswith("_score")]
        if wide:
            raise TableError(
                f"{table.name} has several scores in a row ({', '.join(wide[:3])}): a report needs one row for each "
                f"pair; score the file without {named('wide')}"
            )
        raise TableError(f"{table.name} has no column 'score': score it first with paraqd score, and pass the output")


def _date(path: Path) -> str:
    """Return the day of the last change of a file, such as ``3 May 2025``."""
    day = date.fromtimestamp(path.stat().st_mtime)
    return f"{day.day} {day:%B %Y}"


def _pair(row: int, record: Row, columns: Columns, where: str, decided: tuple[float | None, str, str]) -> ReportPair:
    score, decision, error = decided
    column = _text(record.get(PARAPHRASE_COLUMN))
    paraphrase = record.get(column if column in record else columns.paraphrase)
    return ReportPair(
        row=row,
        question=_text(record.get(columns.question)),
        paraphrase=_text(paraphrase),
        score=score,
        decision=decision,
        evidence=tuple(_evidence(record.get("evidence"), where)),
        warnings=tuple(map(_text, _list(record.get("warnings"), "warnings", where))),
        error=error,
        id=_text(record.get(columns.id)).strip(),
        column=column,
    )


def _decided(
    table: Table, row: Row, signature: str, threshold: float | None, where: str
) -> tuple[float | None, str, str]:
    """Return the score, the decision and the error of a row."""
    if isinstance(row, LostRow):
        return None, ERROR, row.why
    score = _number(row.get("score"), where)
    if (error := _text(row.get("error")).strip()) or score is None:
        return None, ERROR, error or "the row has no score"
    if decision := _text(row.get("decision")).strip().casefold():
        if decision not in (VALID, REVIEW, INVALID):
            raise TableError(
                f"{where}: the decision {decision!r} is none of valid, invalid and review; correct the row"
            )
        return score, decision, ""
    if "valid" in table.columns:
        value = row.get("valid")
        valid = _WORDS.get(_text(value).strip().casefold())
        if valid is None:
            raise TableError(f"{where}: valid is {_text(value)!r}, not true or false; correct the row")
        return score, VALID if valid else INVALID, ""
    found = _THRESHOLD.search(signature)
    limit = threshold if threshold is not None else _number(found[1]) if found else None
    if limit is None:
        raise TableError(f"{where}: there is neither a verdict nor a threshold; pass {named('threshold', 0.5)}")
    return score, VALID if score > limit else INVALID, ""


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _number(value: object, where: str = "") -> float | None:
    """Return a number, which may have a decimal comma; None if the value is blank.

    >>> _number("0,25"), _number(" "), _number(1)
    (0.25, None, 1.0)
    """
    text = _text(value).strip()
    if not text:
        return None
    try:
        number = read_number(text, ",")
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise TableError(f"{where}: the score {text!r} is not a number; correct the row")
    return number


def _list(value: object, name: str, where: str) -> list[Any]:
    """Return a list from JSON text or from a column of lists."""
    if isinstance(value, str) and value.strip():
        try:
            value = json.loads(value)
        except ValueError:
            value = name
    if value is None or value == "":
        return []
    if isinstance(value, tuple):
        value = list(value)
    if not isinstance(value, list):
        raise TableError(f"{where}: the column {name!r} is not a JSON list; score the file again")
    return value


def _evidence(value: object, where: str) -> Iterator[dict[str, Any]]:
    for piece in _list(value, "evidence", where):
        try:
            yield {
                "kind": str(piece["kind"]),
                "question_spans": [[int(start), int(end)] for start, end in piece.get("question_spans") or ()],
                "paraphrase_spans": [[int(start), int(end)] for start, end in piece.get("paraphrase_spans") or ()],
                "message": _text(piece.get("message")),
                "delta": float(piece.get("delta") or 0.0),
            }
        except (AttributeError, KeyError, TypeError, ValueError):
            raise TableError(
                f"{where}: the column 'evidence' is not as paraqd writes it; score the file again"
            ) from None
