"""The graph of the language-model judge computes what its weights say, with rounded weights and inputs."""

from __future__ import annotations

import language_judge
import numpy as np
import pytest

from paraqd.scoring.judge.language_model import LanguageModel, no_past
from paraqd.scoring.judge.packed_weights import PackedWeight
from paraqd.training.causal_onnx import BLOCK, FACTORS, LARGEST, SMALLEST, round_blocks
from paraqd.training.onnx_graph import TABLE_LEVELS

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


def norm(states, weight):
    return states / np.sqrt((states**2).mean(-1, keepdims=True) + 1e-5) * weight


def rotate(heads):
    """Rotate the two halves of each head, by an angle that grows with the position."""
    half = heads.shape[-1] // 2
    angles = np.outer(np.arange(heads.shape[1]), 10_000.0 ** -(np.arange(half) / half))
    cos, sin = np.cos(angles), np.sin(angles)
    first, second = heads[..., :half], heads[..., half:]
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


def forward(weights, ids):
    """Return the outputs of the judge for a row of tokens, computed in 64 bits."""
    size, groups = language_judge.HEAD_SIZE, language_judge.HEADS // language_judge.KEY_HEADS

    def linear(states, name):
        return rounded_input(states) @ rounded(weights[f"{name}.weight"]).T.astype(float)

    def heads(states):
        return states.reshape(len(ids), -1, size).transpose(1, 0, 2)

    table = weights["body.embed_tokens.weight"]
    scale = np.abs(table).max(1, keepdims=True) / TABLE_LEVELS
    states = (np.rint(table / scale) * scale)[ids].astype(float)
    later = np.triu(np.ones((len(ids), len(ids)), dtype=bool), 1)
    for number in range(language_judge.LAYERS):
        layer = f"body.layers.{number}"
        given = norm(states, weights[f"{layer}.input_layernorm.weight"])
        query, key, value = (heads(linear(given, f"{layer}.self_attn.{name}_proj")) for name in "qkv")
        key, value = rotate(key).repeat(groups, axis=0), value.repeat(groups, axis=0)
        odds = np.where(later, -np.inf, rotate(query) @ key.transpose(0, 2, 1) / np.sqrt(size))
        share = np.exp(odds - odds.max(-1, keepdims=True))
        seen = (share / share.sum(-1, keepdims=True)) @ value
        states = states + linear(seen.transpose(1, 0, 2).reshape(len(ids), -1), f"{layer}.self_attn.o_proj")
        given = norm(states, weights[f"{layer}.post_attention_layernorm.weight"])
        gate, up = (linear(given, f"{layer}.mlp.{name}_proj") for name in ("gate", "up"))
        states = states + linear(gate / (1 + np.exp(-gate)) * up, f"{layer}.mlp.down_proj")
    states = norm(states, weights["body.norm.weight"])
    end = states[-1:]
    return [
        x @ weights[f"{n}.weight"].T + weights[f"{n}.bias"]
        for n, x in (("valid", end), ("kinds", end), ("places", states))
    ]


@pytest.mark.parametrize("count", [1, 7, 60])
def test_the_graph_computes_what_the_weights_say(tmp_path, count):
    pytest.importorskip("onnx")
    words = language_judge.make_tokenizer().get_vocab_size()
    weights = language_judge.random_weights(words)
    session = LanguageModel(language_judge.write_judge(tmp_path / "judge", weights=weights), threads=1).session
    ids = np.random.default_rng(count).integers(0, words, count)
    found = session.run(["valid", "kinds", "places"], {"input_ids": ids[None], **no_past(session)})
    for mine, expected in zip(found, forward(weights, ids), strict=True):
        # now and then, an input in 32 bits is rounded to another integer than in 64 bits
        assert np.allclose(mine.reshape(expected.shape), expected, atol=0.03)
