"""Packages that provide something cannot end the program or write to its output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import language_judge
import pytest

import paraqd
from paraqd.cli.main import run
from paraqd.plugins import PluginError, package_of, provided
from paraqd.reading.entities import PipelineUnavailableError, load_spacy

PAIRS = '{"question": "Tom has 5 pens. How many?", "paraphrase": "How many pens has Tom, who owns 5?"}\n'


def paraqd_with(site, *arguments):
    """Run the command with a folder of packages in front of the others."""
    environment = {name: value for name, value in os.environ.items() if name != "PARAQD_JUDGE"}
    environment["PYTHONPATH"] = f"{site}{os.pathsep}{Path(paraqd.__file__).parents[1]}"
    given = [sys.executable, "-m", "paraqd", *arguments]
    return subprocess.run(given, env=environment, capture_output=True, text=True, input=PAIRS, cwd=site)


@pytest.fixture
def folder(tmp_path, language_judge_folder):
    """Return a folder for packages, and a function that installs a judge package with given code in it."""
    return tmp_path, lambda code: language_judge.install_judge(tmp_path, language_judge_folder, code=code)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_judge_that_ends_the_program(folder, workers):
    """The command once ended with the code 0, without an output and without a word."""
    site, install = folder
    install("import sys; sys.exit(0)")
    Path(site / "in.jsonl").write_text(PAIRS)
    done = paraqd_with(site, "score", "in.jsonl", "-o", "out.csv", "--judge", "large", "--workers", workers)
    assert done.returncode == 2 and done.stdout == "" and not (site / "out.csv").exists()
    assert done.stderr.startswith("error: the judge package paraqd-judge-lm cannot be loaded (it ends the program")
    assert done.stderr.count("\n") == 1 and "pip install --force-reinstall" in done.stderr


def test_what_a_package_prints_does_not_reach_the_results_or_the_terminal(folder):
    site, install = folder
    install(
        "from pathlib import Path\nimport sys\nprint('\\x1b[2Jhello')\nprint('\\x1b]0;title\\x07', file=sys.stderr)\n"
        "def folder():\n    print('{}')\n    return Path(__file__).parent / 'model'"
    )
    done = paraqd_with(site, "score", "-", "--json", "-q", "--judge", "large")
    assert done.returncode == 0, done.stderr
    [line] = done.stdout.splitlines()
    assert -1 <= json.loads(line)["score"] <= 1
    assert done.stderr == "\ufffd[2Jhello\n\ufffd]0;title\ufffd\n{}\n"


@pytest.mark.parametrize("content", [b"[paraqd.judges]\nx\n", b"[paraqd.judges]\n\xff = y\n"])
def test_entry_points_that_cannot_be_read(tmp_path, monkeypatch, content):
    """They may be those of a package that has nothing to do with paraqd."""
    info = tmp_path / "foreign-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: foreign\nVersion: 1.0\n")
    (info / "entry_points.txt").write_bytes(content)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        PluginError, match=r"the installed package .*foreign-1\.0\.dist-info cannot be read \(.*install it"
    ):
        provided("paraqd.judges")
    monkeypatch.delenv("PARAQD_JUDGE")
    with pytest.raises(paraqd.ModelError, match=r"foreign.* or remove it, or pass judge='small'$"):
        paraqd.Scorer.load()
    paraqd.Scorer.load(judge="small")


def test_a_package_without_metadata_is_named_by_its_code(tmp_path, monkeypatch):
    info = tmp_path / "nameless-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text("[paraqd.tests]\nx = nameless:folder\n")
    monkeypatch.syspath_prepend(tmp_path)
    [entry] = provided("paraqd.tests")
    assert package_of(entry) == "nameless:folder"


@pytest.mark.parametrize("code", ["import sys; sys.exit(0)", "raise ValueError('no\\x1b[31m\\nvectors')"])
def test_a_damaged_spacy_pipeline(tmp_path, monkeypatch, code):
    pytest.importorskip("spacy")
    package, info = tmp_path / "en_core_web_md", tmp_path / "en_core_web_md-3.8.0.dist-info"
    package.mkdir()
    info.mkdir()
    (package / "__init__.py").write_text(code)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: en_core_web_md\nVersion: 3.8.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "en_core_web_md", raising=False)
    load_spacy.cache_clear()
    message = r"^the spaCy pipeline en_core_web_md cannot be loaded \((it ends|no\ufffd).*\): install it again$"
    with pytest.raises(PipelineUnavailableError, match=message):
        load_spacy()


@pytest.mark.parametrize("code", [0, None, "bye\x1b[31m"])
def test_other_code_that_ends_the_program_is_an_error(monkeypatch, capsys, tmp_path, code):
    def quits(*given, **more):
        sys.exit(code)

    monkeypatch.setattr("paraqd.cli.options.load_scorer", quits)
    monkeypatch.delenv("PARAQD_DEBUG", raising=False)
    (tmp_path / "in.jsonl").write_text(PAIRS)
    assert run(["score", str(tmp_path / "in.jsonl"), "-o", str(tmp_path / "out.csv"), "-q"]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.startswith(
        "error: a package that paraqd uses ended the program: SystemExit"
    )
    assert captured.err.count("\n") == 1 and "\x1b" not in captured.err
