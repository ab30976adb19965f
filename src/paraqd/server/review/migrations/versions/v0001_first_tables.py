"""Create the first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    number = sa.BigInteger().with_variant(sa.Integer, "sqlite")

    def project(*, primary_key: bool = False) -> sa.Column[str]:
        key = sa.ForeignKey("projects.id", ondelete="CASCADE")
        return sa.Column("project", sa.String(32), key, nullable=False, primary_key=primary_key)

    op.create_table(
        "projects",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("total", sa.Integer, nullable=False),
        sa.Column("rows", sa.Integer, nullable=False),
        sa.Column("empty", sa.Integer, nullable=False),
        sa.Column("threshold", sa.Double, nullable=False),
        sa.Column("low", sa.Double),
        sa.Column("high", sa.Double),
        sa.Column("votes_needed", sa.Integer, nullable=False),
        sa.Column("signature", sa.Text),
        sa.Column("columns", sa.Text, nullable=False),
        sa.Column("paraphrase_columns", sa.Text, nullable=False),
        sa.Column("delimiter", sa.String(1), nullable=False),
        sa.Column("decimal", sa.String(1), nullable=False),
        sa.Column("leased_by", sa.String(64)),
        sa.Column("leased_until", sa.Double),
    )
    op.create_table(
        "pairs",
        project(primary_key=True),
        sa.Column("n", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("key", sa.String(32), nullable=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("line", sa.Integer, nullable=False),
        sa.Column("copies", sa.Integer, nullable=False),
        sa.Column("paraphrase_column", sa.Text, nullable=False),
        sa.Column("score", sa.Double),
        sa.Column("error", sa.Text),
        sa.Column("faults", sa.Text, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("claimed_by", sa.Text),
        sa.Column("claimed_until", sa.Double),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("paraphrase", sa.Text, nullable=False),
        sa.Column("search", sa.Text, nullable=False),
        sa.Column("evidence", sa.Text),
        sa.Column("warnings", sa.Text),
    )
    op.create_index("pairs_verdicts", "pairs", ["project", "score", "n", "status", "error", "faults"])
    op.create_index("pairs_keys", "pairs", ["project", "key"])
    op.create_table(
        "sources",
        project(primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("line", sa.Integer, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
    )
    op.create_table(
        "copies",
        project(primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("source", sa.Integer, nullable=False),
        sa.Column("paraphrase_column", sa.Text, nullable=False),
    )
    op.create_table(
        "steps",
        sa.Column("id", number, primary_key=True, autoincrement=True),
        project(),
        sa.Column("reviewer", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("request", sa.String(64)),
    )
    op.create_index("steps_stack", "steps", ["project", "reviewer", "state", "id"])
    op.create_index("steps_requests", "steps", ["project", "reviewer", "request"], unique=True)
    op.create_table(
        "events",
        sa.Column("id", number, primary_key=True, autoincrement=True),
        project(),
        sa.Column("step", number, nullable=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("reviewer", sa.Text, nullable=False),
        sa.Column("decision", sa.String(16), nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("folded", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("vote_at", sa.Double, nullable=False),
        sa.Column("before", sa.String(16), nullable=False),
        sa.Column("before_note", sa.Text, nullable=False),
        sa.Column("before_folded", sa.Text, nullable=False),
        sa.Column("before_at", sa.Double, nullable=False),
    )
    op.create_index("events_log", "events", ["project", "id"])
    op.create_index("events_step", "events", ["step", "id"])
    op.create_table(
        "votes",
        sa.Column("project", sa.String(32), primary_key=True),
        sa.Column("n", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("reviewer", sa.Text, primary_key=True),
        sa.Column("decision", sa.String(16), nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("folded", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.ForeignKeyConstraint(["project", "n"], ["pairs.project", "pairs.n"], ondelete="CASCADE"),
    )
    op.create_index("votes_reviewer", "votes", ["project", "reviewer", "n"])


def downgrade() -> None:
    """Remove all tables."""
    for name in ("votes", "events", "steps", "copies", "sources", "pairs", "projects"):
        op.drop_table(name)
