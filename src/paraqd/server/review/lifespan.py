"""Start and stop the review part of the server."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paraqd.data.temporary import remove_leftovers
from paraqd.server.review.database import Database, open_database
from paraqd.server.review.projects import remove_abandoned
from paraqd.server.review.scoring_queue import end_dead_leases
from paraqd.server.review.scoring_task import ScoringTask

if TYPE_CHECKING:
    from fastapi import FastAPI


@dataclass(frozen=True)
class Review:
    """What the routes need. It is stored as ``app.state.review``."""

    database: Database
    task: ScoringTask
    loop: asyncio.AbstractEventLoop

    def wake(self) -> None:
        """Tell the background task, from any thread, that there is a new project."""
        self.loop.call_soon_threadsafe(self.task.wake)


async def start_review(app: FastAPI) -> None:
    """Open the database that the settings name, and start scoring in the background.

    Raises
    ------
    StorageError
        If the database cannot be opened.

    """
    await asyncio.to_thread(remove_leftovers)
    database = await asyncio.to_thread(open_database, app.state.settings.database)
    await asyncio.to_thread(remove_abandoned, database)
    await asyncio.to_thread(end_dead_leases, database)
    task = ScoringTask(database, app.state.batcher)
    app.state.review = Review(database, task, asyncio.get_running_loop())
    task.start()


async def stop_review(app: FastAPI) -> None:
    """Stop scoring in the background, and close the database."""
    review: Review | None = getattr(app.state, "review", None)
    if review is not None:
        await review.task.stop()
        await asyncio.to_thread(review.database.close)
