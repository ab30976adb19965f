from __future__ import annotations

import csv
import gzip
import json
from dataclasses import replace
from typing import get_type_hints

import pytest

pytest.importorskip("sentence_transformers")

from paraqd.cli.experiment import experiment as command
from paraqd.experiments import EXPERIMENTS
from paraqd.experiments.data import RunData
from paraqd.experiments.declared import experiment
from paraqd.experiments.errors import ExperimentError, NotRunError
from paraqd.experiments.measure import Measurements
from paraqd.experiments.methods import UDA_PL
from paraqd.experiments.run import run_experiments
from paraqd.experiments.scales import FULL, SMOKE
from paraqd.training.augmented_pairs import PreparedPairs

TEST_QUESTION = "Ann has 12 pens and gives 3 to Bob. How many pens are left?"
NEAR = "Ann has 7 pens and gives 2 to Bob. How many pens are left?"
OTHER = "A car covers 60 km in 2 hours. How fast is it?"
HELD_OUT = "The perimeter of a square field is 40 m. What is its area?"


def write_test_set(folder, name):
    with open(folder / f"{name}_test.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["question", *(("paraphrase", "label") if name == "pawp" else ("augmented", "final_label"))])
        writer.writerows([[TEST_QUESTION, TEST_QUESTION, 1], [TEST_QUESTION, "Ann has pens.", 0]])


@pytest.fixture
def data_dir(tmp_path, monkeypatch):
    """A data folder with three test sets of one question and with ``em_questions``."""
    monkeypatch.setenv("PARAQD_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("aquarat", "sawp", "pawp"):
        write_test_set(folder, name)
    with gzip.open(folder / "em_questions.jsonl.gz", "wt", encoding="utf-8") as file:
        for number, text in enumerate((NEAR, OTHER, HELD_OUT)):
            file.write(json.dumps({"id": f"em-{number}", "question": text}) + "\n")
    return folder


def run_data(tmp_path, data_dir):
    run = tmp_path / "run" / "data"
    run.mkdir(parents=True, exist_ok=True)
    (run / "validation.jsonl").write_text(json.dumps({"id": "v", "question": HELD_OUT.replace("40", "64")}) + "\n")
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


def test_the_encoder_is_checked_before_data_is_prepared(tmp_path, data_dir):
    data = RunData(tmp_path / "run", FULL, data_dir=data_dir)
    training = replace(experiment("main").trainings(FULL)[1], encoder=str(tmp_path / "absent"))
    with pytest.raises(NotRunError, match="absent"):
        Measurements(data).ensure(training, [data.test_set("aquarat")])
    assert not (tmp_path / "run" / "data").exists()


def test_a_failed_attempt_keeps_the_training_record_and_stores_no_local_path(tmp_path, data_dir):
    data = RunData(tmp_path / "run", FULL, data_dir=data_dir)
    training = experiment("loss").trainings(FULL)[0]
    record = tmp_path / "run" / "trainings" / f"{training.slug}.json"
    record.parent.mkdir(parents=True)
    record.write_text('{"steps": 7}')
    with pytest.raises(NotRunError, match="questions was not found"):
        Measurements(data).ensure(training, [data.test_set("aquarat")])
    assert record.read_text() == '{"steps": 7}'
    stored = (tmp_path / "run" / "not-run" / f"{training.slug}.json").read_text()
    assert "questions was not found" in stored and str(tmp_path) not in stored
    with pytest.raises(NotRunError, match="questions was not found"):
        Measurements(data, train=False).ensure(training, [data.test_set("aquarat")])


def test_a_missing_arm_is_listed_by_its_name(tmp_path, data_dir):
    with pytest.raises(ExperimentError, match="nothing could be run"):
        run_experiments(["leak"], tmp_path / "run", scale=FULL, data_dir=data_dir, device="cpu", figures=False)
    listed = json.loads((tmp_path / "run" / "experiments" / "leak.json").read_text())["not_run"]
    assert {"paper, seed 1", "public-code, seed 3"} <= set(listed)


def test_pawp_has_no_test_operators(tmp_path, data_dir):
    [outcome] = run_experiments(["test-operators"], tmp_path / "run", scale=FULL, data_dir=data_dir)
    assert outcome.not_run["pawp"] == "its paraphrases were written by hand, so no operators made them"
    assert [row["dataset"] for row in outcome.tables[0].rows] == ["aquarat", "sawp", "average"]


def test_the_facts_of_further_pairs_are_added(tmp_path, monkeypatch):
    data = RunData(tmp_path / "run", SMOKE)
    first = PreparedPairs(tmp_path / "a.jsonl", "paper", ("one (x)",), {"f9": "no model"})
    second = PreparedPairs(tmp_path / "b.jsonl", "paper", ("one (x)", "two (y)"), {"f7": "no names"})
    for prepared in (first, second):
        rows = [{"id": "1", "question": OTHER, "paraphrase": OTHER, "label": 1, "operator": "f2"}]
        rows.append({**rows[0], "paraphrase": "A car covers 60 km.", "label": 0, "operator": "f6"})
        prepared.path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr(data, "pairs", lambda recipe: first)
    monkeypatch.setattr(data, "more_pairs", lambda name, recipe: second)
    training = replace(experiment("more-questions").trainings(SMOKE)[1], questions=None)
    _, found = data.triplets(training)
    assert found.stand_ins == ("one (x)", "two (y)")
    assert dict(found.left_out) == {"f9": "no model", "f7": "no names"}
    with pytest.raises(ExperimentError, match="pseudo-labels are not made for further questions"):
        data.triplets(replace(training, method=UDA_PL))


def test_the_help_of_the_command_lists_every_experiment():
    [argument] = get_type_hints(command, include_extras=True)["names"].__metadata__
    assert argument.help == ", ".join(found.name for found in EXPERIMENTS) + ", or all."
