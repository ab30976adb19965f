"""Add a paraphrase to a project: a pair with the question of another pair."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, func, select, update

from paraqd.server.errors import TooLarge
from paraqd.server.review.database import Database
from paraqd.server.review.decisions import record_decision
from paraqd.server.review.new_projects import MOST_PAIRS
from paraqd.server.review.pairs import one_pair
from paraqd.server.review.projects import READY, SCORING, NewPair, find_project, new_pair, pair_key, step_counts
from paraqd.server.review.tables import copies, pairs, projects, sources
from paraqd.text_check import pair_problem


def add_paraphrase(
    database: Database, project: str, reviewer: str, n: int, paraphrase: str, *, most: int = MOST_PAIRS
) -> dict[str, Any]:
    """Add a paraphrase of the question of the pair ``n``, and accept it in the reviewer's name, as one step.

    If the project already has the pair, nothing changes, so a request whose answer was lost can be sent again. The new
    pair is scored in the background. Return the pair, whether it is new, and the numbers of steps.

    Raises
    ------
    NotFound
        If there is no such project or pair.
    TooLarge
        If the project has as many pairs as a project can have.

    """

    def work(connection: Connection) -> dict[str, Any]:
        row = find_project(connection, project, lock=True)
        first = one_pair(connection, row, n, reviewer)  # raises NotFound
        key = pair_key(first["question"], paraphrase)
        same = select(pairs.c.n).where(pairs.c.project == project, pairs.c.key == key)
        number = connection.execute(same).scalar()
        is_new = number is None
        if number is None:
            if row.total >= most:
                raise TooLarge(f"A project can have {most:,} pairs, and this one has them all.")
            number = _insert(connection, row, n, key, paraphrase)
            record_decision(connection, row, reviewer, number, "accept")
        shown = one_pair(connection, row, number, reviewer)
        return {"pair": shown, "new": is_new, **step_counts(connection, project, reviewer)}

    return database.write(work)


def _insert(connection: Connection, project: Row[Any], n: int, key: str, paraphrase: str) -> int:
    """Store the pair as one more row of the user's table, and have it scored. Return its number."""
    of = pairs.c.project == project.id
    first = connection.execute(select(pairs).where(of, pairs.c.n == n)).one()
    copy = select(copies.c.source).where(copies.c.project == project.id, copies.c.n == n)
    source = connection.execute(copy.order_by(copies.c.position).limit(1)).scalar_one()
    given = select(sources.c.data).where(sources.c.project == project.id, sources.c.number == source)
    data = json.loads(connection.execute(given).scalar_one())
    number = int(project.total) + 1  # the pairs are numbered without gaps
    last = select(func.max(sources.c.number), func.max(sources.c.line)).where(sources.c.project == project.id)
    row, line = (highest + 1 for highest in connection.execute(last).one())
    place = select(func.max(copies.c.position)).where(copies.c.project == project.id)
    kept = _cells(data, first.question, first.id) | {first.paraphrase_column: paraphrase}
    problem = pair_problem(first.question, paraphrase)
    pair = NewPair(first.question, paraphrase, first.id, first.paraphrase_column, problem)
    connection.execute(sources.insert().values(project=project.id, number=row, line=line, data=json.dumps(kept)))
    connection.execute(pairs.insert().values(new_pair(project.id, number, key, pair, line)))
    connection.execute(
        copies.insert().values(
            project=project.id,
            position=connection.execute(place).scalar_one() + 1,
            n=number,
            source=row,
            paraphrase_column=first.paraphrase_column,
        )
    )
    values = {"total": number, "rows": project.rows + 1, "state": SCORING if project.state == READY else project.state}
    connection.execute(update(projects).where(projects.c.id == project.id).values(values))
    return number


def _cells(data: Mapping[str, Any], question: str, identity: str) -> dict[str, Any]:
    """Return the cells with the question and the id.

    The others stay empty: they may describe the other paraphrase, such as its author or its mark.

    >>> _cells({"Nr": 7, "Text": "How many?", "V1": "How much?", "Mark": "good"}, "How many?", "7")
    {'Text': 'How many?', 'Nr': 7}
    """
    kept = {}
    for text in (question.strip(), identity):
        name = next((name for name, value in data.items() if text and str(value).strip() == text), None)
        if name is not None:
            kept[name] = data[name]
    return kept
