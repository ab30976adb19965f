"""Load ONNX models and run rows of tokens through them, in several threads."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Lock, RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.errors import ModelError
from paraqd.model_folder import ONNX_FILE, TOKENIZER_FILE
from paraqd.scoring.judge.pair_tokens import PairTokenizer, Row

# With this optimizer the runtime makes one operator of a sum and the norm after it, which takes 3.4 times as long on
# two threads and 7.5 times as long on one.
NOT_FUSED = ["SkipLayerNormFusion"]
_BATCH_TOKENS = 512  # more are not faster, and at the end one thread would work while the others wait
_MOST_THREADS = 16

Feed = dict[str, NDArray[np.int64]]

# Guards the loading of models and their caches. A fork waits until it is free: otherwise the child would inherit a
# lock that nobody releases, or a module that is half imported.
SHARED_LOCK = RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=SHARED_LOCK.acquire, after_in_parent=SHARED_LOCK.release, after_in_child=SHARED_LOCK.release
    )


class OnnxModel:
    """The model in a folder with ``onnx/model.onnx`` and ``tokenizer.json``; several threads may use it.

    Both files are loaded when they are first needed.

    Parameters
    ----------
    folder : str or Path
        The model folder.
    threads : int, optional
        The number of threads; one for each core that the process may use unless given.

    """

    def __init__(self, folder: str | Path, *, threads: int | None = None) -> None:
        self.folder = Path(folder)
        self.threads = threads or usable_cores()
        self._loaded: dict[tuple[str, int], Any] = {}

    @property
    def tokenizer(self) -> PairTokenizer:
        """The tokenizer."""
        tokenizer: PairTokenizer = self._once(
            "tokenizer", 0, lambda: PairTokenizer.from_file(self.folder / TOKENIZER_FILE)
        )
        return tokenizer

    @property
    def session(self) -> Any:
        """The runtime's session for many batches: each batch runs in one thread, and several run at a time."""
        return self._once("session", 0, lambda: self._session(1))

    @property
    def _wide_session(self) -> Any:
        """The session for a single batch: all threads work on it."""
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
        """Make an object when it is first needed; one that has threads is made again in a forked process."""
        key = (name, process)
        if key not in self._loaded:
            with SHARED_LOCK:
                if key not in self._loaded:
                    self._loaded[key] = make()
        return self._loaded[key]

    def _session(self, threads: int) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        # without this the runtime would quantise the inputs of some layers by itself, with other ranges
        options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.force_spinning_stop", "1")  # idle threads slow down the others
        try:
            return onnxruntime.InferenceSession(
                str(self.folder / ONNX_FILE),
                options,
                providers=["CPUExecutionProvider"],
                disabled_optimizers=NOT_FUSED,
            )
        except Exception as error:  # the runtime raises various exceptions for a broken file
            raise ModelError(f"the model in {self.folder} cannot be loaded: {str(error).splitlines()[0]}") from None

    def start(self, rows: Sequence[Row], outputs: Sequence[str]) -> Running:
        """Start running rows, and return a handle to wait for them: for each row its part of every output.

        Rows of the same length share a batch. If there are several threads, they start at once, while the caller goes
        on, and they stop if the handle is thrown away.
        """
        batches = list(batches_of([len(row.ids) for row in rows]))
        if len(batches) <= 1 or self.threads == 1:
            return Running(_Work(self._wide_session if len(batches) == 1 else self.session, rows, batches, outputs), [])
        work = _Work(self.session, rows, batches, outputs)
        return Running(work, [self._workers.submit(work.run) for _ in range(min(self.threads, len(batches)))])


class Running:
    """Rows that are being run; call it to wait for their outputs."""

    def __init__(self, work: _Work, threads: Sequence[Future[None]]) -> None:
        self._work, self._threads = work, threads
        weakref.finalize(self, work.stop)

    def __call__(self) -> list[list[Any]]:
        """Wait, and return the outputs of each row."""
        try:
            if not self._threads:
                self._work.run()
            for each in self._threads:
                each.result()
        except BaseException:
            self.stop()
            raise
        if self._work.stopped:
            raise RuntimeError("these rows were stopped before they were run")
        return self._work.outputs_of_rows

    def stop(self) -> None:
        """Let each thread stop after its present batch."""
        self._work.stop()


class _Work:
    """Batches of rows for threads to take one after the other, and the outputs of each row."""

    def __init__(
        self, session: Any, rows: Sequence[Row], batches: Sequence[Sequence[int]], outputs: Sequence[str]
    ) -> None:
        self.outputs_of_rows: list[list[Any]] = [[] for _ in rows]
        self._session, self._rows, self._outputs = session, rows, outputs
        self._left = iter(batches)
        self._lock = Lock()
        self.stopped = False

    def stop(self) -> None:
        """Let each thread stop after its present batch."""
        self.stopped = True

    def run(self) -> None:
        """Run batches until there are none left."""
        while not self.stopped:
            with self._lock:
                batch = next(self._left, None)
            if batch is None:
                return
            try:
                made = _run(self._session, self._rows, batch, self._outputs)
            except BaseException:
                self.stop()
                raise
            for place, number in enumerate(batch):
                self.outputs_of_rows[number] = [each[place] for each in made]


def batches_of(lengths: Sequence[int], tokens: int = _BATCH_TOKENS) -> Iterator[list[int]]:
    """Yield batches of row numbers: rows of a batch have the same length, so that none is padded; longest first.

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


def _run(session: Any, rows: Sequence[Row], batch: Sequence[int], outputs: Sequence[str]) -> list[Any]:
    inputs = feed([rows[number] for number in batch])
    if any(each.name == "attention_mask" for each in session.get_inputs()):  # a graph of version 0.1.0
        inputs["attention_mask"] = np.ones_like(inputs["input_ids"])
    found: list[Any] = session.run(outputs, inputs)
    if not all(np.isfinite(each).all() for each in found):
        raise ModelError("the model gives values that are not finite numbers: install or train it again")
    return found


def usable_cores() -> int:
    """Return the number of cores that this process may use, at most sixteen."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _MOST_THREADS)
