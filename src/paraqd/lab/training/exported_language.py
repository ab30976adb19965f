"""Read the weights of an exported language-model judge, so that training can continue from a shipped judge.

The package of the judge has no exact weights. It has the rounded weights of the graph that `language_onnx` builds. Each
weight is an integer times the factor of its block times the scale of its output.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.errors import ModelError
from paraqd.lab.training.exported_weights import read_graph
from paraqd.lab.training.language_onnx import FIRST_POSITION, Shape
from paraqd.lab.training.settings import TrainingError
from paraqd.model_folder import ONNX_FILE, PACKED_FILE
from paraqd.scoring.judge.packed_weights import expand_weights

Array = NDArray[np.float32]
_LINEAR_MAPS = 4  # in each layer of the graph


def exported_language_judge(folder: str | Path) -> tuple[dict[str, Array], Shape]:
    """Return the weights of an exported judge, keyed as in the ``state_dict`` of a ``LanguageJudge``, and its shape.

    Raise `TrainingError` if the folder does not contain an exported language-model judge.
    """
    place = Path(folder)
    try:
        packed = expand_weights((place / PACKED_FILE).read_bytes(), place / PACKED_FILE)
        graph = read_graph(place / ONNX_FILE, packed.keys())
        stored = _initializers(graph, packed)
        return dict(_named(stored)), _shape(graph)
    except (OSError, KeyError, IndexError, ValueError, ModelError) as error:
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


def _shape(graph: Any) -> Shape:
    attention = [node for node in graph.node if node.op_type == "MultiHeadAttention"]
    norms = [node for node in graph.node if node.op_type == "LayerNormalization"]
    attributes = {each.name: each for each in (*attention[0].attribute, *norms[0].attribute)}
    return Shape(heads=attributes["num_heads"].i, epsilon=float(attributes["epsilon"].f))


def _named(stored: dict[str, list[NDArray[Any]]]) -> Iterator[tuple[str, Array]]:
    """Yield the name and the values of each weight."""

    def next_of(hint: str) -> Array:
        array: Array = stored[hint].pop(0).astype(np.float32)
        return array

    def linear(*names: str) -> Iterator[tuple[str, Array]]:
        """Yield the weights of linear maps that the graph computes as one. A matrix has a row for each output."""
        weight = (next_of("weight") * next_of("scale")).T
        parts = np.split(weight, len(names)), np.split(next_of("bias"), len(names))
        for name, matrix, bias in zip(names, *parts, strict=True):
            yield f"{name}.weight", matrix
            yield f"{name}.bias", bias

    def norm(name: str) -> Iterator[tuple[str, Array]]:
        yield f"{name}.weight", next_of("norm")
        yield f"{name}.bias", next_of("norm")

    yield "body.embeddings.word_embeddings.weight", next_of("words") * next_of("words_scale")
    yield "types.weight", next_of("types")
    positions = next_of("positions")
    unused = np.zeros((FIRST_POSITION, positions.shape[1]), dtype=np.float32)
    yield "body.embeddings.position_embeddings.weight", np.concatenate([unused, positions])
    yield from norm("body.embeddings.LayerNorm")
    yield "body.encoder.relative_attention_bias.weight", next_of("distances")
    for number in range(len(stored["weight"]) // _LINEAR_MAPS):
        layer = f"body.encoder.layer.{number}"
        yield from linear(*(f"{layer}.attention.attn.{name}" for name in "qkv"))
        yield from linear(f"{layer}.attention.attn.o")
        yield from norm(f"{layer}.attention.LayerNorm")
        yield from linear(f"{layer}.intermediate.dense")
        yield from linear(f"{layer}.output.dense")
        yield from norm(f"{layer}.output.LayerNorm")
    for name in ("pooler", "valid", "kinds", "places"):
        yield f"{name}.weight", next_of(name).T
        yield f"{name}.bias", next_of(name)
