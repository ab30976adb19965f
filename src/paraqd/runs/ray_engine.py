"""Work on the pieces of a run on a Ray cluster, or on one that is started on this machine for the run.

Ray places the workers, sends them the job, and restarts those that die. This module decides which worker gets which
piece, and how often a piece is tried. The workers write the parts themselves: rows never pass through Ray.
"""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from paraqd.errors import ParaqdError
from paraqd.runs.engines import Engine, Job, OnRows, Result, Results, Worker, one_result
from paraqd.runs.pieces import Piece

_REACHED_WITHIN = 5.0  # seconds to wait for a host that does not answer at all
_ANSWERED_WITHIN = 20.0  # seconds to wait for a host that answers, but not as Ray does
_TRIES = 4
_PAUSE = 0.5  # seconds to wait if a worker dies as soon as it is started
_OBJECT_STORE = 128 << 20  # bytes in a cluster of our own: only pieces and counts pass through it
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
_LOG = logging.getLogger(__name__)
# one core for each worker, whatever the defaults of its libraries
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1"}


class ClusterError(ParaqdError, RuntimeError):
    """A cluster that cannot be used; the message is one line that says why."""


def on_ray(*, address: str | None = None, workers: int | None = None, verbose: bool = False) -> Engine:
    """Return an engine of workers on a Ray cluster, with one core each; as many as the cluster has unless given.

    Without an address, or with ``local``, a cluster is started on this machine and ends with the run. A program that
    has called ``ray.init`` keeps its cluster, and any other address is refused. A worker that dies is restarted, and
    its piece is tried again, perhaps elsewhere; after four tries the piece counts as failed. A worker that dies four
    times without finishing a piece is not used any more, as long as there are others. A `ClusterError` says that no
    cluster answers at the address.
    """
    address = None if address == "local" else address
    if address is not None and not _connected_to(address):
        check_address(address)
        _refuse_another(address)

    def run(job: Job, pieces: Sequence[Piece], on_rows: OnRows) -> Results:
        del on_rows  # the rows of a worker are known when its part is written
        if not pieces:
            return
        with _cluster(address, workers, verbose) as cores:
            yield from _Crew(job, pieces, min(workers or cores, len(pieces))).results()

    return run


@contextmanager
def _cluster(address: str | None, workers: int | None, verbose: bool) -> Iterator[int]:
    """Connect to a cluster or start one, and give the number of its cores."""
    for name, value in ({} if verbose else _QUIET).items():
        os.environ.setdefault(name, value)
    import ray

    if ray.is_initialized():  # by the calling program, which will end it
        if address is not None:
            _refuse_another(address)
        yield _cores()
        return
    own: dict[str, Any] = {}
    if address is None:
        own = {"num_cpus": workers or os.cpu_count() or 1, "object_store_memory": _OBJECT_STORE}
        own |= {"include_dashboard": False}
    try:
        ray.init(
            address=address or "local",
            log_to_driver=verbose,
            logging_level=logging.INFO if verbose else logging.CRITICAL,
            **own,
        )
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise ClusterError(f"{_called(address)} cannot be used: {_first_line(str(error))}") from None
    try:
        yield _cores()
    finally:
        ray.shutdown()


def _connected_to(address: str) -> bool:
    """Return True if this program has called ``ray.init`` for the cluster at the address."""
    import ray

    if not ray.is_initialized():
        return False
    mine = ray.get_runtime_context().gcs_address
    return address == "auto" or _resolved(address) == _resolved(mine)


def _refuse_another(address: str) -> None:
    import ray

    if ray.is_initialized() and not _connected_to(address):
        mine = ray.get_runtime_context().gcs_address
        raise ClusterError(
            f"this program is connected to the Ray cluster at {mine}, not at {address}; leave the address out"
        )


def _resolved(address: str) -> tuple[str, str]:
    host, _, port = address.rpartition(":")
    try:
        return socket.gethostbyname(host), port
    except OSError:
        return host, port


def _cores() -> int:
    import ray

    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def check_address(address: str) -> None:
    """Raise a `ClusterError` unless a cluster answers at the address within some seconds.

    Another process asks, because Ray would try for a minute, and may end the process that asks.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if address != "auto":
        if not host or not port.isdigit():
            raise ClusterError(f"--address {address}: write it as HOST:PORT, such as 10.0.0.1:6379, or auto")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_REACHED_WITHIN).close()
        except (OSError, OverflowError) as error:
            raise ClusterError(f"no Ray cluster answers at {address} ({_why(error)}); is it running?") from None
    ask = f"import ray; ray.init({address!r}, log_to_driver=False, logging_level='CRITICAL'); ray.shutdown()"
    try:
        asked = subprocess.run(
            [sys.executable, "-c", ask], capture_output=True, text=True, timeout=_ANSWERED_WITHIN, check=False
        )
    except subprocess.TimeoutExpired:
        raise ClusterError(
            f"the program at {address} did not answer as a Ray cluster within {_ANSWERED_WITHIN:g} s: check that it is "
            "one, with the same version of Ray; if it was busy, try again"
        ) from None
    if asked.returncode:
        lines = [line for line in asked.stderr.splitlines() if line[:1].isalpha() and "Error" in line.split(":")[0]]
        why = lines[-1].partition(":")[2].strip() if lines else "it does not answer as Ray does"
        raise ClusterError(f"the Ray cluster at {address} cannot be used: {_first_line(why)}")


def _called(address: str | None) -> str:
    return f"the Ray cluster at {address}" if address else "a Ray cluster on this machine"


def _why(error: Exception) -> str:
    return "no answer" if isinstance(error, TimeoutError) else getattr(error, "strerror", None) or str(error)


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0].rstrip(".")[:300]


class _Hand:
    """A worker on the cluster."""

    def __init__(self) -> None:
        self._worker: Worker | None = None

    def begin(self, job: Job) -> tuple[str, str]:
        """Load what the work needs; return the worker's identity, which all must share, and the name of the host."""
        self._worker = job.worker(threads=1)
        return self._worker.identity, socket.gethostname()

    def work(self, piece: Piece) -> Result | None:
        """Work on a piece; return None if this worker was restarted after it began."""
        return None if self._worker is None else one_result(self._worker, piece)


@dataclass
class _Crew:
    """The workers of a run on the cluster; each gets one piece at a time."""

    job: Job
    pieces: Sequence[Piece]
    workers: int
    _todo: deque[Piece] = field(default_factory=deque)
    _tries: dict[int, int] = field(default_factory=dict)
    # the running calls: the worker, and its piece, or None while it starts
    _under_way: dict[Any, tuple[Any, Piece | None]] = field(default_factory=dict)
    _idle: list[Any] = field(default_factory=list)
    # the workers in use, and how often each has died since it last finished a piece
    _deaths: dict[Any, int] = field(default_factory=dict)
    _identity: str | None = None
    _sent: Any = None

    def results(self) -> Results:
        """Yield the result of each piece as it comes."""
        import ray

        hand = ray.remote(_Hand)
        options = {
            "num_cpus": 1,
            "max_restarts": -1,
            "max_task_retries": 0,  # retried here, where the tries are counted
            "runtime_env": {"env_vars": _ONE_THREAD},
        }
        self._sent = ray.put(self.job)
        self._todo.extend(self.pieces)
        for _ in range(self.workers):
            worker = hand.options(**options).remote()
            self._deaths[worker] = 0
            self._greet(worker)
        while self._todo or any(piece for _, piece in self._under_way.values()):
            ready, _ = ray.wait(list(self._under_way), num_returns=1)
            for reference in ready:
                worker, piece = self._under_way.pop(reference)
                try:
                    found = ray.get(reference)
                except ray.exceptions.RayTaskError as error:
                    if piece is not None:  # an error of the work itself would come back anywhere
                        raise _cause(error) from None
                    self._give_up(worker, _cause(error))  # something is missing on that machine, or on all of them
                    continue
                except ray.exceptions.RayError as error:
                    found = error
                if isinstance(found, Exception) or (piece is not None and found is None):
                    if failed := self._lost(worker, piece, found):
                        yield failed
                    continue
                if piece is None:
                    self._welcome(*found)
                else:
                    self._deaths[worker] = 0
                    yield found
                self._next(worker)

    def _greet(self, worker: Any) -> None:
        self._under_way[worker.begin.remote(self._sent)] = (worker, None)

    def _welcome(self, identity: str, host: str) -> None:
        if self._identity not in (None, identity):
            raise ClusterError(
                f"the worker on {host} has {identity}, another one {self._identity}: install the same on all machines"
            )
        self._identity = identity

    def _next(self, worker: Any) -> None:
        if self._todo:
            piece = self._todo.popleft()
            self._under_way[worker.work.remote(piece)] = (worker, piece)
        else:
            self._idle.append(worker)

    def _again(self, piece: Piece) -> None:
        """Give a piece to any free worker: the one that had it may not come back if its machine is gone."""
        self._todo.appendleft(piece)
        if self._idle:
            self._next(self._idle.pop())

    def _lost(self, worker: Any, piece: Piece | None, error: Exception | None) -> Result | None:
        """Prepare a worker that died, once Ray has restarted it, and give its piece to another.

        A worker that keeps dying is not used any more, unless it is the only one and its piece may be the cause.
        """
        failed = None
        self._deaths[worker] += 1
        if piece is not None:
            tries = self._tries[piece.index] = self._tries.get(piece.index, 0) + 1
            if tries < _TRIES:
                self._again(piece)
            else:
                failed = Result(piece, None, f"its worker died {tries} times (out of memory?)")
        if self._deaths[worker] >= _TRIES and (piece is None or len(self._deaths) > 1):
            self._give_up(worker, ClusterError(f"a worker could not be started: {_last_line(error)}"))
        else:
            if piece is None:
                time.sleep(_PAUSE)
            self._greet(worker)
        return failed

    def _give_up(self, worker: Any, error: Exception) -> None:
        """Stop using a worker; if it was the last, its error ends the run."""
        import ray

        del self._deaths[worker]
        ray.kill(worker)
        if not self._deaths:
            raise error
        _LOG.warning("a worker is not used any more: %s", error)


def _last_line(error: Exception | None) -> str:
    """Return the last line of an error of Ray, which is the error itself."""
    if error is None:
        return "it was restarted"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__)[:300]


def _cause(error: Any) -> Exception:
    cause = getattr(error, "cause", None)
    return cause if isinstance(cause, Exception) else ClusterError(f"a worker failed: {_last_line(error)}")
