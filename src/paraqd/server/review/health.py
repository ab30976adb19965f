"""Watch whether the database can be used, and say so in the log when this changes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from paraqd.server.review.database import Database, cause_of
from paraqd.server.review.errors import StorageError

_LOG = logging.getLogger("paraqd.server")
_LOOK_SECONDS = 2.0
_PATIENCE = 5.0  # seconds for an answer of the database


@dataclass
class Health:
    """What is known about the database. All methods but `report` belong to one event loop.

    Attributes
    ----------
    changed : callable
        Told whether the database can be used, each time this changes.
    problem : str
        Why the database cannot be used now. It is empty if it can.

    """

    changed: Callable[[bool], object]
    problem: str = ""
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    _task: asyncio.Task[None] | None = None

    def report(self, error: StorageError) -> None:
        """Note, from any thread, that the database could not be used."""
        with suppress(RuntimeError):  # the server has stopped
            self._loop.call_soon_threadsafe(self._note, str(error))

    def start(self, database: Database) -> None:
        """Start to look at a database again and again."""
        self._task = self._loop.create_task(self._watch(database))

    async def stop(self) -> None:
        """Stop looking."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _note(self, problem: str) -> None:
        if problem and not self.problem:
            _LOG.error("%s; trying again", problem)
            self._news.set()  # perhaps it can be used again at once
        elif self.problem and not problem:
            _LOG.warning("the database can be used again")
        was_usable, self.problem = not self.problem, problem
        if was_usable != (not problem):
            self.changed(not problem)

    async def _watch(self, database: Database) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), _LOOK_SECONDS)
            self._news.clear()
            # only a database that failed is written to, because each write reaches the disk
            check = asyncio.ensure_future(asyncio.to_thread(database.check, thorough=bool(self.problem)))
            if not (await asyncio.wait([check], timeout=_PATIENCE))[0]:
                self._note(self.problem or f"the database {database.url} does not answer")
            try:
                await check
            except StorageError as error:
                self._note(str(error))
            except Exception as error:
                self._note(f"cannot use the database {database.url}: {cause_of(error)}")
            else:
                self._note("")
