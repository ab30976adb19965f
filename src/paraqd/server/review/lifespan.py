"""Start and stop the review part of the server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from paraqd.server.review.database import Database, open_database
from paraqd.server.review.health import Health
from paraqd.server.review.projects import remove_abandoned
from paraqd.server.review.scoring_queue import end_dead_leases
from paraqd.server.review.scoring_task import ScoringTask
from paraqd.server.work import Threads
from paraqd.tables.temporary import remove_leftovers

if TYPE_CHECKING:
    from fastapi import FastAPI

_P = ParamSpec("_P")
_Result = TypeVar("_Result")
# Threads take turns at Python code, so that many of them would slow down verdicts. These are enough: most of the time,
# they wait for the database.
_PAGE_THREADS, _UPLOAD_THREADS, _EXPORT_THREADS = 8, 2, 1


@dataclass(frozen=True)
class Review:
    """What the routes need. It is stored as ``app.state.review``."""

    database: Database
    task: ScoringTask
    health: Health
    loop: asyncio.AbstractEventLoop
    page: Threads
    uploads: Threads
    exports: Threads

    async def run(
        self, work: Callable[Concatenate[Database, _P], _Result], *args: _P.args, **others: _P.kwargs
    ) -> _Result:
        """Run a function of the storage in a thread of the page. The function takes the database first."""
        return await self.page.run(partial(work, self.database, *args, **others))

    def wake(self) -> None:
        """Tell the background task, from any thread, that there is a new project."""
        self.loop.call_soon_threadsafe(self.task.wake)


async def start_review(app: FastAPI, has_storage: Callable[[bool], object]) -> None:
    """Open the database that the settings name, and start scoring in the background.

    ``has_storage`` is told whether the database can be used, each time this changes.

    Raises
    ------
    StorageError
        If the database cannot be opened.

    """
    await asyncio.to_thread(remove_leftovers)
    settings, health = app.state.settings, Health(has_storage)
    opened = await asyncio.to_thread(open_database, settings.database)
    database = replace(opened, on_failure=health.report)
    await asyncio.to_thread(remove_abandoned, database)
    await asyncio.to_thread(end_dead_leases, database)
    task = ScoringTask(database, app.state.batcher)
    numbers = {"page": _PAGE_THREADS, "uploads": _UPLOAD_THREADS, "exports": _EXPORT_THREADS}
    threads = {name: Threads(name, number, deadline=settings.deadline) for name, number in numbers.items()}
    app.state.review = Review(database, task, health, asyncio.get_running_loop(), **threads)
    health.start(database)
    task.start()


async def stop_review(app: FastAPI) -> None:
    """Stop scoring in the background, and close the database."""
    review: Review | None = getattr(app.state, "review", None)
    if review is not None:
        for threads in (review.page, review.uploads, review.exports):
            threads.close()
        await review.health.stop()
        await review.task.stop()
        await asyncio.to_thread(review.database.close)
