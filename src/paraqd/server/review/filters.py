"""Select pairs by verdict, fault, status, score and text, and put them in order.

Verdicts are computed from the scores when a query runs, so a new threshold takes effect at once.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, case, exists, false, func, literal, null, or_

from paraqd.server.review.tables import pairs, votes

DECISIONS = ("valid", "invalid", "review", "error")
STATUSES = ("open", "accepted", "rejected", "disputed", "mine")
SORTS = ("row", "score", "-score")


@dataclass(frozen=True)
class Filter:
    """The conditions that a pair must meet, and the order of the pairs. Empty conditions are met by all pairs.

    Attributes
    ----------
    q : str
        A text that must occur in the question, the paraphrase, an id or a visible note. The case does not matter.
    decision, fault, status : tuple of str
        The pair must have one of these verdicts, one of these faults, and one of these statuses.
    low, high : float, optional
        The lowest and the highest score.
    sort : {"row", "score", "-score"}
        The order. Pairs without a score come last.

    """

    q: str = ""
    decision: tuple[str, ...] = ()
    fault: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    sort: str = "row"


def folded(text: str) -> str:
    """Return a text in the form in which texts are compared when a user searches.

    >>> folded("ÉCOLE Straße")
    'école strasse'
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def contains(column: ColumnElement[str], text: str) -> ColumnElement[bool]:
    """Return the condition that a folded column contains a text."""
    return column.contains(folded(text), autoescape=True, escape="\\")


def decision_of(project: Row[Any]) -> ColumnElement[str | None]:
    """Return the expression for the verdict on a pair; it is null while the pair is not scored."""
    cases: list[tuple[ColumnElement[bool], ColumnElement[Any]]] = [
        (pairs.c.error.is_not(None), literal("error")),
        (pairs.c.score.is_(None), null()),
    ]
    if project.low is not None:
        cases.append((pairs.c.score.between(project.low, project.high), literal("review")))
    cases.append((pairs.c.score > project.threshold, literal("valid")))
    return case(*cases, else_=literal("invalid"))


def voted(reviewer: str) -> ColumnElement[bool]:
    """Return the condition that a reviewer has accepted or rejected the pair."""
    mine = and_(votes.c.project == pairs.c.project, votes.c.n == pairs.c.n, votes.c.reviewer == reviewer)
    return exists().where(and_(mine, votes.c.decision != "none"))


def matching(project: Row[Any], chosen: Filter, reviewer: str) -> ColumnElement[bool]:
    """Return the condition that a pair of the project meets a filter, as one reviewer sees it."""
    conditions: list[ColumnElement[bool]] = [pairs.c.project == project.id]
    if chosen.decision:
        conditions.append(decision_of(project).in_(chosen.decision))
    if chosen.fault:
        kinds = [pairs.c.faults.contains(f",{kind},", autoescape=True, escape="\\") for kind in chosen.fault]
        conditions.append(and_(pairs.c.score <= project.threshold, or_(*kinds)))
    if chosen.status:
        plain = [status for status in chosen.status if status != "mine"]
        conditions.append(or_(pairs.c.status.in_(plain), voted(reviewer) if "mine" in chosen.status else false()))
    if chosen.low is not None:
        conditions.append(pairs.c.score >= chosen.low)
    if chosen.high is not None:
        conditions.append(pairs.c.score <= chosen.high)
    if chosen.q.strip():
        conditions.append(or_(contains(pairs.c.search, chosen.q.strip()), _noted(project, chosen.q.strip(), reviewer)))
    return and_(*conditions)


def _noted(project: Row[Any], text: str, reviewer: str) -> ColumnElement[bool]:
    """Return the condition that a note which the reviewer may see contains a text."""
    note = and_(votes.c.project == pairs.c.project, votes.c.n == pairs.c.n, contains(votes.c.folded, text))
    if project.votes_needed == 1:
        return exists().where(note)
    others = and_(exists().where(and_(note, votes.c.decision != "none")), voted(reviewer))
    return or_(exists().where(and_(note, votes.c.reviewer == reviewer)), others)


def sort_key(sort: str) -> ColumnElement[Any]:
    """Return the expression by which pairs are sorted in ascending order; equal pairs are sorted by their number."""
    if sort == "score":
        return func.coalesce(pairs.c.score, 9.0)
    if sort == "-score":
        return func.coalesce(-pairs.c.score, 9.0)
    return pairs.c.n


def ordering(sort: str) -> tuple[ColumnElement[Any], ...]:
    """Return the expressions for ORDER BY."""
    return (pairs.c.n,) if sort == "row" else (sort_key(sort), pairs.c.n)


def behind(sort: str, key: Any, n: int) -> ColumnElement[bool]:
    """Return the condition that a pair comes after the pair with this key and number."""
    if sort == "row":
        return pairs.c.n > n
    return or_(sort_key(sort) > key, and_(sort_key(sort) == key, pairs.c.n > n))
