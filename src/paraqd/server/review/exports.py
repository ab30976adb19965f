"""Write a project as a file: the user's columns first, then the verdicts, the decisions and what programs need."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from sqlalchemy import Connection, Row, and_, select

from paraqd.runs.score_rows import PARAPHRASE_COLUMN
from paraqd.server.review.columns import (
    DECISION_BY,
    FOR_PROGRAMS,
    KEY,
    NOTE_BY,
    TIME_BY,
    added_names,
)
from paraqd.server.review.database import Database
from paraqd.server.review.filters import decision_of
from paraqd.server.review.projects import find_project
from paraqd.server.review.tables import copies, pairs, sources, votes
from paraqd.server.review.times import iso
from paraqd.tables.excel import LONGEST_CELL
from paraqd.tables.writers import Dialect, open_writer

FORMATS = {
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl",
}
_AT_ONCE = 1000


def export_project(database: Database, project: str, path: Path, *, only: str | None = None) -> str:
    """Write a project to a file, whose ending determines the format, and return the project's name.

    Every row of the user's table that has a pair is written, even if pairs are equal. The CSV file has the delimiter
    and the decimal sign of the user's file, and opens in Excel.

    Parameters
    ----------
    only : str, optional
        Write only pairs with this status, such as ``accepted``.

    """
    with database.reading() as connection:
        row = find_project(connection, project)
        given = _given_votes(connection, project)
        users = json.loads(row.columns)
        reviewers = sorted({vote.reviewer for each in given.values() for vote in each})
        names = added_names(users, reviewers)
        schema = dict.fromkeys(users, object) | dict.fromkeys(names.values(), object)
        plain = path.suffix != ".jsonl"
        metadata = {"project": row.name, "signature": row.signature or "", "threshold": row.threshold}
        if row.low is not None:
            metadata["review"] = f"{row.low:g},{row.high:g}"
        dialect = Dialect(delimiter=row.delimiter, bom=True, decimal=row.decimal)
        with open_writer(path, schema, dialect=dialect, metadata=metadata) as writer:
            writer.write(_rows(connection, row, users, names, given, only, plain=plain, sheet=path.suffix == ".xlsx"))
        return str(row.name)


def _given_votes(connection: Connection, project: str) -> dict[int, list[Row[Any]]]:
    found: dict[int, list[Row[Any]]] = defaultdict(list)
    for vote in connection.execute(select(votes).where(votes.c.project == project)):
        found[vote.n].append(vote)
    return found


def _rows(
    connection: Connection,
    project: Row[Any],
    users: Sequence[str],
    names: Mapping[str, str],
    given: Mapping[int, Sequence[Row[Any]]],
    only: str | None,
    *,
    plain: bool,
    sheet: bool,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of the file. If ``plain`` is True, lists become texts."""
    pair = and_(pairs.c.project == copies.c.project, pairs.c.n == copies.c.n)
    source = and_(sources.c.project == copies.c.project, sources.c.number == copies.c.source)
    query = (
        select(
            copies.c.position,
            copies.c.paraphrase_column,
            sources.c.data,
            pairs.c.n,
            pairs.c.key,
            pairs.c.score,
            pairs.c.evidence,
            pairs.c.warnings,
            pairs.c.error,
            pairs.c.status,
            decision_of(project).label("decision"),
        )
        .select_from(copies.join(pairs, pair).join(sources, source))
        .where(copies.c.project == project.id)
        .order_by(copies.c.position)
    )
    if only:
        query = query.where(pairs.c.status == only)
    for each in connection.execute(query.execution_options(yield_per=_AT_ONCE)):
        data = json.loads(each.data)
        made = {name: _cell(data.get(name), plain) for name in users}
        added = _added(project, cast("Row[Any]", each), given.get(each.n, ()), plain=plain)
        if sheet:  # a cell of a sheet has a limit, and these columns are for programs
            too_long = [name for name in FOR_PROGRAMS if len(str(added[name] or "")) > LONGEST_CELL]
            added.update(dict.fromkeys(too_long))
        yield made | {names[name]: value for name, value in added.items()}


def _cell(value: Any, plain: bool) -> Any:
    if plain and isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return value


def _added(project: Row[Any], each: Row[Any], given: Sequence[Row[Any]], *, plain: bool) -> dict[str, Any]:
    evidence, warnings = json.loads(each.evidence or "[]"), json.loads(each.warnings or "[]")
    found: dict[str, Any] = {
        PARAPHRASE_COLUMN: each.paraphrase_column,
        "score": None if each.score is None else round(each.score, 6),
        "valid": None if each.score is None else each.score > project.threshold,
        "decision": None if each.decision == "error" else each.decision,
        "why": " ".join([*(piece["message"] for piece in evidence), *warnings]),
        "status": each.status,
    }
    for vote in given:
        found[DECISION_BY + vote.reviewer] = None if vote.decision == "none" else vote.decision
        found[NOTE_BY + vote.reviewer] = vote.note
        found[TIME_BY + vote.reviewer] = iso(vote.at)
    found |= {
        "evidence": _cell(evidence, plain),
        "warnings": _cell(warnings, plain),
        "error": each.error,
        "signature": project.signature if each.score is not None else None,
        KEY: each.key,
    }
    return found
