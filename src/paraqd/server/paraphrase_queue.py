"""Write paraphrases for requests, one request at a time, in a thread.

Paraphrases take much longer than verdicts, so they must not hold up requests for verdicts. The thread asks the source
for candidates. The batcher scores them in the background, behind the pairs of requests. A request is admitted only if
there is room for it. When nobody waits for a request any more, the work on it stops.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any

from paraqd.extras import MissingExtraError
from paraqd.scoring.pair_errors import PairError, all_scored
from paraqd.server.errors import Overloaded, ServerError, ShuttingDown
from paraqd.server.metrics import Metrics

if TYPE_CHECKING:
    from paraqd.paraphrasing.paraphraser import Paraphrased
    from paraqd.paraphrasing.sources.base import CandidateSource
    from paraqd.scoring.verdict import Verdict
    from paraqd.server.batching import Batcher
    from paraqd.server.settings import Settings

_LOG = logging.getLogger("paraqd.server")
_RULES, _NONE = "rules", "none"
_LOOK_SECONDS = 0.1  # how often a wait for verdicts is interrupted to see whether anybody still waits
_LONGEST_WAIT = 60  # seconds, in Retry-After


class _Stopped(Exception):
    """Raised in the thread when nobody waits for the paraphrases any more."""


@dataclass(eq=False)
class _Job:
    """A request for paraphrases of one question."""

    question: str
    n: int
    styles: tuple[str, ...]
    seed: int
    loop: asyncio.AbstractEventLoop
    future: Future[Paraphrased] = field(default_factory=Future)
    stopped: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        """Raise an exception if nobody waits any more."""
        if self.stopped.is_set():
            raise _Stopped


class ParaphraseQueue:
    """Write paraphrases for many callers, one after the other.

    Parameters
    ----------
    batcher : Batcher
        What scores the candidates.
    settings : Settings
        The source, and the limits.
    metrics : Metrics, optional
        Where to count (default: nowhere that anyone sees).

    """

    def __init__(self, batcher: Batcher, settings: Settings, *, metrics: Metrics | None = None) -> None:
        self._batcher, self._settings = batcher, settings
        self._metrics = metrics or Metrics()
        self._room = threading.Semaphore(settings.max_paraphrasing)
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._current: _Job | None = None
        self._source: CandidateSource | None = None
        self._loading = threading.Lock()
        self._seconds = 1.0  # for one request
        self._closed = False

    @property
    def is_off(self) -> bool:
        """True if this server writes no paraphrases."""
        return self._settings.paraphrase_source == _NONE

    def start(self) -> None:
        """Load a source that the operator chose, so that a wrong name is reported at once.

        Rules are loaded by the first request, because many servers never need them.
        """
        if self._settings.paraphrase_source not in (_RULES, _NONE):
            self._loaded()

    async def paraphrase(self, question: str, *, n: int, styles: Sequence[str], seed: int) -> Paraphrased:
        """Write up to ``n`` paraphrases of a question. If the caller is cancelled, the work stops.

        Raises
        ------
        Overloaded
            If there is no room for the request now.
        ShuttingDown
            If the queue has been closed.
        ArgumentError
            If the source does not know a style.
        ServerError
            If the source cannot be used.

        """
        if self._closed:
            raise ShuttingDown
        if self.is_off:
            raise ServerError("This server writes no paraphrases.", status=404, code="not_found")
        if not self._room.acquire(blocking=False):
            self._metrics.refused.labels("overloaded").inc()
            wait = max(1, min(_LONGEST_WAIT, math.ceil(self._seconds)))
            raise Overloaded("The server is writing too many paraphrases. Try again later.", retry_after=wait)
        self._metrics.paraphrasing.inc()
        job = _Job(question, n, tuple(styles), seed, asyncio.get_running_loop())
        job.future.add_done_callback(self._end)  # a job keeps its place until the thread has really stopped
        self._jobs.put(job)
        self._start_thread()
        try:
            return await asyncio.wrap_future(job.future)
        finally:
            job.stopped.set()

    def close(self) -> None:
        """Take no more requests, and give up those that wait or are in progress. Their callers get `ShuttingDown`."""
        self._closed = True
        if (job := self._current) is not None:
            job.stopped.set()
        self._jobs.put(None)

    def _end(self, _: Future[Paraphrased]) -> None:
        self._room.release()
        self._metrics.paraphrasing.dec()

    # --- the thread -----------------------------------------------------------------------------------

    def _start_thread(self) -> None:
        if self._thread is None:
            # a source may wait for another machine, and the end of the process must not wait for it
            self._thread = threading.Thread(target=self._run, name="paraqd-paraphrase", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            if not job.future.set_running_or_notify_cancel():
                continue
            self._current, begun = job, monotonic()
            if self._closed:  # looked at after the job is known, so that close() misses none
                job.stopped.set()
            try:
                job.check()
                found = self._written(job)
            except BaseException as error:
                job.future.set_exception(ShuttingDown() if self._closed and isinstance(error, _Stopped) else error)
            else:
                job.future.set_result(found)
                self._seconds += 0.2 * (monotonic() - begun - self._seconds)
            finally:
                self._current = None

    def _written(self, job: _Job) -> Paraphrased:
        from paraqd.paraphrasing.choice import Limits
        from paraqd.paraphrasing.paraphraser import Settings as Wanted
        from paraqd.paraphrasing.paraphraser import paraphrase_text
        from paraqd.paraphrasing.sources.base import SourceError

        limits = Limits(score=self._settings.paraphrase_least_score)
        wanted = Wanted(n=job.n, styles=job.styles, limits=limits, seed=job.seed)
        try:
            source = self._loaded()
            return paraphrase_text(job.question, source, _LaterScorer(self._batcher, job), wanted)
        except MissingExtraError as error:
            message = f"This server cannot write paraphrases: {error}."
            raise ServerError(message, status=501, code="not_installed") from None
        except SourceError as error:  # the message may name another machine, which is no business of the client
            _LOG.warning("the source of paraphrases failed: %s", error)
            message = "The source of the paraphrases cannot be used now. The server's log says why."
            raise ServerError(message, status=502, code="source_failed") from None

    def _loaded(self) -> CandidateSource:
        """Return the source, and load it the first time."""
        from paraqd.paraphrasing.sources.loading import is_address, load_source

        with self._loading:
            if self._source is None:
                settings, endpoint = self._settings, dict[str, Any]()
                if is_address(settings.paraphrase_source):
                    endpoint = {
                        "model": settings.paraphrase_model,
                        "most_requests": settings.paraphrase_requests,
                        "timeout": settings.deadline,
                        "attempts": 3,  # nobody waits longer than the deadline
                        "at_once": 1,
                    }
                source = settings.paraphrase_source
                self._source = load_source(source, check=self._check, parameter="paraphrase_source", **endpoint)
            return self._source

    def _check(self) -> None:
        if (job := self._current) is not None:
            job.check()


class _LaterScorer:
    """The scorer of a job: the thread hands pairs to the batcher, and waits for the verdicts."""

    def __init__(self, batcher: Batcher, job: _Job) -> None:
        self._batcher, self._job = batcher, job
        self.signature, self.threshold = batcher.scorer.signature, batcher.scorer.threshold

    def score(self, question: str, paraphrase: str) -> Verdict:
        """Score a pair."""
        return self.begin([(question, paraphrase)])()[0]

    def begin(self, pairs: Sequence[tuple[str, str]]) -> Callable[[], list[Verdict]]:
        """Hand over pairs, and return a function that waits for the verdicts."""
        self._job.check()
        work = asyncio.run_coroutine_threadsafe(self._batcher.score_later(pairs), self._job.loop)
        return lambda: all_scored(self._wait(work))

    def _wait(self, work: Future[list[Verdict | PairError]]) -> list[Verdict | PairError]:
        while True:
            try:
                return work.result(timeout=_LOOK_SECONDS)
            except TimeoutError:
                if self._job.stopped.is_set():
                    work.cancel()
                    raise _Stopped from None
