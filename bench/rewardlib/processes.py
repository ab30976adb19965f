"""Score pairs in several processes, beside a GPU that trains."""

from __future__ import annotations

import importlib.util
import multiprocessing
import signal
from collections.abc import Iterable
from types import TracebackType

from paraqd.scoring.scorer import Scorer
from paraqd.scoring.verdict import Verdict

_AT_ONCE = 8  # pairs that a process takes at a time
_scorer: Scorer | None = None


def load_scorer() -> Scorer:
    """Load the small judge's scorer in one thread: with onnxruntime if it is installed, otherwise with torch."""
    if importlib.util.find_spec("onnxruntime") is not None:
        return Scorer.load(judge="small", threads=1)
    import torch

    from rewardlib.torch_scorer import load_torch_scorer

    torch.set_num_threads(1)
    return load_torch_scorer()


class ProcessScorer:
    """A scorer with several processes, each of which loads the small judge. Use it in a ``with`` block."""

    def __init__(self, workers: int) -> None:
        context = multiprocessing.get_context("spawn")  # a forked process cannot use torch's threads
        self._pool = context.Pool(workers, initializer=_begin)

    def __enter__(self) -> ProcessScorer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.terminate()
        self._pool.join()

    def score_pairs(self, pairs: Iterable[tuple[str, str]]) -> list[Verdict]:
        """Return a verdict for each pair."""
        pairs = list(pairs)
        parts = [pairs[start : start + _AT_ONCE] for start in range(0, len(pairs), _AT_ONCE)]
        return [verdict for part in self._pool.map(_score, parts, chunksize=1) for verdict in part]


def _begin() -> None:
    global _scorer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C belongs to the process that trains
    _scorer = load_scorer()


def _score(pairs: list[tuple[str, str]]) -> list[Verdict]:
    assert _scorer is not None
    return _scorer.score_pairs(pairs)
