"""Record decisions, undo and redo them, and derive votes and statuses from them.

Every change appends events; no event is ever changed. The votes and the status of the pairs are updated in the same
transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, case, delete, func, literal, or_, select, update

from paraqd.server.review.database import Database, insert_into
from paraqd.server.review.errors import BadRequest, Conflict, NotFound
from paraqd.server.review.filters import Filter, folded, matching
from paraqd.server.review.pairs import one_pair
from paraqd.server.review.projects import GivenVotes, NewVote, find_project, step_counts
from paraqd.server.review.tables import events, pairs, steps, votes
from paraqd.server.review.times import iso, now

CHOICES = ("accept", "reject", "none")
_FORWARD = ("decide", "import")


def decide(
    database: Database,
    project: str,
    reviewer: str,
    n: int,
    decision: str,
    note: str | None = None,
    *,
    request: str | None = None,
) -> dict[str, Any]:
    """Record one reviewer's decision on one pair as a step, and return the pair and the numbers of steps.

    If ``note`` is None, an earlier note is kept. ``none`` withdraws the reviewer's vote. If the reviewer has already
    made a step with the key ``request``, nothing changes: the answer to it was lost, and it was sent again.

    Raises
    ------
    NotFound
        If there is no such project or pair.

    """

    def work(connection: Connection) -> dict[str, Any]:
        row = find_project(connection, project, lock=True)
        if _step_of(connection, project, reviewer, request) is None:
            record_decision(connection, row, reviewer, n, decision, note, request=request)
        return {"pair": one_pair(connection, row, n, reviewer), **step_counts(connection, project, reviewer)}

    return database.write(work)


def record_decision(
    connection: Connection,
    project: Row[Any],
    reviewer: str,
    n: int,
    decision: str,
    note: str | None = None,
    *,
    request: str | None = None,
) -> None:
    """Record a decision, as `decide` does, in a transaction that has locked the project."""
    where = and_(pairs.c.project == project.id, pairs.c.n == n)
    if not _record(connection, project, reviewer, where, decision, note, always=True, request=request):
        raise NotFound("The project has no pair with this number.")
    release = where & (pairs.c.claimed_by == reviewer)
    connection.execute(update(pairs).where(release).values(claimed_by=None, claimed_until=None))


def decide_all(
    database: Database,
    project: str,
    reviewer: str,
    chosen: Filter,
    decision: str,
    *,
    expected: int,
    note: str | None = None,
    request: str | None = None,
) -> dict[str, int]:
    """Record a decision on all pairs that a filter matches as one step, unless ``request`` has already made it.

    Raises
    ------
    Conflict
        If the filter matches another number of pairs than ``expected``. Nothing is changed then.

    """

    def work(connection: Connection) -> dict[str, int]:
        row = find_project(connection, project, lock=True)
        if (step := _step_of(connection, project, reviewer, request)) is not None:
            made = and_(events.c.step == step, events.c.action == "decide")
            changed = connection.execute(select(func.count()).select_from(events).where(made)).scalar_one()
            return {"changed": changed, **step_counts(connection, project, reviewer)}
        where = matching(row, chosen, reviewer)
        found = connection.execute(select(func.count()).select_from(pairs).where(where)).scalar_one()
        if found != expected:
            raise Conflict(
                f"The filter now matches {found} pairs, not {expected}. Look at the list again.",
                details={"matches": found},
            )
        changed = _record(connection, row, reviewer, where, decision, note, always=False, request=request)
        return {"changed": changed, **step_counts(connection, project, reviewer)}

    return database.write(work)


def import_votes(database: Database, project: str, reviewer: str, given: GivenVotes) -> dict[str, int]:
    """Record votes from a file as one step of the reviewer who imports them.

    The file wins over earlier votes. Votes that are already there are counted as unchanged.

    Raises
    ------
    BadRequest
        If rows with equal pairs bring different new votes.

    """

    def work(connection: Connection) -> dict[str, int]:
        return record_votes(connection, find_project(connection, project, lock=True), reviewer, given)

    return database.write(work)


def record_votes(connection: Connection, project: Row[Any], reviewer: str, given: GivenVotes) -> dict[str, int]:
    """Record votes from a file, as `import_votes` does, in a transaction that has locked the project."""
    query = select(votes).where(votes.c.project == project.id)
    present = {(vote.n, vote.reviewer): vote for vote in connection.execute(query)}
    moment, changed = now(), []
    for (n, name), several in given.items():
        old = present.get((n, name))
        before = (old.decision, old.note, old.folded, old.at) if old else ("none", "", "", 0.0)
        vote = _new_vote(name, several, before[:2])
        if vote is not None:
            changed.append(
                {
                    "project": project.id,
                    "action": "import",
                    "n": n,
                    "reviewer": name,
                    "decision": vote.decision,
                    "note": vote.note,
                    "folded": folded(vote.note),
                    "at": moment,
                    "vote_at": min(moment, vote.at or moment),
                    **dict(zip(("before", "before_note", "before_folded", "before_at"), before, strict=True)),
                }
            )
    if changed:
        step = _new_step(connection, project.id, reviewer)
        connection.execute(events.insert(), [{**each, "step": step} for each in changed])
        _apply(connection, project, step, 0)
    return {"decisions": len(changed), "unchanged": len(given) - len(changed)}


def _new_vote(name: str, several: Sequence[tuple[int, NewVote]], before: tuple[str, str]) -> NewVote | None:
    """Return the vote that rows with equal pairs bring, or None if all of them repeat the vote before.

    Someone may have edited only one of the rows, so the row that differs counts.
    """
    new = {(vote.decision, vote.note): (line, vote) for line, vote in several if (vote.decision, vote.note) != before}
    if len(new) > 1:
        first, second = sorted(line for line, _ in new.values())[:2]
        raise BadRequest(
            f"Rows {first} and {second} have the same pair, but different decisions or notes by {name}. "
            "Make them equal, or clear one of them."
        )
    return next((vote for _, vote in new.values()), None)


def undo(database: Database, project: str, reviewer: str) -> dict[str, Any]:
    """Undo a reviewer's last step, and return the numbers of the changed pairs. The log keeps both."""
    return database.write(lambda connection: _reverse(connection, project, reviewer, back=True))


def redo(database: Database, project: str, reviewer: str) -> dict[str, Any]:
    """Redo the step that a reviewer undid last, and return the numbers of the changed pairs."""
    return database.write(lambda connection: _reverse(connection, project, reviewer, back=False))


# --- writing --------------------------------------------------------------------------------------


def _step_of(connection: Connection, project: str, reviewer: str, request: str | None) -> int | None:
    """Return the step that a request of this reviewer made, or None. The project must be locked."""
    if request is None:
        return None
    made = and_(steps.c.project == project, steps.c.reviewer == reviewer, steps.c.request == request)
    return connection.execute(select(steps.c.id).where(made)).scalar_one_or_none()


def _new_step(connection: Connection, project: str, reviewer: str, request: str | None = None) -> int:
    """Add a step. Steps that the reviewer has undone can then no longer be redone."""
    mine = and_(steps.c.project == project, steps.c.reviewer == reviewer, steps.c.state == "undone")
    connection.execute(update(steps).where(mine).values(state="dropped"))
    new = steps.insert().values(project=project, reviewer=reviewer, state="done", request=request)
    return int(connection.execute(new.returning(steps.c.id)).scalar_one())


def _record(
    connection: Connection,
    project: Row[Any],
    reviewer: str,
    where: ColumnElement[bool],
    decision: str,
    note: str | None,
    *,
    always: bool,
    request: str | None,
) -> int:
    """Append events for all pairs that meet a condition and whose vote changes, and return how many there are.

    If ``always`` is True, record the decision even if it repeats the vote: a repeated vote is the newest.
    """
    note = None if note is None else note.strip()
    old = and_(votes.c.project == pairs.c.project, votes.c.n == pairs.c.n, votes.c.reviewer == reviewer)
    before, before_note = func.coalesce(votes.c.decision, "none"), func.coalesce(votes.c.note, "")
    before_folded = func.coalesce(votes.c.folded, "")
    if not always:
        different = before != decision
        where = and_(where, different if note is None else or_(different, before_note != note))
        if not connection.execute(select(pairs.c.n).outerjoin(votes, old).where(where).limit(1)).first():
            return 0
    # a withdrawn vote takes its note along
    kept = note if note is not None else "" if decision == "none" else None
    moment = now()
    step = _new_step(connection, project.id, reviewer, request)
    chosen = select(
        pairs.c.project,
        literal(step),
        literal("decide"),
        pairs.c.n,
        literal(reviewer),
        literal(decision),
        before_note if kept is None else literal(kept),
        before_folded if kept is None else literal(folded(kept)),
        literal(moment),
        literal(moment),
        before,
        before_note,
        before_folded,
        func.coalesce(votes.c.at, 0.0),
    )
    _append(connection, chosen.select_from(pairs.outerjoin(votes, old)).where(where).order_by(pairs.c.n))
    return len(_apply(connection, project, step, 0))


def _append(connection: Connection, chosen: Select[Any]) -> None:
    columns = [column.name for column in events.c if column.name != "id"]
    order = ["project", "step", "action", "n", "reviewer", "decision", "note", "folded", "at", "vote_at"]
    assert columns == [*order, "before", "before_note", "before_folded", "before_at"]
    connection.execute(events.insert().from_select(columns, chosen))


def _reverse(connection: Connection, project: str, reviewer: str, *, back: bool) -> dict[str, Any]:
    """Undo or redo a step. A vote that something else has changed in the meantime is left as it is."""
    row = find_project(connection, project, lock=True)
    state, order = ("done", steps.c.id.desc()) if back else ("undone", steps.c.id)
    mine = and_(steps.c.project == project, steps.c.reviewer == reviewer, steps.c.state == state)
    step = connection.execute(select(steps.c.id).where(mine).order_by(order).limit(1)).scalar_one_or_none()
    if step is None:
        return {"changed": [], **step_counts(connection, project, reviewer)}
    last = connection.execute(select(func.max(events.c.id)).where(events.c.step == step)).scalar_one()
    current = and_(votes.c.project == events.c.project, votes.c.n == events.c.n, votes.c.reviewer == events.c.reviewer)
    now_decision, now_note = func.coalesce(votes.c.decision, "none"), func.coalesce(votes.c.note, "")
    e, moment = events.c, now()
    restored: tuple[ColumnElement[Any], ...]
    if back:
        unchanged = and_(now_decision == e.decision, now_note == e.note)
        restored = (e.before, e.before_note, e.before_folded, literal(moment), e.before_at)
    else:
        unchanged = and_(now_decision == e.before, now_note == e.before_note)
        restored = (e.decision, e.note, e.folded, literal(moment), literal(moment))
    chosen = select(
        e.project,
        e.step,
        literal("undo" if back else "redo"),
        e.n,
        e.reviewer,
        *restored,
        now_decision,
        now_note,
        func.coalesce(votes.c.folded, ""),
        func.coalesce(votes.c.at, 0.0),
    )
    where = and_(e.project == project, e.step == step, e.action.in_(_FORWARD), unchanged)
    _append(connection, chosen.select_from(events.outerjoin(votes, current)).where(where).order_by(e.id))
    changed = _apply(connection, row, step, last)
    connection.execute(update(steps).where(steps.c.id == step).values(state="undone" if back else "done"))
    return {"changed": changed, **step_counts(connection, project, reviewer)}


def _apply(connection: Connection, project: Row[Any], step: int, after: int) -> list[int]:
    """Bring the votes and statuses in line with a step's events after an event, and return the pairs concerned."""
    fresh = and_(events.c.project == project.id, events.c.step == step, events.c.id > after)
    names = ("project", "n", "reviewer", "decision", "note", "folded", "at")
    columns = [events.c.vote_at if name == "at" else events.c[name] for name in names]
    insert = insert_into(connection, votes).from_select(names, select(*columns).where(fresh))
    values = {name: insert.excluded[name] for name in names[3:]}
    connection.execute(insert.on_conflict_do_update(index_elements=["project", "n", "reviewer"], set_=values))
    concerned = select(events.c.n).where(fresh)
    empty = and_(votes.c.project == project.id, votes.c.decision == "none", votes.c.note == "")
    connection.execute(delete(votes).where(empty, votes.c.n.in_(concerned)))
    refresh_status(connection, project.id, project.votes_needed, pairs.c.n.in_(concerned))
    return sorted(set(connection.execute(concerned).scalars()))


def refresh_status(connection: Connection, project: str, needed: int, where: ColumnElement[bool] | None = None) -> None:
    """Derive the status of pairs from their votes.

    If one vote is needed, the newest vote counts. Otherwise, a pair is accepted or rejected if enough votes agree and
    they are the majority, and disputed if votes differ.
    """
    these = and_(votes.c.project == pairs.c.project, votes.c.n == pairs.c.n, votes.c.decision != "none")
    if needed == 1:
        newest = select(votes.c.decision).where(these).order_by(votes.c.at.desc(), votes.c.reviewer).limit(1)
        status = case(
            {"accept": "accepted", "reject": "rejected"}, value=newest.correlate(pairs).scalar_subquery(), else_="open"
        )
    else:

        def count(decision: str) -> ColumnElement[int]:
            query = select(func.count()).select_from(votes).where(these, votes.c.decision == decision)
            return query.correlate(pairs).scalar_subquery()

        accepts, rejects = count("accept"), count("reject")
        status = case(
            (and_(accepts >= needed, accepts > rejects), "accepted"),
            (and_(rejects >= needed, rejects > accepts), "rejected"),
            (and_(accepts > 0, rejects > 0), "disputed"),
            else_="open",
        )
    condition = pairs.c.project == project
    if where is not None:
        condition = and_(condition, where)
    connection.execute(update(pairs).where(condition).values(status=status))


# --- reading --------------------------------------------------------------------------------------


def read_log(
    database: Database, project: str, reviewer: str = "", *, before: int | None = None, limit: int = 100
) -> dict[str, Any]:
    """Return the newest events before an event. What others decided stays hidden where their votes are hidden."""
    with database.reading() as connection:
        row = find_project(connection, project)
        query = select(events, steps.c.state).join(steps, steps.c.id == events.c.step)
        query = query.where(events.c.project == project)
        if before is not None:
            query = query.where(events.c.id < before)
        found = connection.execute(query.order_by(events.c.id.desc()).limit(limit + 1)).all()
        seen = _seen(connection, row, reviewer, {event.n for event in found})
        shown = [_event_data(event, event.reviewer == reviewer or event.n in seen) for event in found[:limit]]
        return {"events": shown, "more": len(found) > limit}


def _seen(connection: Connection, project: Row[Any], reviewer: str, numbers: set[int]) -> set[int]:
    """Return the pairs of which the reviewer may see the votes of others."""
    if project.votes_needed == 1:
        return numbers
    mine = and_(votes.c.project == project.id, votes.c.reviewer == reviewer, votes.c.decision != "none")
    return set(connection.execute(select(votes.c.n).where(mine, votes.c.n.in_(numbers))).scalars())


def _event_data(event: Row[Any], visible: bool) -> dict[str, Any]:
    return {
        "id": event.id,
        "at": iso(event.at),
        "reviewer": event.reviewer,
        "pair": event.n,
        "action": event.action,
        "decision": event.decision if visible else None,
        "note": event.note if visible else None,
        "hidden": not visible,
        "step": event.step,
        "undone": event.action in _FORWARD and event.state != "done",
    }
