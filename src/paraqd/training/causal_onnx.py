"""Build the ONNX graph of a language-model judge, node by node, with 4-bit weights.

The graph reads one pair. It takes the keys and values of an earlier part of the text as inputs, so the question is
computed once for all of its paraphrases. Linear maps store 4-bit integers with a scale for each block of inputs. The
table of word embeddings stores 8-bit integers with a scale for each row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.training.onnx_graph import TABLE_LEVELS, rounded_columns

BLOCK = 64  # inputs that share a scale
LARGEST, SMALLEST = 7, -8  # the range of a 4-bit integer
FACTORS = 15  # a block's scale is a multiple of its row's scale, from 1 to this number
_POSITIONS = 2048
_OPSET, _IR_VERSION = 20, 10
_RUNTIME = "com.microsoft"  # the domain of onnxruntime's own operators
_ACCURACY = 4  # multiply 8-bit integers; the inputs are rounded in blocks
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


def round_blocks(weight: Array, block: int = BLOCK) -> tuple[NDArray[np.int8], Array]:
    """Round a matrix (out, in) to 4-bit integers, and return the integers and the scale of each block.

    >>> integers, scales = round_blocks(np.array([[1.0, -0.5, 0.0, 0.25]], dtype=np.float32), block=2)
    >>> (integers.reshape(1, 2, 2) * scales[..., None]).astype(float).round(2).tolist()
    [[[0.93, -0.53], [0.0, 0.23]]]
    """
    rows = weight.reshape(len(weight), -1, block)
    scales = np.abs(rows).max(axis=-1) / np.float32(LARGEST + 0.5)
    safe = np.where(scales > 0, scales, np.float32(1.0))
    integers = np.clip(np.round(rows / safe[..., None]), SMALLEST, LARGEST).astype(np.int8)
    return integers.reshape(weight.shape), safe.astype(np.float32)


def write_causal_judge(weights: Mapping[str, Array], shape: Shape, path: str | Path, *, block: int = BLOCK) -> None:
    """Write the graph of a judge with 4-bit weights.

    Parameters
    ----------
    weights : mapping
        The weights of a `judge_model.CausalJudge`, keyed as in its ``state_dict``.

    """
    import onnx
    from onnx import TensorProto, helper

    graph = _Graph(block)
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
    onnx.save(model, str(path))


class _Graph:
    """The nodes and initializers of a graph under construction."""

    def __init__(self, block: int) -> None:
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self._block = block

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
        """Add one linear map that computes the outputs of several."""
        weight = np.concatenate(weights).astype(np.float32)
        integers, scales = round_blocks(weight, self._block)
        nibbles = (integers - SMALLEST).astype(np.uint8).reshape(len(weight), -1, self._block)
        packed = nibbles[..., 0::2] | (nibbles[..., 1::2] << 4)
        return self.add(
            "MatMulNBits",
            states,
            self.store(packed, "weight"),
            self.store(scales.reshape(-1), "scale"),
            domain=_RUNTIME,
            K=weight.shape[1],
            N=weight.shape[0],
            bits=4,
            block_size=self._block,
            accuracy_level=_ACCURACY,
        )

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
