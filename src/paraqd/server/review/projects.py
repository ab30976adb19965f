"""Create, list, change and delete projects."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, select, update

from paraqd.server.review.database import Database
from paraqd.server.review.errors import BadRequest, NotFound
from paraqd.server.review.filters import decision_of, folded
from paraqd.server.review.tables import copies, pairs, projects, sources, steps
from paraqd.server.review.times import iso, now

LOADING, SCORING, READY, FAILED = "loading", "scoring", "ready", "failed"
_CHUNK = 1000  # source rows in a transaction, so that other writers never wait long
_ABANDONED = 3600.0  # seconds after which an unfinished upload is removed


@dataclass(frozen=True)
class NewVote:
    """A vote that an uploaded file contains."""

    reviewer: str
    decision: str
    note: str = ""
    at: float | None = None


# the votes in a file, by pair and reviewer: every row that has the pair brings its number and its vote
GivenVotes = Mapping[tuple[int, str], Sequence[tuple[int, NewVote]]]


@dataclass(frozen=True)
class NewPair:
    """A pair in a row of the user's table. ``problem`` says why it cannot be scored; it is empty if it can."""

    question: str
    paraphrase: str
    id: str = ""
    column: str = ""
    problem: str = ""
    votes: tuple[NewVote, ...] = ()
    key: str = ""  # the key in an exported file


@dataclass(frozen=True)
class SourceRow:
    """A row of the user's table. ``line`` is its row in the sheet, and ``empty`` counts cells without paraphrase."""

    line: int
    data: Mapping[str, Any]
    pairs: tuple[NewPair, ...]
    empty: int = 0


@dataclass(frozen=True)
class NewProject:
    """The settings of a new project."""

    name: str
    threshold: float
    band: tuple[float, float] | None = None
    votes_needed: int = 1
    columns: tuple[str, ...] = ()
    paraphrase_columns: tuple[str, ...] = ()
    delimiter: str = ","
    decimal: str = "."


def pair_key(question: str, paraphrase: str) -> str:
    """Return the key of a pair: pairs with equal texts have equal keys. Surrounding spaces do not count.

    >>> pair_key("How many?", "How many? ") == pair_key("How many?", "How many?")
    True
    """
    return hashlib.sha256(f"{question.strip()}\0{paraphrase.strip()}".encode("utf-8", "replace")).hexdigest()[:16]


def clean_name(name: str) -> str:
    r"""Return the name of a project on one line, with a space for every character that cannot be shown.

    >>> clean_name(" Unit 3\n\x08(new) ")
    'Unit 3 (new)'
    """
    return " ".join("".join(each if each.isprintable() else " " for each in name).split())[:200]


@dataclass
class _Folding:
    """What is known about the pairs that have been stored so far."""

    numbers: dict[str, int] = field(default_factory=dict)
    counts: Counter[int] = field(default_factory=Counter)
    ids: dict[int, list[str]] = field(default_factory=dict)
    votes: dict[tuple[int, str], list[tuple[int, NewVote]]] = field(default_factory=dict)
    sources: int = 0
    copies: int = 0
    empty: int = 0


def create_project(database: Database, new: NewProject, rows: Iterable[SourceRow], reviewer: str = "") -> str:
    """Store a project with its pairs and with the votes that the rows bring along, and return its id.

    Equal pairs are folded into one. The project becomes visible when everything is stored. The votes are one step of
    the reviewer.

    Raises
    ------
    BadRequest
        If no row has a pair, or if rows with equal pairs bring different votes.

    """
    project = secrets.token_hex(6)
    values = {
        "id": project,
        "name": new.name,
        "created": now(),
        "state": LOADING,
        "total": 0,
        "rows": 0,
        "empty": 0,
        "threshold": new.threshold,
        "low": new.band[0] if new.band else None,
        "high": new.band[1] if new.band else None,
        "votes_needed": new.votes_needed,
        "columns": json.dumps(new.columns),
        "paraphrase_columns": json.dumps(new.paraphrase_columns),
        "delimiter": new.delimiter,
        "decimal": new.decimal,
    }
    database.write(lambda connection: connection.execute(projects.insert().values(values)))
    try:
        folding = _Folding()
        for chunk in _chunks(rows):
            stored = _prepared(project, chunk, folding)
            database.write(lambda connection, stored=stored: _store(connection, stored))  # type: ignore[misc]
        if not folding.numbers:
            raise BadRequest("There is no pair to score: every paraphrase is empty.")
        database.write(lambda connection: _finish(connection, project, folding, reviewer))
    except BaseException:
        database.write(lambda connection: connection.execute(delete(projects).where(projects.c.id == project)))
        raise
    return project


def _chunks(rows: Iterable[SourceRow]) -> Iterator[list[SourceRow]]:
    iterator = iter(rows)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk


def _prepared(project: str, rows: Sequence[SourceRow], folding: _Folding) -> dict[str, list[dict[str, Any]]]:
    """Return the rows to insert into each table. They are computed once, even if the transaction is repeated."""
    made: dict[str, list[dict[str, Any]]] = {"sources": [], "pairs": [], "copies": []}
    for row in rows:
        folding.sources += 1
        folding.empty += row.empty
        made["sources"].append(
            {"project": project, "number": folding.sources, "line": row.line, "data": json.dumps(dict(row.data))}
        )
        for pair in row.pairs:
            key = pair_key(pair.question, pair.paraphrase)
            n = folding.numbers.get(key)
            if n is None:
                n = folding.numbers[key] = len(folding.numbers) + 1
                made["pairs"].append(new_pair(project, n, key, pair, row.line))
            elif pair.id:
                folding.ids.setdefault(n, []).append(pair.id)
            folding.counts[n] += 1
            folding.copies += 1
            for vote in pair.votes:
                folding.votes.setdefault((n, vote.reviewer), []).append((row.line, vote))
            made["copies"].append(
                {
                    "project": project,
                    "position": folding.copies,
                    "n": n,
                    "source": folding.sources,
                    "paraphrase_column": pair.column,
                }
            )
    return made


def new_pair(project: str, n: int, key: str, pair: NewPair, line: int) -> dict[str, Any]:
    """Return the row of a pair that is neither scored nor decided."""
    return {
        "project": project,
        "n": n,
        "key": key,
        "id": pair.id,
        "line": line,
        "copies": 1,
        "paraphrase_column": pair.column,
        "question": pair.question,
        "paraphrase": pair.paraphrase,
        "search": folded(f"{pair.question}\n{pair.paraphrase}\n{pair.id}"),
        "error": pair.problem or None,
        "faults": "",
        "status": "open",
    }


def _store(connection: Connection, made: Mapping[str, Sequence[dict[str, Any]]]) -> None:
    for table in (sources, pairs, copies):
        if made[table.name]:
            connection.execute(table.insert(), made[table.name])


def _finish(connection: Connection, project: str, folding: _Folding, reviewer: str) -> None:
    """Store the votes and the counts, which are known only after the last row, and make the project visible."""
    from paraqd.server.review.decisions import record_votes

    changed = [
        {"at": n, "count": count, "ids": "".join(f"\n{folded(each)}" for each in folding.ids.get(n, []))}
        for n, count in folding.counts.items()
        if count > 1
    ]
    if changed:
        connection.execute(
            update(pairs)
            .where(pairs.c.project == project, pairs.c.n == bindparam("at"))
            .values(copies=bindparam("count"), search=pairs.c.search + bindparam("ids")),
            changed,
        )
    values = {"state": SCORING, "total": len(folding.numbers), "rows": folding.copies, "empty": folding.empty}
    connection.execute(update(projects).where(projects.c.id == project).values(values))
    if folding.votes:
        record_votes(connection, find_project(connection, project), reviewer, folding.votes)


def find_project(connection: Connection, project: str, *, lock: bool = False) -> Row[Any]:
    """Return the row of a project. If ``lock`` is True, other writers of the project wait for this transaction.

    Raises
    ------
    NotFound
        If there is no such project.

    """
    query = select(projects).where(projects.c.id == project, projects.c.state != LOADING)
    found = connection.execute(query.with_for_update() if lock else query).one_or_none()
    if found is None:
        raise NotFound("There is no project with this id. It may have been deleted.")
    return found


def project_data(connection: Connection, row: Row[Any], reviewer: str = "") -> dict[str, Any]:
    """Return a project as the interface shows it."""
    decision = decision_of(row).label("decision")
    query = select(decision, pairs.c.status, func.count()).where(pairs.c.project == row.id)
    counts = dict.fromkeys(("valid", "invalid", "review", "error"), 0)
    status = dict.fromkeys(("open", "accepted", "rejected", "disputed"), 0)
    scored = 0
    for verdict, state, count in connection.execute(query.group_by(decision, pairs.c.status)):
        status[state] += count
        if verdict is not None:
            counts[verdict] += count
            scored += count
    return {
        "id": row.id,
        "name": row.name,
        "created": iso(row.created),
        "state": row.state,
        "error": row.error,
        "total": row.total,
        "scored": scored,
        "rows": row.rows,
        "empty": row.empty,
        "threshold": row.threshold,
        "review": None if row.low is None else [row.low, row.high],
        "votes_needed": row.votes_needed,
        "signature": row.signature,
        "counts": counts,
        "status": status,
        **step_counts(connection, row.id, reviewer),
        "paraphrase_columns": json.loads(row.paraphrase_columns),
    }


def step_counts(connection: Connection, project: str, reviewer: str) -> dict[str, int]:
    """Return how many steps a reviewer can undo and redo."""
    query = select(steps.c.state, func.count()).where(steps.c.project == project, steps.c.reviewer == reviewer)
    found = {row[0]: int(row[1]) for row in connection.execute(query.group_by(steps.c.state))}
    return {"undo": found.get("done", 0), "redo": found.get("undone", 0)}


def get_project(database: Database, project: str, reviewer: str = "") -> dict[str, Any]:
    """Return a project."""
    with database.reading() as connection:
        return project_data(connection, find_project(connection, project), reviewer)


def list_projects(database: Database, reviewer: str = "") -> list[dict[str, Any]]:
    """Return all projects, newest first."""
    with database.reading() as connection:
        query = select(projects).where(projects.c.state != LOADING).order_by(projects.c.created.desc(), projects.c.id)
        return [project_data(connection, row, reviewer) for row in connection.execute(query).all()]


def change_project(database: Database, project: str, changes: Mapping[str, Any], reviewer: str = "") -> dict[str, Any]:
    """Change the name, the threshold, the band (``low`` and ``high``) or the number of votes, and return the project.

    The votes stay as they are. If another number of votes is needed, the status of every pair is derived again.
    """
    from paraqd.server.review.decisions import refresh_status

    def work(connection: Connection) -> dict[str, Any]:
        row = find_project(connection, project, lock=True)
        if changes:
            connection.execute(update(projects).where(projects.c.id == project).values(**changes))
        if changes.get("votes_needed", row.votes_needed) != row.votes_needed:
            refresh_status(connection, project, changes["votes_needed"])
        return project_data(connection, find_project(connection, project), reviewer)

    return database.write(work)


def delete_project(database: Database, project: str) -> None:
    """Delete a project with all its pairs, votes and events."""

    def work(connection: Connection) -> None:
        find_project(connection, project, lock=True)
        connection.execute(delete(projects).where(projects.c.id == project))

    database.write(work)


def remove_abandoned(database: Database) -> None:
    """Remove projects whose upload was never finished, because the server was stopped."""
    old = (projects.c.state == LOADING) & (projects.c.created < now() - _ABANDONED)
    database.write(lambda connection: connection.execute(delete(projects).where(old)))
