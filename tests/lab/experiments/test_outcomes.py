from __future__ import annotations

import json

import pytest

pytest.importorskip("sentence_transformers")

from paraqd.lab.experiments.errors import ExperimentError
from paraqd.lab.experiments.run import run_experiments
from paraqd.lab.experiments.scales import FULL


def test_a_missing_arm_is_listed_by_its_name(tmp_path, data_dir):
    with pytest.raises(ExperimentError, match="nothing could be run"):
        run_experiments(["leak"], tmp_path / "run", scale=FULL, data_dir=data_dir, device="cpu", figures=False)
    listed = json.loads((tmp_path / "run" / "experiments" / "leak.json").read_text())["not_run"]
    assert {"paper, seed 1", "public-code, seed 3"} <= set(listed)


def test_pawp_has_no_test_operators(tmp_path, data_dir):
    [outcome] = run_experiments(["test-operators"], tmp_path / "run", scale=FULL, data_dir=data_dir)
    assert outcome.not_run["pawp"] == "its paraphrases were written by hand, so no operators made them"
    assert [row["dataset"] for row in outcome.tables[0].rows] == ["aquarat", "sawp", "average"]
