from __future__ import annotations

import json
from dataclasses import replace

import pytest

pytest.importorskip("sentence_transformers")

from paraqd.lab.experiments.data import RunData
from paraqd.lab.experiments.declared import experiment
from paraqd.lab.experiments.errors import ExperimentError, NotRunError
from paraqd.lab.experiments.methods import UDA_PL
from paraqd.lab.experiments.scales import FULL, SMOKE
from paraqd.lab.training.augmented_pairs import PreparedPairs

NEAR_VALIDATION = "The perimeter of a square field is 64 m. What is its area?"  # near a question of ``data_dir``
OTHER = "A car covers 60 km in 2 hours. How fast is it?"


def run_data(tmp_path, data_dir):
    run = tmp_path / "run" / "data"
    run.mkdir(parents=True, exist_ok=True)
    (run / "validation.jsonl").write_text(json.dumps({"id": "v", "question": NEAR_VALIDATION}) + "\n")
    return RunData(tmp_path / "run", FULL, data_dir=data_dir)


def test_further_questions_that_resemble_test_or_validation_questions_are_left_out(tmp_path, data_dir):
    path = run_data(tmp_path, data_dir).more_questions("em_questions")
    assert [json.loads(line)["question"] for line in path.read_text().splitlines()] == [OTHER]


def test_without_a_test_set_further_questions_are_refused(tmp_path, data_dir):
    (data_dir / "sawp_test.csv").unlink()
    with pytest.raises(NotRunError, match=r"near-duplicates of .* cannot be left out: sawp was not found"):
        run_data(tmp_path, data_dir).more_questions("em_questions")
    assert not (tmp_path / "run" / "data" / "em_questions.jsonl").exists()


def test_missing_further_questions_are_reported(tmp_path, data_dir):
    (data_dir / "em_questions.jsonl.gz").unlink()
    with pytest.raises(NotRunError, match="em_questions was not found"):
        run_data(tmp_path, data_dir).more_questions("em_questions")


def test_the_facts_of_further_pairs_are_added(tmp_path, monkeypatch):
    data = RunData(tmp_path / "run", SMOKE)
    first = PreparedPairs((tmp_path / "a.jsonl",), "paper", ("one (x)",), {"f9": "no model"})
    second = PreparedPairs((tmp_path / "b.jsonl",), "paper", ("one (x)", "two (y)"), {"f7": "no names"})
    for prepared in (first, second):
        rows = [{"id": "1", "question": OTHER, "paraphrase": OTHER, "label": 1, "operator": "f2"}]
        rows.append({**rows[0], "paraphrase": "A car covers 60 km.", "label": 0, "operator": "f6"})
        prepared.paths[0].write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr(data, "pairs", lambda recipe: first)
    monkeypatch.setattr(data, "more_pairs", lambda name, recipe: second)
    training = replace(experiment("more-questions").trainings(SMOKE)[1], questions=None)
    _, found = data.triplets(training)
    assert found.stand_ins == ("one (x)", "two (y)")
    assert dict(found.left_out) == {"f9": "no model", "f7": "no names"}
    with pytest.raises(ExperimentError, match="pseudo-labels are not made for further questions"):
        data.triplets(replace(training, method=UDA_PL))
