"""Test the training of the language-model judge, from files of pairs to a judge that onnxruntime runs."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
from functools import partial

import pytest

pytest.importorskip("torch")
pytest.importorskip("onnx")

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import AutoModel, AutoTokenizer

from paraqd.lab.corpora.faulty_pairs import write_faults
from paraqd.lab.training import language_onnx
from paraqd.lab.training.judge_tokens import read_tokens
from paraqd.lab.training.judge_training import judge_scores
from paraqd.lab.training.language_folder import train_language_judge
from paraqd.lab.training.language_judge import (
    find_prepared,
    train_language_weights,
    training_facts,
    validation_odds,
)
from paraqd.lab.training.language_teacher import language_odds
from paraqd.lab.training.language_weights import load_base, load_weights, source_files
from paraqd.lab.training.onnx_graph import TABLE_LEVELS
from paraqd.lab.training.pair_files import pair_settings
from paraqd.lab.training.quantisation_aware import (
    exact_weights,
    finish_rounding,
    round_blocks,
    round_rows,
    start_rounding,
)
from paraqd.lab.training.recipes import load_judge_recipe
from paraqd.lab.training.settings import TrainingError
from paraqd.model_folder import read_model_folder
from paraqd.scoring.fusion import Fusion
from paraqd.scoring.judge.cross_encoder import LONGEST
from paraqd.scoring.judge.language_model import LanguageModel
from paraqd.scoring.pair_preparation import prepare_pair
from paraqd.scoring.second_opinion import SecondOpinion

OTHERS = (
    "written composed rules synthetic_composed styles styles_composed model_rewrites strangers appended natural"
    " unlabelled sampled".split()
)


@pytest.fixture(scope="module")
def recipe(word_encoder):
    """Return a function for the recipe ``default`` with a small language model, one set and short training runs."""
    return partial(make_recipe, word_encoder)


def make_recipe(encoder, base, **overrides):
    values = {
        "encoder": str(encoder),
        "language_judge.model": str(base),
        "language_judge.start": "",
        "language_judge.pairs": 200,
        "language_judge.shares.synthetic": 0.5,
        "language_judge.training.epochs": 12,
        "language_judge.training.learning_rate": 3e-3,
        "language_judge.training.batch_tokens": 1024,
        "data.validation": {"synthetic": {}},
        **overrides,
    }
    return load_judge_recipe("default", values).without(OTHERS)


def write_pairs(work, made, pairs, *, train=120):
    """Write files of pairs as if they had been created from the data sets."""
    folder = work / "pairs"
    folder.mkdir(parents=True)
    write_faults(pairs(train, seed=0), folder / "synthetic_train_all.jsonl.gz")
    write_faults(pairs(60, seed=1), folder / "synthetic_validation_all.jsonl.gz")
    (folder / "made-with.json").write_text(json.dumps(pair_settings(made.data)))


@pytest.fixture(autouse=True)
def no_data_sets(tmp_path, monkeypatch):
    """Hide the data sets, so that every test shows that training does not need them."""
    monkeypatch.setenv("PARAQD_DATA_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setattr("paraqd.lab.training.pair_files.synthetic_digest", _missing)


def _missing(*_):
    from paraqd.tables.datasets import DatasetError

    raise DatasetError("missing")


@pytest.fixture(scope="module")
def trained(tmp_path_factory, language_base, pairs, recipe):
    """Return the folder and the work folder of a trained judge."""
    place = tmp_path_factory.mktemp("trained")
    made = recipe(language_base)
    write_pairs(place / "work", made, pairs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paraqd.lab.training.pair_files.synthetic_digest", _missing)
        done = train_language_judge(made, place / "judge", work=place / "work", device="cpu")
    return done, place / "work", made


def test_rounding_in_training_equals_the_rounding_of_the_export():
    torch.manual_seed(2)
    weight = torch.randn(24, 192)
    weight[3, 64:128] = 0  # a block without a scale
    weight[5] = 0
    weight[:, 128:] *= torch.linspace(0.01, 3, 24)[:, None]
    integers, factors, scales = language_onnx.round_blocks(weight.numpy())
    steps = factors * scales[:, None]
    expected = (integers.reshape(24, 3, 64) * steps[..., None]).reshape(24, 192)
    assert np.array_equal(round_blocks(weight).numpy(), expected)


@pytest.fixture
def judge(language_base, word_encoder):
    return load_base(str(language_base), Tokenizer.from_file(str(word_encoder / "tokenizer.json")))


def test_both_judges_read_the_same_tokens(judge, language_base, word_encoder):
    tokenizer = Tokenizer.from_file(str(word_encoder / "tokenizer.json"))
    whole = AutoModel.from_pretrained(language_base, add_pooling_layer=False)
    own = AutoTokenizer.from_pretrained(language_base).get_vocab()
    words = judge.body.embeddings.word_embeddings.weight
    assert len(words) == tokenizer.get_vocab_size() < len(own)
    for name, theirs in (("[CLS]", "<s>"), ("[SEP]", "</s>"), ("pens", "pens"), ("tom", "tom")):
        expected = whole.embeddings.word_embeddings.weight[own[theirs]]
        assert torch.equal(words[tokenizer.token_to_id(name)], expected), name


def test_without_padding_or_with_it_a_row_gives_the_same(judge):
    ids = torch.tensor([[2, 5, 9, 3, 8, 3], [2, 5, 3, 3, 0, 0]])
    types = torch.tensor([[0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 0, 0]])
    mask = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])
    judge.eval()
    both = judge(input_ids=ids, token_type_ids=types, attention_mask=mask)
    alone = judge(input_ids=ids[1:, :4], token_type_ids=types[1:, :4], attention_mask=mask[1:, :4])
    assert torch.allclose(both[0][1], alone[0][0], atol=1e-5) and torch.allclose(both[1][1], alone[1][0], atol=1e-5)
    assert torch.allclose(both[2][1, :4], alone[2][0], atol=1e-5)


def test_the_inputs_of_each_token_are_rounded_to_eight_bits(judge):
    layer = judge.body.encoder.layer[0].output.dense
    given = torch.randn(2, 6, layer.in_features)
    start_rounding(judge)
    steps = torch.round(given / given.abs().amax(dim=-1, keepdim=True) * 127)
    rounded = steps * given.abs().amax(dim=-1, keepdim=True) / 127
    weight = round_blocks(layer.weight)
    assert torch.allclose(layer(given), rounded @ weight.T + layer.bias, atol=1e-5)
    assert not torch.allclose(layer(given), given @ weight.T + layer.bias, atol=1e-5)


def test_a_rounded_judge_keeps_its_exact_weights(judge):
    before = {name: value.clone() for name, value in judge.state_dict().items()}
    start_rounding(judge)
    finish_rounding(judge)
    kept = exact_weights(judge)
    assert kept.keys() == before.keys()
    assert all(torch.equal(kept[name], before[name]) for name in before)


def test_gradients_pass_through_the_rounding(judge):
    start_rounding(judge)
    layer = judge.body.encoder.layer[0].intermediate.dense
    given = torch.randn(3, layer.in_features)
    layer(given).sum().backward()
    most = given.abs().amax(dim=-1, keepdim=True)
    rounded = torch.round(given / most * 127) * most / 127
    assert torch.allclose(layer.weight.grad, rounded.sum(0).expand_as(layer.weight), atol=1e-5)
    table = judge.body.embeddings.word_embeddings
    table(torch.tensor([[4, 4, 7]])).sum().backward()
    assert table.weight.grad[:8, 0].tolist() == [0, 0, 0, 0, 2, 0, 0, 1]


def test_of_the_tables_only_the_words_are_rounded_and_of_the_maps_not_the_heads(judge):
    tables = judge.body.embeddings
    words, places = (each.weight.detach().clone() for each in (tables.word_embeddings, tables.position_embeddings))
    head = judge.valid.weight.detach().clone()
    start_rounding(judge)
    rows = torch.arange(5)
    assert torch.allclose(tables.word_embeddings(rows), round_rows(words[:5], TABLE_LEVELS), atol=1e-6)
    assert torch.equal(tables.position_embeddings(rows), places[:5])
    assert torch.allclose(judge.valid(torch.eye(head.shape[1])) - judge.valid.bias, head.T, atol=1e-6)


def test_the_exported_judge_gives_the_trained_judges_answers(trained, pairs):
    done, work, _ = trained
    folder = read_model_folder(done.folder)
    assert folder.kind == "language-model" and not list(done.folder.rglob("*.safetensors"))
    judge = LanguageModel(folder.path, kinds=folder.evidence_kinds, hashes=folder.verified_hashes())
    shown = pairs(60, seed=1)
    found = np.array([each.log_odds for each in judge.begin([prepare_pair(p.question, p.paraphrase) for p in shown])()])
    odds = validation_odds(work)["synthetic"]
    assert np.abs(found - odds).mean() < 0.1 < odds.std()
    assert done.facts["export"]["mean"] < 0.02
    labels = np.array([pair.label for pair in shown])
    assert found[labels == 1].mean() > found[labels == 0].mean() + 1
    places = [each for pair, each in zip(shown, judge.begin([prepare_pair(*t) for t in texts(shown)])(), strict=True)]
    worst = [max(each.paraphrase_places, key=lambda place: place.fault) for each in places]
    right = [
        any(a < place.end and place.start < b for a, b in pair.paraphrase_spans)
        for pair, place in zip(shown, worst, strict=True)
        if not pair.label
    ]
    assert np.mean(right) > 0.8


def texts(pairs):
    return [(pair.question, pair.paraphrase) for pair in pairs]


def test_the_model_folder_says_how_the_judge_is_used(trained):
    done, _, _ = trained
    facts = done.facts
    assert facts["settings"]["epochs"] == 12 and facts["settings"]["beta2"] == 0.98
    assert facts["data"]["synthetic"]["pairs"] == 120
    default = read_model_folder("default")
    assert facts["cascade"]["model"] == f"default@{default.hash8(default.verified_hashes())}"
    second = SecondOpinion.from_dict(facts["cascade"], judge=None)
    assert isinstance(second.fusion, Fusion) and second.fusion.model_weight > 0
    assert (second.low, second.high) == (-2.5, 2.5)
    assert set(facts["validation"]["synthetic"]) == {"pairs", "asked", "small", "large", "both", "cascade"}
    card = (done.folder / "README.md").read_text("utf-8")
    assert "| synthetic | 120 | 100 |" in card and "base_model: " in card


def test_stored_weights_are_the_exported_ones_and_can_be_trained_further(
    trained, tmp_path, pairs, language_base, recipe
):
    _, work, _ = trained
    weights = work / "language" / "weights"
    judge = load_weights(weights)
    start_rounding(judge)
    rows = read_tokens(next((work / "tokens").glob("*validation*")))
    assert judge_scores(judge, rows) == pytest.approx(validation_odds(work)["synthetic"], abs=1e-4)
    short = {"language_judge.training.epochs": 1, "language_judge.training.learning_rate": 1e-6}
    further = recipe("nowhere", **{"language_judge.start": str(weights), **short})  # no language model is needed
    write_pairs(tmp_path / "work", further, pairs)
    done = train_language_judge(further, tmp_path / "judge", work=tmp_path / "work", device="cpu")
    assert done.facts["start"] == "weights"
    assert validation_odds(tmp_path / "work")["synthetic"] == pytest.approx(validation_odds(work)["synthetic"], abs=0.3)


def test_training_goes_on_from_an_exported_judge(trained, tmp_path, pairs, recipe):
    done, work, _ = trained
    judge = load_weights(done.folder)  # the folder has no exact weights
    rows = read_tokens(next((work / "tokens").glob("*validation*")))
    assert np.abs(judge_scores(judge, rows) - validation_odds(work)["synthetic"]).mean() < 0.1
    exact = load_weights(work / "language" / "weights")
    for name, value in exact.state_dict().items():
        found = judge.state_dict()[name]
        if "position_embeddings" in name:  # the export keeps the positions that are used
            value, found = value[2 : 2 + LONGEST], found[2:]
        rounded = round_blocks(value) if ".encoder.layer." in name and value.ndim == 2 else value
        close = 0.01 if "word_embeddings" in name else 1e-6
        assert torch.allclose(found, rounded, atol=close * float(value.abs().max())), name
    short = {"language_judge.training.epochs": 1, "language_judge.training.learning_rate": 1e-6}
    further = recipe("nowhere", **{"language_judge.start": str(done.folder), **short})
    write_pairs(tmp_path / "work", further, pairs)
    again = train_language_judge(further, tmp_path / "judge", work=tmp_path / "work", device="cpu")
    assert again.facts["start"] == done.folder.name
    assert validation_odds(tmp_path / "work")["synthetic"] == pytest.approx(validation_odds(work)["synthetic"], abs=0.6)


def test_an_exported_judge_that_is_incomplete_is_refused(trained, tmp_path):
    done, _, _ = trained
    shutil.copytree(done.folder, tmp_path / "judge")
    (tmp_path / "judge" / "onnx" / "model.onnx").unlink()
    with pytest.raises(TrainingError, match=r"it has no onnx/model\.onnx"):
        source_files("nowhere", str(tmp_path / "judge"))


def test_a_damaged_exported_judge_is_refused(trained, tmp_path):
    done, _, _ = trained
    for name in ("onnx/model.onnx", "onnx/weights.npz"):
        folder = tmp_path / name.rpartition("/")[2]
        shutil.copytree(done.folder, folder)
        (folder / name).write_bytes(b"damaged")
        with pytest.raises(TrainingError, match="or it is damaged"):
            load_weights(folder)


def test_only_the_cascade_is_fitted_again_for_another_small_judge(trained, tmp_path):
    _, work, made = trained
    other = tmp_path / "other"
    shutil.copytree(read_model_folder("default").path, other)
    facts = json.loads((other / "paraqd.json").read_text("utf-8"))
    (other / "paraqd.json").write_text(json.dumps({**facts, "name": "other"}))
    before = (work / "language" / "weights" / "judge.safetensors").stat().st_mtime_ns
    done = train_language_judge(made, tmp_path / "judge", work=work, small=other, device="cpu")
    assert done.facts["cascade"]["model"].startswith("other@")
    assert (work / "language" / "weights" / "judge.safetensors").stat().st_mtime_ns == before


def copy_tokens(work, copy):
    """Copy what training needs from a work folder."""
    left = shutil.ignore_patterns("weights", "opinions*", "training.json")
    for name in ("language", "tokens"):
        shutil.copytree(work / name, copy / name, ignore=left)


def test_the_weights_need_only_the_folder_of_tokens_and_few_packages(trained, tmp_path, language_base, word_encoder):
    _, work, _ = trained
    copy_tokens(work, tmp_path / "w")
    script = f"""
import sys
from pathlib import Path
hidden = "rapidfuzz platformdirs spacy sentence_transformers accelerate datasets gguf onnx onnxruntime scipy sklearn"
for name in hidden.split():
    sys.modules[name] = None  # as if the package were not installed
from paraqd.lab.training.language_judge import train_language_weights
from paraqd.lab.training.recipes import load_judge_recipe
values = {{
    "encoder": sys.argv[3],
    "language_judge.model": sys.argv[2],
    "language_judge.start": "",
    "data.validation": {{"synthetic": {{}}}},
    "language_judge.training.epochs": 1,
    "language_judge.training.batch_tokens": 1024,
}}
made = load_judge_recipe("default", values).without({OTHERS!r})
print(train_language_weights(made, Path(sys.argv[1]), device="cpu"))
"""
    command = [sys.executable, "-c", script, str(tmp_path / "w"), str(language_base), str(word_encoder)]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert shown.strip() == str(tmp_path / "w" / "language" / "weights")
    assert set(validation_odds(tmp_path / "w")) == {"synthetic"}


def test_the_same_language_model_may_be_elsewhere_on_another_machine(trained, tmp_path, language_base, recipe):
    done, work, made = trained
    shutil.copytree(language_base, tmp_path / "elsewhere")
    moved = recipe(tmp_path / "elsewhere")
    assert train_language_weights(moved, work, device="cpu") == work / "language" / "weights"  # trains nothing
    (tmp_path / "elsewhere" / "model.safetensors").write_bytes(b"another model")
    with pytest.raises(TrainingError, match="--restart"):
        train_language_weights(moved, work, device="cpu")
    assert done.facts["source_sha256"] == training_facts(made, {})["source_sha256"]


def test_the_small_judge_learns_from_the_trained_judge(trained, tmp_path):
    _, work, made = trained
    found = language_odds(work, ["synthetic"], no_tokens)
    tokens = read_tokens(find_prepared(made, work).train["synthetic"])
    assert len(found) == len(tokens) and np.mean((found > 0) == (tokens.labels > 0.5)) > 0.9
    (stored,) = (work / "language" / "answers").glob("synthetic-*.npy")
    np.save(stored, found + 1)
    assert np.array_equal(language_odds(work, ["synthetic"], no_tokens), found + 1)  # stored answers are reused
    np.save(stored, found)
    with pytest.raises(TrainingError, match="no trained language-model judge to learn from"):
        language_odds(tmp_path, ["synthetic"], no_tokens)


def no_tokens(*_):
    pytest.fail("the set is tokenised already")


def test_the_small_judge_asks_about_sets_that_the_trained_judge_has_not_seen(trained):
    _, work, made = trained
    tokens = read_tokens(find_prepared(made, work).train["synthetic"])
    asked = []

    def tokenize(name, tokenizer, folder):
        asked.append((name, tokenizer.get_vocab(), folder))
        return tokens

    found = language_odds(work, ["sampled"], tokenize)
    vocabulary = Tokenizer.from_file(str(work / "language" / "tokenizer.json")).get_vocab()
    assert asked == [("sampled", vocabulary, work / "tokens")]
    assert np.array_equal(found, language_odds(work, ["synthetic"], no_tokens))


class Killed(Exception):
    pass


@pytest.mark.parametrize("stop", [4, 12])  # before and after the weights are rounded
def test_a_killed_run_resumes_and_ends_with_the_same_weights(
    trained, tmp_path, language_base, monkeypatch, stop, recipe
):
    _, work, _ = trained
    short = recipe(language_base, **{"language_judge.training.epochs": 3})
    for name in ("whole", "killed"):
        copy_tokens(work, tmp_path / name)
    train_language_weights(short, tmp_path / "whole", device="cpu")

    def kill(stage, done, steps, note=""):
        if stage == "language-model judge" and done >= stop:
            assert steps == 12
            raise Killed

    clock = itertools.count(step=100.0)  # progress is reported and a checkpoint is written in every step
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr("paraqd.lab.training.steps.time.monotonic", lambda: next(clock))
        train_language_weights(short, tmp_path / "killed", device="cpu", progress=kill)
    assert (tmp_path / "killed" / "language" / "checkpoints" / "checkpoint.pt").is_file()
    with pytest.raises(TrainingError, match="--restart"):
        other = recipe(language_base, **{"language_judge.training.epochs": 2})
        train_language_weights(other, tmp_path / "killed", device="cpu")
    train_language_weights(short, tmp_path / "killed", device="cpu")
    one, two = (validation_odds(tmp_path / name)["synthetic"] for name in ("whole", "killed"))
    assert two == pytest.approx(one, abs=1e-4)
    assert not (tmp_path / "killed" / "language" / "checkpoints").exists()


def test_what_is_missing_is_one_line(tmp_path, language_base, pairs, recipe):
    made = recipe(language_base)
    with pytest.raises(TrainingError, match="run the command with --prepare-only first"):
        train_language_weights(made, tmp_path)
    write_pairs(tmp_path / "work", made, pairs)
    for value, told in (
        ("nobody", "the language-model judge needs nobody, which is not"),
        (str(tmp_path), "is not a model"),
    ):
        with pytest.raises(TrainingError, match=told):
            train_language_judge(recipe(value), tmp_path / "out", work=tmp_path / "work", device="cpu")
    assert not (tmp_path / "out").exists()


def test_a_missing_start_is_reported_before_anything_is_prepared(tmp_path, recipe):
    made = recipe("nowhere", **{"language_judge.start": str(tmp_path / "start")})
    with pytest.raises(TrainingError, match="has no language-model judge to start from"):
        train_language_judge(made, tmp_path / "out", work=tmp_path / "work", device="cpu")
    assert not (tmp_path / "work").exists()
