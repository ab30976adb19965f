"""Who works on the pieces of a run: this process, several on this machine, or a Ray cluster."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from paraqd.data.formats import TableError
from paraqd.runs.child_processes import begin_child, interrupts_held
from paraqd.runs.pieces import Piece, UnreadableError
from paraqd.runs.target import Facts

OnRows = Callable[[int], None]


class Worker(Protocol):
    """Works on pieces, one after the other; made once in each process."""

    identity: str  # the same wherever the same results are made

    def work(self, piece: Piece, on_rows: OnRows) -> Facts:
        """Write the part of a piece and return what was counted in it; ``on_rows`` is told how many rows are done."""


class Job(Protocol):
    """What a run does with its pieces: small, and sent to every process that works on them."""

    def worker(self, *, threads: int | None = None) -> Worker:
        """Load what the work needs."""


@dataclass(frozen=True)
class Result:
    """What became of a piece: what was counted, or why its rows could not be read."""

    piece: Piece
    facts: Facts | None
    problem: str = ""


Results = Generator[Result, None, None]
# takes a job and pieces; results come in the order in which they are ready
Engine = Callable[[Job, Sequence[Piece], OnRows], Results]


def worked(worker: Worker, piece: Piece, on_rows: OnRows = lambda rows: None) -> Result:
    """Work on a piece; rows that cannot be read are a result, anything else ends the run."""
    try:
        return Result(piece, worker.work(piece, on_rows))
    except UnreadableError as error:
        return Result(piece, None, str(error))


def here(job: Job, pieces: Sequence[Piece], on_rows: OnRows) -> Results:
    """Work on the pieces in this process."""
    worker = job.worker()
    for piece in pieces:
        yield worked(worker, piece, on_rows)


def in_processes(workers: int) -> Engine:
    """Return an engine of several processes on this machine, one thread each."""

    def run(job: Job, pieces: Sequence[Piece], on_rows: OnRows) -> Results:
        del on_rows  # what a process has done is known when its part is
        context = multiprocessing.get_context("spawn")  # a fork would copy threads and locks of the caller's libraries
        count = min(workers, len(pieces))
        pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(job,))
        todo = iter(pieces)
        waiting: set[Future[Result]] = set()
        try:
            while True:
                for piece in islice(todo, count + 1 - len(waiting)):
                    with interrupts_held():  # a worker may be started here
                        waiting.add(pool.submit(_work, piece))
                if not waiting:
                    return
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        except BrokenProcessPool:
            raise TableError(
                "a worker process died (out of memory?); what is finished is kept: run the same command again, with "
                "fewer --workers if it happens again"
            ) from None
        finally:
            # a part takes minutes, and is not there until it is whole: nobody is to wait for it. Before Python 3.14 a
            # pool has no public way to end its processes, and not to have the list there is harmless
            for process in list((getattr(pool, "_processes", None) or {}).values()):
                process.terminate()
            pool.shutdown(wait=True, cancel_futures=True)

    return run


_state: dict[str, Any] = {}


def _begin(job: Job) -> None:
    begin_child()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    try:
        _state["worker"] = job.worker(threads=1)
    except Exception as error:  # told by the first piece: all that a pool says is that it is broken
        _state["error"] = error


def _work(piece: Piece) -> Result:
    if "error" in _state:
        raise _state["error"]
    return worked(_state["worker"], piece)
