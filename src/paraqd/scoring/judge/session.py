"""What the models of a folder share: the runtime and the tokenizer, loaded when first needed, and how rows are run."""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Lock, RLock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraqd.errors import ModelError
from paraqd.model_folder import ONNX_FILE, TOKENIZER_FILE

# optimizers of the runtime that are left out: as one operator a sum and the norm behind it take 3.4 times as long on
# two threads, 7.5 on one
NOT_FUSED = ["SkipLayerNormFusion"]
_BATCH_TOKENS = 512  # more gain nothing, and a thread would work at the last of them while the others wait
_MOST_THREADS = 16
_FEW = 4  # texts that are tokenised one after the other
_SURROGATE = re.compile("[\ud800-\udfff]")

Feed = dict[str, NDArray[np.int64]]


class Row(NamedTuple):
    """What a model reads at once: the tokens, and to which text each belongs."""

    ids: NDArray[np.int64]
    types: NDArray[np.int64]


class OnnxFolder:
    """A folder with ``onnx/model.onnx`` and ``tokenizer.json``; several threads may use it.

    Parameters
    ----------
    folder : str or Path
        The folder.
    threads : int, optional
        How many threads work at a time; one for each core that the process may use unless given.

    """

    def __init__(self, folder: str | Path, *, threads: int | None = None) -> None:
        self.folder = Path(folder)
        self.threads = threads or usable_cores()
        self._made: dict[tuple[str, int], Any] = {}
        self._lock = RLock()

    @property
    def session(self) -> Any:
        """The runtime's session for many batches: each runs in one thread, and several at a time."""
        return self._once("session", 0, lambda: self._session(1))

    @property
    def _wide(self) -> Any:
        """The session for one batch alone: all threads work on it."""
        return (
            self.session if self.threads == 1 else self._once("wide", os.getpid(), lambda: self._session(self.threads))
        )

    @property
    def _workers(self) -> ThreadPoolExecutor:
        made: ThreadPoolExecutor = self._once(
            "workers", os.getpid(), lambda: ThreadPoolExecutor(self.threads, thread_name_prefix="paraqd")
        )
        return made

    @property
    def tokenizer(self) -> Any:
        """The tokenizer, which cuts and pads nothing."""
        return self._once("tokenizer", 0, self._tokenizer)

    def encoded(self, texts: Sequence[str], *, places: bool = True) -> list[Any]:
        """Return the tokens of texts as the tokenizer gives them, without those that frame a text."""
        shown = [printable(text) for text in texts]
        if len(shown) <= _FEW:  # its threads would take longer to wake up
            return [self.tokenizer.encode(text, add_special_tokens=False) for text in shown]
        encode = self.tokenizer.encode_batch if places else self.tokenizer.encode_batch_fast
        return list(encode(shown, add_special_tokens=False))

    def _once(self, name: str, process: int, make: Callable[[], Any]) -> Any:
        """Make something when it is first needed; what has threads is made anew in a process that was forked off."""
        key = (name, process)
        if key not in self._made:
            with self._lock:
                if key not in self._made:
                    self._made[key] = make()
        return self._made[key]

    def _session(self, threads: int) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        # of maps whose inputs are not rounded in the graph the runtime would round them unasked, with other ranges
        options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.force_spinning_stop", "1")  # its threads hinder those of others
        try:
            return onnxruntime.InferenceSession(
                str(self.folder / ONNX_FILE),
                options,
                providers=["CPUExecutionProvider"],
                disabled_optimizers=NOT_FUSED,
            )
        except Exception as error:  # whatever the runtime raises on a broken file
            raise ModelError(f"the model in {self.folder} cannot be loaded: {str(error).splitlines()[0]}") from None

    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(self.folder / TOKENIZER_FILE))
        except Exception as error:
            raise ModelError(f"the tokenizer in {self.folder} cannot be loaded: {error}") from None
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    def start(self, rows: Sequence[Row], outputs: Sequence[str]) -> Running:
        """Begin to run rows, and return what waits for them: for each row its part of every output.

        Rows of one length go together. Where several threads may work they begin at once, beside the caller, and stop
        where nobody waits for them any more.
        """
        batches = list(batches_of([len(row.ids) for row in rows]))
        if len(batches) <= 1 or self.threads == 1:
            return Running(_Work(self._wide if len(batches) == 1 else self.session, rows, batches, outputs), [])
        work = _Work(self.session, rows, batches, outputs)
        return Running(work, [self._workers.submit(work.run) for _ in range(min(self.threads, len(batches)))])


class Running:
    """Rows that threads are at, or that the caller will run: calling it waits for them."""

    def __init__(self, work: _Work, threads: Sequence[Future[None]]) -> None:
        self._work, self._threads = work, threads
        weakref.finalize(self, work.stop)

    def __call__(self) -> list[list[Any]]:
        """Return what came of each row."""
        try:
            if not self._threads:
                self._work.run()
            for each in self._threads:
                each.result()
        except BaseException:
            self.stop()
            raise
        if self._work.stopped:
            raise RuntimeError("what was under way has been stopped")
        return self._work.found

    def stop(self) -> None:
        """Let the threads end after the batch that each is at."""
        self._work.stop()


class _Work:
    """Batches of rows that threads take one after the other, and what came of each row."""

    def __init__(
        self, session: Any, rows: Sequence[Row], batches: Sequence[Sequence[int]], outputs: Sequence[str]
    ) -> None:
        self.found: list[list[Any]] = [[] for _ in rows]
        self._session, self._rows, self._outputs = session, rows, outputs
        self._left = iter(batches)
        self._lock = Lock()
        self.stopped = False

    def stop(self) -> None:
        """Let the threads end after the batch that each is at."""
        self.stopped = True

    def run(self) -> None:
        """Run batches until none is left."""
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
                self.found[number] = [each[place] for each in made]


def batches_of(lengths: Sequence[int], tokens: int = _BATCH_TOKENS) -> Iterator[list[int]]:
    """Yield the numbers of rows that go together: all of one length, so that nothing is padded, the longest first.

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
    """Return what a model is given for rows of one length."""
    return {
        "input_ids": np.stack([row.ids for row in rows]),
        "token_type_ids": np.stack([row.types for row in rows]),
    }


def _run(session: Any, rows: Sequence[Row], batch: Sequence[int], outputs: Sequence[str]) -> list[Any]:
    inputs = feed([rows[number] for number in batch])
    if any(each.name == "attention_mask" for each in session.get_inputs()):  # a graph of an earlier version
        inputs["attention_mask"] = np.ones_like(inputs["input_ids"])
    made: list[Any] = session.run(outputs, inputs)
    return made


def usable_cores() -> int:
    """Return how many cores this process may use, at most sixteen."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _MOST_THREADS)


def printable(text: str) -> str:
    r"""Replace what no tokenizer takes, halves of surrogate pairs, one sign for one: places stay.

    >>> len(printable("\ud83d\ude00 5 km"))
    7
    """
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
