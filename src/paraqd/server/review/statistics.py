"""Summarise the scores and decisions of a project."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from sqlalchemy import Connection, Row, and_, case, func, select

from paraqd.evaluation.agreement import cohen_kappa
from paraqd.evaluation.suggestion import suggest
from paraqd.server.review.database import Database
from paraqd.server.review.projects import find_project, project_data
from paraqd.server.review.tables import pairs, votes

_LABELS = {"accept": 1, "reject": 0}


def read_scores(database: Database, project: str) -> dict[str, Any]:
    """Return all scores, and the counts of faults, verdicts and statuses, for plots and the threshold slider."""
    with database.reading() as connection:
        row = find_project(connection, project)
        here = pairs.c.project == project
        scores = connection.execute(
            select(pairs.c.score).where(here, pairs.c.score.is_not(None)).order_by(pairs.c.score)
        )
        counted = select(pairs.c.faults, func.count()).where(here, pairs.c.score <= row.threshold, pairs.c.faults != "")
        faults: Counter[str] = Counter()
        for kinds, count in connection.execute(counted.group_by(pairs.c.faults)):
            faults.update(dict.fromkeys(kinds.strip(",").split(","), count))
        data = project_data(connection, row)
        return {
            "scores": [round(score, 4) for score in scores.scalars()],
            "faults": dict(faults.most_common()),
            "decisions": data["counts"],
            "status": data["status"],
        }


def read_agreement(database: Database, project: str) -> dict[str, Any]:
    """Return how well the reviewers agree with each other, and each of them with the model."""
    with database.reading() as connection:
        row = find_project(connection, project)
        return {"reviewers": _between(connection, project), "model": _with_model(connection, row)}


def _between(connection: Connection, project: str) -> list[dict[str, Any]]:
    one, two = votes.alias("one"), votes.alias("two")
    same = and_(
        one.c.project == project,
        two.c.project == project,
        one.c.n == two.c.n,
        one.c.reviewer < two.c.reviewer,
        one.c.decision != "none",
        two.c.decision != "none",
    )
    columns = (one.c.reviewer, two.c.reviewer, one.c.decision, two.c.decision)
    query = select(*columns, func.count()).select_from(one.join(two, same)).group_by(*columns)
    tables: dict[tuple[str, str], Counter[tuple[int, int]]] = defaultdict(Counter)
    for first, second, a, b, count in connection.execute(query):
        tables[first, second][_LABELS[a], _LABELS[b]] += count
    return [{"reviewers": list(names), **_agreement(table)} for names, table in sorted(tables.items())]


def _with_model(connection: Connection, project: Row[Any]) -> list[dict[str, Any]]:
    verdict = case((pairs.c.score > project.threshold, 1), else_=0).label("verdict")
    joined = votes.join(pairs, and_(pairs.c.project == votes.c.project, pairs.c.n == votes.c.n))
    where = and_(votes.c.project == project.id, votes.c.decision != "none", pairs.c.score.is_not(None))
    query = select(votes.c.reviewer, votes.c.decision, verdict, func.count()).select_from(joined).where(where)
    tables: dict[str, Counter[tuple[int, int]]] = defaultdict(Counter)
    for name, decision, valid, count in connection.execute(query.group_by(votes.c.reviewer, votes.c.decision, verdict)):
        tables[name][_LABELS[decision], valid] += count
    return [{"reviewer": name, **_agreement(table)} for name, table in sorted(tables.items())]


def _agreement(table: Counter[tuple[int, int]]) -> dict[str, Any]:
    first = [a for (a, _), count in table.items() for _ in range(count)]
    second = [b for (_, b), count in table.items() for _ in range(count)]
    found = cohen_kappa(first, second)
    return {
        "pairs": found.n,
        "share": found.observed,
        "kappa": found.kappa,
        "low": found.low,
        "high": found.high,
        "word": found.word,
    }


def read_suggestion(database: Database, project: str) -> dict[str, Any]:
    """Return the threshold and the band that the accepted and rejected pairs suggest, or why there is none."""
    with database.reading() as connection:
        row = find_project(connection, project)
        decided = pairs.c.status.in_(("accepted", "rejected"))
        query = select(pairs.c.score, pairs.c.status, pairs.c.question)
        found = connection.execute(
            query.where(pairs.c.project == project, decided, pairs.c.score.is_not(None)).order_by(pairs.c.n)
        ).all()
    if not found:
        return {"suggestion": None, "why": "No pair is accepted or rejected yet."}
    accepted = [each.status == "accepted" for each in found]
    questions = [each.question for each in found]
    suggestion = suggest([each.score for each in found], accepted, current=row.threshold, groups=questions)
    if not suggestion.enough:
        return {"suggestion": None, "why": suggestion.note}
    return {"suggestion": suggestion.to_dict(), "why": suggestion.note}
