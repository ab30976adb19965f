"""Hand out unscored pairs, and store their verdicts.

A process that scores a project holds a lease on it. If the process dies, the lease ends by itself, and another process
or the next start of the server continues.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import socket
from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, Connection, and_, bindparam, or_, select, update

from paraqd.scoring.verdict import Verdict
from paraqd.server.review.database import Database
from paraqd.server.review.projects import FAILED, READY, SCORING
from paraqd.server.review.tables import pairs, projects
from paraqd.server.review.times import now

LEASE_SECONDS = 30.0
_LONGEST_ERROR = 300  # characters

# a verdict, or the reason why the pair could not be scored
Result = Verdict | str


def waiting_projects(database: Database) -> list[str]:
    """Return the projects that are not fully scored, oldest first."""
    query = select(projects.c.id).where(projects.c.state == SCORING).order_by(projects.c.created)
    with database.reading() as connection:
        return list(connection.execute(query).scalars())


def take_lease(database: Database, project: str, holder: str) -> bool:
    """Take or extend the lease on a project; return False if another process holds it or there is nothing to score."""
    free = or_(projects.c.leased_until.is_(None), projects.c.leased_until < now(), projects.c.leased_by == holder)
    where = and_(projects.c.id == project, projects.c.state == SCORING, free)
    values = {"leased_by": holder, "leased_until": now() + LEASE_SECONDS}
    return (
        database.write(lambda connection: connection.execute(update(projects).where(where).values(values))).rowcount > 0
    )


def new_holder() -> str:
    """Return a name for this process as the holder of leases: the machine, the process and a random part."""
    return f"{_machine()}:{os.getpid()}:{secrets.token_hex(4)}"


def end_dead_leases(database: Database) -> None:
    """End the leases of processes of this machine that no longer run, so that a restarted server continues at once."""
    query = select(projects.c.leased_by).where(projects.c.leased_by.is_not(None)).distinct()
    with database.reading() as connection:
        holders = list(connection.execute(query).scalars())
    for holder in holders:
        machine, _, rest = holder.partition(":")
        process = rest.partition(":")[0]
        if machine == _machine() and process.isdecimal() and not _runs(int(process)):
            give_leases_back(database, holder)


def _machine() -> str:
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:16]


def _runs(process: int) -> bool:
    """Return True if another process of this machine with this number runs, or if nobody can tell."""
    if process == os.getpid():
        return False  # an earlier process had the same number
    if os.name == "nt":  # there, the call below would end the process
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def give_leases_back(database: Database, holder: str) -> None:
    """End all leases of a process that stops, so that another process can continue at once."""
    where = projects.c.leased_by == holder
    values = {"leased_by": None, "leased_until": None}
    database.write(lambda connection: connection.execute(update(projects).where(where).values(values)))


def next_slice(database: Database, project: str, size: int) -> list[tuple[int, str, str]]:
    """Return the number, the question and the paraphrase of the first pairs that are not scored."""
    query = select(pairs.c.n, pairs.c.question, pairs.c.paraphrase).where(_unscored(project))
    query = query.order_by(pairs.c.n).limit(size)
    with database.reading() as connection:
        return [(row.n, row.question, row.paraphrase) for row in connection.execute(query)]


def store_results(database: Database, project: str, holder: str, results: Mapping[int, Result]) -> bool:
    """Store verdicts and errors, and extend the lease; return False if the lease or the project is gone.

    If the verdicts come from another model than earlier verdicts of the project, the earlier ones are discarded, so
    that the project is scored again by one model.
    """

    def work(connection: Connection) -> bool:
        held = and_(projects.c.id == project, projects.c.leased_by == holder)
        row = connection.execute(select(projects).where(held).with_for_update()).one_or_none()
        if row is None:
            return False
        values: dict[str, object] = {"leased_until": now() + LEASE_SECONDS}
        verdicts = {n: each for n, each in results.items() if isinstance(each, Verdict)}
        signature = next((each.signature for each in verdicts.values()), None)
        if signature is not None:
            values["signature"] = signature
            if row.signature is not None and _model(row.signature) != _model(signature):
                scored = and_(pairs.c.project == project, pairs.c.score.is_not(None))
                nothing = {"score": None, "evidence": None, "warnings": None, "faults": ""}
                connection.execute(update(pairs).where(scored).values(nothing))
        _store_verdicts(connection, project, list(verdicts.items()))
        for n, each in results.items():
            if not isinstance(each, Verdict):
                where = and_(pairs.c.project == project, pairs.c.n == n)
                connection.execute(update(pairs).where(where).values(error=each[:_LONGEST_ERROR]))
        connection.execute(update(projects).where(held).values(values))
        return True

    return database.write(work)


def _store_verdicts(connection: Connection, project: str, verdicts: Sequence[tuple[int, Verdict]]) -> None:
    if not verdicts:
        return
    statement = (
        update(pairs)
        .where(pairs.c.project == project, pairs.c.n == bindparam("at"))
        .values({name: bindparam(f"new_{name}") for name in ("score", "evidence", "warnings", "faults")})
    )
    rows = []
    for n, verdict in verdicts:
        data = verdict.to_dict()
        kinds = dict.fromkeys(piece["kind"] for piece in data["evidence"])
        rows.append(
            {
                "at": n,
                "new_score": float(verdict.score),
                "new_evidence": json.dumps(data["evidence"]),
                "new_warnings": json.dumps(data["warnings"]),
                "new_faults": f",{','.join(kinds)}," if kinds else "",
            }
        )
    connection.execute(statement, rows)


def finish_project(database: Database, project: str, holder: str, error: str | None = None) -> None:
    """Mark a project as ready, or as failed if there is an error. A project that got a new pair stays as it is."""
    where = and_(projects.c.id == project, projects.c.leased_by == holder, projects.c.state == SCORING)
    values = {"state": FAILED if error else READY, "error": error, "leased_by": None, "leased_until": None}

    def work(connection: Connection) -> None:
        connection.execute(select(projects.c.id).where(where).with_for_update())  # whoever adds pairs waits
        if error or not connection.execute(select(pairs.c.n).where(_unscored(project)).limit(1)).first():
            connection.execute(update(projects).where(where).values(values))

    database.write(work)


def _unscored(project: str) -> ColumnElement[bool]:
    return and_(pairs.c.project == project, pairs.c.score.is_(None), pairs.c.error.is_(None))


def _model(signature: str) -> str:
    """Return a signature without the threshold, on which no score depends."""
    return "|".join(part for part in signature.split("|") if not part.startswith("threshold:"))
