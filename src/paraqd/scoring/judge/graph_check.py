"""Check the graph of a model before it is loaded, so that nothing outside the checked files becomes part of the model.

This module reads only the fields that matter, because the core does not need the package ``onnx``. The numbers of the
fields are those of ``onnx.proto``, which never change.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from math import prod
from typing import Any

from paraqd.scoring.judge.protocol_buffer import fields, integers

_MOST_FIELDS = 2_000_000  # the graph of a large model has about 10,000
_MOST_DIMENSIONS = 64

# for each kind of message, the fields whose messages can contain tensors, and the kinds of those messages
_INNER: dict[str, dict[int, str]] = {
    "model": {7: "graph"},
    "graph": {1: "node", 5: "initializer"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 10: "tensor"},
}
# fields that none of paraqd's graphs has
_REFUSED: dict[str, dict[int, str]] = {
    "model": {25: "functions"},
    "graph": {15: "sparse tensors"},
    "attribute": {6: "loops or branches", 11: "loops or branches", 22: "sparse tensors", 23: "sparse tensors"},
}
_DIMENSIONS, _NAME, _OUTSIDE = 1, 8, (13, 14)  # the fields of a tensor; the last two say where its values are


def check_graph(content: bytes, supplied: Collection[str] = ()) -> None:
    """Check that a graph contains all its values, and that no part of it can run forever.

    Parameters
    ----------
    content : bytes
        The content of a file ``model.onnx``.
    supplied : collection of str
        The names of the initializers whose values are passed to the runtime. Only these may lack values.

    Raises
    ------
    ValueError
        If the content cannot be read, if the values of a tensor are missing or in another file, or if the graph has
        parts that it does not need, such as loops. The message is the reason.

    """
    left = _MOST_FIELDS
    waiting = [("model", memoryview(content))]
    while waiting:
        kind, message = waiting.pop()
        found = list(islice(fields(message), left + 1))
        left -= len(found)
        if left < 0:
            raise ValueError(f"it has more than {_MOST_FIELDS:,} fields")
        if kind not in _INNER:
            _check_tensor(found, len(message), supplied if kind == "initializer" else ())
            continue
        for number, value in found:
            if number in _REFUSED.get(kind, ()):
                raise ValueError(f"it has {_REFUSED[kind][number]}, which paraqd's models do not use")
            if number in _INNER[kind] and isinstance(value, memoryview):
                waiting.append((_INNER[kind][number], value))


def _check_tensor(found: list[tuple[int, Any]], size: int, supplied: Collection[str]) -> None:
    """Check that a tensor has its values, or that they are supplied."""
    names = [value for number, value in found if number == _NAME and isinstance(value, memoryview)]
    name = bytes(names[-1]).decode(errors="replace") if names else ""
    if any(number in _OUTSIDE and value for number, value in found):
        if name not in supplied:
            raise ValueError(f"the values of the tensor {name!r} are in another file, which no hash covers")
        return
    lengths = list(islice(integers(value for number, value in found if number == _DIMENSIONS), _MOST_DIMENSIONS))
    if not 0 <= prod(lengths) <= 2 * size or len(lengths) == _MOST_DIMENSIONS:  # the smallest values have four bits
        raise ValueError(f"the tensor {name!r} has fewer values than its dimensions say")
