"""Test the measurement on rewrites by a small model."""

import gzip
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import model_rewrites

from paraqd.lab.corpora.synthetic import KINDS


def test_the_figures():
    found = model_rewrites.figures([1, 1, 0, 0], [0.9, 0.2, 0.8, -0.5], [True, False, True, False])
    assert found["valid"] == 0.5 and found["auc"] == 0.75
    assert (found["wrongly_accepted"], found["rightly_accepted"], found["precision"]) == (0.5, 0.5, 0.5)


def test_the_share_of_each_fault_that_is_accepted():
    rows = [
        {"label": 1, "kind": None},
        {"label": 0, "kind": "incoherent"},
        {"label": 0, "kind": "incoherent"},
        {"label": 0, "kind": None},
    ]
    found = model_rewrites.by_kind(rows, [True, True, False, False])
    assert found == {"incoherent": (2, 0.5), "not named": (1, 0.0)}


def test_questions_come_from_the_corpus(tmp_path):
    with gzip.open(tmp_path / "questions.jsonl.gz", "wt") as file:
        file.write('{"id": "q1", "question": "How many?"}\n')
    path = tmp_path / "rewrites.jsonl"
    rows = [{"id": "q1", "paraphrase": text, "label": 1, "kind": None, "certain": text == "a"} for text in "ab"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = model_rewrites.read_rewrites(path, tmp_path)
    assert [(row["question"], row["paraphrase"]) for row in found] == [("How many?", "a"), ("How many?", "b")]
    assert len(model_rewrites.read_rewrites(path, tmp_path, certain=True)) == 1


def test_the_labelled_rewrites_hold_no_questions():
    rows = [json.loads(line) for line in model_rewrites.FILE.read_text(encoding="utf-8").splitlines()]
    assert len(rows) > 1000
    assert all(set(row) == {"id", "paraphrase", "label", "kind", "certain", "chosen"} for row in rows)
    assert all(row["label"] in (0, 1) and (row["kind"] in KINDS or row["kind"] is None) for row in rows)
    assert not any(row["label"] and row["kind"] for row in rows)
