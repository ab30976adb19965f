"""The loop that the default judge was trained in, without a GPU: its steps run one by one."""

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from transformers import BertConfig, BertModel

from paraqd.training.judge import JudgeSettings
from paraqd.training.judge_data import JudgeData
from paraqd.training.judge_model import make_judge

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import judge_on_gpu


@pytest.fixture
def judge(tmp_path):
    torch.manual_seed(1)
    config = BertConfig(vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
    BertModel(config).save_pretrained(str(tmp_path))
    return make_judge(tmp_path)


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    lengths = rng.integers(8, 30, 40)
    total = int(lengths.sum())
    return JudgeData(
        ids=rng.integers(4, 60, total).astype(np.int32),
        types=rng.integers(0, 2, total).astype(np.int8),
        faults=rng.integers(-1, 2, total).astype(np.int8),
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        labels=rng.integers(0, 2, 40).astype(np.float32),
        kinds=rng.integers(-1, 5, 40),
        weights=np.ones(40, dtype=np.float32),
    )


def test_a_training_ends_with_rounded_weights(judge, data):
    settings = JudgeSettings(epochs=2, batch_tokens=320, rounded_share=0.5, inner=64)
    judge_on_gpu.train(judge, data, settings, np.zeros(40, dtype=np.float32))
    matrix = judge.classifier.base_model.encoder.layer[0].output.dense.weight.detach().numpy()
    steps = matrix / (np.abs(matrix).max(axis=1, keepdims=True) / 63)
    assert np.abs(steps - np.rint(steps)).max() < 1e-3
    assert len(np.unique(np.rint(steps))) > 10


def test_rounding_begins_with_no_captured_step_and_no_memory_of_one(judge, data):
    rows = judge_on_gpu.Rows(data, None, "cpu")
    step = judge_on_gpu.Step(judge, rows, JudgeSettings(batch_tokens=320), graphed=False)
    step.captured[32], step.pool = "a step", "its memory"
    step.start_rounding()
    assert not step.captured
    assert step.pool is None
    assert torch.isfinite(step(32, torch.arange(10), 1e-4))
