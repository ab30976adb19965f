"""Test the measurement of paraphrases."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import paraphrases

QUESTION = "Ann has 5 pens."


def row(text, question=QUESTION, valid=True, repaired=""):
    return {"question": question, "paraphrase": text, "valid": valid, "repaired": repaired}


def test_the_figures():
    rows = [
        row("Ann has 5 pens."),
        row("Five pens belong here."),
        row("Ann owns 5 pens.", valid="false", repaired="unit_changed"),
        row("x", question="Tom has 3."),
    ]
    found = paraphrases.measured(rows, 4)
    assert found["enough"] == 0.25
    assert found["overlap"] == pytest.approx((1 + 1 / 7 + 3 / 5 + 0) / 4)
    assert found["largest"] == pytest.approx(3 / 5)
    assert (found["valid"], found["repaired"]) == (0.75, 1)


def test_a_sample_depends_on_its_seed(tmp_path):
    path = tmp_path / "questions.csv"
    path.write_text("id,question\n" + "".join(f"{number},How many {number}?\n" for number in range(50)))
    drawn = paraphrases.sample_of(str(path), 5, 1)
    assert len(drawn) == 5 and drawn == paraphrases.sample_of(str(path), 5, 1) != paraphrases.sample_of(str(path), 5, 2)


@pytest.mark.extra("augment")
def test_candidates_that_were_written_before_are_judged_and_chosen(tmp_path, monkeypatch, capsys):
    questions = tmp_path / "questions.csv"
    questions.write_text("id,question\n1,Ann has 5 red pens and buys 3 blue pens. How many pens does she have now?\n")
    recorded = tmp_path / "candidates.jsonl"
    run(monkeypatch, questions, "--write-candidates", recorded, "--count", 12)
    row = json.loads(recorded.read_text())
    assert row["source"] == "rules" and len(row["candidates"]) > 3
    out = tmp_path / "out"
    run(monkeypatch, questions, "--out", out, "--candidates", recorded, "--judge", "small")
    chosen = [json.loads(line) for line in (out / "gate.jsonl").read_text().splitlines()]
    assert chosen and {each["paraphrase"] for each in chosen} <= set(row["candidates"])
    assert "| gate and repair | 1 | 100.0% |" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="a run with another n: choose another folder"):
        run(monkeypatch, questions, "--out", out, "--candidates", recorded, "--judge", "small", "-n", 2)


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["paraphrases.py", *map(str, arguments)])
    paraphrases.main()
