"""Work in threads waits no longer than somebody needs it, and leaves nothing behind."""

import asyncio
import threading

import pytest

from paraqd.server.errors import DeadlineExceeded
from paraqd.server.work import Threads


class Held:
    """Work that has begun, and goes on until it is let go."""

    def __init__(self):
        self.begun, self.let_go = threading.Event(), threading.Event()

    def __call__(self):
        self.begun.set()
        assert self.let_go.wait(60)
        return "done"


def test_work_waits_for_a_free_thread_until_the_deadline():
    async def run():
        threads, held, ran = Threads("test", 1, deadline=0.05), Held(), []
        first = asyncio.create_task(threads.run(held))
        await asyncio.to_thread(held.begun.wait)
        with pytest.raises(DeadlineExceeded, match=r"too busy to begin within 0\.05 seconds"):
            await threads.run(lambda: ran.append("late"))
        assert not first.done()  # the deadline is for the wait; the work may take longer
        held.let_go.set()
        assert await first == "done"
        await threads.run(lambda: ran.append("next"))
        assert ran == ["next"]

    asyncio.run(run())


def test_what_nobody_waits_for_never_begins_or_is_discarded():
    async def run():
        threads, held, discarded, ran = Threads("test", 1, deadline=60), Held(), asyncio.Queue(), []
        loop = asyncio.get_running_loop()
        first = asyncio.create_task(
            threads.run(held, discard=lambda result: loop.call_soon_threadsafe(discarded.put_nowait, result))
        )
        await asyncio.to_thread(held.begun.wait)
        second = asyncio.create_task(threads.run(lambda: ran.append("second"), discard=ran.append))
        await asyncio.sleep(0)
        for each in (first, second):
            each.cancel()
        assert all(
            isinstance(each, asyncio.CancelledError)
            for each in await asyncio.gather(first, second, return_exceptions=True)
        )
        held.let_go.set()
        assert await discarded.get() == "done"
        await threads.run(lambda: None)
        assert ran == []

    asyncio.run(run())


def test_an_error_in_a_thread_reaches_the_caller():
    def fail():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        asyncio.run(Threads("test", 1, deadline=60).run(fail, discard=pytest.fail))
