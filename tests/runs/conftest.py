"""Share input files and helpers between the tests of runs."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paraqd
from paraqd.tables.table import open_table

READING = ["--model", "reading"]
RULES = ["SameSentence", "NumToWords", "LastSentenceDeletion", "NumberDeletion", "UnitReplacement"]
NAMES = ["Asha", "Tom", "Priya", "Liam"]
THINGS = ["apples", "pencils", "stamps", "marbles", "tickets"]


def environment():
    """Return the environment for a program that runs this version of the package on one core."""
    return dict(os.environ, PYTHONPATH=str(Path(paraqd.__file__).parents[1]), OMP_NUM_THREADS="1")


def wait_for(condition, process, seconds=120):
    """Wait until a condition holds, and fail if the process ends first."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.005)


# --- a folder of pairs ----------------------------------------------------------------------------


def pairs(count, name="a"):
    """Return rows with a question and a paraphrase; every third paraphrase has lost a number."""
    rows = []
    for i in range(count):
        question = f"Tom has {i + 2} apples and buys {i % 7 + 3} more. How many apples has he now?"
        paraphrase = question.replace("buys", "gets") if i % 3 else question.replace(f"{i % 7 + 3} more", "more")
        rows.append({"id": f"{name}{i}", "question": question, "paraphrase": paraphrase, "number": i})
    return rows


def write(path, rows, group=100):
    """Write rows to a Parquet file."""
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=group)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Work in a new folder that contains a folder with two Parquet files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARAQD_DEBUG", raising=False)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    write(Path("in/a.parquet"), pairs(450))
    write(Path("in/b.parquet"), pairs(130, "b"), group=1000)
    return tmp_path


def parts(folder):
    """Return the paths of the parts in a folder, in order."""
    return sorted(Path(folder).glob("part-*"))


def rows(folder):
    """Return the rows of all parts in a folder."""
    return [row for part in parts(folder) for row in pq.read_table(part, partitioning=None).to_pylist()]


def same(one, two):
    """Return True if two folders contain the same parts, byte for byte."""
    return [(part.name, part.read_bytes()) for part in parts(one)] == [
        (part.name, part.read_bytes()) for part in parts(two)
    ]


# --- a file of questions --------------------------------------------------------------------------


def question(i):
    """Return a question that the rule-based operators can change."""
    name, thing = NAMES[i % 4], THINGS[i % 5]
    return f"{name} has {i + 2} {thing} and walks {i % 9 + 2} km. {name} buys {i % 7 + 2} more. How many now?"


def write_questions(path, count, **extra):
    """Write questions to a JSONL file, and return its path."""
    with open(path, "w", encoding="utf-8") as file:
        for i in range(count):
            file.write(json.dumps({"id": f"q{i}", "question": question(i), **extra}) + "\n")
    return path


def rows_of(path):
    """Return the rows of a file."""
    return list(open_table(path).rows())


@pytest.fixture
def corpus(tmp_path):
    """Return the path of a file with 600 questions."""
    return write_questions(tmp_path / "questions.jsonl", 600)
