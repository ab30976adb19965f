"""What goes into the linear maps of a trained model, watched on some texts: how its inputs become integers.

A model that was trained with its inputs rounded (`rounding`) knows its ranges; any other is watched here. Of the
inputs of a layer some are ten times as large as the rest, and one scale for all would leave these few steps: each is
therefore divided by a power of its own largest value, and the weights are multiplied by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.scoring.judge.session import NOT_FUSED
from paraqd.training.onnx_graph import RANGE, Rounding, Weights

# of the scale of an input this share goes into its spread; 0.7 and 1 moved cosines further
_SHARE = 0.85
_ROOM = 1.05  # for texts that were not watched
_LEAST = 1e-4
Feed = Mapping[str, NDArray[np.int64]]


def trained_roundings(weights: Weights) -> dict[str, Rounding]:
    """Return the ranges that a model was trained with; nothing where it was trained without."""
    found = {}
    for name, held in weights.items():
        prefix, _, last = name.rpartition(".")
        if last == RANGE and held[1] > held[0]:
            found[prefix] = Rounding(float(held[0]), float(held[1]))
    return found


def watched_roundings(
    weights: Weights, build: Callable[..., Any], config: Mapping[str, Any], feeds: Iterable[Feed]
) -> dict[str, Rounding]:
    """Run the model in 32 bits on some inputs and return ranges for every linear map of its layers."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    graph = build(weights, config, bits=32, watched=True).SerializeToString()
    session = onnxruntime.InferenceSession(
        graph, options, providers=["CPUExecutionProvider"], disabled_optimizers=NOT_FUSED
    )
    names = [each.name for each in session.get_outputs() if ".layer." in each.name]
    low: dict[str, NDArray[np.float32]] = {}
    high: dict[str, NDArray[np.float32]] = {}
    for feed in feeds:
        for name, values in zip(names, session.run(names, dict(feed)), strict=True):
            rows = values.reshape(-1, values.shape[-1])
            low[name] = np.minimum(rows.min(axis=0), low.get(name, np.float32(0)))
            high[name] = np.maximum(rows.max(axis=0), high.get(name, np.float32(0)))
    return {name: _rounding(name, low[name], high[name], weights, names) for name in low}


def _rounding(
    name: str, low: NDArray[np.float32], high: NDArray[np.float32], weights: Weights, names: list[str]
) -> Rounding:
    # query, key and value have the same inputs: they are rounded once for all three
    shared = [each for each in names if each.rpartition(".")[0] == name.rpartition(".")[0]]
    columns = np.max([np.abs(weights[f"{each}.weight"]).max(axis=0) for each in shared], axis=0)
    largest = np.maximum(np.maximum(-low, high), _LEAST)
    spread = (largest**_SHARE / np.maximum(columns, _LEAST) ** (1 - _SHARE)).astype(np.float32)
    least, most = float((low / spread).min()), float((high / spread).max())
    return Rounding(_ROOM * least, _ROOM * most, spread)
