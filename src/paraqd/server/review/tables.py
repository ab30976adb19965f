"""Describe the tables of the database.

A *pair* is a question with a paraphrase, and occurs once in a project. A *source* is a row of the user's file, and a
*copy* is one occurrence of a pair in a source. An *event* records one decision on one pair and is never changed. A
*step* groups the events that one reviewer undoes at once. A *vote* is what the events of one reviewer on one pair
amount to. Times are seconds since 1970 in UTC.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

metadata = MetaData()

_Number = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts up only columns of the type INTEGER


def _project() -> Column[str]:
    return Column("project", ForeignKey("projects.id", ondelete="CASCADE"), nullable=False, primary_key=True)


projects = Table(
    "projects",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", Text, nullable=False),
    Column("created", Double, nullable=False),
    Column("state", String(16), nullable=False),  # loading, scoring, ready or failed
    Column("error", Text),
    Column("total", Integer, nullable=False),
    Column("rows", Integer, nullable=False),
    Column("empty", Integer, nullable=False),
    Column("threshold", Double, nullable=False),
    Column("low", Double),
    Column("high", Double),
    Column("votes_needed", Integer, nullable=False),
    Column("signature", Text),
    Column("columns", Text, nullable=False),  # JSON: the names of the user's columns, in order
    Column("paraphrase_columns", Text, nullable=False),  # JSON: the names of the columns with paraphrases
    Column("delimiter", String(1), nullable=False),  # of the user's CSV file
    Column("decimal", String(1), nullable=False),  # the decimal sign of the user's CSV file
    Column("leased_by", String(64)),  # the process that scores the project
    Column("leased_until", Double),
)

pairs = Table(
    "pairs",
    metadata,
    _project(),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("key", String(32), nullable=False),  # a hash of both texts
    Column("id", Text, nullable=False),
    Column("line", Integer, nullable=False),
    Column("copies", Integer, nullable=False),
    Column("paraphrase_column", Text, nullable=False),
    Column("score", Double),
    Column("error", Text),
    Column("faults", Text, nullable=False),  # the kinds of evidence, such as ",number_lost,unit_changed,"
    Column("status", String(16), nullable=False),  # open, accepted, rejected or disputed
    Column("claimed_by", Text),
    Column("claimed_until", Double),
    # long values come last, so that SQLite reads the others without them
    Column("question", Text, nullable=False),
    Column("paraphrase", Text, nullable=False),
    Column("search", Text, nullable=False),  # the texts and ids in lower case
    Column("evidence", Text),  # JSON
    Column("warnings", Text),  # JSON
    # most filters need only this index
    Index("pairs_verdicts", "project", "score", "n", "status", "error", "faults"),
    Index("pairs_keys", "project", "key"),
)

sources = Table(
    "sources",
    metadata,
    _project(),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("line", Integer, nullable=False),
    Column("data", Text, nullable=False),  # JSON
)

copies = Table(
    "copies",
    metadata,
    _project(),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("n", Integer, nullable=False),
    Column("source", Integer, nullable=False),
    Column("paraphrase_column", Text, nullable=False),
)

steps = Table(
    "steps",
    metadata,
    Column("id", _Number, primary_key=True, autoincrement=True),
    Column("project", ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    Column("reviewer", Text, nullable=False),
    Column("state", String(16), nullable=False),  # done, undone, or dropped (undone, and can no longer be redone)
    Column("request", String(64)),  # the key of the request that made the step, if it had one
    Index("steps_stack", "project", "reviewer", "state", "id"),
    Index("steps_requests", "project", "reviewer", "request", unique=True),
)

events = Table(
    "events",
    metadata,
    Column("id", _Number, primary_key=True, autoincrement=True),
    Column("project", ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    Column("step", _Number, nullable=False),
    Column("action", String(16), nullable=False),  # decide, import, undo or redo
    Column("n", Integer, nullable=False),
    Column("reviewer", Text, nullable=False),
    Column("decision", String(16), nullable=False),  # accept, reject or none
    Column("note", Text, nullable=False),
    Column("folded", Text, nullable=False),  # the note in lower case, for searching
    Column("at", Double, nullable=False),
    Column("vote_at", Double, nullable=False),  # the time of the vote; an undone step restores the earlier time
    Column("before", String(16), nullable=False),  # the vote before the event
    Column("before_note", Text, nullable=False),
    Column("before_folded", Text, nullable=False),
    Column("before_at", Double, nullable=False),
    Index("events_log", "project", "id"),
    Index("events_step", "step", "id"),
)

votes = Table(
    "votes",
    metadata,
    Column("project", String(32), primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("reviewer", Text, primary_key=True),
    Column("decision", String(16), nullable=False),  # accept, reject, or none for a note without a decision
    Column("note", Text, nullable=False),
    Column("folded", Text, nullable=False),
    Column("at", Double, nullable=False),
    ForeignKeyConstraint(["project", "n"], ["pairs.project", "pairs.n"], ondelete="CASCADE"),
    Index("votes_reviewer", "project", "reviewer", "n"),
)
