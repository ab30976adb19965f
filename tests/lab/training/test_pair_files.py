"""Test when existing files of pairs are used."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")

from paraqd.lab.corpora.faulty_pairs import write_faults
from paraqd.lab.training.pair_files import pair_settings, prepared_pairs, synthetic_digest
from paraqd.lab.training.recipes import load_judge_recipe
from paraqd.lab.training.work_folder import recipe_pairs, work_folder

SETS = {"data.train": {"written": {}, "rules": {"most": 5}}, "data.validation": {"written": {}}}


@pytest.fixture
def work(tmp_path, pairs):
    """A work folder with all files of a recipe; one of the sets is empty."""
    folder = tmp_path / "work" / "pairs"
    folder.mkdir(parents=True)
    for name, made in (("written_train_all", pairs(4)), ("rules_train_5", []), ("written_validation_all", pairs(2))):
        write_faults(made, folder / f"{name}.jsonl.gz")
    settings = {**pair_settings(load_judge_recipe("default", SETS).data), "synthetic": ""}
    (folder / "made-with.json").write_text(json.dumps(settings))
    return tmp_path / "work"


def test_prepared_pairs_need_no_data_sets(work, tmp_path):
    found = recipe_pairs(load_judge_recipe("default", SETS), work, data_dir=tmp_path / "nowhere")
    assert set(found.train) == set(found.validation) == {"written"}  # the empty set is left out


@pytest.mark.parametrize("changed", [{"data.seed": 1}, {"data.operators": ["NumberChange"]}, {"data.held_out": []}])
def test_pairs_of_another_recipe_are_not_used(work, changed):
    data = load_judge_recipe("default", SETS).data
    assert prepared_pairs(work / "pairs", data) is not None
    assert prepared_pairs(work / "pairs", load_judge_recipe("default", {**SETS, **changed}).data) is None


def test_a_missing_file_has_to_be_created(work):
    data = load_judge_recipe("default", {**SETS, "data.train": {"written": {}, "rules": {"most": 6}}}).data
    assert prepared_pairs(work / "pairs", data) is None


def test_pairs_from_other_synthetic_problems_are_not_used(work, monkeypatch):
    values = {"data.train": {"synthetic": {}}, "data.validation": {}}
    data = load_judge_recipe("default", values).data
    (work / "pairs" / "rules_train_5.jsonl.gz").rename(work / "pairs" / "synthetic_train_all.jsonl.gz")
    monkeypatch.setattr("paraqd.lab.training.pair_files.synthetic_problems", lambda *_, **__: ["a problem"])
    assert prepared_pairs(work / "pairs", data) is None
    manifest = work / "pairs" / "made-with.json"
    settings = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**settings, "synthetic": synthetic_digest(data)}))
    assert prepared_pairs(work / "pairs", data) is not None


def test_the_work_folder_is_beside_the_model_folder(tmp_path):
    assert work_folder(tmp_path / "own") == tmp_path / "own.work"
    assert work_folder(tmp_path / "own", tmp_path / "shared") == tmp_path / "shared"
