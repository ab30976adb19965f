"""Process the pieces of a run in this process, in several processes on this machine, or on a Ray cluster."""

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

from paraqd.parameters import are_options, name_as_options, named
from paraqd.runs.parts import Facts
from paraqd.runs.pieces import Piece, UnreadableError
from paraqd.tables.formats import TableError

# called with the number of rows processed so far in pieces that are not finished
OnRows = Callable[[int], None]


@dataclass(frozen=True)
class Result:
    """The result of processing a piece: its counts, or the reason why its rows could not be read."""

    piece: Piece
    facts: Facts | None
    problem: str = ""


class Worker(Protocol):
    """An object that processes pieces. Each process creates one worker."""

    identity: str  # workers with the same identity produce the same results

    def work(self, pieces: Iterable[Piece], on_rows: OnRows) -> Iterator[Result]:
        """Write the part for each piece, and yield the results in the order of the pieces."""


class Job(Protocol):
    """The definition of what a run does with its pieces. A job is small, because it is sent to every process."""

    @property
    def identity(self) -> str:
        """A string that must be the same for all workers, such as the package version."""

    def worker(self, *, threads: int | None = None) -> Worker:
        """Load the resources that the job needs, and return a worker."""


class PieceWorker:
    """A base class for workers that process one piece at a time. Subclasses implement `piece`."""

    identity = ""

    def piece(self, piece: Piece, on_rows: OnRows) -> Facts:
        """Write the part for a piece, and return its counts."""
        raise NotImplementedError

    def work(self, pieces: Iterable[Piece], on_rows: OnRows) -> Iterator[Result]:
        """Process the pieces, and yield their results. Unreadable rows lead to a failed result, not to an exception."""
        for piece in pieces:
            try:
                result = Result(piece, self.piece(piece, on_rows))
            except UnreadableError as error:
                result = Result(piece, None, str(error))
            yield result


Results = Generator[Result, None, None]
# takes a job and pieces, and yields each result as soon as it is available
Engine = Callable[[Job, Sequence[Piece], OnRows], Results]
ENGINES = ("local", "ray")


def engine_for(
    engine: str | Engine = "local", *, workers: int | None = None, address: str | None = None, verbose: bool = False
) -> Engine:
    """Return the engine with the given name, or raise a TableError if the options are invalid for this engine."""
    if workers is not None and workers < 1:
        raise TableError(f"{named('workers', workers)}: at least one is needed")
    if callable(engine):
        return engine
    if engine not in ENGINES:
        raise TableError(f"{named('engine', engine)}: choose {' or '.join(ENGINES)}")
    if engine == "local":
        if address is not None:
            raise TableError(
                f"{named('address', address)} is the address of a Ray cluster: also pass {named('engine', 'ray')}"
            )
        return in_this_process if workers in (None, 1) else in_processes(workers or 1)
    import ray  # noqa: F401  # report a missing package before any work begins

    from paraqd.runs.ray_engine import on_ray

    return on_ray(address=address or os.environ.get("RAY_ADDRESS") or None, workers=workers, verbose=verbose)


def in_this_process(job: Job, pieces: Sequence[Piece], on_rows: OnRows) -> Results:
    """Process the pieces in this process."""
    yield from job.worker().work(pieces, on_rows)


def one_result(worker: Worker, piece: Piece) -> Result:
    """Process a single piece, and return its result."""
    [result] = worker.work([piece], lambda rows: None)
    return result


def in_processes(workers: int) -> Engine:
    """Return an engine that uses several processes on this machine, each with one thread."""

    def run(job: Job, pieces: Sequence[Piece], on_rows: OnRows) -> Results:
        del on_rows  # a process reports its rows only when its part has been written
        if not pieces:
            return
        context = multiprocessing.get_context("spawn")  # a fork would copy locks that the caller's threads hold
        count = min(workers, len(pieces))
        pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(job, are_options()))
        todo = iter(pieces)
        waiting: set[Future[Result]] = set()
        finished = False
        try:
            while True:
                for piece in islice(todo, count + 1 - len(waiting)):
                    with _interrupts_blocked():  # submitting a piece may start a process
                        waiting.add(pool.submit(_work, piece))
                if not waiting:
                    return
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    result = future.result()
                    finished = True
                    yield result
        except BrokenProcessPool:
            if not finished:
                raise TableError(
                    "a worker process died before it finished a part: it ran out of memory (use fewer workers), or the "
                    'script does not guard its entry point with if __name__ == "__main__":'
                ) from None
            raise TableError(
                "a worker process died (out of memory?); the finished parts are kept: run the same command again, with "
                "fewer workers if it happens again"
            ) from None
        finally:
            # unfinished parts may take minutes, so end the processes; only complete parts are ever stored. The private
            # attribute is needed, because pools have no public method to end their processes before Python 3.14
            for process in list((getattr(pool, "_processes", None) or {}).values()):
                process.terminate()
            pool.shutdown(wait=True, cancel_futures=True)

    return run


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Mask SIGINT so that processes started inside the context ignore Ctrl-C.

    A terminal sends Ctrl-C to every process, but only the parent process should react.
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


def _begin(job: Job, options: bool) -> None:
    name_as_options(options)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # for systems on which the parent could not block the signal
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.update(TOKENIZERS_PARALLELISM="false", OMP_NUM_THREADS="1")
    try:
        worker = job.worker(threads=1)
        if worker.identity != job.identity:
            raise TableError(
                f"a worker process has loaded {worker.identity}, but the run began with {job.identity}: the model was "
                "changed during the run; run the same command again"
            )
        _state["worker"] = worker
    except Exception as error:  # raised later by the first piece, because the pool would hide the message
        _state["error"] = error


def _end_with_parent() -> None:
    """End this process when its parent process has ended, even if the parent was killed by ``kill -9``."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(piece: Piece) -> Result:
    if "error" in _state:
        raise _state["error"]
    return one_result(_state["worker"], piece)
