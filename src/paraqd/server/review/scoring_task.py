"""Score the pairs of all projects in the background, a slice at a time."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from paraqd.scoring.pair_errors import PairError
from paraqd.scoring.verdict import Verdict
from paraqd.server.errors import ShuttingDown
from paraqd.server.review.database import Database
from paraqd.server.review.errors import StorageError
from paraqd.server.review.scoring_queue import (
    LEASE_SECONDS,
    Result,
    finish_project,
    give_leases_back,
    new_holder,
    next_slice,
    store_results,
    take_lease,
    waiting_projects,
)

_logger = logging.getLogger(__name__)
_FIRST_SLICE, _SLICE = 16, 64  # pairs; the first verdicts appear soon
_LOOK_SECONDS = 2.0  # how often other processes' projects are looked for
_RETRY_SECONDS = 5.0
_MOST_FAILURES = 3  # of a project, one after the other


class LaterScorer(Protocol):
    """An object that scores pairs when there is room, such as `paraqd.server.batching.Batcher`."""

    async def score_later(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict | PairError]:
        """Score pairs. A pair whose comparison failed has an error instead of a verdict."""
        ...


@dataclass
class ScoringTask:
    """The background work of one server process. Projects take turns, so a small one does not wait for a large one."""

    database: Database
    scorer: LaterScorer
    holder: str = field(default_factory=new_holder)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _task: asyncio.Task[None] | None = None
    _started: set[str] = field(default_factory=set)
    _failures: Counter[str] = field(default_factory=Counter)

    def start(self) -> None:
        """Start working in the running event loop."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    def wake(self) -> None:
        """Look for new projects at once. Call this in the event loop."""
        self._news.set()

    async def stop(self) -> None:
        """Stop working. What was scored is stored; the rest is scored after the next start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            with suppress(StorageError):  # the leases end by themselves
                await asyncio.to_thread(give_leases_back, self.database, self.holder)

    async def _run(self) -> None:
        while True:
            try:
                worked = False
                for project in await asyncio.to_thread(waiting_projects, self.database):
                    worked = await self._try(project) or worked
                if not worked:
                    await self._wait(_LOOK_SECONDS)
            except StorageError:  # the database has reported it
                await asyncio.sleep(_RETRY_SECONDS)
            except Exception:
                _logger.exception("scoring in the background failed; trying again")
                await asyncio.sleep(_RETRY_SECONDS)

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), seconds)
        self._news.clear()

    async def _try(self, project: str) -> bool:
        """Score one slice of a project. If this fails again and again, give the project up: others are waiting."""
        try:
            worked = await self._advance(project)
        except (ShuttingDown, StorageError):  # it is not the project's fault
            raise
        except Exception as error:
            _logger.exception("scoring the project %s failed", project)
            self._failures[project] += 1
            if self._failures[project] < _MOST_FAILURES:
                return False
            message = f"Scoring failed ({type(error).__name__}). The server's log says why."
            await asyncio.to_thread(finish_project, self.database, project, self.holder, message)
            worked = True
        del self._failures[project]
        return worked

    async def _advance(self, project: str) -> bool:
        """Score one slice of a project; return False if another process scores it."""
        if not await asyncio.to_thread(take_lease, self.database, project, self.holder):
            return False
        size = _SLICE if project in self._started else _FIRST_SLICE
        self._started.add(project)
        chosen = await asyncio.to_thread(next_slice, self.database, project, size)
        if not chosen:
            self._started.discard(project)
            await asyncio.to_thread(finish_project, self.database, project, self.holder)
            return True
        results = await self._score(project, [(question, paraphrase) for _, question, paraphrase in chosen])
        stored = {n: result for (n, _, _), result in zip(chosen, results, strict=True)}
        await asyncio.to_thread(store_results, self.database, project, self.holder, stored)
        return True

    async def _score(self, project: str, pairs: Sequence[tuple[str, str]]) -> list[Result]:
        """Score pairs; if they fail together, score them one by one, so that only the bad ones get an error."""
        try:
            scored = await self._scored(project, pairs)
            return [str(each) if isinstance(each, PairError) else each for each in scored]
        except ShuttingDown:
            raise
        except Exception as error:
            if len(pairs) == 1:
                return [str(error) or type(error).__name__]
            _logger.warning("a slice could not be scored (%s); scoring its pairs one by one", error)
        return [result for pair in pairs for result in await self._score(project, [pair])]

    async def _scored(self, project: str, pairs: Sequence[tuple[str, str]]) -> list[Verdict | PairError]:
        """Score pairs, and extend the lease while they wait for their turn."""
        work = asyncio.ensure_future(self.scorer.score_later(pairs))
        try:
            while not (await asyncio.wait([work], timeout=LEASE_SECONDS / 3))[0]:
                await asyncio.to_thread(take_lease, self.database, project, self.holder)
            return work.result()
        finally:
            work.cancel()
