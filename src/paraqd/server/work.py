"""Run work that blocks in threads, and wait for work no longer than somebody needs it.

Each kind of work has threads of its own, so that slow work holds up only work of its kind. Verdicts need none of these
threads: the batcher has its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from paraqd.server.errors import DeadlineExceeded, ServerError

if TYPE_CHECKING:
    from fastapi import Request

Result = TypeVar("Result")


class Threads:
    """Some threads for one kind of work.

    Parameters
    ----------
    name : str
        The kind of work, for the names of the threads.
    number : int
        How many pieces of work are done at a time.
    deadline : float
        The most seconds that a piece of work waits until a thread is free.

    """

    def __init__(self, name: str, number: int, *, deadline: float) -> None:
        self._pool = ThreadPoolExecutor(number, thread_name_prefix=f"paraqd-{name}")
        self._deadline = deadline

    async def run(self, work: Callable[[], Result], *, discard: Callable[[Result], object] | None = None) -> Result:
        """Run a function in a thread, and return its result.

        If the caller is cancelled before the function begins, the function never runs. If it has begun, it runs to its
        end, because nothing can stop a thread; ``discard`` then gets the result.

        Raises
        ------
        DeadlineExceeded
            If no thread is free in time.

        """
        future = self._pool.submit(work)
        answer = asyncio.wrap_future(future)
        try:
            await asyncio.wait([answer], timeout=self._deadline)
            if not answer.done() and future.cancel():
                raise DeadlineExceeded(
                    f"The server was too busy to begin within {self._deadline:g} seconds. Try again later."
                )
            return await answer
        except BaseException:
            answer.cancel()
            if discard is not None:
                future.add_done_callback(lambda done: _drop(done, discard))
            raise

    def close(self) -> None:
        """Begin nothing more."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _drop(done: Future[Result], discard: Callable[[Result], object]) -> None:
    if not done.cancelled() and done.exception() is None:
        discard(done.result())


async def unless_gone(request: Request, doing: Coroutine[Any, Any, Result]) -> Result:
    """Return what work results in. If the client goes away, stop the work."""
    work = asyncio.ensure_future(doing)
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait([work, gone], return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise ServerError("The client closed the connection.", status=499, code="client_closed")
        return await work
    finally:
        work.cancel()
        gone.cancel()


async def _disconnected(request: Request) -> None:
    """Wait until the client closes the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
