"""Test the reward benchmark: the scorer in torch, processes that score, a small run, and its curve."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import reward_curve  # noqa: E402
from rewardlib import processes  # noqa: E402
from rewardlib.onnx_arrays import read_arrays  # noqa: E402
from rewardlib.run_log import Table, smoothed  # noqa: E402
from rewardlib.torch_scorer import load_torch_scorer  # noqa: E402

from paraqd import Scorer  # noqa: E402
from paraqd.generators.training_loop import one_thread  # noqa: E402
from paraqd.model_folder import DEFAULT_MODEL, ONNX_FILE  # noqa: E402

RUN = "--steps 4 --prompts 2 --group 2 --max-new-tokens 8 --held-out 6 --evaluate-every 2 --checkpoint-every 1".split()


@pytest.fixture(scope="module")
def pairs():
    with (ROOT / "samples" / "pairs.csv").open(encoding="utf-8") as file:
        return [(row["question"], row["paraphrase"]) for row in csv.DictReader(file)]


@pytest.fixture
def questions(tmp_path):
    return shutil.copy(ROOT / "samples" / "questions.csv", tmp_path / "questions.csv")


def run(*arguments):
    with one_thread():
        return reward_curve.main([str(argument) for argument in arguments])


class TestTorchScorer:
    def test_arrays_are_those_that_the_library_reads(self):
        onnx = pytest.importorskip("onnx")
        path = DEFAULT_MODEL / ONNX_FILE
        theirs = [(each.name, onnx.numpy_helper.to_array(each)) for each in onnx.load(str(path)).graph.initializer]
        mine = read_arrays(path)
        assert [name for name, _ in mine] == [name for name, _ in theirs]
        assert all(np.array_equal(one, other) for (_, one), (_, other) in zip(mine, theirs, strict=True))

    def test_the_verdicts_are_those_of_the_shipped_scorer(self, pairs):
        with one_thread():
            torch_verdicts = load_torch_scorer().score_pairs(pairs)
        verdicts = Scorer.load(judge="small").score_pairs(pairs)
        apart = [abs(one.score - other.score) for one, other in zip(torch_verdicts, verdicts, strict=True)]
        assert [each.valid for each in torch_verdicts] == [each.valid for each in verdicts]
        assert np.mean(apart) < 0.02
        assert torch_verdicts[0].signature.split("|")[1].startswith("model:default-torch@")

    def test_torch_is_used_where_the_runtime_is_missing(self, monkeypatch):
        find = processes.importlib.util.find_spec
        monkeypatch.setattr(
            processes.importlib.util, "find_spec", lambda name: None if name == "onnxruntime" else find(name)
        )
        with one_thread():
            assert processes.load_scorer().name == "default-torch"
        monkeypatch.undo()
        assert processes.load_scorer().name == "default"


def test_processes_return_the_verdicts_in_order(pairs):
    with processes.ProcessScorer(2) as scorer:
        verdicts = scorer.score_pairs(pairs[:20])
    assert verdicts == processes.load_scorer().score_pairs(pairs[:20])


def test_a_run_and_its_curve(tmp_path, questions, capsys):
    out = tmp_path / "out"
    assert run("train", "tiny", questions, out, *RUN) == 0
    steps = Table(out / "steps.csv")
    assert steps.column("step") == [1, 2, 3, 4]
    for row in steps.rows:
        assert sum(float(row[name]) for name in ("accepted", "copied", "guarded", "invalid")) == pytest.approx(1)
    assert Table(out / "held_out.csv").column("step") == [0, 2, 4]
    outputs = [json.loads(line) for line in (out / "outputs.jsonl").read_text().splitlines()]
    assert [row["step"] for row in outputs] == [0] * 6 + [4] * 6
    facts = json.loads((out / "run.json").read_text())
    assert facts["held_out"] == 6 and facts["settings"]["steps"] == 4 and facts["signature"].startswith("paraqd:")
    trained = {row["question"] for row in outputs}
    assert len(trained) == 6

    pytest.importorskip("matplotlib")
    assert run("plot", out) == 0
    assert (out / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert "| accepted and different |" in (out / "README.md").read_text()


def test_a_run_goes_on_where_it_stopped(tmp_path, questions):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    run("train", "tiny", questions, whole, *RUN)
    run("train", "tiny", questions, parts, *RUN, "--steps", 2)
    assert run("train", "tiny", questions, parts, *RUN) == 0
    one, other = (Table(folder / "steps.csv") for folder in (whole, parts))
    assert one.column("reward") == pytest.approx(other.column("reward"))
    assert Table(parts / "held_out.csv").column("step") == [0, 2, 4]


def test_a_folder_with_another_run_is_refused(tmp_path, questions, capsys):
    run("train", "tiny", questions, tmp_path / "out", *RUN, "--steps", 1)
    capsys.readouterr()
    assert run("train", "tiny", questions, tmp_path / "out", *RUN, "--steps", 1, "--divergence", 1) == 2
    assert "has a run with other settings: choose another folder" in capsys.readouterr().err


def test_a_run_needs_torch_and_transformers_alone(tmp_path, questions):
    missing = ["onnx", "onnxruntime", "rapidfuzz", "platformdirs", "datasets", "sklearn", "pyarrow"]
    arguments = ["train", "tiny", str(questions), str(tmp_path / "out"), *RUN, "--steps", "1", "--workers", "1"]
    script = tmp_path / "run.py"
    # worker processes import the script again, so they miss the same packages
    script.write_text(
        f"""
import sys
sys.modules.update(dict.fromkeys({missing!r}))
sys.path.insert(0, {str(ROOT / "bench")!r})
import reward_curve
if __name__ == "__main__":
    sys.exit(reward_curve.main({arguments!r}))
"""
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "model:default-torch@" in json.loads((tmp_path / "out" / "run.json").read_text())["signature"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plot", "."), "has no steps.csv"),
        (("train", "nowhere", "QUESTIONS", "out", "--held-out", 2), "nowhere has no config.json"),
        (("train", "tiny", "QUESTIONS", "out", "--held-out", 100000), "cannot be held out"),
        (("train", "tiny", "missing.csv", "out"), "missing.csv"),
        (("train", "tiny", "QUESTIONS", "out", "--group", 1, "--held-out", 2), "group is 1"),
    ],
)
def test_mistakes_are_one_clear_line(tmp_path, questions, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert run(*(questions if each == "QUESTIONS" else each for each in arguments)) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_a_row_replaces_later_rows(tmp_path):
    table = Table(tmp_path / "a.csv")
    for step in (1, 2, 3, 2):
        table.add({"step": step, "reward": step / 10})
    assert Table(tmp_path / "a.csv").column("reward") == [0.1, 0.2]
    assert smoothed([2.0, 4.0]) == [2.0, 3.0]
