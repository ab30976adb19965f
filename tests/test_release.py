"""What a release publishes: the version exists once, and the packages of the large models fit paraqd."""

from __future__ import annotations

import re
import tomllib
from dataclasses import asdict
from pathlib import Path

import pytest
from packaging.version import Version

import paraqd
from paraqd.judge_package import _PROJECT, HOMEPAGE, JUDGE, SOLVABLE

ROOT = Path(__file__).parent.parent
FOLDERS = {"paraqd": ROOT, **{each.name: ROOT / "models" / each.name for each in (JUDGE, SOLVABLE)}}


def project(name):
    return tomllib.loads((FOLDERS[name] / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_version_is_written_once():
    assert "version" not in project("paraqd") and "version" in project("paraqd")["dynamic"]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.search(r"^(version|date-released):", citation, re.MULTILINE) is None


@pytest.mark.parametrize("package", [JUDGE, SOLVABLE], ids=lambda package: package.name)
def test_the_package_of_a_model_is_as_paraqd_wrote_it(package):
    version = project(package.name)["version"]  # of the paraqd that wrote it
    assert Version(version) <= Version(paraqd.__version__)
    texts = {**asdict(package), "module": package.module, "homepage": HOMEPAGE, "version": version}
    assert (FOLDERS[package.name] / "pyproject.toml").read_text("utf-8") == _PROJECT.format(**texts)


@pytest.mark.parametrize("name", FOLDERS)
def test_every_package_names_its_authors_and_homepage(name):
    (author,) = project(name)["authors"]
    assert f"name: {author['name']}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert project(name)["urls"]["Homepage"] == HOMEPAGE


def test_the_workflow_publishes_every_package():
    yaml = pytest.importorskip("yaml")
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))["jobs"]
    built = {each["package"]: ROOT / each["folder"] for each in jobs["build"]["strategy"]["matrix"]["include"]}
    assert built == FOLDERS and jobs["publish"]["strategy"]["matrix"]["package"] == list(FOLDERS)
    assert jobs["publish"]["needs"] == ["test", "build"]
    assert all(project(name)["name"] == name for name in FOLDERS)
