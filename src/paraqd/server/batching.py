"""Score the pairs of many requests together.

The design follows text-embeddings-inference. A request is admitted only if the server has room for its pairs; if not,
it is refused at once. Batches are filled up to a budget of characters, and requests take turns, so that a large
request does not hold up small ones. Pairs that nobody waits for any more are skipped.

Two threads work for the event loop: one reads the next batch while the other waits for the judge to finish the batch
before. All other state belongs to the event loop, so there are no locks.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from paraqd.scoring.pair_errors import PairError, results_of
from paraqd.server.errors import Overloaded, ShuttingDown
from paraqd.server.metrics import Metrics

if TYPE_CHECKING:
    from paraqd.scoring.scorer import Scorer
    from paraqd.scoring.verdict import Verdict

Pair = tuple[str, str]

_LOG = logging.getLogger("paraqd.server")
_MOST_BATCHES = 2  # one is judged while the next is read
_TURN = 32  # pairs that a request may add to a batch before the next request's turn
_BACKGROUND_SECONDS = 0.15  # the length of a slice of background work, which a request may have to wait for
_BACKGROUND_PATIENCE = 2.0  # seconds after which background work gets a slice although requests are waiting
_FIRST_RATE = 20_000.0  # characters per second, before the first measurement
_LONGEST_WAIT = 60  # seconds, in Retry-After


@dataclass(eq=False)
class _Job:
    """The pairs of one request, and the verdicts so far."""

    pairs: Sequence[Pair]
    future: asyncio.Future[list[Verdict | PairError]]
    arrived: float
    background: bool = False
    taken: int = 0  # pairs that were given to the scorer
    missing: int = 0  # pairs without a verdict
    verdicts: list[Verdict | PairError | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.missing = len(self.pairs)
        self.verdicts = [None] * len(self.pairs)

    def deliver(self, start: int, verdicts: Sequence[Verdict | PairError]) -> None:
        """Keep some verdicts, and answer if they are the last."""
        self.verdicts[start : start + len(verdicts)] = verdicts
        self.missing -= len(verdicts)
        if not self.missing and not self.future.done():
            self.future.set_result([verdict for verdict in self.verdicts if verdict is not None])

    def fail(self, error: BaseException) -> None:
        """Answer with an error."""
        if not self.future.done():
            self.future.set_exception(error)


@dataclass(frozen=True)
class _Slice:
    """Some consecutive pairs of a job."""

    job: _Job
    start: int
    pairs: Sequence[Pair]


@dataclass(frozen=True)
class _Batch:
    """The slices that are scored together."""

    slices: Sequence[_Slice]
    begun: float

    @property
    def pairs(self) -> list[Pair]:
        return [pair for each in self.slices for pair in each.pairs]


class Batcher:
    """Score pairs for many callers at a time. All methods belong to one event loop.

    Parameters
    ----------
    scorer : Scorer
        The scorer, which is used in threads of the batcher.
    max_waiting : int
        The most pairs that requests may have in the batcher.
    batch_pairs, batch_characters : int
        The most pairs and, roughly, the most characters in a batch.
    metrics : Metrics, optional
        Where to count and time (default: nowhere that anyone sees).

    """

    def __init__(
        self,
        scorer: Scorer,
        *,
        max_waiting: int = 1024,
        batch_pairs: int = 128,
        batch_characters: int = 64_000,
        metrics: Metrics | None = None,
    ) -> None:
        self.scorer = scorer
        self.max_waiting = max_waiting
        self._batch_pairs, self._batch_characters = batch_pairs, batch_characters
        self._metrics = metrics or Metrics()
        self._requests: deque[_Job] = deque()
        self._background: deque[_Job] = deque()
        self._waiting = 0
        self._waiting_characters = 0
        self._running = 0
        self._reading: asyncio.Task[None] | None = None
        self._finishing: set[asyncio.Task[None]] = set()
        self._rate = _FIRST_RATE
        self._last_end = self._last_background = 0.0
        self._closed = False
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="paraqd-read")
        self._finisher = ThreadPoolExecutor(1, thread_name_prefix="paraqd-finish")

    @property
    def waiting(self) -> int:
        """The number of pairs of requests in progress."""
        return self._waiting

    async def score(self, pairs: Sequence[Pair]) -> list[Verdict | PairError]:
        """Score the pairs of a request, in their order. If the comparison of a pair fails, its error is returned.

        If the caller is cancelled, pairs that have not been begun are not scored.

        Parameters
        ----------
        pairs : sequence of (question, paraphrase)
            The pairs. Check them first: one unusable pair fails the whole request.

        Raises
        ------
        Overloaded
            If there is no room for the pairs now.
        ShuttingDown
            If the batcher has been closed.

        """
        if self._closed:
            raise ShuttingDown
        if not pairs:
            return []
        if self._waiting + len(pairs) > self.max_waiting:
            self._metrics.refused.labels("overloaded").inc()
            raise Overloaded("The server has too many requests in progress. Try again later.", retry_after=self._wait())
        size = _characters(pairs)
        self._hold(len(pairs), size)
        try:
            return await self._add(self._requests, pairs)
        finally:
            self._hold(-len(pairs), -size)

    async def score_later(self, pairs: Sequence[Pair]) -> list[Verdict | PairError]:
        """Score pairs in the background: in small slices, when no request waits, and a little even if some do.

        Raises
        ------
        ShuttingDown
            If the batcher is closed before all pairs are scored.

        """
        if self._closed:
            raise ShuttingDown
        return await self._add(self._background, pairs) if pairs else []

    async def close(self) -> None:
        """Take no more pairs, finish the requests, and give up the background work."""
        self._closed = True
        for job in self._background:
            job.fail(ShuttingDown())
        self._background.clear()
        while self._requests or self._running:
            self._start()
            await asyncio.sleep(0.01)
        self._reader.shutdown(wait=False)
        self._finisher.shutdown(wait=False)

    def _hold(self, pairs: int, characters: int) -> None:
        self._waiting += pairs
        self._waiting_characters += characters
        self._metrics.waiting.set(self._waiting)

    def _wait(self) -> int:
        """Return the seconds after which there should be room."""
        return max(1, min(_LONGEST_WAIT, math.ceil(self._waiting_characters / self._rate)))

    async def _add(self, queue: deque[_Job], pairs: Sequence[Pair]) -> list[Verdict | PairError]:
        future: asyncio.Future[list[Verdict | PairError]] = asyncio.get_running_loop().create_future()
        queue.append(_Job(pairs, future, monotonic(), background=queue is self._background))
        self._start()
        return await future

    # --- batches --------------------------------------------------------------------------------------

    def _start(self) -> None:
        """Begin to read batches, unless that is going on."""
        if (self._requests or self._background) and (self._reading is None or self._reading.done()):
            if self._running < _MOST_BATCHES:
                self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        """Begin batches until enough are running or nothing is left."""
        loop = asyncio.get_running_loop()
        while self._running < _MOST_BATCHES and (batch := self._take()):
            self._running += 1
            finish: Callable[[], list[Verdict]] | None
            try:
                finish = await loop.run_in_executor(self._reader, self.scorer.begin, batch.pairs)
            except Exception:
                finish = None
            task = asyncio.create_task(self._finish(batch, finish))
            self._finishing.add(task)
            task.add_done_callback(self._finishing.discard)

    async def _finish(self, batch: _Batch, finish: Callable[[], list[Verdict]] | None) -> None:
        """Wait for a batch, and deliver its verdicts. If it failed, score its slices one by one."""
        loop = asyncio.get_running_loop()
        try:
            try:
                verdicts = None if finish is None else await loop.run_in_executor(self._finisher, results_of, finish)
            except Exception:
                verdicts = None
            if verdicts is None:
                await self._apart(batch)
            else:
                _deliver(batch, verdicts)
                self._measure(batch)
        finally:
            self._running -= 1
            self._start()

    async def _apart(self, batch: _Batch) -> None:
        """Score the slices of a failed batch one by one, so that only those fail that cannot be scored."""
        loop = asyncio.get_running_loop()
        for each in batch.slices:
            try:
                score = partial(self.scorer.score_pairs, each.pairs)
                verdicts = await loop.run_in_executor(self._finisher, results_of, score)
            except Exception as error:
                each.job.fail(error)
            else:
                each.job.deliver(each.start, verdicts)

    def _measure(self, batch: _Batch) -> None:
        """Record how long a batch took."""
        now, pairs = monotonic(), batch.pairs
        size = _characters(pairs)
        self._metrics.inference_seconds.observe(now - batch.begun)
        self._metrics.batch_pairs.observe(len(pairs))
        self._metrics.batch_characters.observe(size)
        for each in batch.slices:
            self._metrics.pairs.labels("background" if each.job.background else "request").inc(len(each.pairs))
        busy = now - max(batch.begun, self._last_end)
        self._last_end = now
        self._rate += 0.2 * (size / max(busy, 1e-3) - self._rate)

    # --- the choice of pairs --------------------------------------------------------------------------

    def _take(self) -> _Batch | None:
        """Return the next batch, or None if nobody waits for anything."""
        now = monotonic()
        slices = self._turns(self._requests, self._batch_pairs, self._batch_characters)
        late = now - self._last_background > _BACKGROUND_PATIENCE
        if self._background and (late or not slices):
            budget = max(1, int(self._rate * _BACKGROUND_SECONDS))  # one pair is taken, however slow the judge is
            slices += self._turns(self._background, _TURN, min(budget, self._batch_characters))
            self._last_background = now
        return _Batch(slices, now) if slices else None

    def _turns(self, queue: deque[_Job], pairs: int, characters: int) -> list[_Slice]:
        """Take pairs from the jobs of a queue by turns, up to a budget. One pair is always taken."""
        slices: list[_Slice] = []
        while queue and pairs > 0 and characters > 0:
            job = queue.popleft()
            if job.future.done():  # cancelled, or failed because of another slice
                self._metrics.skipped.inc(len(job.pairs) - job.taken)
                continue
            if not job.taken and not job.background:
                self._metrics.queue_seconds.observe(monotonic() - job.arrived)
            start = job.taken
            while job.taken < len(job.pairs) and job.taken - start < min(_TURN, pairs) and characters > 0:
                characters -= sum(map(len, job.pairs[job.taken]))
                job.taken += 1
            pairs -= job.taken - start
            slices.append(_Slice(job, start, job.pairs[start : job.taken]))
            if job.taken < len(job.pairs):
                queue.append(job)
        return slices


def _deliver(batch: _Batch, verdicts: Sequence[Verdict | PairError]) -> None:
    for error in (each for each in verdicts if isinstance(each, PairError)):
        _LOG.error("%s", error, exc_info=error.__cause__)
    start = 0
    for each in batch.slices:
        each.job.deliver(each.start, verdicts[start : start + len(each.pairs)])
        start += len(each.pairs)


def _characters(pairs: Sequence[Pair]) -> int:
    return sum(len(question) + len(paraphrase) for question, paraphrase in pairs)
