"""The package of the language-model judge can be built, installed and used."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import language_judge
import pytest

import paraqd
from paraqd.cli.main import run
from paraqd.errors import ModelError, OutputExistsError
from paraqd.judge_package import write_judge_package
from paraqd.model_folder import DEFAULT_MODEL, ONNX_FILE, PACKED_FILE, write_facts

PAIR = "Tom has 5 pens and buys 3 pens. How many pens has he?", "Tom, who has 5 pens, buys 3. How many has he?"


@pytest.fixture
def judge(language_judge_folder, tmp_path):
    return Path(shutil.copytree(language_judge_folder, tmp_path / "judge"))


def test_the_package_is_installed_and_used(judge, tmp_path):
    (judge / "LICENSE").write_text("Apache License")
    package, site = tmp_path / "paraqd-judge-lm", tmp_path / "site"
    assert run(["lab", "export", str(judge), "-o", str(package), "--as-package", "--quiet"]) == 0
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    command += ["--disable-pip-version-check", "--target", str(site), str(package)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    code = (
        "import sys, json, importlib.metadata as m, paraqd; scorer = paraqd.Scorer.load(judge='large'); "
        "print(json.dumps([m.version('paraqd-judge-lm'), scorer.signature, scorer.score(*sys.argv[1:]).score]))"
    )
    path = f"{Path(paraqd.__file__).parents[1]}:{site}"
    done = subprocess.run(
        [sys.executable, "-c", code, *PAIR], capture_output=True, text=True, check=True, env={"PYTHONPATH": path}
    )
    version, signature, score = json.loads(done.stdout)
    assert version == paraqd.__version__
    assert "|judge:large:tiny-lm@" in signature
    assert -1 <= score <= 1
    assert score != paraqd.Scorer.load(judge="small").score(*PAIR).score


def test_the_package_requires_this_version_or_a_newer_one(judge, tmp_path):
    project = tomllib.loads((write_judge_package(judge, tmp_path / "out") / "pyproject.toml").read_text())["project"]
    assert project["version"] == paraqd.__version__
    assert project["dependencies"] == [f"paraqd>={paraqd.__version__}"]
    assert "license-files" not in project  # the judge's folder has no license


def test_an_older_package_is_replaced(judge, tmp_path):
    package = write_judge_package(judge, tmp_path / "out")
    old = package / "src" / "paraqd_judge_lm" / "old.py"
    old.touch()
    (judge / "README.md").write_text("# The card")
    write_judge_package(judge, package)
    assert not old.exists()
    assert (package / "README.md").read_text() == "# The card"


def test_the_readme_names_the_model(judge, tmp_path):
    assert language_judge.default_model() in (write_judge_package(judge, tmp_path / "out") / "README.md").read_text()


def test_a_folder_with_other_files(judge, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").touch()
    with pytest.raises(OutputExistsError, match=r"contains thesis\.txt: pass a new folder"):
        write_judge_package(judge, tmp_path / "out")
    with pytest.raises(OutputExistsError, match="is a file"):
        write_judge_package(judge, tmp_path / "out" / "thesis.txt")


def test_models_that_cannot_be_packaged(judge, tmp_path, fails):
    def refused():
        return fails("lab", "export", judge, "-o", tmp_path / "out", "--as-package")

    assert "not a language-model judge" in fails("lab", "export", DEFAULT_MODEL, "-o", tmp_path / "out", "--as-package")
    write_facts(judge, language_judge.facts_of_judge(model="default@00000000"))
    assert "belongs to the model default@00000000: fit it to the default model" in refused()
    write_facts(judge, {"kind": "language-model"})
    assert "was not fitted to a model" in refused()
    write_facts(judge, language_judge.facts_of_judge())
    for name in (ONNX_FILE, PACKED_FILE):
        whole = (judge / name).read_bytes()
        (judge / name).write_bytes(b"")
        assert "sha256 differs" in refused()
        (judge / name).write_bytes(whole)
    assert not (tmp_path / "out").exists()


def test_facts_without_hashes(judge, tmp_path):
    facts = {"format": 1, **language_judge.facts_of_judge()}
    (judge / "paraqd.json").write_text(json.dumps(facts))
    with pytest.raises(ModelError, match=r"has no sha256 for onnx/model\.onnx"):
        write_judge_package(judge, tmp_path / "out")


def test_options_that_do_not_apply(fails, tmp_path):
    assert "pass -o" in fails("lab", "export", "x", "--as-package")
    assert "cannot be combined" in fails("lab", "export", "x", "-o", tmp_path, "--as-package", "--bits", "16")
