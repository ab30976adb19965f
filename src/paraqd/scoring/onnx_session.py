"""What the models of a folder share: the runtime and the tokenizer, loaded when first needed, and how rows are run."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraqd.scoring.errors import ModelError

MODEL, TOKENIZER = "onnx/model.onnx", "tokenizer.json"
_BATCH_TOKENS = 1024  # more gain nothing, and a core holds less of them in its cache
_MOST_THREADS = 16
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
        for name in (MODEL, TOKENIZER):
            if not (self.folder / name).is_file():
                raise ModelError(
                    f"{self.folder} is not whole: it has no {name}; a folder that was trained here becomes whole with "
                    "paraqd export, another must be installed again"
                )

    @cached_property
    def session(self) -> Any:
        """The runtime's session for many batches: each runs in one thread, and several at a time."""
        return self._session(1)

    @cached_property
    def _wide(self) -> Any:
        """The session for one batch alone: all threads work on it."""
        return self.session if self.threads == 1 else self._session(self.threads)

    def _session(self, threads: int) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        # The runtime would round activations too where weights have eight bits, and move scores by up to 0.08.
        options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")
        options.intra_op_num_threads = threads
        try:
            return onnxruntime.InferenceSession(str(self.folder / MODEL), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # whatever the runtime raises on a broken file
            raise ModelError(f"the model in {self.folder} cannot be loaded: {str(error).splitlines()[0]}") from None

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer, which cuts and pads nothing."""
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(self.folder / TOKENIZER))
        except Exception as error:
            raise ModelError(f"the tokenizer in {self.folder} cannot be loaded: {error}") from None
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _workers(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.threads, thread_name_prefix="paraqd")

    def start(self, rows: Sequence[Row], outputs: Sequence[str]) -> Callable[[], list[list[Any]]]:
        """Begin to run rows, and return what waits for them: for each row its part of every output.

        Rows of one length go together. Where several threads may work they begin at once, beside the caller.
        """
        batches = list(batches_of([len(row.ids) for row in rows]))
        if not batches:
            return list
        waiting: list[Callable[[], list[Any]]]
        if len(batches) == 1 or self.threads == 1:
            session = self._wide if len(batches) == 1 else self.session
            waiting = [partial(_run, session, rows, batch, outputs) for batch in batches]
        else:
            waiting = [self._workers.submit(_run, self.session, rows, batch, outputs).result for batch in batches]

        def finish() -> list[list[Any]]:
            found: list[list[Any]] = [[] for _ in rows]
            for batch, wait in zip(batches, waiting, strict=True):
                made = wait()
                for place, number in enumerate(batch):
                    found[number] = [each[place] for each in made]
            return found

        return finish


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
