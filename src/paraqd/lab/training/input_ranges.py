"""Find the ranges within which the inputs of a model's linear maps are rounded to integers.

A model that was trained with rounded inputs (`quantisation_aware`) stores its ranges. For any other model, the ranges
are measured on sample texts. Some of a layer's inputs are ten times as large as the others, so a single scale would be
too coarse for the small inputs. Each input is therefore divided by a power of its own largest value, and the
corresponding weights are multiplied by the same divisor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.lab.training.onnx_graph import RANGE, InputRange, Weights
from paraqd.scoring.judge.session import open_session

# The power of an input's largest value in its divisor. With 0.7 and with 1, rounding changed the cosines more.
_EXPONENT = 0.85
_MARGIN = 1.05  # widens the ranges for texts outside the sample
_LEAST = 1e-4  # avoids division by zero
Feed = Mapping[str, NDArray[np.int64]]


def trained_ranges(weights: Weights) -> dict[str, InputRange]:
    """Return the ranges with which a model was trained, keyed by the linear map's name.

    If the model was trained without rounded inputs, the dictionary is empty.
    """
    found = {}
    for name, limits in weights.items():
        prefix, _, last = name.rpartition(".")
        if last == RANGE and limits[1] > limits[0]:
            found[prefix] = InputRange(float(limits[0]), float(limits[1]))
    return found


def observed_ranges(
    weights: Weights, build: Callable[..., Any], config: Mapping[str, Any], feeds: Iterable[Feed]
) -> dict[str, InputRange]:
    """Run the model in 32 bits on sample inputs, and return a range for each linear map in the model's layers."""
    graph = build(weights, config, bits=32, observed=True).SerializeToString()
    session = open_session(graph)
    names = [each.name for each in session.get_outputs() if ".layer." in each.name]
    low: dict[str, NDArray[np.float32]] = {}
    high: dict[str, NDArray[np.float32]] = {}
    for feed in feeds:
        for name, values in zip(names, session.run(names, dict(feed)), strict=True):
            rows = values.reshape(-1, values.shape[-1])
            low[name] = np.minimum(rows.min(axis=0), low.get(name, np.float32(0)))
            high[name] = np.maximum(rows.max(axis=0), high.get(name, np.float32(0)))
    return {name: _input_range(name, low[name], high[name], weights, names) for name in low}


def _input_range(
    name: str, low: NDArray[np.float32], high: NDArray[np.float32], weights: Weights, names: list[str]
) -> InputRange:
    # query, key and value read the same inputs, so they share one range
    shared = [each for each in names if each.rpartition(".")[0] == name.rpartition(".")[0]]
    columns = np.max([np.abs(weights[f"{each}.weight"]).max(axis=0) for each in shared], axis=0)
    largest = np.maximum(np.maximum(-low, high), _LEAST)
    divisors = (largest**_EXPONENT / np.maximum(columns, _LEAST) ** (1 - _EXPONENT)).astype(np.float32)
    least, most = float((low / divisors).min()), float((high / divisors).max())
    return InputRange(_MARGIN * least, _MARGIN * most, divisors)
