"""Train a tiny model for solvable questions, export it, and check questions with it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tomllib
from dataclasses import replace

import pytest

pytest.importorskip("torch")
pytest.importorskip("onnx")

import language_judge
import numpy as np
import onnx
import torch
from transformers import BertConfig, BertForSequenceClassification

from paraqd import SolvableChecker
from paraqd.cli.main import run
from paraqd.errors import ModelError
from paraqd.judge_package import write_judge_package
from paraqd.lab.corpora.question_texts import KINDS, QuestionText, write_texts
from paraqd.lab.training.export import export_model
from paraqd.lab.training.judge_model import load_judge, make_judge, resize_kinds, save_judge
from paraqd.lab.training.pair_files import check_manifest
from paraqd.lab.training.recipes import load_recipe
from paraqd.lab.training.recipes.solvable import TextSet
from paraqd.lab.training.settings import JudgeSettings, TrainingError, TrainingStopped
from paraqd.lab.training.solvable_corpus import set_files, text_settings
from paraqd.lab.training.solvable_training import (
    family_figures,
    fit_platt,
    prepare_solvable,
    stored_tokens,
    train_solvable,
)
from paraqd.tables.datasets import DatasetError

NAMES, THINGS = "tom ann bob eve".split(), "pens cups hats toys".split()


def questions(count, seed):
    """Return questions, of which half are broken: a word makes no sense, or nothing is asked."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(count):
        name, thing, size = rng.choice(NAMES), rng.choice(THINGS), int(rng.integers(2, 9))
        text = f"{name} has {size} {thing}. How many {thing} does {name} have?"
        if number % 2:
            made.append(QuestionText(str(number), text, 1, source="own"))
        elif number % 4:
            text, cut = text.replace(f"{size} {thing}", f"{size} minutes"), len(f"{name} has {size} ")
            spans = ((cut, cut + len("minutes")),)
            made.append(QuestionText(str(number), text, 0, "incoherent", "misplaced_words", "own", spans))
        else:
            text = text.partition(".")[0] + "."
            made.append(
                QuestionText(str(number), text, 0, "question_missing", "lost_questions", "own", (), placed=False)
            )
    return made


@pytest.fixture(scope="module")
def start(tmp_path_factory, word_tokenizer, judge_words):
    """Return the folder of an untrained encoder with a small vocabulary."""
    torch.manual_seed(3)
    folder = tmp_path_factory.mktemp("start")
    tokenizer = word_tokenizer(judge_words)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = BertConfig(vocab_size=len(tokenizer), num_labels=1, initializer_range=0.15, **sizes)
    BertForSequenceClassification(config).save_pretrained(str(folder))
    tokenizer.save_pretrained(str(folder))
    return folder


@pytest.fixture(scope="module")
def recipe(start):
    whole = load_recipe("solvable")
    sets = {"single": TextSet(weight=2.0)}
    data = replace(whole.data, train=sets, validation=sets, held_out_families=("misplaced_words",))
    stages = (JudgeSettings(epochs=8, learning_rate=2e-3, batch_tokens=512, kind_share=0.3),)
    return replace(whole, encoder=str(start), start="", data=data, stages=stages)


@pytest.fixture(scope="module")
def trained(recipe, tmp_path_factory):
    """Train on texts that are in the work folder already."""
    folder = tmp_path_factory.mktemp("trained")
    work = folder / "work"
    check_manifest(work / "texts", text_settings(recipe.data))
    files = set_files(work / "texts", recipe.data)
    write_texts(questions(240, 0), files.train["single"])
    write_texts(questions(120, 1), files.validation["single"])
    done = train_solvable(recipe, folder / "model", work=work, device="cpu")
    return done, work


@pytest.fixture(scope="module")
def exported(trained, tmp_path_factory):
    out = tmp_path_factory.mktemp("exported") / "small"
    texts = [text.text for text in questions(60, 2)]
    return export_model(trained[0].folder, out, pairs=list(zip(texts[::2], texts[1::2], strict=True)))


def test_the_facts_say_how_well_each_family_is_found(trained):
    facts = trained[0].facts
    assert facts["kind"] == "solvable"
    assert facts["data"]["texts"] == 240 and facts["data"]["solvable"] == 120
    assert set(facts["validation"]) == set(facts["measured"]) == {"lost_questions", "misplaced_words"}
    assert facts["validation"]["misplaced_words"] == {"texts": 30, "auc": pytest.approx(1, abs=0.1)}
    assert facts["validation"]["lost_questions"]["auc"] > 0.9
    # the measured model has not seen this family
    assert facts["measured"]["misplaced_words"]["auc"] < facts["validation"]["misplaced_words"]["auc"]
    assert facts["calibration"]["scale"] > 0
    card = (trained[0].folder / "README.md").read_text("utf-8")
    assert "misplaced_words" in card


def test_an_exported_model_checks_questions(exported):
    assert exported.kind == "solvable"
    assert exported.pairs > 20 and exported.most < 0.05
    checker = SolvableChecker.load(exported.folder)
    rows = questions(40, 3)
    found = checker.check_texts([row.text for row in rows])
    assert np.mean([each.solvable == bool(row.label) for each, row in zip(found, rows, strict=True)]) > 0.9
    kinds = [each.evidence[0].kind == row.kind for each, row in zip(found, rows, strict=True) if not each.solvable]
    assert np.mean(kinds) > 0.9


def test_the_exported_graph_matches_torch(trained, exported, tmp_path):
    export_model(trained[0].folder, tmp_path / "full", pairs=[], bits=32)
    judge = load_judge(trained[0].folder).eval()
    text = questions(1, 4)[0].text
    for folder, tolerance in ((tmp_path / "full", 1e-3), (exported.folder, 0.2)):
        model = SolvableChecker.load(folder)._judge
        [found] = model.begin([text])()
        row = model.tokenizer.single_row(found.encoded.ids)
        ids, types = torch.tensor(row.ids[None]), torch.tensor(row.types[None])
        with torch.inference_mode():
            solvable, kinds, places = judge(input_ids=ids, attention_mask=torch.ones_like(ids), token_type_ids=types)
        assert found.log_odds == pytest.approx(float(solvable[0]), abs=tolerance)
        assert np.allclose(found.answers[0].kinds, kinds[0].numpy(), atol=tolerance)
        assert np.allclose(found.answers[0].faults, places[0, 1:-1].numpy(), atol=tolerance)


def test_a_model_without_rounding_is_rounded_on_the_texts(start, word_tokenizer, judge_words, tmp_path):
    judge = make_judge(start)
    resize_kinds(judge, len(KINDS))
    save_judge(judge, word_tokenizer(judge_words), tmp_path)
    facts = {"format": 1, "kind": "solvable", "kinds": list(KINDS), "calibration": {"scale": 1.0, "offset": 0.0}}
    (tmp_path / "paraqd.json").write_text(json.dumps(facts))
    pairs = [(text.text, text.text.replace("has", "does have")) for text in questions(20, 5)]
    with pytest.raises(ModelError, match="1 % of the scores change by"):
        export_model(tmp_path, tmp_path / "out", pairs=pairs, most_moved=1e-12)
    assert not (tmp_path / "out").exists()
    done = export_model(tmp_path, tmp_path / "out", pairs=pairs, most_moved=2.0)
    assert 0 < done.most < 0.5
    assert "QAttention" in {node.op_type for node in onnx.load(tmp_path / "out" / "onnx" / "model.onnx").graph.node}


def test_the_command_exports_a_model(trained, tmp_path, capsys):
    check = tmp_path / "pairs.jsonl"
    check.write_text(json.dumps({"question": questions(1, 6)[0].text, "paraphrase": ""}) + "\n")
    assert run(["lab", "export", str(trained[0].folder), "-o", str(tmp_path / "out"), "--check", str(check)]) == 0
    assert "is ready: solvable" in capsys.readouterr().err
    SolvableChecker.load(tmp_path / "out")


def test_texts_and_tokens_are_kept(trained, recipe):
    work = trained[1]
    before = {path: path.stat().st_mtime_ns for path in (work / "tokens").iterdir()}
    prepare_solvable(recipe, work)
    assert {path: path.stat().st_mtime_ns for path in (work / "tokens").iterdir()} == before
    train, validation = stored_tokens(recipe, work)
    assert (len(train), len(validation["single"])) == (240, 120)
    assert set(train.tokens.weights.tolist()) == {2.0}


def test_weights_of_stored_tokens_cannot_change(trained, recipe):
    sets = {"single": TextSet(weight=3.0)}
    with pytest.raises(DatasetError, match="other values of weights"):
        prepare_solvable(replace(recipe, data=replace(recipe.data, train=sets)), trained[1])


def test_the_model_without_the_held_out_families_is_kept(trained, tmp_path):
    done, work = trained
    facts = json.loads((work / "measured" / "paraqd.json").read_text())
    assert facts["left_out_families"] == ["misplaced_words"]
    assert facts["data"]["texts"] == 180  # 60 of the 240 texts belong to the family
    assert facts["validation"] == done.facts["measured"]
    assert "without the families misplaced_words" in (work / "measured" / "README.md").read_text()
    assert not (work / "checkpoints").exists()
    SolvableChecker.load(export_model(work / "measured", tmp_path / "small", pairs=[]).folder)


def test_an_interrupted_training_resumes(trained, recipe, tmp_path):
    done, before = trained
    work = tmp_path / "work"
    shutil.copytree(before / "tokens", work / "tokens")  # all that training needs
    seen = []

    def interrupt(stage, number, total, note=""):
        seen.append(stage)
        if stage == "final" and number == 5 and seen.count("measured"):  # not when the run goes on after five steps
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paraqd.lab.training.steps.REPORT_SECONDS", -1.0)
        with pytest.raises(TrainingStopped):
            train_solvable(recipe, tmp_path / "model", work=work, device="cpu", progress=interrupt)
    kept = (work / "measured" / "model.safetensors").stat().st_mtime_ns
    assert seen.count("final") == 6 and (work / "checkpoints" / "final").is_dir()
    other = replace(recipe, stages=(replace(recipe.stages[0], seed=5),))
    with pytest.raises(TrainingError, match="an unfinished training run with other settings"):
        train_solvable(other, tmp_path / "model", work=work, device="cpu")
    seen.clear()
    again = train_solvable(recipe, tmp_path / "model", work=work, device="cpu", progress=interrupt)
    assert "measured" not in seen
    assert (work / "measured" / "model.safetensors").stat().st_mtime_ns == kept
    assert again.facts["measured"] == done.facts["measured"]
    assert again.facts["calibration"] == pytest.approx(done.facts["calibration"], abs=1e-4)
    assert not (work / "checkpoints").exists()


def test_a_recipe_needs_a_training_set(recipe, tmp_path):
    empty = replace(recipe, data=replace(recipe.data, train={}))
    with pytest.raises(TrainingError, match="needs a training set and a validation set"):
        prepare_solvable(empty, tmp_path)


def test_figures_compare_a_family_with_all_solvable_texts(trained, recipe):
    _, validation = stored_tokens(recipe, trained[1])
    found = validation["single"]
    labels = found.tokens.labels
    assert {each["auc"] for each in family_figures(found, labels).values()} == {1.0}
    assert {each["auc"] for each in family_figures(found, -labels).values()} == {0.0}


def test_the_calibration_ignores_how_common_the_classes_are():
    odds, labels = np.array([-2, -1, 1, 2] * 50, dtype="f4"), np.array([0, 1, 0, 1] * 50, dtype="f4")
    more = labels == 1
    scale, offset = fit_platt(odds, labels)
    again = fit_platt(np.concatenate([odds, odds[more]]), np.concatenate([labels, labels[more]]))
    assert again == pytest.approx((scale, offset), abs=1e-6)


@pytest.mark.parametrize(
    "option",
    [
        ("--without", "f3"),
        ("--teacher", "x"),
        ("--questions", "5"),
        ("--generator", "f9=x"),
        ("--small", "x"),
        ("--weights-only",),
        ("--margin", "1"),
    ],
)
def test_options_for_other_models_are_refused(tmp_path, fails, option):
    line = fails("lab", "train", "--recipe", "solvable", "--out", tmp_path / "m", *option)
    assert f"{option[0]} cannot be used with --recipe solvable" in line


@pytest.fixture(scope="module")
def judge_start(tmp_path_factory, word_tokenizer, judge_words):
    """Return the folder of a language-model judge with random weights, from which training starts."""
    tokenizer = word_tokenizer(judge_words).backend_tokenizer
    weights = language_judge.random_weights(tokenizer.get_vocab_size())
    return language_judge.write_judge(tmp_path_factory.mktemp("lm") / "lm", weights=weights, tokenizer=tokenizer)


@pytest.fixture(scope="module")
def large(recipe, trained, judge_start):
    """Train the large model on the tokens of the small one."""
    training = JudgeSettings(epochs=14, learning_rate=1e-3, batch_tokens=512, rounded_share=0.5)
    whole = replace(recipe, language_judge=replace(recipe.language_judge, start=str(judge_start), training=training))
    work = trained[1]
    return train_solvable(whole, work.parent / "large", large=True, work=work, device="cpu"), whole, work


def test_the_large_model_checks_questions_without_export(large):
    facts = large[0].facts
    assert facts["validation"]["misplaced_words"]["auc"] > 0.9
    assert facts["export"]["mean"] < 0.02
    checker = SolvableChecker.load(large[0].folder)
    rows = questions(40, 3)
    found = checker.check_texts([row.text for row in rows])
    assert np.mean([each.solvable == bool(row.label) for each, row in zip(found, rows, strict=True)]) > 0.9
    one = checker.check(rows[0].text)
    assert one.score == found[0].score  # other texts do not change a score
    assert "MPNet" in (large[0].folder / "README.md").read_text("utf-8")


def test_a_repeated_training_of_the_large_model_keeps_the_measured_one(large, monkeypatch):
    done, recipe, work = large
    names = []
    monkeypatch.setattr(
        "paraqd.lab.training.solvable_training.train_texts", lambda *given, stage, **options: names.append(stage)
    )
    again = train_solvable(recipe, done.folder.with_name("again"), large=True, work=work, device="cpu")
    assert names == ["final"]
    assert again.facts["measured"] == done.facts["measured"]


def test_the_large_model_becomes_a_package(large, tmp_path):
    package = write_judge_package(large[0].folder, tmp_path / "package")
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    assert project["name"] == "paraqd-solvable-lm"
    assert project["entry-points"]["paraqd.solvable_models"] == {"solvable": "paraqd_solvable_lm:folder"}
    place = package / "src" / "paraqd_solvable_lm" / "model"
    assert SolvableChecker.load(place).signature == SolvableChecker.load(large[0].folder).signature


def test_a_missing_judge_to_start_from_is_reported_before_the_work(recipe, tmp_path):
    whole = replace(recipe, language_judge=replace(recipe.language_judge, start=str(tmp_path / "none")))
    with pytest.raises(TrainingError, match="has no language-model judge to start from"):
        train_solvable(whole, tmp_path / "model", large=True, work=tmp_path / "work", device="cpu")
    assert not (tmp_path / "work").exists()
