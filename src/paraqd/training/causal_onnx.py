"""Build the ONNX graph of a language-model judge, node by node, with 4-bit weights.

The graph reads one pair. It takes the keys and values of an earlier part of the text as inputs, so the question is
computed once for all of its paraphrases. The weights of linear maps are 4-bit integers. Each block of inputs has a
whole-number factor, and each output has a scale. The 4-bit integers and the factors are in a file of their own (see
`packed_weights`). The table of word embeddings consists of 8-bit integers with a scale for each row.

A linear map multiplies 8-bit integers. It rounds its inputs with a scale for each token, so the result for a token does
not depend on the tokens that are computed in the same step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.model_folder import ONNX_FILE, PACKED_FILE
from paraqd.scoring.judge.packed_weights import PackedWeight, write_weights
from paraqd.training.onnx_graph import TABLE_LEVELS, rounded_columns

BLOCK = 64  # inputs that share a factor
LARGEST, SMALLEST = 7, -8  # the range of a 4-bit integer
# the largest factor; with eight, two products of an input and a weight fit in the 16 bits in which some processors add
FACTORS = 8
INPUT_LEVELS = 127  # the integer for a token's largest input
LEAST_INPUT = 1e-6  # a token's largest input counts as at least this much, so nothing is divided by zero
_POSITIONS = 2048
_OPSET, _IR_VERSION = 20, 10
_RUNTIME = "com.microsoft"  # the domain of onnxruntime's own operators
_ZERO = 128  # the unsigned integer for an input of zero
Array = NDArray[np.float32]


@dataclass(frozen=True)
class Shape:
    """The shape of a model with the structure of Llama."""

    layers: int
    heads: int
    key_heads: int
    head_size: int
    width: int
    epsilon: float
    rotation: float  # the base of the rotary position embedding


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


def write_causal_judge(weights: Mapping[str, Array], shape: Shape, folder: Path) -> None:
    """Write the graph and the rounded weights of a judge to its model folder.

    Parameters
    ----------
    weights : mapping
        The weights of a `judge_model.CausalJudge`, keyed as in its ``state_dict``.
    shape : Shape
        The shape of the model.
    folder : Path
        The model folder. Its sub-folder ``onnx`` is created if it does not exist.

    """
    import onnx
    from onnx import TensorProto, helper

    graph = _Graph()
    inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])]
    outputs = []
    length = graph.add("Gather", graph.add("Shape", "input_ids"), graph.integer(1))
    before = graph.add("Gather", graph.add("Shape", "past_key_0"), graph.integer(2))
    total = graph.add("Cast", graph.add("Add", length, before), to=TensorProto.INT32)
    last = graph.add("Sub", total, graph.store(np.array(1, dtype=np.int32), "one"))
    last = graph.add("Reshape", last, graph.store(np.array([1], dtype=np.int64), "shape"))
    rotation = [graph.store(table, "rotation") for table in _rotation(shape)]
    states = graph.table(weights["body.embed_tokens.weight"], "input_ids")
    for number in range(shape.layers):
        layer = f"body.layers.{number}"
        kept = [f"{name}_{number}" for name in ("key", "value")]
        past = [f"past_{name}" for name in kept]
        states = graph.layer(states, weights, layer, shape, [*past, last, total, *rotation], kept)
        sizes: list[int | str] = [1, shape.key_heads, "before", shape.head_size]
        inputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes) for name in past]
        sizes = [1, shape.key_heads, "all", shape.head_size]
        outputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes) for name in kept]
    states = graph.norm(states, weights["body.norm.weight"], shape)
    end = graph.add("Gather", states, graph.integer(-1), axis=1)
    for name, source, shown in (
        ("valid", end, [1, 1]),
        ("kinds", end, [1, len(weights["kinds.bias"])]),
        ("places", states, [1, "tokens", 1]),
    ):
        product = graph.add("MatMul", source, graph.store(weights[f"{name}.weight"].T, name))
        graph.node("Add", [product, graph.store(weights[f"{name}.bias"], name)], [name])
        outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shown))
    model = helper.make_model(
        helper.make_graph(graph.nodes, "judge", inputs, outputs, graph.initializers),
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid(_RUNTIME, 1)],
        ir_version=_IR_VERSION,
        producer_name="paraqd",
    )
    (folder / ONNX_FILE).parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(folder / ONNX_FILE))
    write_weights(folder / PACKED_FILE, graph.packed)


class _Graph:
    """The nodes and initializers of a graph under construction, and the weights that are stored apart from it."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.packed: dict[str, PackedWeight] = {}
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

    def integer(self, value: int) -> str:
        return self.store(np.array(value, dtype=np.int64), "integer")

    def norm(self, states: str, weight: Array, shape: Shape) -> str:
        scale = self.store(weight.astype(np.float32), "norm")
        return self.add("SimplifiedLayerNormalization", states, scale, axis=-1, epsilon=shape.epsilon)

    def table(self, weight: Array, rows: str) -> str:
        from onnx import TensorProto

        rounded, scale = rounded_columns(weight.T, TABLE_LEVELS)
        picked = self.add("Gather", self.store(rounded.T.astype(np.int8), "words"), rows)
        scaled = self.add("Gather", self.store(scale[:, None].astype(np.float32), "words_scale"), rows)
        return self.add("Mul", self.add("Cast", picked, to=TensorProto.FLOAT), scaled)

    def linear(self, states: str, *weights: Array) -> str:
        """Add one linear map that computes the outputs of several. It multiplies integers."""
        weight = np.concatenate(weights).astype(np.float32)
        integers, factors, scales = round_blocks(weight)
        step, zero = self.constant(np.float32(1 / INPUT_LEVELS), "step"), self.constant(np.uint8(_ZERO), "zero")
        largest = self.add("ReduceMax", self.add("Abs", states), self.constant(np.array([-1]), "last"), keepdims=1)
        largest = self.add("Max", largest, self.constant(np.float32(LEAST_INPUT), "least"))
        rounded = self.add("QuantizeLinear", self.add("Div", states, largest), step, zero)
        stored = self.store_packed(PackedWeight.pack(integers, factors)), step, self.store(scales, "scale"), zero
        return self.add("Mul", self.add("MatMulIntegerToFloat", rounded, *stored, domain=_RUNTIME), largest)

    def layer(
        self, states: str, weights: Mapping[str, Array], layer: str, shape: Shape, context: list[str], kept: list[str]
    ) -> str:
        """Add a layer: attention and a gated feed-forward network, each added to its input."""
        from_input = self.norm(states, weights[f"{layer}.input_layernorm.weight"], shape)
        joined = self.linear(from_input, *(weights[f"{layer}.self_attn.{name}_proj.weight"] for name in "qkv"))
        seen = f"attention_{len(self.nodes)}"
        self.node(
            "GroupQueryAttention",
            [joined, "", "", *context],
            [seen, *kept],
            domain=_RUNTIME,
            num_heads=shape.heads,
            kv_num_heads=shape.key_heads,
            do_rotary=1,
            rotary_interleaved=0,
        )
        states = self.add("Add", states, self.linear(seen, weights[f"{layer}.self_attn.o_proj.weight"]))
        from_states = self.norm(states, weights[f"{layer}.post_attention_layernorm.weight"], shape)
        both = self.linear(from_states, *(weights[f"{layer}.mlp.{name}_proj.weight"] for name in ("gate", "up")))
        gate, up = f"gate_{len(self.nodes)}", f"up_{len(self.nodes)}"
        self.node("Split", [both], [gate, up], axis=-1, num_outputs=2)
        active = self.add("Mul", self.add("Mul", gate, self.add("Sigmoid", gate)), up)
        return self.add("Add", states, self.linear(active, weights[f"{layer}.mlp.down_proj.weight"]))


def _rotation(shape: Shape) -> tuple[Array, Array]:
    steps = shape.rotation ** -(np.arange(0, shape.head_size, 2) / shape.head_size)
    angles = np.outer(np.arange(_POSITIONS), steps)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
