"""Build a model's ONNX graph, with rounded weights, node by node and without tracing or torch.

If the range of a linear map's inputs is known, the map multiplies integers. Its inputs are rounded to eight bits with a
scale that is stored in the graph, and its weights are rounded to seven bits with a scale for each column. With
eight-bit weights, sums could overflow, because some processors add two products in a signed 16-bit integer, and
2 x 255 x 127 exceeds its range. Other linear maps round their weights and multiply in 32 bits.

All rows in a batch have the same length. The graph therefore needs neither padding nor a mask, and a row's result is
exactly the same in every batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

OPSET = 20
LEVELS, TABLE_LEVELS = 63, 127  # the largest integers in linear maps and in the table of word embeddings
RANGE = "input_range"
_IR_VERSION = 10
_RUNTIME = "com.microsoft"  # the domain of onnxruntime's own operators
Weights = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True)
class InputRange:
    """The range within which the inputs of a linear map are rounded to integers.

    Each input is first divided by its entry in ``divisors`` so that all inputs have similar magnitudes. The
    corresponding weights are multiplied by the same entry.
    """

    low: float
    high: float
    divisors: NDArray[np.float32] | None = None

    @property
    def step(self) -> tuple[np.float32, np.uint8]:
        """The scale, and the zero point, which is the integer that represents zero.

        >>> InputRange(-1.0, 1.55).step
        (np.float32(0.01), np.uint8(100))
        """
        scale = np.float32((self.high - self.low) / 255) or np.float32(1.0)  # 1.0 if all inputs were zero
        return scale, np.uint8(round(-self.low / float(scale)))


InputRanges = Mapping[str, InputRange]


class _Graph:
    """The nodes and initializers of a graph under construction."""

    def __init__(self, *, bits: int, ranges: InputRanges | None = None) -> None:
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.bits = bits
        self.inputs: dict[str, str] = {}  # the name of each linear map's input, keyed by the map's name
        self._ranges = ranges or {}
        self._integers: dict[tuple[str, bytes], tuple[str, str, str]] = {}
        self._count = 0

    def name(self, hint: str) -> str:
        self._count += 1
        return f"{hint}_{self._count}"

    def add(self, operator: str, *inputs: str, hint: str = "t", **attributes: Any) -> str:
        from onnx import helper

        out = self.name(hint)
        self.nodes.append(helper.make_node(operator, list(inputs), [out], **attributes))
        return out

    def store(self, array: NDArray[Any], hint: str) -> str:
        from onnx import numpy_helper

        name = self.name(hint)
        self.initializers.append(numpy_helper.from_array(np.array(array, order="C"), name))
        return name

    def full(self, weight: NDArray[np.float32], hint: str) -> str:
        """Store a matrix in 32 bits or, in a 16-bit graph, in 16 bits with a conversion to 32 bits."""
        from onnx import TensorProto

        if self.bits == 16:
            return self.add("Cast", self.store(weight.astype(np.float16), hint), to=TensorProto.FLOAT)
        return self.store(weight.astype(np.float32), hint)

    def matrix(self, weight: NDArray[np.float32], hint: str) -> str:
        """Store a matrix (in, out). With 8 bits, the matrix is stored as integers with a scale for each column."""
        if self.bits != 8:
            return self.full(weight, hint)
        return self.add("DequantizeLinear", *self._columns(weight, hint), hint=hint, axis=1)

    def small(self, weight: NDArray[np.float32], hint: str) -> str:
        """Store a small matrix. With 8 bits, its values are rounded as in `matrix` but stored in 32 bits."""
        if self.bits != 8:
            return self.full(weight, hint)
        columns, scale = rounded_columns(weight, LEVELS)
        return self.store(columns * scale, hint)

    def table(self, weight: NDArray[np.float32], rows: str, hint: str) -> str:
        """Look up rows in a table. With 8 bits, the table is stored as integers with a scale for each row."""
        from onnx import TensorProto

        if self.bits != 8:
            return self.add("Gather", self.full(weight, hint), rows, hint=hint)
        rounded, scale = rounded_columns(weight.T, TABLE_LEVELS)
        picked = self.add("Gather", self.store(rounded.T, hint), rows)
        scaled = self.add("Gather", self.store(scale[:, None], f"{hint}_scale"), rows)
        return self.add("Mul", self.add("Cast", picked, to=TensorProto.FLOAT), scaled, hint=hint)

    def linear(self, inputs: str, weights: Weights, prefix: str, *, small: bool = False) -> str:
        """Add a linear map, which multiplies integers if the range of its inputs is known.

        If ``small`` is True and the range is unknown, the rounded weights are stored in 32 bits, because unpacking them
        in every run would take longer than the multiplication.
        """
        input_range = self._ranges.get(prefix)
        weight, offset = _joined_maps(weights, [prefix], input_range)
        bias = self.store(offset, "bias")
        hint = prefix.rpartition(".")[2]
        self.inputs[prefix] = inputs
        if input_range is None:
            stored = self.small(weight, hint) if small else self.matrix(weight, hint)
            return self.add("Add", self.add("MatMul", inputs, stored), bias)
        integers, scale, zero = self._rounded(inputs, input_range)
        if self.bits != 8:  # round the inputs, but not the weights
            steps = self.add("DequantizeLinear", integers, scale, zero)
            return self.add("Add", self.add("MatMul", steps, self.full(weight, hint)), bias)
        columns, column_scale, no_zero = self._columns(weight, hint)
        names = (columns, scale, column_scale, zero, no_zero, bias)
        return self.add("MatMulIntegerToFloat", integers, *names, domain=_RUNTIME)

    def attention(self, inputs: str, weights: Weights, prefix: str, heads: int) -> str:
        """Add self-attention.

        With 8 bits and equal input ranges for query, key and value, a single node computes both the three linear maps
        and the attention.
        """
        names = [f"{prefix}.{name}" for name in ("query", "key", "value")]
        first, *others = (self._ranges.get(name) for name in names)
        if self.bits != 8 or first is None or not all(_alike(first, other) for other in others):
            parts = [self.linear(inputs, weights, name) for name in names]
            return self.add("MultiHeadAttention", *parts, domain=_RUNTIME, num_heads=heads)
        self.inputs |= dict.fromkeys(names, inputs)
        weight, offset = _joined_maps(weights, names, first)
        columns, column_scale, no_zero = self._columns(weight, "attention")
        integers, scale, zero = self._rounded(inputs, first)
        given = (integers, columns, self.store(offset, "bias"), scale, column_scale, "", zero, no_zero)
        return self.add("QAttention", *given, domain=_RUNTIME, num_heads=heads)

    def _columns(self, weight: NDArray[np.float32], hint: str) -> tuple[str, str, str]:
        """Store a matrix as integers, and return the names of the integers, the column scales and the zero points."""
        columns, scale = rounded_columns(weight, LEVELS)
        zero = np.zeros(len(scale), dtype=np.int8)
        return self.store(columns, hint), self.store(scale, f"{hint}_scale"), self.store(zero, f"{hint}_zero")

    def _rounded(self, inputs: str, input_range: InputRange) -> tuple[str, str, str]:
        """Round inputs to integers, and return the names of the integers, the scale and the zero point.

        Linear maps with the same inputs and the same range share these nodes.
        """
        step, zero = input_range.step
        divisors = b"" if input_range.divisors is None else input_range.divisors.tobytes()
        key = (inputs, step.tobytes() + zero.tobytes() + divisors)
        if key not in self._integers:
            names = (self.store(np.array(step), "step"), self.store(np.array(zero), "zero"))
            if input_range.divisors is not None:
                inputs = self.add("Mul", inputs, self.store((1 / input_range.divisors).astype(np.float32), "spread"))
            self._integers[key] = (self.add("QuantizeLinear", inputs, *names), *names)
        return self._integers[key]

    def norm(self, inputs: str, weights: Weights, prefix: str, epsilon: float) -> str:
        """Add a layer normalisation.

        The node is fast only if the runtime does not fuse it with the preceding sum, so `paraqd.scoring.judge.session`
        turns this fusion off.
        """
        scale = self.store(weights[f"{prefix}.weight"].astype(np.float32), "norm")
        bias = self.store(weights[f"{prefix}.bias"].astype(np.float32), "norm_bias")
        return self.add("LayerNormalization", inputs, scale, bias, axis=-1, epsilon=epsilon)


def _joined_maps(
    weights: Weights, names: Sequence[str], input_range: InputRange | None
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Join linear maps, and return the joint matrix (in, out), multiplied by the divisors, and the joint bias."""
    weight = np.concatenate([weights[f"{name}.weight"].astype(np.float32).T for name in names], axis=1)
    bias = np.concatenate([weights[f"{name}.bias"].astype(np.float32) for name in names])
    if input_range is not None and input_range.divisors is not None:
        weight = weight * input_range.divisors[:, None]
    return weight, bias


def _alike(one: InputRange, other: InputRange | None) -> bool:
    """Return True if two input ranges round inputs in the same way."""
    if other is None or one.step != other.step or (one.divisors is None) != (other.divisors is None):
        return False
    return one.divisors is None or other.divisors is None or np.array_equal(one.divisors, other.divisors)


def rounded_columns(weight: NDArray[np.float32], levels: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round a matrix to integers between ``-levels`` and ``levels``; return the integers and a scale for each column.

    >>> rounded, scale = rounded_columns(np.array([[1.27, 0.0], [-0.5, 0.0]], dtype=np.float32), 127)
    >>> rounded.tolist(), [round(float(each), 4) for each in scale]
    ([[127, 0], [-50, 0]], [0.01, 1.0])
    """
    largest = np.abs(weight).max(axis=0)
    scale = np.where(largest > 0, largest / levels, 1.0).astype(np.float32)
    return np.clip(np.rint(weight / scale), -levels, levels).astype(np.int8), scale


def judge_graph(
    weights: Weights,
    config: Mapping[str, Any],
    *,
    bits: int = 8,
    ranges: InputRanges | None = None,
    observed: bool = False,
) -> Any:
    """Build a judge's ONNX model from the judge's weights and the encoder's configuration.

    The inputs are ``input_ids`` and ``token_type_ids`` (batch, tokens). The outputs are log-odds: ``valid`` (batch),
    ``kinds`` (batch, kinds) and ``places`` (batch, tokens). If ``observed`` is True, the inputs of all linear maps in
    the layers are additional outputs.
    """
    graph = _Graph(bits=bits, ranges=ranges)
    prefix = "classifier.bert"
    states = _states(graph, weights, f"{prefix}.", config)
    # read two tokens and use only the first, because the runtime would sum a single row in a different order
    two = graph.add("Gather", states, graph.store(np.array([0, 1], dtype=np.int64), "two"), axis=1)
    pooled = graph.add("Tanh", graph.linear(two, weights, f"{prefix}.pooler.dense", small=True))
    first, last = graph.store(np.array(0, dtype=np.int64), "first"), graph.store(np.array([-1], dtype=np.int64), "last")
    valid, kinds = (
        graph.add("Gather", graph.linear(pooled, weights, name, small=True), first, axis=1)
        for name in ("classifier.classifier", "kinds")
    )
    made = {
        "valid": graph.add("Squeeze", valid, last),
        "kinds": kinds,
        "places": graph.add("Squeeze", graph.linear(states, weights, "places", small=True), last),
    }
    shapes: dict[str, list[Any]] = {
        "valid": ["batch"],
        "kinds": ["batch", len(weights["kinds.bias"])],
        "places": ["batch", "tokens"],
    }
    return _finished(graph, "judge", made, shapes, observed=observed)


def encoder_graph(
    weights: Weights,
    config: Mapping[str, Any],
    *,
    bits: int = 8,
    ranges: InputRanges | None = None,
    observed: bool = False,
) -> Any:
    """Build the ONNX model of a bi-encoder whose embeddings are means of token vectors.

    The output ``sums`` (batch, width) contains the sum of each row's token vectors. The sum has the same direction as
    the mean, and the sums of a long text's windows can be added.
    """
    graph = _Graph(bits=bits, ranges=ranges)
    states = _states(graph, weights, "", config, quick=bits == 8 and bool(ranges))
    sums = graph.add("ReduceSum", states, graph.store(np.array([1], dtype=np.int64), "axis"), keepdims=0)
    shapes: dict[str, list[Any]] = {"sums": ["batch", int(config["hidden_size"])]}
    return _finished(graph, "encoder", {"sums": sums}, shapes, observed=observed)


def _states(graph: _Graph, weights: Weights, prefix: str, config: Mapping[str, Any], *, quick: bool = False) -> str:
    """Add the embeddings and all layers, and return the name of the last layer's token vectors."""
    states = _embedded(graph, weights, f"{prefix}embeddings", float(config["layer_norm_eps"]))
    for number in range(int(config["num_hidden_layers"])):
        states = _layer(graph, weights, f"{prefix}encoder.layer.{number}", states, config, quick=quick)
    return states


def _finished(graph: _Graph, name: str, made: dict[str, str], shapes: dict[str, list[Any]], *, observed: bool) -> Any:
    """Name the outputs, and assemble and check the model."""
    from onnx import TensorProto, checker, helper

    if observed:
        seen = {prefix: inputs for prefix, inputs in graph.inputs.items() if ".layer." in prefix}
        made, shapes = made | seen, shapes | {prefix: ["batch", "tokens", None] for prefix in seen}
    for output, inner in made.items():
        graph.nodes.append(helper.make_node("Identity", [inner], [output]))
    inputs = [
        helper.make_tensor_value_info(each, TensorProto.INT64, ["batch", "tokens"])
        for each in ("input_ids", "token_type_ids")
    ]
    outputs = [helper.make_tensor_value_info(each, TensorProto.FLOAT, shapes[each]) for each in made]
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(_RUNTIME, 1)]
    made_graph = helper.make_graph(graph.nodes, name, inputs, outputs, graph.initializers)
    model = helper.make_model(made_graph, opset_imports=opsets, producer_name="paraqd")
    model.ir_version = _IR_VERSION
    checker.check_model(model)
    return model


def _embedded(graph: _Graph, weights: Weights, prefix: str, epsilon: float) -> str:
    words = graph.table(weights[f"{prefix}.word_embeddings.weight"], "input_ids", "words")
    kinds = graph.add(
        "Gather",
        graph.store(weights[f"{prefix}.token_type_embeddings.weight"].astype(np.float32), "types"),
        "token_type_ids",
    )
    length = graph.add("Gather", graph.add("Shape", "input_ids"), graph.store(np.array([1], dtype=np.int64), "one"))
    start = graph.store(np.array([0], dtype=np.int64), "zero")
    places = graph.store(weights[f"{prefix}.position_embeddings.weight"].astype(np.float32), "positions")
    positions = graph.add("Slice", places, start, length, start)
    return graph.norm(graph.add("Sum", words, kinds, positions), weights, f"{prefix}.LayerNorm", epsilon)


def _layer(graph: _Graph, weights: Weights, prefix: str, states: str, config: Mapping[str, Any], *, quick: bool) -> str:
    epsilon = float(config["layer_norm_eps"])
    mixed = graph.attention(states, weights, f"{prefix}.attention.self", int(config["num_attention_heads"]))
    mixed = graph.linear(mixed, weights, f"{prefix}.attention.output.dense")
    states = graph.norm(graph.add("Add", mixed, states), weights, f"{prefix}.attention.output.LayerNorm", epsilon)
    inner = graph.linear(states, weights, f"{prefix}.intermediate.dense")
    # FastGelu is an approximation that takes two thirds of the time; its error of 0.0005 is less than a rounding step
    inner = graph.add("FastGelu", inner, domain=_RUNTIME) if quick else graph.add("Gelu", inner)
    outer = graph.linear(inner, weights, f"{prefix}.output.dense")
    return graph.norm(graph.add("Add", outer, states), weights, f"{prefix}.output.LayerNorm", epsilon)


def write_graph(model: Any, path: str | Path) -> None:
    """Write an ONNX model atomically."""
    import onnx

    from paraqd.tables.writers import replacing

    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as temporary:
        onnx.save(model, str(temporary))
