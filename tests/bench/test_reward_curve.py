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
from rewardlib.run_log import Table, smoothed, summary  # noqa: E402
from rewardlib.torch_scorer import load_torch_scorer  # noqa: E402

from paraqd import Scorer  # noqa: E402
from paraqd.lab.generators import policy_training  # noqa: E402
from paraqd.lab.generators.train import train_generator  # noqa: E402
from paraqd.lab.generators.training_loop import one_thread  # noqa: E402
from paraqd.model_folder import DEFAULT_MODEL, ONNX_FILE  # noqa: E402
from paraqd.paraphrasing.text_models.loading import load_generator, read_card  # noqa: E402
from paraqd.paraphrasing.text_models.styles import styled  # noqa: E402

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
        # the inputs are not rounded with torch, so a pair close to the threshold may change sides
        changed = [other.score for one, other in zip(torch_verdicts, verdicts, strict=True) if one.valid != other.valid]
        assert len(changed) <= 0.05 * len(pairs) and all(0.2 < score < 0.8 for score in changed)
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


def test_a_run_goes_on_with_settings_that_affect_memory_and_speed_alone(tmp_path, questions):
    out = tmp_path / "out"
    run("train", "tiny", questions, out, *RUN, "--steps", 1)
    assert run("train", "tiny", questions, out, *RUN, "--steps", 2, "--rows-at-once", 1, "--checkpoint-every", 9) == 0
    assert Table(out / "steps.csv").column("step") == [1, 2]


def test_a_run_that_is_past_the_wanted_steps_is_refused_and_kept(tmp_path, questions, capsys):
    out, saved = tmp_path / "out", tmp_path / "saved"
    run("train", "tiny", questions, out, *RUN, "--steps", 2)
    before = files_of(out)
    capsys.readouterr()
    assert run("train", "tiny", questions, out, *RUN, "--steps", 1, "--save", saved) == 2
    assert "has a checkpoint after 2 steps, which is past the 1 that are wanted" in capsys.readouterr().err
    assert files_of(out) == before and not saved.exists()


def files_of(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_finished_run_is_kept_when_the_questions_change(tmp_path, questions, capsys):
    out = tmp_path / "out"
    run("train", "tiny", questions, out, *RUN, "--steps", 1)
    before = files_of(out)
    lines = Path(questions).read_text(encoding="utf-8")
    Path(questions).write_text(lines.replace("How many", "What number of"), encoding="utf-8")
    assert Path(questions).read_text(encoding="utf-8") != lines
    capsys.readouterr()
    assert run("train", "tiny", questions, out, *RUN, "--steps", 1) == 2
    assert "has a run with other questions: choose another folder" in capsys.readouterr().err
    assert files_of(out) == before


@pytest.fixture
def paraphraser(tmp_path, questions):
    texts = reward_curve.read_questions(Path(questions))[:20]
    with one_thread():
        return train_generator(
            "paraphrase",
            None,
            tmp_path / "paraphraser",
            pairs=[(styled(text, "close"), text) for text in texts],
            scale="smoke",
        )


def test_another_model_of_the_same_name_is_refused(tmp_path, questions, paraphraser, capsys):
    import torch
    from safetensors.torch import load_file, save_file

    out = tmp_path / "out"
    run("train", paraphraser, questions, out, *RUN, "--steps", 1)
    before = files_of(out)
    path = paraphraser / "model.safetensors"
    changed = {name: value + torch.ones_like(value) for name, value in load_file(path).items()}
    save_file(changed, path, metadata={"format": "pt"})
    capsys.readouterr()
    assert run("train", paraphraser, questions, out, *RUN, "--steps", 1) == 2
    assert "has a run with other model: choose another folder" in capsys.readouterr().err
    assert files_of(out) == before


def test_a_paraphrasing_generator_gets_its_style_and_keeps_its_card(tmp_path, questions, paraphraser, monkeypatch):
    seen = []
    encode = reward_curve.encode_prompt
    for module in (reward_curve, policy_training):
        monkeypatch.setattr(
            module, "encode_prompt", lambda tokenizer, text: seen.append(text) or encode(tokenizer, text)
        )
    assert run("train", paraphraser, questions, tmp_path / "out", *RUN, "--steps", 1, "--save", tmp_path / "saved") == 0
    card = read_card(paraphraser)
    prompt = reward_curve.Prompt(card["prompt"]["template"], card["prompt"]["end"])
    wanted = {prompt.fill(styled(text, "close")) for text in reward_curve.read_questions(Path(questions))}
    assert len(seen) > 12 and set(seen) <= wanted
    saved = read_card(tmp_path / "saved")
    assert {**saved, "base": card["base"]} == {**card, "reward_run": saved["reward_run"]}
    assert saved["reward_run"]["settings"]["steps"] == 1
    assert load_generator(tmp_path / "saved").name.startswith("tiny+reward/paraphrase@")


def test_a_model_without_a_card_is_saved_with_one(tmp_path, questions):
    assert run("train", "tiny", questions, tmp_path / "out", *RUN, "--steps", 1, "--save", tmp_path / "saved") == 0
    card = read_card(tmp_path / "saved")
    assert card["prompt"]["template"] == reward_curve.PROMPT
    assert load_generator(tmp_path / "saved").name == f"tiny/reward@{card['data_sha256'][:8]}"


def test_a_distance_that_was_not_measured_is_not_a_figure(tmp_path, questions):
    run("train", "tiny", questions, tmp_path / "out", *RUN, "--steps", 1)
    outputs = [json.loads(line) for line in (tmp_path / "out" / "outputs.jsonl").read_text().splitlines()]
    for step, mean in zip((0, 1), Table(tmp_path / "out" / "held_out.csv").column("distance"), strict=True):
        found = [row["distance"] for row in outputs if row["step"] == step and row["distance"] is not None]
        assert mean == pytest.approx(np.mean(found) if found else np.nan, abs=1e-4, nan_ok=True)
    assert any(row["distance"] is None for row in outputs)
    row = {"reward": -1.0, **dict.fromkeys(("accepted", "copied", "invalid"), 0.0), "guarded": 1.0}
    Table(tmp_path / "out" / "held_out.csv").add({"step": 1, "distance": float("nan"), **row})
    assert "| – |" in summary(tmp_path / "out")


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
