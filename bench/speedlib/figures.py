"""Compute rates, ratios and limits from the measurements."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

Found = dict[str, Any]

_JUDGED = ("default", "no-skip")
_ENCODED = ("encoder", "st-torch", "st-once", "st-onnx", "fastembed")
_LAYERS, _WIDTH = 6, 384  # of all-MiniLM-L6-v2, and of the judge, which is based on it
INNER, JUDGE_INNER = 1536, 768  # the inner widths of the encoder's layers and of the judge's layers


def moved(scores: Sequence[float], reference: Sequence[float]) -> dict[str, float]:
    """Summarise the differences between scores and reference scores.

    >>> moved([0.5, 0.9], [0.5, 0.8])["max"]
    0.1
    """
    away = np.abs(np.array(scores) - np.array(reference))
    found = {"median": np.median(away), "p99": np.quantile(away, 0.99), "max": away.max()}
    return {"pairs": len(away), **{name: round(float(value), 5) for name, value in found.items()}}


def measured(found: Found) -> Iterator[tuple[str, str]]:
    """Yield the names and titles of the measured contenders."""
    for name, title in found["titles"].items():
        if found["runs"].get(name):
            yield name, title


def rates(found: Found, name: str, which: str) -> list[float]:
    """Return the pairs per second in each turn."""
    return [run["sets"][which]["pairs"] / run["sets"][which]["seconds"] for run in found["runs"].get(name, ())]


def ratios(found: Found, name: str, which: str) -> list[float]:
    """Return a contender's speed relative to the reference in each turn."""
    return [a / b for a, b in zip(rates(found, name, which), rates(found, found["reference"], which), strict=False)]


def medians_by_asked(runs: Sequence[dict[str, Any]], asked: bool) -> list[float]:
    """Return the median milliseconds of single pairs in each turn.

    If ``asked`` is True, the pairs are those about which the language-model judge was asked, otherwise the others.

    >>> run = {"single_ms": [5.0, 90.0, 7.0], "single_asked": [False, True, False]}
    >>> medians_by_asked([run], True), medians_by_asked([run], False)
    ([90.0], [6.0])
    """
    chosen = [
        [ms for ms, was in zip(run["single_ms"], run.get("single_asked", ()), strict=False) if was == asked]
        for run in runs
    ]
    return [statistics.median(each) for each in chosen if each]


def costs_of_asking(found: Found, name: str, which: str) -> list[float]:
    """Return the milliseconds that each pair about which the language-model judge was asked adds, in each turn."""
    costs = []
    for run, small in zip(found["runs"].get(name, ()), found["runs"].get("default", ()), strict=False):
        mine, base = run["sets"][which], small["sets"][which]
        if mine.get("asked"):
            costs.append(1e3 * (mine["seconds"] - base["seconds"]) / mine["asked"])
    return costs


def limits(found: Found) -> dict[str, float]:
    """Return the machine's highest GOP/s, keyed by arithmetic (fp32 or int8), based on medians over the turns."""
    best: dict[str, float] = {}
    for name in found["limits"][0] if found["limits"] else ():
        rate = statistics.median(each[name] for each in found["limits"])
        arithmetic = name.partition(",")[0]
        best[arithmetic] = max(rate, best.get(arithmetic, 0.0))
    return best


def pair_costs(found: Found, size: int, key: str) -> dict[int, float]:
    """Return the cost of a pair in a file of the given size, keyed by turn.

    The cost of scoring a file of one pair, which is mostly start-up, is subtracted.

    >>> runs = [{"turn": 0, "pairs": 1, "seconds": 0.5}, {"turn": 0, "pairs": 101, "seconds": 1.5}]
    >>> pair_costs({"growth": runs}, 101, "seconds")
    {0: 0.01}
    """
    taken = {(run["turn"], run["pairs"]): run[key] for run in found["growth"]}
    turns = sorted({turn for turn, pairs in taken if pairs == size > 1 and (turn, 1) in taken})
    return {turn: (taken[turn, size] - taken[turn, 1]) / (size - 1) for turn in turns}


def operations(counts: dict[str, int], inner: int = INNER) -> float:
    """Return the number of operations for a pair, in the matrices and the attention of six layers without padding.

    >>> operations({"tokens": 100, "squares": 5000, "pairs": 1}) / 1e9
    2.1694464
    """
    matrices = 2 * (4 * _WIDTH + 2 * inner) * _WIDTH * counts["tokens"]
    attention = 4 * _WIDTH * counts["squares"]
    return _LAYERS * (matrices + attention) / counts["pairs"]


def needed(found: Found, name: str, which: str) -> float | None:
    """Return the number of operations that a contender needs for a pair if nothing is skipped or cached.

    Return None if the contender does not use a neural network, or if no tokens were counted.
    """
    sources = ("no-skip", "default") if name in _JUDGED else ("st-torch", "st-onnx", "fastembed", "encoder")
    if name not in (*_JUDGED, *_ENCODED):
        return None
    for source in sources:
        counts = found["counts"].get(source, {}).get(which)
        if counts and counts["tokens"]:
            return operations(counts, JUDGE_INNER if name in _JUDGED else INNER)
    return None
