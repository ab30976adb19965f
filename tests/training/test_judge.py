"""The learned judge: data, training, rounding."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")
pytest.importorskip("onnx")

import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification

from paraqd.data.faulty_pairs import FaultyPair
from paraqd.training.export import export_model
from paraqd.training.judge import JudgeSettings, judge_scores, train_judge
from paraqd.training.judge_data import collate, epoch_batches, tokenize_pairs
from paraqd.training.judge_model import load_judge, make_judge, save_judge
from paraqd.training.rounding import round_rows


@pytest.fixture(scope="module")
def tokenizer(word_tokenizer, judge_words):
    return word_tokenizer(judge_words)


@pytest.fixture
def judge(tmp_path, tokenizer):
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        num_labels=1,
        initializer_range=0.15,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    BertForSequenceClassification(config).save_pretrained(str(tmp_path / "start"))
    return make_judge(tmp_path / "start")


def test_tokens_know_whether_they_are_at_fault(tokenizer, pairs):
    data = tokenize_pairs(pairs(4), tokenizer)
    batch = collate(data, np.array([0, 1]))
    words = tokenizer.convert_ids_to_tokens(batch["input_ids"][0][batch["faults"][0] == 1])
    assert words == ["minutes"]
    assert not (batch["faults"][1] == 1).any()
    assert batch["labels"].tolist() == [0.0, 1.0]


def test_equal_quantities_look_equal_to_the_judge(tokenizer):
    pair = FaultyPair("a", "It takes half an hour.", "30 minutes it takes.", 1)
    plain, made = (tokenize_pairs([pair], tokenizer, harmony=harmony) for harmony in (False, True))
    assert "half" in tokenizer.convert_ids_to_tokens(made.ids)[8:]
    assert "half" not in tokenizer.convert_ids_to_tokens(plain.ids)[8:]


def test_every_pair_is_in_one_batch_of_an_epoch():
    lengths = np.array([5, 40, 7, 90, 12, 33, 8, 8])
    batches = list(epoch_batches(lengths, tokens=100, rng=np.random.default_rng(0)))
    assert sorted(np.concatenate(batches).tolist()) == list(range(8))
    assert all(lengths[batch].max() * len(batch) <= 100 or len(batch) == 1 for batch in batches)


def test_a_judge_learns_is_kept_and_loses_nothing_in_eight_bits(judge, tokenizer, pairs, tmp_path):
    data, other = tokenize_pairs(pairs(240), tokenizer), tokenize_pairs(pairs(80, seed=1), tokenizer)
    before = judge_scores(judge, data)
    train_judge(judge, data, settings=JudgeSettings(epochs=15, learning_rate=2e-3, batch_tokens=512, rounded_share=0.3))
    after = judge_scores(judge, other)
    assert before.std() < after.std()
    right = ((after > 0) == (other.labels > 0)).mean()
    assert right > 0.9
    save_judge(judge, tokenizer, tmp_path / "kept")
    assert judge_scores(load_judge(tmp_path / "kept"), other) == pytest.approx(after, abs=1e-5)
    fusion = {"bias": 0.0, "weights": {}, "model_weight": 1.0}
    (tmp_path / "kept" / "paraqd.json").write_text(json.dumps({"format": 1, "kind": "fused", "fusion": fusion}))
    shown = [(pair.question, pair.paraphrase) for pair in pairs(40, seed=2)]
    assert export_model(tmp_path / "kept", tmp_path / "small", pairs=shown).most < 2e-3


def test_rounding_twice_is_rounding_once():
    weight = torch.randn(6, 9)
    for levels in (63, 127):
        once = round_rows(weight, levels)
        assert torch.allclose(round_rows(once, levels), once, atol=1e-6)
        assert (once - weight).abs().max() <= weight.abs().max() / (1.99 * levels)
