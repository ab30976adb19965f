"""Rows that go through a model together."""

from __future__ import annotations

import multiprocessing
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraqd import Scorer
from paraqd.scoring.onnx_session import OnnxFolder, Row, batches_of, usable_cores

PAIRS = [
    (f"Tom has {n} pens and {'very ' * n}old books. How many?", f"{'Very ' * n}old, {n} pens?") for n in range(2, 9)
]


@given(st.lists(st.integers(1, 320), max_size=60), st.integers(1, 2000))
def test_every_row_is_in_one_batch_of_rows_of_its_length(lengths, tokens):
    batches = list(batches_of(lengths, tokens))
    assert sorted(number for batch in batches for number in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len({lengths[number] for number in batch}) == 1
        assert len(batch) == 1 or len(batch) * lengths[batch[0]] <= tokens


def test_there_is_a_core():
    assert 1 <= usable_cores() <= 16


def _score(scorer, found):
    found.put([verdict.score for verdict in scorer.score_pairs(PAIRS)])


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
def test_a_process_that_was_forked_off_scores_too():
    scorer = Scorer.load(threads=2)
    here = [verdict.score for verdict in scorer.score_pairs(PAIRS)]  # its threads have begun
    fork = multiprocessing.get_context("fork")
    found = fork.SimpleQueue()
    child = fork.Process(target=_score, args=(scorer, found))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert found.get() == here


class _Folder(OnnxFolder):
    """A folder without files: its session waits at a gate, and counts."""

    def __init__(self, run):
        self.threads = 2
        self._made, self._lock = {}, threading.RLock()
        self._session = lambda threads: type("Session", (), {"run": run, "get_inputs": lambda self: []})()


def _rows(count):
    return [Row(np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)) for n in range(1, count + 1)]


def test_what_nobody_waits_for_is_not_run_to_its_end():
    gate, ran = threading.Semaphore(0), []

    def run(self, outputs, inputs):
        ran.append(inputs["input_ids"].shape)
        gate.acquire(timeout=10)
        return [np.zeros(len(inputs["input_ids"]))]

    folder = _Folder(run)
    waiting = folder.start(_rows(50), ["valid"])
    del waiting
    for _ in range(60):
        gate.release()
    folder._workers.shutdown()
    assert len(ran) <= 4


def test_what_was_stopped_is_not_taken_for_done():
    folder = _Folder(lambda self, outputs, inputs: [np.zeros(len(inputs["input_ids"]))])
    waiting = folder.start(_rows(50), ["valid"])
    waiting.stop()
    with pytest.raises(RuntimeError, match="stopped"):
        waiting()


def test_an_error_in_a_thread_is_told_and_ends_the_work():
    ran = []

    def run(self, outputs, inputs):
        ran.append(inputs["input_ids"].shape)
        raise RuntimeError("out of memory")

    folder = _Folder(run)
    with pytest.raises(RuntimeError, match="out of memory"):
        folder.start(_rows(50), ["valid"])()
    folder._workers.shutdown()
    assert len(ran) <= 2
