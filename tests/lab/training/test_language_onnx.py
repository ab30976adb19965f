"""The graph of the language-model judge computes what its weights say, with rounded weights and inputs."""

from __future__ import annotations

import math

import language_judge
import numpy as np
import pytest

from paraqd.lab.training.language_onnx import BLOCK, FACTORS, LARGEST, SMALLEST, distance_buckets, round_blocks
from paraqd.lab.training.onnx_graph import TABLE_LEVELS
from paraqd.scoring.judge.language_model import LanguageModel
from paraqd.scoring.judge.packed_weights import PackedWeight

F = np.float32


def rounded(weight):
    """Return a matrix as the judge uses it: one output and one block at a time."""
    out = np.empty_like(weight)
    for row, made in zip(weight, out, strict=True):
        scale = F(np.abs(row).max() / F(7.5 * 8)) or F(1)
        for start in range(0, len(row), 64):
            block = row[start : start + 64]
            factor = F(min(max(np.rint(np.abs(block).max() / (F(7.5) * scale)), 1), 8))
            made[start : start + 64] = np.clip(np.rint(block / (factor * scale)), -8, 7) * factor * scale
    return out


def some_weights(rows=48, columns=192):
    weight = np.random.default_rng(1).normal(0, 0.1, (rows, columns)).astype(F)
    weight[:, 64:128] *= np.linspace(0.01, 3, rows, dtype=F)[:, None]  # blocks of different sizes
    weight[3, 64:128] = 0
    weight[5] = 0
    return weight


def test_rounding_equals_the_formula():
    weight = some_weights()
    integers, factors, scales = round_blocks(weight)
    assert (BLOCK, SMALLEST, LARGEST, FACTORS) == (64, -8, 7, 8)
    assert integers.dtype == np.int8 and factors.dtype == np.uint8 and scales.dtype == F
    assert integers.min() == -8 and integers.max() == 7
    assert factors.shape == (48, 3) and factors.min() == 1 and factors.max() == 8
    products = integers.reshape(48, 3, 64) * factors[..., None].astype(F) * scales[:, None, None]
    assert np.allclose(products.reshape(weight.shape), rounded(weight), rtol=1e-6, atol=0)
    assert scales[5] == 1 and not integers[5].any()


def test_rounding_is_close_to_the_weights():
    weight = some_weights()
    steps = np.abs(weight.reshape(48, 3, 64)).max(-1) / 7.5 + np.abs(weight).max(1, keepdims=True) / 60
    integers, factors, scales = round_blocks(weight)
    found = integers.reshape(48, 3, 64) * factors[..., None].astype(F) * scales[:, None, None]
    error = np.abs(found - weight.reshape(48, 3, 64))
    assert (error.mean(-1) <= 0.5 * steps).all()
    # a factor that was rounded down cuts the largest weights of its block by at most half a factor
    assert (error.max(-1) <= 0.5001 * steps + np.abs(weight).max(1, keepdims=True) / 16).all()


def test_two_products_fit_in_16_bits():
    assert 2 * 255 * -SMALLEST * FACTORS < 2**15


def test_packed_weights_expand_to_the_products_of_integers_and_factors():
    integers, factors, _ = round_blocks(some_weights())
    packed = PackedWeight.pack(integers, factors)
    assert packed.packed.nbytes == integers.size // 2
    expanded = packed.expand()
    assert expanded.dtype == np.int8 and expanded.flags.c_contiguous
    assert np.array_equal(expanded.T, integers.astype(int) * factors.repeat(64, axis=1))


def rounded_input(states):
    largest = np.maximum(np.abs(states).max(-1, keepdims=True), F(1e-6))
    return np.rint(states / largest * F(127)) / F(127) * largest


def norm(states, weights, name):
    centred = states - states.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def bucket(distance):
    """Return MPNet's bucket for the distance from a token to an earlier (positive) or a later (negative) token."""
    size = abs(distance)
    near = size if size < 8 else min(8 + int(math.log(size / 8) / math.log(16) * 8), 15)
    return near + 16 * (distance < 0)


def forward(weights, ids, types):
    """Return the outputs of the judge for a row of tokens, computed in 64 bits."""

    def linear(states, name):
        return rounded_input(states) @ rounded(weights[f"{name}.weight"]).T.astype(float) + weights[f"{name}.bias"]

    def heads(states):
        return states.reshape(len(ids), -1, language_judge.HEAD_SIZE).transpose(1, 0, 2)

    table = weights["body.embeddings.word_embeddings.weight"]
    scale = np.abs(table).max(1, keepdims=True) / TABLE_LEVELS
    words = (np.rint(table / scale) * scale)[ids].astype(float)
    positions = weights["body.embeddings.position_embeddings.weight"][2 : 2 + len(ids)]
    states = norm(words + weights["types.weight"][types] + positions, weights, "body.embeddings.LayerNorm")
    near = np.array([[bucket(i - j) for j in range(len(ids))] for i in range(len(ids))])
    distances = weights["body.encoder.relative_attention_bias.weight"][near].transpose(2, 0, 1)
    for number in range(language_judge.LAYERS):
        layer = f"body.encoder.layer.{number}"
        query, key, value = (heads(linear(states, f"{layer}.attention.attn.{name}")) for name in "qkv")
        odds = query @ key.transpose(0, 2, 1) / np.sqrt(language_judge.HEAD_SIZE) + distances
        share = np.exp(odds - odds.max(-1, keepdims=True))
        seen = ((share / share.sum(-1, keepdims=True)) @ value).transpose(1, 0, 2).reshape(len(ids), -1)
        states = norm(states + linear(seen, f"{layer}.attention.attn.o"), weights, f"{layer}.attention.LayerNorm")
        inner = linear(states, f"{layer}.intermediate.dense")
        inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        states = norm(states + linear(inner, f"{layer}.output.dense"), weights, f"{layer}.output.LayerNorm")

    def head(given, name):
        return given @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    pooled = np.tanh(head(states[0], "pooler"))
    return head(pooled, "valid")[0], head(pooled, "kinds"), head(states, "places")[:, 0]


@pytest.mark.parametrize("count", [2, 7, 60, 320])
def test_the_graph_computes_what_the_weights_say(tmp_path, count):
    pytest.importorskip("onnx")
    words = language_judge.make_tokenizer().get_vocab_size()
    weights = language_judge.random_weights(words)
    session = LanguageModel(language_judge.write_judge(tmp_path / "judge", weights=weights), threads=1).session
    rng = np.random.default_rng(count)
    ids, types = rng.integers(0, words, count), rng.integers(0, 2, count)
    found = session.run(["valid", "kinds", "places"], {"input_ids": ids[None], "token_type_ids": types[None]})
    for mine, expected in zip(found, forward(weights, ids, types), strict=True):
        # now and then, an input in 32 bits is rounded to another integer than in 64 bits
        assert np.allclose(mine[0], expected, atol=0.05)


def test_the_buckets_of_distances_are_those_of_the_language_model():
    torch = pytest.importorskip("torch")
    from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

    places = torch.arange(320)
    expected = MPNetEncoder.relative_position_bucket(places[None] - places[:, None])
    assert np.array_equal(distance_buckets(320, 32), expected.numpy())
