"""Process the pieces of a run on an existing Ray cluster, or on a temporary cluster on this machine.

Ray places the workers, sends the job to them, and restarts workers that die. This module assigns pieces to workers and
limits the number of attempts for each piece. The workers write the parts themselves, so rows never pass through Ray.
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
from paraqd.parameters import named
from paraqd.runs.engines import Engine, Job, OnRows, Result, Results, Worker, one_result
from paraqd.runs.pieces import Piece

_REACHED_WITHIN = 5.0  # seconds to wait for a connection to the host
_ANSWERED_WITHIN = 20.0  # seconds to wait for a Ray response from a host that accepts connections
_TRIES = 4
_PAUSE = 0.5  # seconds to wait before restarting a worker that died during start-up
_RESTARTED_WITHIN = 120.0  # seconds in which Ray may restart a worker; a busy machine needs many
_OBJECT_STORE = 128 << 20  # bytes for a temporary cluster; small, because only pieces and counts pass through it
_LOG = logging.getLogger(__name__)
# limits each worker to one core, regardless of the defaults of the libraries
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1"}


class ClusterError(ParaqdError, RuntimeError):
    """Raised when a cluster cannot be used. The one-line message explains the reason."""


def on_ray(*, address: str | None = None, workers: int | None = None, verbose: bool = False) -> Engine:
    """Return an engine that processes pieces on a Ray cluster.

    Each worker uses one core. By default, there are as many workers as the cluster has cores. If no address is passed,
    or if the address is ``local``, a cluster is started on this machine and shut down at the end of the run. If the
    program has already called ``ray.init``, the engine uses the program's cluster and rejects any other address.

    A worker that dies is restarted, and its piece is retried, possibly by another worker. After four attempts, the
    piece counts as failed. A worker that dies four times without finishing a piece is no longer used, provided that
    other workers remain.

    Raises
    ------
    ClusterError
        If the cluster at the address cannot be used.

    """
    address = None if address == "local" else address
    if address is not None and not _connected_to(address):
        check_address(address)
        _refuse_another(address)

    def run(job: Job, pieces: Sequence[Piece], on_rows: OnRows) -> Results:
        del on_rows  # a worker reports its rows only when its part has been written
        if not pieces:
            return
        with _cluster(address, workers, verbose) as cores:
            yield from _Workers(job, pieces, min(workers or cores, len(pieces))).results()

    return run


@contextmanager
def _cluster(address: str | None, workers: int | None, verbose: bool) -> Iterator[int]:
    """Connect to a cluster or start a cluster, and yield the number of its cores."""
    if not verbose:
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # avoids a warning
    import ray

    if ray.is_initialized():  # by the calling program, which is responsible for shutting it down
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
        raise ClusterError(f"{_cluster_name(address)} cannot be used: {_first_line(str(error))}") from None
    try:
        yield _cores()
    finally:
        ray.shutdown()


def _connected_to(address: str) -> bool:
    """Return True if this program is already connected to the cluster at the address."""
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
            f"this program is connected to the Ray cluster at {mine}, not at {address}; omit the address"
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
    """Raise a `ClusterError` unless a cluster answers at the address within a few seconds.

    A separate process tries to connect, because Ray retries for a minute and may terminate the process.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if address != "auto":
        if not host or not port.isdigit():
            raise ClusterError(f"{named('address', address)}: write it as HOST:PORT, such as 10.0.0.1:6379, or auto")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_REACHED_WITHIN).close()
        except (OSError, OverflowError) as error:
            raise ClusterError(f"no Ray cluster answers at {address} ({_reason_of(error)}); is it running?") from None
    ask = f"import ray; ray.init({address!r}, log_to_driver=False, logging_level='CRITICAL'); ray.shutdown()"
    try:
        asked = subprocess.run(
            [sys.executable, "-c", ask], capture_output=True, text=True, timeout=_ANSWERED_WITHIN, check=False
        )
    except subprocess.TimeoutExpired:
        raise ClusterError(
            f"the program at {address} did not answer as a Ray cluster within {_ANSWERED_WITHIN:g} s: check that it is "
            "a cluster with the same version of Ray; if it was busy, try again"
        ) from None
    if asked.returncode:
        lines = [line for line in asked.stderr.splitlines() if line[:1].isalpha() and "Error" in line.split(":")[0]]
        why = lines[-1].partition(":")[2].strip() if lines else "it does not answer like a Ray cluster"
        raise ClusterError(f"the Ray cluster at {address} cannot be used: {_first_line(why)}")


def _cluster_name(address: str | None) -> str:
    return f"the Ray cluster at {address}" if address else "a Ray cluster on this machine"


def _reason_of(error: Exception) -> str:
    return "no answer" if isinstance(error, TimeoutError) else getattr(error, "strerror", None) or str(error)


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0].rstrip(".")[:300]


class _WorkerActor:
    """The Ray actor in which a worker runs."""

    def __init__(self) -> None:
        self._worker: Worker | None = None

    def begin(self, job: Job) -> tuple[str, str]:
        """Create the worker, and return its identity and the name of its host."""
        self._worker = job.worker(threads=1)
        return self._worker.identity, socket.gethostname()

    def work(self, piece: Piece) -> Result | None:
        """Return the result of a piece, or None if Ray has restarted this actor and `begin` must be called again."""
        return None if self._worker is None else one_result(self._worker, piece)


@dataclass
class _Workers:
    """The workers of a run on the cluster. Each worker receives one piece at a time."""

    job: Job
    pieces: Sequence[Piece]
    workers: int
    _todo: deque[Piece] = field(default_factory=deque)
    _tries: dict[int, int] = field(default_factory=dict)
    # the pending calls, each with its worker and piece; the piece is None while the worker starts
    _pending: dict[Any, tuple[Any, Piece | None]] = field(default_factory=dict)
    _idle: list[Any] = field(default_factory=list)
    # the workers in use, each with the number of times it has died since it last finished a piece
    _deaths: dict[Any, int] = field(default_factory=dict)
    _restarting: dict[Any, float] = field(default_factory=dict)  # the workers that Ray restarts, and since when
    _job_reference: Any = None

    def results(self) -> Results:
        """Yield each result as soon as it is available."""
        import ray

        hand = ray.remote(_WorkerActor)
        options = {
            "num_cpus": 1,
            "max_restarts": -1,
            "max_task_retries": 0,  # this class retries pieces, because it counts the attempts
            "runtime_env": {"env_vars": _ONE_THREAD},
        }
        self._job_reference = ray.put(self.job)
        self._todo.extend(self.pieces)
        for _ in range(self.workers):
            worker = hand.options(**options).remote()
            self._deaths[worker] = 0
            self._start(worker)
        while self._todo or any(piece for _, piece in self._pending.values()):
            ready, _ = ray.wait(list(self._pending), num_returns=1)
            for reference in ready:
                worker, piece = self._pending.pop(reference)
                try:
                    found = ray.get(reference)
                except ray.exceptions.RayTaskError as error:
                    if piece is not None:  # an error in the job itself would recur on any worker
                        raise _cause(error) from None
                    self._give_up(worker, _cause(error))  # a resource is missing on this machine, or on all machines
                    continue
                except ray.exceptions.RayError as error:
                    found = error
                if isinstance(found, Exception) or (piece is not None and found is None):
                    if failed := self._handle_death(worker, piece, found):
                        yield failed
                    continue
                if piece is None:
                    self._restarting.pop(worker, None)
                    self._check_identity(*found)
                else:
                    self._deaths[worker] = 0
                    yield found
                self._next(worker)

    def _start(self, worker: Any) -> None:
        self._pending[worker.begin.remote(self._job_reference)] = (worker, None)

    def _check_identity(self, identity: str, host: str) -> None:
        if identity != self.job.identity:
            raise ClusterError(
                f"the worker on {host} has {identity}, but the run began with {self.job.identity}: install the same "
                "version on all machines, and do not change the model during a run"
            )

    def _next(self, worker: Any) -> None:
        if self._todo:
            piece = self._todo.popleft()
            self._pending[worker.work.remote(piece)] = (worker, piece)
        else:
            self._idle.append(worker)

    def _retry(self, piece: Piece) -> None:
        """Process a piece again, with any idle worker, because the machine of the previous worker may be lost."""
        self._todo.appendleft(piece)
        if self._idle:
            self._next(self._idle.pop())

    def _handle_death(self, worker: Any, piece: Piece | None, error: Exception | None) -> Result | None:
        """Restart a worker that died, and retry its piece. Return a failed result after the last attempt.

        A worker that dies repeatedly is no longer used, unless it is the only worker.
        """
        if self._is_restarting(worker, error) and piece is None:
            time.sleep(_PAUSE)
            self._start(worker)
            return None
        failed = None
        self._deaths[worker] += 1
        if piece is not None:
            tries = self._tries[piece.index] = self._tries.get(piece.index, 0) + 1
            if tries < _TRIES:
                self._retry(piece)
            else:
                failed = Result(piece, None, f"its worker died {tries} times (out of memory?)")
        if self._deaths[worker] >= _TRIES and (piece is None or len(self._deaths) > 1):
            self._give_up(worker, ClusterError(f"a worker could not be started: {_last_line(error)}"))
        else:
            if piece is None:
                time.sleep(_PAUSE)
            self._start(worker)
        return failed

    def _is_restarting(self, worker: Any, error: Exception | None) -> bool:
        """Return True if a worker does not answer because Ray restarts it, unless this has taken too long."""
        if "restarting" not in str(error):  # Ray has the same class of error for a worker that died during a call
            self._restarting.pop(worker, None)
            return False
        since = self._restarting.setdefault(worker, time.monotonic())
        return time.monotonic() - since < _RESTARTED_WITHIN

    def _give_up(self, worker: Any, error: Exception) -> None:
        """Stop using a worker, and raise the error if no other worker remains."""
        import ray

        del self._deaths[worker]
        ray.kill(worker)
        if not self._deaths:
            raise error
        _LOG.warning("a worker is no longer used: %s", error)


def _last_line(error: Exception | None) -> str:
    """Return the last line of a Ray error message, which names the actual error."""
    if error is None:
        return "it was restarted"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__)[:300]


def _cause(error: Any) -> Exception:
    cause = getattr(error, "cause", None)
    return cause if isinstance(cause, Exception) else ClusterError(f"a worker failed: {_last_line(error)}")
