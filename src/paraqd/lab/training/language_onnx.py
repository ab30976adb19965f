"""Build the ONNX graph of the language-model judge, node by node, with 4-bit weights.

The language model is MPNet. The weights of linear maps are 4-bit integers. Each block of inputs has a whole-number
factor, and each output has a scale. The 4-bit integers and the factors are in a file of their own (see
`packed_weights`). The table of word embeddings consists of 8-bit integers with a scale for each row.

A linear map multiplies 8-bit integers. It rounds its inputs with a scale for each token, so the result for a token does
not depend on other tokens. All rows in a batch have the same length, so the graph needs neither padding nor a mask.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.lab.training.onnx_graph import TABLE_LEVELS, rounded_columns
from paraqd.model_folder import ONNX_FILE, PACKED_FILE
from paraqd.scoring.judge.packed_weights import PackedWeight, write_weights
from paraqd.scoring.judge.pair_tokens import LONGEST

BLOCK = 64  # inputs that share a factor
LARGEST, SMALLEST = 7, -8  # the range of a 4-bit integer
# the largest factor; with eight, two products of an input and a weight fit in the 16 bits in which some processors add
FACTORS = 8
INPUT_LEVELS = 127  # the integer for a token's largest input
LEAST_INPUT = 1e-6  # a token's largest input counts as at least this much, so nothing is divided by zero
FIRST_POSITION = 2  # MPNet does not use the first two rows of its table of positions
_DISTANCE = 128  # MPNet does not distinguish distances between tokens from this number on
_OPSET, _IR_VERSION = 20, 10
_RUNTIME = "com.microsoft"  # the domain of onnxruntime's own operators
_ZERO = 128  # the unsigned integer for an input of zero
Array = NDArray[np.float32]
Weights = Mapping[str, Array]


@dataclass(frozen=True)
class Shape:
    """What the weights of MPNet do not show: the number of attention heads, and the epsilon of the norms."""

    heads: int
    epsilon: float


def round_blocks(weight: Array, block: int = BLOCK) -> tuple[NDArray[np.int8], NDArray[np.uint8], Array]:
    """Round a matrix (out, in), and return 4-bit integers, the factor of each block and the scale of each output.

    The rounded matrix is the product of the three.

    >>> integers, factors, scales = round_blocks(np.array([[1.0, -0.5, 0.0, 0.2]], dtype=np.float32), block=2)
    >>> integers.tolist(), factors.tolist(), scales.astype(float).round(5).tolist()
    ([[7, -4, 0, 6]], [[8, 2]], [0.01667])
    """
    rows = weight.reshape(len(weight), -1, block)
    largest = np.abs(rows).max(axis=-1)
    half_steps = np.float32(LARGEST + 0.5)
    scales = largest.max(axis=-1) / (half_steps * np.float32(FACTORS))
    scales = np.where(scales > 0, scales, np.float32(1.0))
    factors = np.clip(np.rint(largest / (half_steps * scales[:, None])), 1, FACTORS)
    integers = np.clip(np.rint(rows / (factors * scales[:, None])[..., None]), SMALLEST, LARGEST)
    return integers.astype(np.int8).reshape(weight.shape), factors.astype(np.uint8), scales


def write_language_judge(weights: Weights, shape: Shape, folder: Path) -> None:
    """Write the graph and the rounded weights of a judge to its model folder.

    Parameters
    ----------
    weights : mapping
        The weights of a `judge_model.LanguageJudge`, keyed as in its ``state_dict``.
    shape : Shape
        The shape of the model.
    folder : Path
        The model folder. Its sub-folder ``onnx`` is created if it does not exist.

    """
    import onnx
    from onnx import TensorProto, helper

    graph = _Graph(weights, shape)
    states, distances = graph.embedded(), graph.distances()
    for number in range(layers_in(weights)):
        states = graph.layer(states, distances, f"body.encoder.layer.{number}")
    # read two tokens and use only the first, because the runtime would sum a single row in a different order
    two = graph.add("Gather", states, graph.store(np.array([0, 1], dtype=np.int64), "two"), axis=1)
    pooled = graph.add("Tanh", graph.head(two, "pooler"))
    first = graph.store(np.array(0, dtype=np.int64), "first")
    last = graph.store(np.array([-1], dtype=np.int64), "last")
    valid = graph.add("Gather", graph.head(pooled, "valid"), first, axis=1)
    made: dict[str, tuple[str, list[int | str]]] = {
        "valid": (graph.add("Squeeze", valid, last), ["batch"]),
        "kinds": (
            graph.add("Gather", graph.head(pooled, "kinds"), first, axis=1),
            ["batch", len(weights["kinds.bias"])],
        ),
        "places": (graph.add("Squeeze", graph.head(states, "places"), last), ["batch", "tokens"]),
    }
    for name, (inner, _) in made.items():
        graph.node("Identity", [inner], [name])
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "token_type_ids")
    ]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, size) for name, (_, size) in made.items()]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "judge", inputs, outputs, graph.initializers),
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid(_RUNTIME, 1)],
        ir_version=_IR_VERSION,
        producer_name="paraqd",
    )
    (folder / ONNX_FILE).parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(folder / ONNX_FILE))
    write_weights(folder / PACKED_FILE, graph.packed)


def layers_in(weights: Weights) -> int:
    """Return the number of layers that a judge's weights have."""
    return sum(name.endswith(".output.dense.bias") for name in weights)


def distance_buckets(length: int, buckets: int) -> NDArray[np.uint8]:
    """Return the number of the bucket for each pair of tokens in a text, as MPNet counts them.

    Half of the buckets are for earlier tokens. Small distances have a bucket each; larger distances share buckets.

    >>> distance_buckets(3, 32).tolist()
    [[0, 17, 18], [1, 0, 17], [2, 1, 0]]
    """
    places = np.arange(length)
    earlier = places[:, None] - places[None]
    half, exact = buckets // 2, buckets // 4
    distance = np.abs(earlier)
    spread = np.log(np.maximum(distance, 1).astype(np.float32) / exact) / np.float32(np.log(_DISTANCE / exact))
    far = np.minimum(exact + (spread * (half - exact)).astype(np.int64), half - 1)
    found: NDArray[np.uint8] = (np.where(distance < exact, distance, far) + half * (earlier < 0)).astype(np.uint8)
    return found


class _Graph:
    """The nodes and initializers of a graph under construction, and the weights that are stored apart from it."""

    def __init__(self, weights: Weights, shape: Shape) -> None:
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.packed: dict[str, PackedWeight] = {}
        self._weights, self._shape = weights, shape
        self._constants: dict[str, str] = {}

    def node(self, operator: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        from onnx import helper

        self.nodes.append(helper.make_node(operator, inputs, outputs, **attributes))

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        out = f"{operator}_{len(self.nodes)}"
        self.node(operator, list(inputs), [out], **attributes)
        return out

    def store(self, array: NDArray[Any], hint: str) -> str:
        from onnx import numpy_helper

        name = f"{hint}_{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.array(array, order="C"), name))
        return name

    def store_packed(self, weight: PackedWeight) -> str:
        """Add a matrix of 8-bit integers whose values are in the file of packed weights."""
        from onnx import TensorProto

        name, size = f"weight_{len(self.initializers)}", (2 * len(weight.packed), weight.packed.shape[1])
        held = TensorProto(name=name, dims=size, data_type=TensorProto.INT8, data_location=TensorProto.EXTERNAL)
        held.external_data.add(key="location", value=Path(PACKED_FILE).name)
        self.initializers.append(held)
        self.packed[name] = weight
        return name

    def constant(self, value: Any, hint: str) -> str:
        """Return the name of a constant, which is stored once."""
        if hint not in self._constants:
            self._constants[hint] = self.store(np.array(value), hint)
        return self._constants[hint]

    def up_to_length(self, array: NDArray[Any], hint: str, axes: Sequence[int]) -> str:
        """Store an array, and cut it to the number of tokens along the given axes."""
        length = self.add("Gather", self.add("Shape", "input_ids"), self.constant(np.array([1]), "axis"))
        zeros = self.store(np.zeros(len(axes), dtype=np.int64), "start")
        ends = self.add("Concat", *[length] * len(axes), axis=0)
        return self.add("Slice", self.store(array, hint), zeros, ends, self.store(np.array(axes), "axes"))

    def embedded(self) -> str:
        """Add the sum of the words, the types and the positions, and its norm."""
        from onnx import TensorProto

        prefix = "body.embeddings"
        rounded, scale = rounded_columns(self._weights[f"{prefix}.word_embeddings.weight"].T, TABLE_LEVELS)
        picked = self.add("Gather", self.store(rounded.T.astype(np.int8), "words"), "input_ids")
        scaled = self.add("Gather", self.store(scale[:, None].astype(np.float32), "words_scale"), "input_ids")
        words = self.add("Mul", self.add("Cast", picked, to=TensorProto.FLOAT), scaled)
        types = self.add("Gather", self.store(self._weights["types.weight"], "types"), "token_type_ids")
        table = self._weights[f"{prefix}.position_embeddings.weight"][FIRST_POSITION : FIRST_POSITION + LONGEST]
        positions = self.up_to_length(table, "positions", [0])
        return self.norm(self.add("Add", self.add("Add", words, types), positions), f"{prefix}.LayerNorm")

    def distances(self) -> str:
        """Add what the distance between two tokens adds to their attention, for each head."""
        from onnx import TensorProto

        table = self._weights["body.encoder.relative_attention_bias.weight"]
        rows = self.up_to_length(distance_buckets(LONGEST, len(table)), "buckets", [0, 1])
        picked = self.add("Gather", self.store(table, "distances"), self.add("Cast", rows, to=TensorProto.INT64))
        heads_first = self.add("Transpose", picked, perm=[2, 0, 1])
        return self.add("Unsqueeze", heads_first, self.constant(np.array([0]), "front"))

    def norm(self, states: str, prefix: str) -> str:
        scale, bias = (self.store(self._weights[f"{prefix}.{name}"], "norm") for name in ("weight", "bias"))
        return self.add("LayerNormalization", states, scale, bias, axis=-1, epsilon=self._shape.epsilon)

    def head(self, states: str, name: str) -> str:
        """Add a linear map that is not rounded."""
        product = self.add("MatMul", states, self.store(self._weights[f"{name}.weight"].T, name))
        return self.add("Add", product, self.store(self._weights[f"{name}.bias"], name))

    def linear(self, states: str, *names: str) -> str:
        """Add one linear map that computes the outputs of several. It multiplies integers."""
        weight, bias = (
            np.concatenate([self._weights[f"{name}.{part}"] for name in names]).astype(np.float32)
            for part in ("weight", "bias")
        )
        integers, factors, scales = round_blocks(weight)
        step, zero = self.constant(np.float32(1 / INPUT_LEVELS), "step"), self.constant(np.uint8(_ZERO), "zero")
        largest = self.add("ReduceMax", self.add("Abs", states), self.constant(np.array([-1]), "end"), keepdims=1)
        largest = self.add("Max", largest, self.constant(np.float32(LEAST_INPUT), "least"))
        rounded = self.add("QuantizeLinear", self.add("Div", states, largest), step, zero)
        stored = self.store_packed(PackedWeight.pack(integers, factors)), step, self.store(scales, "scale"), zero
        product = self.add("MatMulIntegerToFloat", rounded, *stored, domain=_RUNTIME)
        return self.add("Add", self.add("Mul", product, largest), self.store(bias, "bias"))

    def layer(self, states: str, distances: str, layer: str) -> str:
        """Add a layer: attention and a feed-forward network, each added to its input."""
        attention = f"{layer}.attention.attn"
        joined = self.linear(states, *(f"{attention}.{name}" for name in "qkv"))
        parts = [f"{name}_{len(self.nodes)}" for name in ("query", "key", "value")]
        self.node("Split", [joined], parts, axis=-1, num_outputs=3)
        seen = self.add("MultiHeadAttention", *parts, "", "", distances, domain=_RUNTIME, num_heads=self._shape.heads)
        mixed = self.add("Add", self.linear(seen, f"{attention}.o"), states)
        states = self.norm(mixed, f"{layer}.attention.LayerNorm")
        inner = self.add("Gelu", self.linear(states, f"{layer}.intermediate.dense"))
        outer = self.add("Add", self.linear(inner, f"{layer}.output.dense"), states)
        return self.norm(outer, f"{layer}.output.LayerNorm")
