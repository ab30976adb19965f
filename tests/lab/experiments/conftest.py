"""One smoke run of everything, by the command itself, that most tests here look at, and a small data folder."""

from __future__ import annotations

import csv
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sentence_transformers")
pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")

ROOT = Path(__file__).parents[3]
TEST_QUESTION = "Ann has 12 pens and gives 3 to Bob. How many pens are left?"
NEAR = "Ann has 7 pens and gives 2 to Bob. How many pens are left?"
OTHER = "A car covers 60 km in 2 hours. How fast is it?"
HELD_OUT = "The perimeter of a square field is 40 m. What is its area?"


def command(*arguments):
    """Start the program in the project's folder, without a network."""
    return subprocess.Popen(
        [sys.executable, "-m", "paraqd.cli.main", "lab", "experiment", *map(str, arguments), "--device", "cpu"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
    )


@pytest.fixture(scope="session")
def smoke(tmp_path_factory):
    """The folder of ``paraqd lab experiment all --scale smoke`` and what it printed."""
    out = tmp_path_factory.mktemp("experiment") / "run"
    process = command("all", "--scale", "smoke", "--out", out)
    stdout, stderr = process.communicate()
    assert process.returncode == 0, stderr
    return out, stdout, stderr


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
