"""Read the weights of an exported language-model judge, so that training can continue from a shipped judge.

The package of the judge has no exact weights. It has the rounded weights of the graph that `causal_onnx` builds. Each
weight is an integer times the factor of its block times the scale of its output.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.errors import ModelError
from paraqd.model_folder import ONNX_FILE, PACKED_FILE
from paraqd.scoring.judge.packed_weights import expand_weights
from paraqd.training.causal_onnx import Shape
from paraqd.training.settings import TrainingError

Array = NDArray[np.float32]


def exported_language_judge(folder: str | Path) -> tuple[dict[str, Array], Shape]:
    """Return the weights of an exported judge, keyed as in the ``state_dict`` of a ``CausalJudge``, and its shape.

    Raise `TrainingError` if the folder does not contain an exported language-model judge.
    """
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # has no stubs

    place = Path(folder)
    try:
        graph = onnx.load(str(place / ONNX_FILE), load_external_data=False).graph
        packed = expand_weights((place / PACKED_FILE).read_bytes(), place / PACKED_FILE)
        stored = _initializers(graph, packed)
        shape = _shape(graph, stored)
        return dict(_named(stored, shape)), shape
    except (OSError, KeyError, IndexError, ValueError, ModelError, DecodeError) as error:
        raise TrainingError(
            f"{folder} has no exported language-model judge, or it is damaged: start from another folder"
        ) from error


def _initializers(graph: Any, packed: dict[str, NDArray[np.int8]]) -> dict[str, list[NDArray[Any]]]:
    """Return the graph's arrays, keyed by their names without numbers. Each list is in the order of the layers."""
    from onnx import numpy_helper

    stored: dict[str, list[NDArray[Any]]] = {}
    for each in graph.initializer:
        array = packed[each.name] if each.name in packed else numpy_helper.to_array(each)
        stored.setdefault(each.name.rpartition("_")[0], []).append(array)
    return stored


def _shape(graph: Any, stored: dict[str, list[NDArray[Any]]]) -> Shape:
    attention = [node for node in graph.node if node.op_type == "GroupQueryAttention"]
    norms = [node for node in graph.node if node.op_type == "SimplifiedLayerNormalization"]
    attributes = {each.name: each for each in (*attention[0].attribute, *norms[0].attribute)}
    cosines = stored["rotation"][0]  # a row for each position, and a column for each pair of values in a head
    head_size = 2 * cosines.shape[1]
    # the second angle of the first position is the base to the power of -2 / head size
    angle = float(np.arccos(np.float64(cosines[1, 1])))
    return Shape(
        layers=len(attention),
        heads=attributes["num_heads"].i,
        key_heads=attributes["kv_num_heads"].i,
        head_size=head_size,
        width=len(stored["norm"][0]),
        epsilon=float(attributes["epsilon"].f),
        rotation=float(round(angle ** (-head_size / 2), -2)),
    )


def _named(stored: dict[str, list[NDArray[Any]]], shape: Shape) -> Iterator[tuple[str, Array]]:
    """Yield the name and the values of each weight."""

    def next_of(hint: str) -> Array:
        array: Array = stored[hint].pop(0).astype(np.float32)
        return array

    def linear() -> Array:
        """Return the next matrix, with a row for each output and a column for each input."""
        matrix: Array = (next_of("weight") * next_of("scale")).T
        return matrix

    def parts(matrix: Array, sizes: Sequence[int]) -> list[Array]:
        return np.split(matrix, np.cumsum(sizes)[:-1])

    yield "body.embed_tokens.weight", next_of("words") * next_of("words_scale")
    key_width = shape.key_heads * shape.head_size
    for number in range(shape.layers):
        layer = f"body.layers.{number}"
        yield f"{layer}.input_layernorm.weight", next_of("norm")
        joined = parts(linear(), (shape.heads * shape.head_size, key_width, key_width))
        for name, matrix in zip("qkv", joined, strict=True):
            yield f"{layer}.self_attn.{name}_proj.weight", matrix
        yield f"{layer}.self_attn.o_proj.weight", linear()
        yield f"{layer}.post_attention_layernorm.weight", next_of("norm")
        both = linear()
        for name, matrix in zip(("gate", "up"), np.split(both, 2), strict=True):
            yield f"{layer}.mlp.{name}_proj.weight", matrix
        yield f"{layer}.mlp.down_proj.weight", linear()
    yield "body.norm.weight", next_of("norm")
    for name in ("valid", "kinds", "places"):
        yield f"{name}.weight", next_of(name).T
        yield f"{name}.bias", next_of(name)
