"""Test the learned judge's data, training and rounding."""

from __future__ import annotations

import copy
import json
import os
import signal

import pytest

pytest.importorskip("torch")
pytest.importorskip("onnx")

import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification

from paraqd.lab.corpora.faulty_pairs import FaultyPair, write_faults
from paraqd.lab.training.export import export_model
from paraqd.lab.training.judge_batches import NO_ROW, DeviceRows, plan_epoch
from paraqd.lab.training.judge_model import load_judge, make_judge, save_judge
from paraqd.lab.training.judge_tokens import tokenize_pairs
from paraqd.lab.training.judge_training import judge_scores, train_judge
from paraqd.lab.training.quantisation_aware import round_rows
from paraqd.lab.training.settings import JudgeSettings, TrainingError, TrainingStopped
from paraqd.lab.training.work_folder import tokenized
from paraqd.progress import silent
from paraqd.scoring.judge.pair_tokens import PairTokenizer
from paraqd.scoring.pair_preparation import prepare_pair


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


def test_tokens_at_fault_are_marked(tokenizer, pairs):
    data = tokenize_pairs(pairs(4), tokenizer)
    batch = DeviceRows(data, None, "cpu").gather_trimmed(torch.tensor([0, 1, NO_ROW]))
    words = tokenizer.convert_ids_to_tokens(batch["input_ids"][0][batch["faults"][0] == 1])
    assert words == ["minutes"]
    assert not (batch["faults"][1] == 1).any()
    assert batch["labels"].tolist() == [0.0, 1.0]


def test_equal_quantities_have_equal_tokens(tokenizer):
    pair = FaultyPair("a", "It takes half an hour.", "30 minutes it takes.", 1)
    tokens = tokenizer.convert_ids_to_tokens(tokenize_pairs([pair], tokenizer).ids)
    assert tokens.count("half") == 2 and "minutes" not in tokens


def test_scoring_training_and_fusing_use_the_same_token_ids(tokenizer, tmp_path):
    texts = [
        ("It takes half an hour.", "30 minutes it takes."),
        ("TOM HAS 5 PENS AND A BOY. HOW MANY?", "Tom has <b>5</b>&nbsp;pens and a boy. How many?"),
        ("Tom has $5$ pens.", "Tom\u200b has five pens \u2010 how many?"),
        ("Tom has $5 and 2 pens.", "TOM HAS FIVE DOLLARS AND TWO PENS."),
        ("It takes \\frac{1}{2} an hour.", "It takes thirty minutes."),
    ]
    tokenizer.backend_tokenizer.save(str(tmp_path / "tokenizer.json"))
    served = PairTokenizer.from_file(tmp_path / "tokenizer.json")
    pairs = served.encode_pairs([prepare_pair(*pair).texts for pair in texts])
    rows = [served.row(pair, pair.windows()[0]) for pair in pairs]
    faulty = [FaultyPair("a", *pair, 1) for pair in texts]
    trained = tokenize_pairs(faulty, tokenizer)
    write_faults(faulty, tmp_path / "validation.jsonl.gz")  # as the fusion reads its pairs
    fused = tokenized(tmp_path / "validation.jsonl.gz", tokenizer, tmp_path, 1.0, progress=silent)
    assert fused.ids.tolist() == trained.ids.tolist()
    assert trained.ids.tolist() == [token for row in rows for token in row.ids.tolist()]
    assert trained.types.tolist() == [part for row in rows for part in row.types.tolist()]


def test_every_pair_is_in_exactly_one_batch_per_epoch():
    lengths = np.array([5, 40, 7, 90, 12, 33, 8, 8])
    batches = plan_epoch(lengths, tokens=100, rng=np.random.default_rng(0))
    rows = np.concatenate([rows for _, rows in batches])
    assert sorted(rows[rows != NO_ROW].tolist()) == list(range(8))
    assert all(len(rows) == max(1, 100 // length) for length, rows in batches)
    assert all(lengths[rows[rows != NO_ROW]].max() <= length for length, rows in batches)


def test_a_judge_learns_and_keeps_its_scores_in_eight_bits(judge, tokenizer, pairs, tmp_path):
    data, other = tokenize_pairs(pairs(240), tokenizer), tokenize_pairs(pairs(80, seed=1), tokenizer)
    before = judge_scores(judge, data)
    train_judge(judge, data, settings=JudgeSettings(epochs=15, learning_rate=2e-3, batch_tokens=512, rounded_share=0.3))
    after = judge_scores(judge, other)
    assert before.std() < after.std()
    right = ((after > 0) == (other.labels > 0)).mean()
    assert right > 0.9
    save_judge(judge, tokenizer, tmp_path / "kept")
    assert json.loads((tmp_path / "kept" / "tokenizer.json").read_text("utf-8"))["truncation"] is None
    assert judge_scores(load_judge(tmp_path / "kept"), other) == pytest.approx(after, abs=1e-5)
    fusion = {"bias": 0.0, "weights": {}, "model_weight": 1.0}
    (tmp_path / "kept" / "paraqd.json").write_text(json.dumps({"format": 1, "kind": "fused", "fusion": fusion}))
    shown = [(pair.question, pair.paraphrase) for pair in pairs(40, seed=2)]
    assert export_model(tmp_path / "kept", tmp_path / "small", pairs=shown).most < 2e-3


def test_training_resumes_from_the_checkpoint_after_ctrl_c(judge, tokenizer, pairs, tmp_path):
    data = tokenize_pairs(pairs(60), tokenizer)
    settings = JudgeSettings(epochs=3, learning_rate=2e-3, batch_tokens=320)
    # compare only copies, because loaded weights are aligned differently in memory, which changes the last digits
    first, second, third = (copy.deepcopy(judge) for _ in range(3))
    whole = judge_scores(train_judge(first, data, settings=settings), data)
    stages = []

    def interrupt_once(stage, done, total, note=""):
        stages.append(stage)
        if done == 7:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paraqd.lab.training.steps.REPORT_SECONDS", -1.0)
        with pytest.raises(TrainingStopped):
            train_judge(second, data, settings=settings, checkpoints=tmp_path, stage="a judge", progress=interrupt_once)
    assert set(stages) == {"a judge"} and len(stages) == 8  # one before the first step
    assert judge_scores(train_judge(third, data, settings=settings, checkpoints=tmp_path), data) == pytest.approx(
        whole, abs=1e-6
    )


def test_diverging_training_raises_an_error(judge, tokenizer, pairs):
    data = tokenize_pairs(pairs(20), tokenizer)
    with pytest.raises(TrainingError, match="diverged"):
        train_judge(judge, data, teacher=np.full(20, np.nan, dtype=np.float32))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("rounded_share", [0.0, 0.5])
def test_captured_steps_match_single_steps_and_can_be_resumed(judge, tokenizer, pairs, tmp_path, rounded_share):
    data = tokenize_pairs(pairs(240), tokenizer)
    settings = JudgeSettings(epochs=4, learning_rate=1e-3, batch_tokens=512, rounded_share=rounded_share)
    single, resumed = copy.deepcopy(judge), copy.deepcopy(judge)
    single.captures_well = False
    found = [
        judge_scores(train_judge(each, data, settings=settings, device="cuda"), data, device="cuda")
        for each in (judge, single)
    ]
    assert np.corrcoef(*found)[0, 1] > 0.99

    def interrupt_once(stage, done, total, note=""):
        if done >= 11:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(TrainingStopped):
        train_judge(resumed, data, settings=settings, device="cuda", checkpoints=tmp_path, progress=interrupt_once)
    train_judge(resumed, data, settings=settings, device="cuda", checkpoints=tmp_path)
    assert judge_scores(resumed, data, device="cuda") == pytest.approx(found[0], abs=0.05)


def test_rounding_is_idempotent():
    weight = torch.randn(6, 9)
    for levels in (63, 127):
        once = round_rows(weight, levels)
        assert torch.allclose(round_rows(once, levels), once, atol=1e-6)
        assert (once - weight).abs().max() <= weight.abs().max() / (1.99 * levels)


def test_an_epoch_can_have_some_of_the_rows(judge, tokenizer, pairs):
    data = tokenize_pairs(pairs(40), tokenizer)
    drawn = []

    def draw(rng):
        drawn.append(rng.choice(len(data), 10, replace=False))
        return drawn[-1]

    first = plan_epoch(data.lengths, tokens=320, rng=np.random.default_rng(1), rows=np.array([3, 7, 30]))
    assert sorted(row for _, rows in first for row in rows.tolist() if row != NO_ROW) == [3, 7, 30]
    train_judge(judge, data, settings=JudgeSettings(epochs=2, batch_tokens=320), draw=draw)
    assert len(drawn) == 2 and sorted(drawn[0]) != sorted(drawn[1])  # every epoch has its own rows
