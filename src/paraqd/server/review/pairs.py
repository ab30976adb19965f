"""Find pairs, and claim them for a reviewer."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, func, not_, or_, select, update

from paraqd.server.review.database import Database
from paraqd.server.review.errors import NotFound
from paraqd.server.review.filters import Filter, behind, decision_of, matching, ordering, sort_key, voted
from paraqd.server.review.projects import find_project
from paraqd.server.review.tables import pairs, votes
from paraqd.server.review.times import iso, now

CLAIM_SECONDS = 300.0


def list_pairs(
    database: Database, project: str, chosen: Filter, reviewer: str = "", *, offset: int = 0, limit: int = 50
) -> dict[str, Any]:
    """Return some of the pairs that a filter matches, and the number of all of them."""
    with database.reading() as connection:
        row = find_project(connection, project)
        where = matching(row, chosen, reviewer)
        # find the numbers first, so that the long texts are not sorted; count in the same pass
        query = select(pairs.c.n, func.count().over().label("total")).where(where)
        found = connection.execute(query.order_by(*ordering(chosen.sort)).offset(offset).limit(limit)).all()
        if found:
            total = found[0].total
        else:
            total = connection.execute(select(func.count()).select_from(pairs).where(where)).scalar_one()
        shown = _some_pairs(connection, row, [each.n for each in found], reviewer)
        return {"total": total, "pairs": shown, "offset": offset}


def get_pair(database: Database, project: str, n: int, reviewer: str = "") -> dict[str, Any]:
    """Return one pair."""
    with database.reading() as connection:
        return one_pair(connection, find_project(connection, project), n, reviewer)


def one_pair(connection: Connection, project: Row[Any], n: int, reviewer: str) -> dict[str, Any]:
    """Return one pair of a project, as a reviewer sees it.

    Raises
    ------
    NotFound
        If there is no such pair.

    """
    found = _some_pairs(connection, project, [n], reviewer)
    if not found:
        raise NotFound("The project has no pair with this number.")
    return found[0]


def next_pair(
    database: Database, project: str, chosen: Filter, reviewer: str, after: int | None = None
) -> dict[str, Any]:
    """Claim the next pair that waits for a reviewer, and return it with the number of pairs that wait.

    A pair waits if it is scored, the filter matches it, and the reviewer has not voted on it; if the filter names
    statuses, a pair on which the reviewer has voted waits too unless it is still open. Pairs that others have claimed
    are passed over. The search begins behind the pair ``after`` and goes on at the beginning of the list.
    """

    def work(connection: Connection) -> dict[str, Any]:
        row = find_project(connection, project, lock=True)
        mine = voted(reviewer)
        done = and_(mine, pairs.c.status == "open") if chosen.status else mine
        waiting = and_(matching(row, chosen, reviewer), decision_of(row).is_not(None), not_(done))
        left = connection.execute(select(func.count()).select_from(pairs).where(waiting)).scalar_one()
        moment = now()
        here = pairs.c.project == project
        release = and_(here, pairs.c.claimed_by == reviewer)
        connection.execute(update(pairs).where(release).values(claimed_by=None, claimed_until=None))
        free = or_(pairs.c.claimed_until.is_(None), pairs.c.claimed_until <= moment)
        n = _first_behind(connection, project, and_(waiting, free), chosen.sort, after)
        if n is None:
            return {"pair": None, "left": left}
        claim = {"claimed_by": reviewer, "claimed_until": moment + CLAIM_SECONDS}
        connection.execute(update(pairs).where(here, pairs.c.n == n).values(claim))
        return {"pair": one_pair(connection, row, n, reviewer), "left": left}

    return database.write(work)


def _first_behind(
    connection: Connection, project: str, where: ColumnElement[bool], sort: str, after: int | None
) -> int | None:
    query = select(pairs.c.n).where(where).order_by(*ordering(sort)).limit(1)
    if after is not None:
        last = select(sort_key(sort)).where(pairs.c.project == project, pairs.c.n == after)
        key = connection.execute(last).scalar_one_or_none()
        if key is not None:
            found: int | None = connection.execute(query.where(behind(sort, key, after))).scalar_one_or_none()
            if found is not None:
                return found
    first: int | None = connection.execute(query).scalar_one_or_none()
    return first


def _some_pairs(
    connection: Connection, project: Row[Any], numbers: Sequence[int], reviewer: str
) -> list[dict[str, Any]]:
    """Return pairs in the order of their numbers in the list."""
    if not numbers:
        return []
    query = select(pairs, decision_of(project).label("decision")).where(pairs.c.project == project.id)
    rows = {row.n: row for row in connection.execute(query.where(pairs.c.n.in_(numbers)))}
    given: dict[int, list[Row[Any]]] = defaultdict(list)
    chosen = select(votes).where(votes.c.project == project.id, votes.c.n.in_(numbers))
    for vote in connection.execute(chosen.order_by(votes.c.at, votes.c.reviewer)):
        given[vote.n].append(vote)
    moment = now()
    return [_pair_data(project, rows[n], given[n], reviewer, moment) for n in numbers if n in rows]


def _pair_data(
    project: Row[Any], row: Row[Any], given: Sequence[Row[Any]], reviewer: str, moment: float
) -> dict[str, Any]:
    own = next((vote for vote in given if vote.reviewer == reviewer), None)
    my_vote = own.decision if own is not None and own.decision != "none" else None
    open_to_me = project.votes_needed == 1 or my_vote is not None
    shown = [vote for vote in given if vote.decision != "none" and (open_to_me or vote is own)]
    claimed = row.claimed_until is not None and row.claimed_until > moment
    return {
        "n": row.n,
        "id": row.id,
        "row": row.line,
        "copies": row.copies,
        "paraphrase_column": row.paraphrase_column,
        "question": row.question,
        "paraphrase": row.paraphrase,
        "score": row.score,
        "decision": row.decision,
        "valid": None if row.score is None else row.score > project.threshold,
        "evidence": json.loads(row.evidence or "[]"),
        "warnings": json.loads(row.warnings or "[]"),
        "error": row.error,
        "status": row.status,
        "my_vote": my_vote,
        "votes": [
            {"reviewer": vote.reviewer, "decision": vote.decision, "note": vote.note, "at": iso(vote.at)}
            for vote in shown
        ],
        "claimed_by": row.claimed_by if claimed else None,
        "note": own.note if own is not None else "",
    }
