"""Run the migrations on the connection that `paraqd.server.review.database` passes."""

from __future__ import annotations

from alembic import context

from paraqd.server.review.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
