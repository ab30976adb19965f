"""Running rows through a model: batches, threads and forks."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import paraqd
from paraqd import ModelError, Scorer
from paraqd.scoring.judge.pair_tokens import Row
from paraqd.scoring.judge.session import OnnxModel, batches_of, runtime, usable_cores

DEFAULT = Path(paraqd.__file__).parent / "models" / "default"
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


def test_sum_and_norm_stay_two_operators(monkeypatch, tmp_path):
    """An option of the runtime that it takes in silence where it does not know it."""
    onnx = pytest.importorskip("onnx")
    onnxruntime = runtime()
    made = onnxruntime.SessionOptions

    def options():
        found = made()
        found.optimized_model_filepath = str(tmp_path / "run.onnx")
        return found

    monkeypatch.setattr(onnxruntime, "SessionOptions", options)
    OnnxModel(DEFAULT)._session(1)
    operators = [node.op_type for node in onnx.load(tmp_path / "run.onnx").graph.node]
    assert "SkipLayerNormalization" not in operators
    assert operators.count("LayerNormalization") == 1 + 6 * 2


@pytest.mark.parametrize("threads", [1, 2])
def test_all_that_the_default_model_says_of_a_row_is_the_same_alone_and_among_others(threads):
    session = OnnxModel(DEFAULT)._session(threads)
    outputs = ["valid", "kinds", "places"]
    rng = np.random.default_rng(5)
    for length in (9, 33, 96):
        ids = rng.integers(1000, 20_000, (5, length))
        alone = [session.run(outputs, _fed(ids[row : row + 1])) for row in range(5)]
        for size in (2, 3, 5):
            together = session.run(outputs, _fed(ids[:size]))
            for number in range(len(outputs)):
                assert np.array_equal(together[number], np.concatenate([each[number] for each in alone[:size]]))


def _fed(ids):
    return {"input_ids": ids, "token_type_ids": (np.arange(ids.shape[1]) > 4)[None].repeat(len(ids), 0).astype(int)}


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


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
def test_a_fork_during_the_first_load_does_not_block_the_child(monkeypatch):
    """Without a lock that forks wait for, the child inherits one that nobody will ever release."""
    scorer = Scorer.load(threads=2)
    loading = threading.Event()
    load = OnnxModel._session

    forked, parent = threading.Event(), os.getpid()
    os.register_at_fork(after_in_parent=forked.set)

    class Session:
        """Runs in the parent only after the fork: a run that is cut in two by a fork is another matter."""

        def __init__(self, session):
            self.session = session

        def __getattr__(self, name):
            return getattr(self.session, name)

        def run(self, *arguments):
            assert os.getpid() != parent or forked.wait(60)
            return self.session.run(*arguments)

    def slowly(self, threads):
        loading.set()
        time.sleep(0.3)
        return Session(load(self, threads))

    monkeypatch.setattr(OnnxModel, "_session", slowly)
    here = []
    other = threading.Thread(target=lambda: here.extend(verdict.score for verdict in scorer.score_pairs(PAIRS)))
    other.start()
    assert loading.wait(10)
    fork = multiprocessing.get_context("fork")
    found = fork.SimpleQueue()
    child = fork.Process(target=_score, args=(scorer, found))
    child.start()
    child.join(60)
    if child.exitcode is None:
        child.kill()
    other.join()
    assert child.exitcode == 0
    assert found.get() == here


class _Folder(OnnxModel):
    """A folder without files: its session waits at a gate, and counts."""

    def __init__(self, run):
        self.folder, self.threads = Path("model"), 2
        self._loaded = {}
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
    with pytest.raises(ModelError, match="the model in model cannot be run: out of memory; install or train"):
        folder.start(_rows(50), ["valid"])()
    folder._workers.shutdown()
    assert len(ran) <= 2
