"""Work on the pieces of a run: in this process, in several on this machine, or on a Ray cluster."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from paraqd.data.formats import TableError
from paraqd.runs.pieces import Piece, UnreadableError
from paraqd.runs.store import Facts

# called with the number of rows done beyond the finished pieces
OnRows = Callable[[int], None]


@dataclass(frozen=True)
class Result:
    """The result of a piece: what was counted in it, or why its rows could not be read."""

    piece: Piece
    facts: Facts | None
    problem: str = ""


class Worker(Protocol):
    """A worker on pieces; each process makes one."""

    identity: str  # the same wherever the same results are made

    def work(self, pieces: Iterable[Piece], on_rows: OnRows) -> Iterator[Result]:
        """Write the part of each piece, and yield the results in the order of the pieces."""


class Job(Protocol):
    """The work of a run on its pieces; small, and sent to every process."""

    def worker(self, *, threads: int | None = None) -> Worker:
        """Load what the work needs."""


class PieceWorker:
    """A worker that takes one piece after the other; its method ``piece`` does the work and returns the counts."""

    identity = ""

    def piece(self, piece: Piece, on_rows: OnRows) -> Facts:
        """Write the part of a piece."""
        raise NotImplementedError

    def work(self, pieces: Iterable[Piece], on_rows: OnRows) -> Iterator[Result]:
        """Yield the result of each piece; unreadable rows are a result, any other error ends the run."""
        for piece in pieces:
            try:
                result = Result(piece, self.piece(piece, on_rows))
            except UnreadableError as error:
                result = Result(piece, None, str(error))
            yield result


Results = Generator[Result, None, None]
# takes a job and pieces, and yields results as they are ready
Engine = Callable[[Job, Sequence[Piece], OnRows], Results]
ENGINES = ("local", "ray")


def engine_for(
    engine: str | Engine = "local", *, workers: int | None = None, address: str | None = None, verbose: bool = False
) -> Engine:
    """Return the engine with this name; a TableError says why it cannot be used."""
    if workers is not None and workers < 1:
        raise TableError(f"--workers {workers}: at least one is needed")
    if callable(engine):
        return engine
    if engine not in ENGINES:
        raise TableError(f"--engine {engine}: choose {' or '.join(ENGINES)}")
    if engine == "local":
        if address is not None:
            raise TableError("--address is the address of a Ray cluster: give --engine ray, too")
        return here if workers in (None, 1) else in_processes(workers or 1)
    import ray  # noqa: F401  # a missing package is reported now, before any work is done

    from paraqd.runs.ray_engine import on_ray

    return on_ray(address=address or os.environ.get("RAY_ADDRESS") or None, workers=workers, verbose=verbose)


def here(job: Job, pieces: Sequence[Piece], on_rows: OnRows) -> Results:
    """Work in this process."""
    yield from job.worker().work(pieces, on_rows)


def one_result(worker: Worker, piece: Piece) -> Result:
    """Return the result of a single piece."""
    [result] = worker.work([piece], lambda rows: None)
    return result


def in_processes(workers: int) -> Engine:
    """Return an engine of several processes on this machine, with one thread each."""

    def run(job: Job, pieces: Sequence[Piece], on_rows: OnRows) -> Results:
        del on_rows  # the rows of a process are known when its part is written
        if not pieces:
            return
        context = multiprocessing.get_context("spawn")  # a fork would copy the threads and locks of the caller
        count = min(workers, len(pieces))
        pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(job,))
        todo = iter(pieces)
        waiting: set[Future[Result]] = set()
        try:
            while True:
                for piece in islice(todo, count + 1 - len(waiting)):
                    with _interrupts_held():  # a worker may be started here
                        waiting.add(pool.submit(_work, piece))
                if not waiting:
                    return
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        except BrokenProcessPool:
            raise TableError(
                "a worker process died (out of memory?); the finished parts are kept: run the same command again, with "
                "fewer --workers if it happens again"
            ) from None
        finally:
            # a part may take minutes, and is not there until it is whole: do not wait for it. Before Python 3.14 a pool
            # has no public way to end its processes, and a missing list does no harm
            for process in list((getattr(pool, "_processes", None) or {}).values()):
                process.terminate()
            pool.shutdown(wait=True, cancel_futures=True)

    return run


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Keep Ctrl-C waiting; a process that is started meanwhile never sees it.

    Ctrl-C reaches every process of the terminal, but only the parent decides what it means.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# --- in a worker process ------------------------------------------------------------------------

_state: dict[str, Any] = {}


def _begin(job: Job) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # for systems on which it could not be held back
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.update(TOKENIZERS_PARALLELISM="false", OMP_NUM_THREADS="1")
    try:
        _state["worker"] = job.worker(threads=1)
    except Exception as error:  # reported with the first piece: a pool says only that it is broken
        _state["error"] = error


def _end_with_parent() -> None:
    """End this process when its parent is gone: after a kill -9 nobody else would."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(piece: Piece) -> Result:
    if "error" in _state:
        raise _state["error"]
    return one_result(_state["worker"], piece)
