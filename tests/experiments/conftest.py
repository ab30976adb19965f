"""One smoke run of everything, by the command itself, that all tests here look at."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sentence_transformers")
pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")

ROOT = Path(__file__).parents[2]


def command(*arguments):
    """Start the program in the project's folder, without a network."""
    return subprocess.Popen(
        [sys.executable, "-m", "paraqd.cli.main", "experiment", *map(str, arguments), "--device", "cpu"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
    )


@pytest.fixture(scope="session")
def smoke(tmp_path_factory):
    """The folder of ``paraqd experiment all --scale smoke`` and what it printed."""
    out = tmp_path_factory.mktemp("experiment") / "run"
    process = command("all", "--scale", "smoke", "--out", out)
    stdout, stderr = process.communicate()
    assert process.returncode == 0, stderr
    return out, stdout, stderr
