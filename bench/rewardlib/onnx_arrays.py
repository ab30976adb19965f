"""Read the arrays of an ONNX file on a machine without the packages onnx and onnxruntime.

The file is a protocol buffer. Only the fields that hold arrays are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Field = tuple[int, int, Any]  # the number, the wire type, and the value of a field
_GRAPH, _INITIALIZER = 7, 5
_DIMENSIONS, _TYPE, _FLOATS, _INTEGERS, _NAME, _RAW = 1, 2, 4, 5, 8, 9
_TYPES = {1: np.float32, 2: np.uint8, 3: np.int8, 6: np.int32, 7: np.int64, 10: np.float16}


def read_arrays(path: Path) -> list[tuple[str, NDArray[Any]]]:
    """Return the names and arrays of a model's initializers, in their order in the file."""
    found = []
    for number, _, graph in _fields(memoryview(path.read_bytes())):
        if number == _GRAPH:
            found += [_array(value) for field, _, value in _fields(graph) if field == _INITIALIZER]
    return found


def _array(tensor: memoryview) -> tuple[str, NDArray[Any]]:
    shape: list[int] = []
    kind, name, raw = 0, "", b""
    for number, wire, value in _fields(tensor):
        if number == _DIMENSIONS:
            shape += [value] if wire == 0 else _varints(value)
        elif number == _TYPE:
            kind = value
        elif number == _NAME:
            name = bytes(value).decode()
        elif number == _RAW:
            raw = bytes(value)
        elif number == _FLOATS:
            raw += bytes(value)
        elif number == _INTEGERS:
            numbers = [value] if wire == 0 else _varints(value)
            raw += np.array(numbers, dtype=np.int64).astype(_TYPES[kind]).tobytes()
    return name, np.frombuffer(raw, dtype=_TYPES[kind]).reshape(shape)


def _fields(message: memoryview) -> Iterator[Field]:
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, place = _varint(message, place)
            yield number, wire, value
            continue
        size = 8 if wire == 1 else 4 if wire == 5 else 0
        if wire == 2:
            size, place = _varint(message, place)
        yield number, wire, message[place : place + size]
        place += size


def _varints(packed: memoryview) -> list[int]:
    found, place = [], 0
    while place < len(packed):
        value, place = _varint(packed, place)
        found.append(value)
    return found


def _varint(message: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
