"""Temporary files are removed when the process ends, and those of a killed process by the next one."""

import io
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import paraqd
from paraqd.tables.temporary import remove_leftovers, temporary_file, temporary_folder
from paraqd.tables.writers import open_writer

PROGRAM = """
import sys
from paraqd.tables.temporary import temporary_file
temporary_file(".txt").write_text("private")
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def process(place):
    environment = {**os.environ, "TMPDIR": str(place), "PYTHONPATH": str(Path(paraqd.__file__).parents[1])}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    started = subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, **pipes)
    assert started.stdout.readline() == b"ready\n"
    yield started
    started.kill()
    started.communicate()


def files(place):
    return sorted(path.suffix for path in place.glob("*/*") if path.suffix)


def test_a_process_removes_its_files_when_it_ends(place, process):
    assert files(place) == [".txt"]
    process.communicate(timeout=60)
    assert process.returncode == 0 and not list(place.iterdir())


def test_files_of_a_killed_process_are_removed_and_those_of_a_living_one_are_not(place, process):
    remove_leftovers()
    assert files(place) == [".txt"]
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)
    assert files(place) == [".txt"]
    mine = temporary_file(".csv")
    mine.write_text("")
    assert files(place) == [".csv"]
    remove_leftovers()
    assert mine.exists()


def test_other_folders_are_left_alone(place):
    for name in ("paraqd-temporary-mine", "paraqd-work"):
        (place / name).mkdir()
        (place / name / "thesis.txt").write_text("")
    (place / "paraqd-temporary-link").symlink_to(place / "paraqd-work")
    remove_leftovers()
    assert len(list(place.glob("*/thesis.txt"))) == 3


def test_the_folder_is_made_again_if_the_system_removed_it(place):
    first = temporary_folder()
    for path in first.iterdir():
        path.unlink()
    first.rmdir()
    assert temporary_folder() != first and temporary_folder().is_dir()


def test_standard_input_and_workbooks_use_the_folder(place, monkeypatch):
    from paraqd.tables.table import open_table

    pytest.importorskip("openpyxl")
    line = b'{"question": "How many?"}\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(line)))
    assert open_table("-").path.parent == temporary_folder()
    with open_writer(place / "out.xlsx", {"question": str}) as writer:
        writer.write([{"question": "How many?"}] * 300)
        assert files(place) == [".jsonl", ".xml"]
    assert open_table(place / "out.xlsx").path.parent == temporary_folder()
    assert {path.name for path in place.iterdir()} == {temporary_folder().name, "out.xlsx"}
