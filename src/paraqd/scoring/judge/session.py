"""Load ONNX models, and run them on rows of tokens in several threads."""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Lock, RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.errors import ModelError, reason_of
from paraqd.model_folder import ONNX_FILE, TOKENIZER_FILE, read_verified
from paraqd.scoring.judge.graph_check import check_graph
from paraqd.scoring.judge.pair_tokens import PairTokenizer, Row

# This optimizer fuses a sum and the layer norm after it into one operator. The fused operator takes 3.4 times as long
# with two threads and 7.5 times as long with one thread.
_NOT_FUSED = ["SkipLayerNormFusion"]
_BATCH_TOKENS = 512  # larger batches are not faster, and at the end threads would wait for the last batch
_MOST_THREADS = 16
_DIMENSIONS = {"valid": 1, "kinds": 2, "places": 2, "sums": 2}  # the number of dimensions of each output
_CODES = re.compile(r"\[ONNXRuntimeError\] : \d+ : \w+ : (?:.*Status Message: )?(?:/\S+:\d+ )?")
_BOUNDS = "out of data bounds"  # part of the runtime's message for an index that a table does not have

Feed = dict[str, NDArray[np.int64]]
# a function that runs a batch of row numbers in a session, and returns each row's outputs
RunBatch = Callable[[Any, Sequence[int]], Sequence[list[Any]]]

# A lock for loading models and for their caches. A fork waits until the lock is free, because otherwise the child could
# inherit a lock that nobody releases, or a partially imported module.
SHARED_LOCK = RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=SHARED_LOCK.acquire, after_in_parent=SHARED_LOCK.release, after_in_child=SHARED_LOCK.release
    )


def runtime() -> Any:
    """Return the module ``onnxruntime``. No other code imports it, so none can import it with its telemetry on."""
    import onnxruntime  # noqa: TID251  # the package paraqd has switched the telemetry off

    return onnxruntime


def session_options() -> Any:
    """Return options for a session that writes nothing to standard error, because errors become exceptions."""
    options = runtime().SessionOptions()
    options.log_severity_level = 4
    return options


def open_session(content: bytes, options: Any = None) -> Any:
    """Open a session for the content of an ONNX file."""
    return runtime().InferenceSession(
        content, options or session_options(), providers=["CPUExecutionProvider"], disabled_optimizers=_NOT_FUSED
    )


class OnnxModel:
    """A thread-safe model, loaded from a folder that contains ``onnx/model.onnx`` and ``tokenizer.json``.

    Each file is loaded when it is first needed.

    Parameters
    ----------
    folder : str or Path
        The model folder.
    threads : int, optional
        The number of threads (default: one per core that the process may use).
    hashes : mapping, optional
        The expected sha256 of each file. A file with a different sha256 is rejected. By default, nothing is checked.

    """

    def __init__(
        self, folder: str | Path, *, threads: int | None = None, hashes: Mapping[str, str] | None = None
    ) -> None:
        self.folder = Path(folder)
        self._hashes = dict(hashes or {})
        self.threads = threads or usable_cores()
        self._loaded: dict[tuple[str, int], Any] = {}

    @property
    def tokenizer(self) -> PairTokenizer:
        """The model's tokenizer."""
        tokenizer: PairTokenizer = self._once(
            "tokenizer",
            0,
            lambda: PairTokenizer.from_file(self.folder / TOKENIZER_FILE, sha256=self._hashes.get(TOKENIZER_FILE)),
        )
        return tokenizer

    @property
    def session(self) -> Any:
        """The runtime session for many batches. Each batch runs in one thread, and several batches run in parallel."""
        return self._once("session", 0, lambda: self._session(1))

    @property
    def _wide_session(self) -> Any:
        """The runtime session for a single batch, which uses all threads."""
        if self.threads == 1:
            return self.session
        return self._once("wide session", os.getpid(), lambda: self._session(self.threads))

    @property
    def _workers(self) -> ThreadPoolExecutor:
        workers: ThreadPoolExecutor = self._once(
            "workers", os.getpid(), lambda: ThreadPoolExecutor(self.threads, thread_name_prefix="paraqd")
        )
        return workers

    def _once(self, name: str, process: int, make: Callable[[], Any]) -> Any:
        """Return an object, which is created when it is first needed.

        For an object that owns threads, ``process`` is the process id, so a forked process creates its own object. For
        other objects, ``process`` is 0.
        """
        key = (name, process)
        if key not in self._loaded:
            with SHARED_LOCK:
                if key not in self._loaded:
                    self._loaded[key] = make()
        return self._loaded[key]

    def _session(self, threads: int, *, spinning: bool = True) -> Any:
        """Load the model. If ``spinning`` is False, threads sleep whenever they have to wait for others."""
        content = read_verified(self.folder / ONNX_FILE, self._hashes.get(ONNX_FILE))
        weights = self._weights()
        options = session_options()
        options.add_session_config_entry("session.load_model_format", "ONNX")  # the only format that is checked
        # without this entry, the runtime would quantise the inputs of some layers with ranges of its own
        options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")
        options.intra_op_num_threads = threads
        options.add_session_config_entry(
            "session.force_spinning_stop", "1"
        )  # threads that spin while idle slow down the others
        if not spinning:
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            check_graph(content, weights.keys())
            if weights:  # the session copies them
                values = [runtime().OrtValue.ortvalue_from_numpy(array) for array in weights.values()]
                options.add_external_initializers(list(weights), values)
            return open_session(content, options)
        except Exception as error:  # the runtime raises various exceptions for a broken file
            raise ModelError(
                f"{self.folder / ONNX_FILE} cannot be loaded: {_reason(error)}; install or train the model again"
            ) from None

    def _weights(self) -> Mapping[str, NDArray[np.int8]]:
        """Return the weights that are not in the graph, keyed by their names in the graph."""
        return {}

    def start(self, rows: Sequence[Row], outputs: Sequence[str]) -> Running:
        """Start running rows, and return a handle that waits for each row's outputs.

        Rows of the same length share a batch. Several batches run in the background if there are several threads.
        Otherwise, the work starts when the handle is called. Discarding the handle stops the work.
        """
        batches = list(batches_of([len(row.ids) for row in rows]))

        def run(session: Any, batch: Sequence[int]) -> list[list[Any]]:
            try:
                return _run(session, rows, batch, outputs)
            except (ModelError, MemoryError):
                raise
            except Exception as error:  # the runtime has exceptions of its own
                raise ModelError(
                    f"the model in {self.folder} cannot be run: {_reason(error)}; install or train the model again, "
                    "or free memory if it is short"
                ) from None

        return self.start_batches(batches, len(rows), run)

    def start_batches(self, batches: Sequence[Sequence[int]], rows: int, run: RunBatch) -> Running:
        """Start running batches of row numbers, and return a handle that waits for the outputs of all rows."""
        if len(batches) <= 1 or self.threads == 1:
            session = self._wide_session if len(batches) == 1 else self.session
            return Running(_Work(session, batches, rows, run), [])
        work = _Work(self.session, batches, rows, run)
        return Running(work, [self._workers.submit(work.run) for _ in range(min(self.threads, len(batches)))])


class Running:
    """A handle for work in progress. Call the handle to wait for the outputs."""

    def __init__(self, work: _Work, threads: Sequence[Future[None]]) -> None:
        self._work, self._threads = work, threads
        weakref.finalize(self, work.stop)

    def __call__(self) -> list[list[Any]]:
        """Wait for the work to finish, and return each row's outputs."""
        try:
            if not self._threads:
                self._work.run()
            for each in self._threads:
                each.result()
        except BaseException:
            self.stop()
            raise
        if self._work.stopped:
            raise RuntimeError("the work was stopped before all rows were run")
        return self._work.outputs_of_rows

    def stop(self) -> None:
        """Make each thread stop after its current batch."""
        self._work.stop()


class _Work:
    """A queue from which threads take batches, and the outputs for all rows."""

    def __init__(self, session: Any, batches: Sequence[Sequence[int]], rows: int, run: RunBatch) -> None:
        self.outputs_of_rows: list[list[Any]] = [[] for _ in range(rows)]
        self._session, self._run = session, run
        self._left = iter(batches)
        self._lock = Lock()
        self.stopped = False

    def stop(self) -> None:
        """Make each thread stop after its current batch."""
        self.stopped = True

    def run(self) -> None:
        """Run batches until none are left."""
        while not self.stopped:
            with self._lock:
                batch = next(self._left, None)
            if batch is None:
                return
            try:
                made = self._run(self._session, batch)
            except BaseException:
                self.stop()
                raise
            for number, outputs in zip(batch, made, strict=True):
                self.outputs_of_rows[number] = outputs


def batches_of(lengths: Sequence[int], tokens: int = _BATCH_TOKENS) -> Iterator[list[int]]:
    """Yield batches of row indices, longest rows first. All rows of a batch have the same length and need no padding.

    >>> list(batches_of([3, 5, 3, 3], tokens=6))
    [[1], [0, 2], [3]]
    """
    alike: dict[int, list[int]] = {}
    for number, length in enumerate(lengths):
        alike.setdefault(length, []).append(number)
    for length in sorted(alike, reverse=True):
        most = max(1, tokens // max(1, length))
        for start in range(0, len(alike[length]), most):
            yield alike[length][start : start + most]


def feed(rows: Sequence[Row]) -> Feed:
    """Return the model's input for rows of the same length."""
    return {
        "input_ids": np.stack([row.ids for row in rows]),
        "token_type_ids": np.stack([row.types for row in rows]),
    }


def _run(session: Any, rows: Sequence[Row], batch: Sequence[int], outputs: Sequence[str]) -> list[list[Any]]:
    inputs = feed([rows[number] for number in batch])
    if any(each.name == "attention_mask" for each in session.get_inputs()):  # a graph exported by version 0.1.0
        inputs["attention_mask"] = np.ones_like(inputs["input_ids"])
    found: list[Any] = session.run(outputs, inputs)
    _check_shapes(dict(zip(outputs, found, strict=True)), inputs["input_ids"].shape)
    check_finite(found)
    return [[each[place] for each in found] for place in range(len(batch))]


def _reason(error: Exception) -> str:
    """Return the first line of an exception's message, without the codes that the runtime puts in front."""
    reason = _CODES.sub("", reason_of(error))
    return f"the tokenizer has a token that the model does not know ({reason})" if _BOUNDS in reason else reason


def _check_shapes(found: Mapping[str, Any], shape: tuple[int, ...]) -> None:
    """Raise `ModelError` if an output does not consist of numbers, or does not have one entry per row or token."""
    for name, output in found.items():
        sizes = getattr(output, "shape", ())
        known = shape if name == "places" else shape[:1]
        if len(sizes) != _DIMENSIONS[name] or sizes[: len(known)] != known or output.dtype.kind != "f":
            raise ModelError(f"the model's output {name!r} has another form: install or train the model again")


def check_finite(outputs: Sequence[Any]) -> None:
    """Raise `ModelError` if a model's output is not finite."""
    if not all(np.isfinite(each).all() for each in outputs):
        raise ModelError("the model returned values that are not finite: install or train the model again")


def usable_cores() -> int:
    """Return the number of cores that this process may use, limited to 16."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _MOST_THREADS)
