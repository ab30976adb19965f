"""A model as an ONNX graph in eight bits, written node by node: no tracing, no torch to run it.

Where the range of a linear map's inputs is known its products are of integers: inputs are rounded to eight bits with a
scale that is fixed in the graph, weights to seven with a scale for each column. Seven, because processors without
instructions for it add two products in 16 bits, which 255 x 127 twice would overflow. Other maps have their weights
rounded and multiply in 32 bits.

All rows of a batch have the same length and nothing is padded: there is no mask, and a row's result does not depend on
the rows beside it, to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

OPSET = 20
LEVELS, TABLE_LEVELS = 63, 127  # the largest integer of a weight, and of the table of words
RANGE = "input_range"
_IR_VERSION = 10
_RUNTIME = "com.microsoft"  # the domain of the runtime's own operators
Weights = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True)
class Rounding:
    """How the inputs of a linear map become integers: each is divided by its own ``spread``, then a range is cut.

    ``spread`` moves the difficulty from inputs of which some are far larger than the others into the weights, which
    have it multiplied in.
    """

    low: float
    high: float
    spread: NDArray[np.float32] | None = None

    @property
    def step(self) -> tuple[np.float32, np.uint8]:
        """The scale and the integer that stands for zero.

        >>> Rounding(-1.0, 1.55).step
        (np.float32(0.01), np.uint8(100))
        """
        scale = np.float32((self.high - self.low) / 255) or np.float32(1.0)  # nothing but zeros came by
        return scale, np.uint8(round(-self.low / float(scale)))


Roundings = Mapping[str, Rounding]


class _Graph:
    """Collects nodes and initializers."""

    def __init__(self, *, bits: int, roundings: Roundings | None = None) -> None:
        self.nodes: list[Any] = []
        self.held: list[Any] = []
        self.bits = bits
        self.fed: dict[str, str] = {}  # by the name of a linear map: what goes into it
        self._roundings = roundings or {}
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
        return self.add("DequantizeLinear", *self._columns(weight, hint), hint=hint, axis=1)

    def small(self, weight: NDArray[np.float32], hint: str) -> str:
        """Hold a matrix that the graph would otherwise hold in eight bits as the values which these stand for."""
        if self.bits != 8:
            return self.full(weight, hint)
        columns, scale = rounded_columns(weight, LEVELS)
        return self.hold(columns * scale, hint)

    def table(self, weight: NDArray[np.float32], rows: str, hint: str) -> str:
        """Look rows up in a table that is held in eight bits, with a scale for each row."""
        from onnx import TensorProto

        if self.bits != 8:
            return self.add("Gather", self.full(weight, hint), rows, hint=hint)
        rounded, scale = rounded_columns(weight.T, TABLE_LEVELS)
        picked = self.add("Gather", self.hold(rounded.T, hint), rows)
        scaled = self.add("Gather", self.hold(scale[:, None], f"{hint}_scale"), rows)
        return self.add("Mul", self.add("Cast", picked, to=TensorProto.FLOAT), scaled, hint=hint)

    def linear(self, inputs: str, weights: Weights, prefix: str, *, small: bool = False) -> str:
        """Multiply and add the bias; with integers where a rounding of the inputs is known.

        A ``small`` map with exact inputs has its rounded weights held ready for use: unpacking them in every run takes
        longer than the product.
        """
        rounding = self._roundings.get(prefix)
        weight, offset = _map(weights, [prefix], rounding)
        bias = self.hold(offset, "bias")
        hint = prefix.rpartition(".")[2]
        self.fed[prefix] = inputs
        if rounding is None:
            held = self.small(weight, hint) if small else self.matrix(weight, hint)
            return self.add("Add", self.add("MatMul", inputs, held), bias)
        integers, scale, zero = self._rounded(inputs, rounding)
        if self.bits != 8:  # the same steps with full weights
            steps = self.add("DequantizeLinear", integers, scale, zero)
            return self.add("Add", self.add("MatMul", steps, self.full(weight, hint)), bias)
        columns, column_scale, no_zero = self._columns(weight, hint)
        names = (columns, scale, column_scale, zero, no_zero, bias)
        return self.add("MatMulIntegerToFloat", integers, *names, domain=_RUNTIME)

    def attention(self, inputs: str, weights: Weights, prefix: str, heads: int) -> str:
        """Let each vector look at the others of its row; with the products before it in one step where that can be."""
        names = [f"{prefix}.{name}" for name in ("query", "key", "value")]
        first, *others = (self._roundings.get(name) for name in names)
        if self.bits != 8 or first is None or not all(_alike(first, other) for other in others):
            parts = [self.linear(inputs, weights, name) for name in names]
            return self.add("MultiHeadAttention", *parts, domain=_RUNTIME, num_heads=heads)
        self.fed |= dict.fromkeys(names, inputs)
        weight, offset = _map(weights, names, first)
        columns, column_scale, no_zero = self._columns(weight, "attention")
        integers, scale, zero = self._rounded(inputs, first)
        given = (integers, columns, self.hold(offset, "bias"), scale, column_scale, "", zero, no_zero)
        return self.add("QAttention", *given, domain=_RUNTIME, num_heads=heads)

    def _columns(self, weight: NDArray[np.float32], hint: str) -> tuple[str, str, str]:
        """Hold a matrix as integers, with a scale for each column and zeros for what stands for zero."""
        columns, scale = rounded_columns(weight, LEVELS)
        zero = np.zeros(len(scale), dtype=np.int8)
        return self.hold(columns, hint), self.hold(scale, f"{hint}_scale"), self.hold(zero, f"{hint}_zero")

    def _rounded(self, inputs: str, rounding: Rounding) -> tuple[str, str, str]:
        """Return the inputs as integers, with their scale and zero; once for the maps that share them."""
        step, zero = rounding.step
        spread = b"" if rounding.spread is None else rounding.spread.tobytes()
        key = (inputs, step.tobytes() + zero.tobytes() + spread)
        if key not in self._integers:
            names = (self.hold(np.array(step), "step"), self.hold(np.array(zero), "zero"))
            if rounding.spread is not None:
                inputs = self.add("Mul", inputs, self.hold((1 / rounding.spread).astype(np.float32), "spread"))
            self._integers[key] = (self.add("QuantizeLinear", inputs, *names), *names)
        return self._integers[key]

    def norm(self, inputs: str, weights: Weights, prefix: str, epsilon: float) -> str:
        """Normalise each vector: fast where the runtime may not make one operator of it and the sum before it.

        `paraqd.scoring.judge.session` forbids that.
        """
        scale = self.hold(weights[f"{prefix}.weight"].astype(np.float32), "norm")
        bias = self.hold(weights[f"{prefix}.bias"].astype(np.float32), "norm_bias")
        return self.add("LayerNormalization", inputs, scale, bias, axis=-1, epsilon=epsilon)


def _map(
    weights: Weights, names: Sequence[str], rounding: Rounding | None
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the matrix (in, out) and the bias of linear maps side by side, for inputs that are rounded so."""
    weight = np.concatenate([weights[f"{name}.weight"].astype(np.float32).T for name in names], axis=1)
    bias = np.concatenate([weights[f"{name}.bias"].astype(np.float32) for name in names])
    return weight if rounding is None or rounding.spread is None else weight * rounding.spread[:, None], bias


def _alike(one: Rounding, other: Rounding | None) -> bool:
    """Whether two maps have their inputs rounded in the same way."""
    if other is None or one.step != other.step or (one.spread is None) != (other.spread is None):
        return False
    return one.spread is None or other.spread is None or np.array_equal(one.spread, other.spread)


def rounded_columns(weight: NDArray[np.float32], levels: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round a matrix to integers up to ``levels``, with a scale for each column.

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
    roundings: Roundings | None = None,
    watched: bool = False,
) -> Any:
    """Return the ONNX model of a judge from its weights by name and its encoder's configuration.

    Inputs: ``input_ids`` and ``token_type_ids`` (batch, tokens). Outputs: ``valid`` (batch), ``kinds`` (batch, kinds),
    ``places`` (batch, tokens), all as log-odds; if it is watched, also what goes into each layer's linear maps.
    """
    graph = _Graph(bits=bits, roundings=roundings)
    prefix = "classifier.bert"
    states = _states(graph, weights, f"{prefix}.", config)
    # of the first two tokens, though the first alone is wanted: of a single row the runtime adds up in another order
    two = graph.add("Gather", states, graph.hold(np.array([0, 1], dtype=np.int64), "two"), axis=1)
    pooled = graph.add("Tanh", graph.linear(two, weights, f"{prefix}.pooler.dense", small=True))
    first, last = graph.hold(np.array(0, dtype=np.int64), "first"), graph.hold(np.array([-1], dtype=np.int64), "last")
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
    return _finished(graph, "judge", made, shapes, watched=watched)


def encoder_graph(
    weights: Weights,
    config: Mapping[str, Any],
    *,
    bits: int = 8,
    roundings: Roundings | None = None,
    watched: bool = False,
) -> Any:
    """Return the ONNX model of a bi-encoder whose embedding is the mean of its tokens.

    The output ``sums`` (batch, width) adds up the vectors of each row's tokens: the direction of a sum is that of
    the mean, and the sums of a long text's windows add up.
    """
    graph = _Graph(bits=bits, roundings=roundings)
    states = _states(graph, weights, "", config, quick=bits == 8 and bool(roundings))
    sums = graph.add("ReduceSum", states, graph.hold(np.array([1], dtype=np.int64), "axis"), keepdims=0)
    shapes: dict[str, list[Any]] = {"sums": ["batch", int(config["hidden_size"])]}
    return _finished(graph, "encoder", {"sums": sums}, shapes, watched=watched)


def _states(graph: _Graph, weights: Weights, prefix: str, config: Mapping[str, Any], *, quick: bool = False) -> str:
    """Return the vectors of all tokens behind the last layer."""
    states = _embedded(graph, weights, f"{prefix}embeddings", float(config["layer_norm_eps"]))
    for number in range(int(config["num_hidden_layers"])):
        states = _layer(graph, weights, f"{prefix}encoder.layer.{number}", states, config, quick=quick)
    return states


def _finished(graph: _Graph, name: str, made: dict[str, str], shapes: dict[str, list[Any]], *, watched: bool) -> Any:
    """Name the outputs and put the model together."""
    from onnx import TensorProto, checker, helper

    if watched:
        fed = {prefix: inputs for prefix, inputs in graph.fed.items() if ".layer." in prefix}
        made, shapes = made | fed, shapes | {prefix: ["batch", "tokens", None] for prefix in fed}
    for output, inner in made.items():
        graph.nodes.append(helper.make_node("Identity", [inner], [output]))
    inputs = [
        helper.make_tensor_value_info(each, TensorProto.INT64, ["batch", "tokens"])
        for each in ("input_ids", "token_type_ids")
    ]
    outputs = [helper.make_tensor_value_info(each, TensorProto.FLOAT, shapes[each]) for each in made]
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(_RUNTIME, 1)]
    made_graph = helper.make_graph(graph.nodes, name, inputs, outputs, graph.held)
    model = helper.make_model(made_graph, opset_imports=opsets, producer_name="paraqd")
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
    return graph.norm(graph.add("Sum", words, kinds, positions), weights, f"{prefix}.LayerNorm", epsilon)


def _layer(graph: _Graph, weights: Weights, prefix: str, states: str, config: Mapping[str, Any], *, quick: bool) -> str:
    epsilon = float(config["layer_norm_eps"])
    mixed = graph.attention(states, weights, f"{prefix}.attention.self", int(config["num_attention_heads"]))
    mixed = graph.linear(mixed, weights, f"{prefix}.attention.output.dense")
    states = graph.norm(graph.add("Add", mixed, states), weights, f"{prefix}.attention.output.LayerNorm", epsilon)
    inner = graph.linear(states, weights, f"{prefix}.intermediate.dense")
    # by way of tanh it takes two thirds of the time and is off by 0.0005 at most, a fraction of the step behind it
    inner = graph.add("FastGelu", inner, domain=_RUNTIME) if quick else graph.add("Gelu", inner)
    outer = graph.linear(inner, weights, f"{prefix}.output.dense")
    return graph.norm(graph.add("Add", outer, states), weights, f"{prefix}.output.LayerNorm", epsilon)


def write_graph(model: Any, path: str | Path) -> None:
    """Write an ONNX model, whole or not at all."""
    import onnx

    from paraqd.data.writers import replacing

    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as temporary:
        onnx.save(model, str(temporary))
