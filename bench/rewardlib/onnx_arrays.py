"""Read the arrays of an ONNX file on a machine without the packages onnx and onnxruntime.

Only the fields that hold arrays are read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.scoring.judge.protocol_buffer import fields, integers

_GRAPH, _INITIALIZER = 7, 5
_DIMENSIONS, _TYPE, _FLOATS, _INTEGERS, _NAME, _RAW = 1, 2, 4, 5, 8, 9
_TYPES = {1: np.float32, 2: np.uint8, 3: np.int8, 6: np.int32, 7: np.int64, 10: np.float16}


def read_arrays(path: Path) -> list[tuple[str, NDArray[Any]]]:
    """Return the names and arrays of a model's initializers, in their order in the file."""
    found = []
    for number, graph in fields(memoryview(path.read_bytes())):
        if number == _GRAPH and isinstance(graph, memoryview):
            found += [_array(value) for field, value in fields(graph) if field == _INITIALIZER]
    return found


def _array(tensor: Any) -> tuple[str, NDArray[Any]]:
    shape: list[int] = []
    kind, name, raw = 0, "", b""
    value: Any
    for number, value in fields(tensor):
        if number == _DIMENSIONS:
            shape += integers([value])
        elif number == _TYPE:
            kind = value
        elif number == _NAME:
            name = bytes(value).decode()
        elif number == _RAW:
            raw = bytes(value)
        elif number == _FLOATS:
            raw += bytes(value)
        elif number == _INTEGERS:
            raw += np.array(list(integers([value])), dtype=np.int64).astype(_TYPES[kind]).tobytes()
    return name, np.frombuffer(raw, dtype=_TYPES[kind]).reshape(shape)
