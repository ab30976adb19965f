"""Test the check of the installation."""

from __future__ import annotations

import json
import shutil
from importlib import metadata

import pytest

from paraqd import Scorer
from paraqd.extras import EXTRAS
from paraqd.model_folder import find_model_folder
from paraqd.runs import installation
from paraqd.runs.installation import INVALID, PURPOSES, QUESTION, VALID, check_installation


def test_every_extra_says_what_it_adds():
    assert set(PURPOSES) == set(EXTRAS)


@pytest.mark.parametrize("options", [{"judge": "small"}, {"model": "reading"}])
def test_the_shipped_models_know_the_pair(options):
    good, bad = Scorer.load(**options).score_pairs([(QUESTION, VALID), (QUESTION, INVALID)])
    assert good.valid and not bad.valid and bad.evidence[0].kind == "number_changed"


def test_all_is_well_here():
    found = check_installation()
    assert found.problems == ()
    names = {model.name: model for model in found.models}
    assert {"default", "reading", "solvable", "paraqd-judge-lm", "paraqd-solvable-lm"} == set(names)
    assert names["default"].valid_score > 0.5 > names["default"].invalid_score
    assert {"numpy", "onnxruntime"} <= {package.name for package in found.packages}
    assert found.cores >= 1 and found.python and found.folders["cache"]
    assert json.loads(json.dumps(found.to_dict()))["well"] is True


def test_a_missing_extra_is_not_a_fault(monkeypatch):
    monkeypatch.setitem(EXTRAS, "ray", ("no_such_package",))
    found = check_installation()
    [extra] = [each for each in found.extras if each.name == "ray"]
    assert extra.missing == ("no_such_package",) and extra.purpose and not found.problems


@pytest.mark.extra("augment")
def test_a_missing_pipeline_is_shown_with_its_command(monkeypatch):
    def augment():
        return next(each for each in check_installation().extras if each.name == "augment")

    assert not augment().missing
    monkeypatch.setattr(installation, "has_pipeline", lambda: False)
    assert augment().missing == ("an English spaCy pipeline",)
    assert augment().remedy == "python -m spacy download en_core_web_md"
    monkeypatch.setitem(EXTRAS, "augment", ("no_such_package",))
    assert augment().remedy == "pip install 'paraqd[augment]'"


def test_a_package_that_is_missing_or_too_old_is_a_fault(monkeypatch):
    lines = ["numpy>=999", "no-such-package>=1", 'pyarrow>=1 ; extra == "parquet"', "paraqd[parquet]"]
    monkeypatch.setattr(metadata, "requires", lambda name: lines)
    found = check_installation()
    assert [line.partition(":")[0] for line in found.problems] == ["numpy", "no-such-package"]
    assert "too old: pip install --upgrade 'numpy>=999'" in found.problems[0]


def test_a_damaged_model_is_a_fault(monkeypatch, tmp_path):
    folder = tmp_path / "default"
    shutil.copytree(find_model_folder("default"), folder)
    (folder / "onnx" / "model.onnx").write_bytes(b"damaged")
    monkeypatch.setattr("paraqd.scoring.scorer.DEFAULT_MODEL", folder)
    monkeypatch.setattr(installation, "installed_judge", lambda: None)
    found = check_installation()
    [problem] = found.problems
    assert problem.startswith("model default:") and "has changed since the model was written" in problem
    assert {model.name: model.installed for model in found.models}["paraqd-judge-lm"] is False


def test_a_model_that_judges_wrongly_is_a_fault(monkeypatch):
    monkeypatch.setattr(installation, "INVALID", VALID)
    found = check_installation()
    assert found.problems and all("wrong verdict on a known text" in line for line in found.problems)


def test_settings_that_cannot_be_used(monkeypatch, tmp_path):
    monkeypatch.setenv("PARAQD_DATA_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("PARAQD_JUDGE", "big")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PARAQD_CACHE_DIR", str(tmp_path / "file" / "cache"))
    problems = "\n".join(check_installation().problems)
    assert "there is no folder" in problems and "PARAQD_JUDGE=big" in problems and "PARAQD_CACHE_DIR" in problems
