"""A judge as an ONNX graph with its weights in eight bits, written node by node: no tracing, no torch to run it.

Each column of a weight matrix has a scale of its own and is multiplied out when the graph is loaded: scores are those
of 32-bit arithmetic on rounded weights, and do not depend on what else is in the batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

OPSET = 20
_IR_VERSION = 10
Weights = Mapping[str, NDArray[np.float32]]


class _Graph:
    """Collects nodes and initializers."""

    def __init__(self, *, bits: int) -> None:
        self.nodes: list[Any] = []
        self.held: list[Any] = []
        self.bits = bits
        self._count = 0

    def name(self, hint: str) -> str:
        self._count += 1
        return f"{hint}_{self._count}"

    def add(self, operator: str, *inputs: str, hint: str = "t", **attributes: Any) -> str:
        from onnx import helper

        out = self.name(hint)
        self.nodes.append(helper.make_node(operator, list(inputs), [out], **attributes))
        return out

    def hold(self, array: NDArray[Any], hint: str) -> str:
        from onnx import numpy_helper

        name = self.name(hint)
        self.held.append(numpy_helper.from_array(np.array(array, order="C"), name))
        return name

    def full(self, weight: NDArray[np.float32], hint: str) -> str:
        """Hold a matrix in 32 bits, or in 16 that are made 32 when the graph is loaded."""
        from onnx import TensorProto

        if self.bits == 16:
            return self.add("Cast", self.hold(weight.astype(np.float16), hint), to=TensorProto.FLOAT)
        return self.hold(weight.astype(np.float32), hint)

    def matrix(self, weight: NDArray[np.float32], hint: str) -> str:
        """Hold a matrix (in, out), rounded to eight bits with a scale for each column."""
        if self.bits != 8:
            return self.full(weight, hint)
        rounded, scale = rounded_columns(weight)
        zero = np.zeros(len(scale), dtype=np.int8)
        names = (self.hold(rounded, hint), self.hold(scale, f"{hint}_scale"), self.hold(zero, f"{hint}_zero"))
        return self.add("DequantizeLinear", *names, hint=hint, axis=1)

    def table(self, weight: NDArray[np.float32], rows: str, hint: str) -> str:
        """Look rows up in a table that is held in eight bits, with a scale for each row."""
        from onnx import TensorProto

        if self.bits != 8:
            return self.add("Gather", self.full(weight, hint), rows, hint=hint)
        rounded, scale = rounded_columns(weight.T)
        picked = self.add("Gather", self.hold(rounded.T, hint), rows)
        scaled = self.add("Gather", self.hold(scale[:, None], f"{hint}_scale"), rows)
        return self.add("Mul", self.add("Cast", picked, to=TensorProto.FLOAT), scaled, hint=hint)

    def linear(self, inputs: str, weights: Weights, prefix: str) -> str:
        product = self.add("MatMul", inputs, self.matrix(weights[f"{prefix}.weight"].T, prefix.rpartition(".")[2]))
        return self.add("Add", product, self.hold(weights[f"{prefix}.bias"].astype(np.float32), "bias"))

    def norm(self, inputs: str, weights: Weights, prefix: str, epsilon: float) -> str:
        scale = self.hold(weights[f"{prefix}.weight"].astype(np.float32), "norm")
        bias = self.hold(weights[f"{prefix}.bias"].astype(np.float32), "norm_bias")
        return self.add("LayerNormalization", inputs, scale, bias, axis=-1, epsilon=epsilon)


def rounded_columns(weight: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round a matrix to eight bits, with a scale for each column.

    >>> rounded, scale = rounded_columns(np.array([[1.27, 0.0], [-0.5, 0.0]], dtype=np.float32))
    >>> rounded.tolist(), [round(float(each), 4) for each in scale]
    ([[127, 0], [-50, 0]], [0.01, 1.0])
    """
    largest = np.abs(weight).max(axis=0)
    scale = np.where(largest > 0, largest / 127, 1.0).astype(np.float32)
    return np.clip(np.rint(weight / scale), -127, 127).astype(np.int8), scale


def judge_graph(weights: Weights, config: Mapping[str, Any], *, bits: int = 8) -> Any:
    """Return the ONNX model of a judge from its weights by name and its encoder's configuration.

    Inputs: ``input_ids``, ``token_type_ids`` and ``attention_mask`` (batch, tokens). Outputs: ``valid`` (batch),
    ``kinds`` (batch, kinds), ``places`` (batch, tokens), all as log-odds.
    """
    graph = _Graph(bits=bits)
    prefix = "classifier.bert"
    states = _states(graph, weights, f"{prefix}.", config)
    first = graph.add("Gather", states, graph.hold(np.array(0, dtype=np.int64), "first"), axis=1)
    pooled = graph.add("Tanh", graph.linear(first, weights, f"{prefix}.pooler.dense"))
    last = graph.hold(np.array([-1], dtype=np.int64), "last")
    made = {
        "valid": graph.add("Squeeze", graph.linear(pooled, weights, "classifier.classifier"), last),
        "kinds": graph.linear(pooled, weights, "kinds"),
        "places": graph.add("Squeeze", graph.linear(states, weights, "places"), last),
    }
    shapes: dict[str, list[Any]] = {
        "valid": ["batch"],
        "kinds": ["batch", len(weights["kinds.bias"])],
        "places": ["batch", "tokens"],
    }
    return _finished(graph, "judge", made, shapes)


def encoder_graph(weights: Weights, config: Mapping[str, Any], *, bits: int = 8) -> Any:
    """Return the ONNX model of a bi-encoder whose embedding is the mean of its tokens.

    The output ``sums`` (batch, width) adds up the vectors of each row's tokens: the direction of a sum is that of
    the mean, and the sums of a long text's windows add up.
    """
    from onnx import TensorProto

    graph = _Graph(bits=bits)
    states = _states(graph, weights, "", config)
    mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    wide = graph.add("Unsqueeze", mask, graph.hold(np.array([2], dtype=np.int64), "axes"))
    axis = graph.hold(np.array([1], dtype=np.int64), "axis")
    sums = graph.add("ReduceSum", graph.add("Mul", states, wide), axis, keepdims=0)
    return _finished(graph, "encoder", {"sums": sums}, {"sums": ["batch", int(config["hidden_size"])]})


def _states(graph: _Graph, weights: Weights, prefix: str, config: Mapping[str, Any]) -> str:
    """Return the vectors of all tokens behind the last layer."""
    states = _embedded(graph, weights, f"{prefix}embeddings", float(config["layer_norm_eps"]))
    mask = _mask(graph)
    for number in range(int(config["num_hidden_layers"])):
        states = _layer(graph, weights, f"{prefix}encoder.layer.{number}", states, mask, config)
    return states


def _finished(graph: _Graph, name: str, made: Mapping[str, str], shapes: Mapping[str, list[Any]]) -> Any:
    """Name the outputs and put the model together."""
    from onnx import TensorProto, checker, helper

    for output, inner in made.items():
        graph.nodes.append(helper.make_node("Identity", [inner], [output]))
    inputs = [
        helper.make_tensor_value_info(each, TensorProto.INT64, ["batch", "tokens"])
        for each in ("input_ids", "token_type_ids", "attention_mask")
    ]
    outputs = [helper.make_tensor_value_info(each, TensorProto.FLOAT, shapes[each]) for each in made]
    made_graph = helper.make_graph(graph.nodes, name, inputs, outputs, graph.held)
    model = helper.make_model(made_graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="paraqd")
    model.ir_version = _IR_VERSION
    checker.check_model(model)
    return model


def _embedded(graph: _Graph, weights: Weights, prefix: str, epsilon: float) -> str:
    words = graph.table(weights[f"{prefix}.word_embeddings.weight"], "input_ids", "words")
    kinds = graph.add(
        "Gather",
        graph.hold(weights[f"{prefix}.token_type_embeddings.weight"].astype(np.float32), "types"),
        "token_type_ids",
    )
    length = graph.add("Gather", graph.add("Shape", "input_ids"), graph.hold(np.array([1], dtype=np.int64), "one"))
    start = graph.hold(np.array([0], dtype=np.int64), "zero")
    places = graph.hold(weights[f"{prefix}.position_embeddings.weight"].astype(np.float32), "positions")
    positions = graph.add("Slice", places, start, length, start)
    return graph.norm(
        graph.add("Add", graph.add("Add", words, kinds), positions), weights, f"{prefix}.LayerNorm", epsilon
    )


def _mask(graph: _Graph) -> str:
    """Return what is added to the scores of attention: nothing for a token, a large negative number for padding."""
    from onnx import TensorProto

    mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    wide = graph.add("Unsqueeze", mask, graph.hold(np.array([1, 2], dtype=np.int64), "axes"))
    missing = graph.add("Sub", graph.hold(np.array(1.0, dtype=np.float32), "one"), wide)
    return graph.add("Mul", missing, graph.hold(np.array(-1e4, dtype=np.float32), "never"))


def _layer(graph: _Graph, weights: Weights, prefix: str, states: str, mask: str, config: Mapping[str, Any]) -> str:
    heads, width = int(config["num_attention_heads"]), int(config["hidden_size"])
    epsilon = float(config["layer_norm_eps"])
    apart = graph.hold(np.array([0, 0, heads, width // heads], dtype=np.int64), "heads")
    together = graph.hold(np.array([0, 0, width], dtype=np.int64), "width")

    def split(name: str, order: list[int]) -> str:
        made = graph.linear(states, weights, f"{prefix}.attention.self.{name}")
        return graph.add("Transpose", graph.add("Reshape", made, apart), perm=order)

    query, key, value = split("query", [0, 2, 1, 3]), split("key", [0, 2, 3, 1]), split("value", [0, 2, 1, 3])
    scale = graph.hold(np.array(1 / np.sqrt(width / heads), dtype=np.float32), "scale")
    scores = graph.add("Add", graph.add("Mul", graph.add("MatMul", query, key), scale), mask)
    mixed = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), value)
    mixed = graph.add("Reshape", graph.add("Transpose", mixed, perm=[0, 2, 1, 3]), together)
    mixed = graph.linear(mixed, weights, f"{prefix}.attention.output.dense")
    states = graph.norm(graph.add("Add", mixed, states), weights, f"{prefix}.attention.output.LayerNorm", epsilon)
    inner = graph.add("Gelu", graph.linear(states, weights, f"{prefix}.intermediate.dense"))
    outer = graph.linear(inner, weights, f"{prefix}.output.dense")
    return graph.norm(graph.add("Add", outer, states), weights, f"{prefix}.output.LayerNorm", epsilon)


def write_graph(model: Any, path: str | Path) -> None:
    """Write an ONNX model, whole or not at all."""
    import onnx

    from paraqd.corpus.writers import replacing

    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as temporary:
        onnx.save(model, str(temporary))
