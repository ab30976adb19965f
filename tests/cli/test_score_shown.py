"""Test what ``paraqd score`` shows: counts, tables, JSON lines and progress."""

import contextlib
import csv
import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from pair_files import LOST, QUESTION, SAME, environment, names, write_csv

import paraqd
from paraqd.cli.main import run


@pytest.mark.usefixtures("scorer")
class TestWhatIsShown:
    def test_counts_by_verdict_and_fault(self, here, capsys):
        assert run(["score", "pairs.csv", "-o", "out.csv"]) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        lines = [line.split() for line in captured.out.splitlines() if line.strip()]
        assert lines[:4] == [
            ["valid", "2", "50.0%"],
            ["invalid", "2", "50.0%"],
            ["number_added", "1"],
            ["number_lost", "1"],
        ]
        assert lines[4:] == [
            ["4", "rows", "→", "out.csv"],
            ["paraqd:test|model:digits@00000000|mode:fused|threshold:0.5"],
        ]

    def test_counts_as_json(self, here, capsys):
        assert run(["score", "pairs.csv", "-o", "out.csv", "--json", "--only", "invalid"]) == 0
        assert json.loads(capsys.readouterr().out) == {
            "source": "pairs.csv",
            "out": "out.csv",
            "rows": 4,
            "written": 2,
            "valid": 2,
            "invalid": 2,
            "review": 0,
            "errors": 0,
            "warned": 0,
            "empty_cells": 0,
            "paraphrase_columns": ["paraphrase"],
            "faults": {"number_added": 1, "number_lost": 1},
            "parts": 1,
            "resumed": 0,
            "damage": [],
            "problems": [],
            "empty_files": 0,
            "threshold": 0.5,
            "band": None,
            "signature": "paraqd:test|model:digits@00000000|mode:fused|threshold:0.5",
        }

    def test_one_row_is_not_called_rows(self, here, capsys):
        write_csv("in.csv", [{"question": " ", "paraphrase": SAME}])
        assert run(["score", "in.csv", "-o", "out.csv"]) == 1
        captured = capsys.readouterr()
        assert "1 row → out.csv" in captured.out
        assert captured.err == "could not score 1 of 1 row (blank question: row 2)\n"

    def test_quiet(self, here, capsys):
        assert run(["score", "pairs.csv", "-o", "out.csv", "--quiet"]) == 0
        assert capsys.readouterr() == ("", "")

    def test_a_table_where_no_file_is_wanted(self, here, capsys):
        assert run(["score", "pairs.csv"]) == 0
        out = capsys.readouterr().out
        lines = [line.rstrip() for line in out.splitlines()]
        assert lines[0].split()[:3] == ["row", "score", "verdict"]
        assert lines[1].startswith("  2   1.00  valid       Tom has 5 apples")
        assert lines[3].startswith("  4  -0.25  invalid     Tom has 5 apples. How many has he?")
        assert lines[4].strip() == "The paraphrase lost 3."
        assert "valid" in out and "50.0%" in out
        assert "\x1b" not in out
        assert names(here) == ["pairs.csv", "pairs.jsonl"]

    def test_the_table_shows_only_what_is_asked_for(self, here, capsys):
        assert run(["score", "pairs.csv", "--only", "invalid", "-q"]) == 0
        rows = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.strip()[0].isdigit()]
        assert rows == ["4", "5"]

    def test_a_text_does_not_command_the_terminal(self, here, capsys):
        write_csv("in.csv", [{"question": QUESTION, "paraphrase": "[red]Tom\x1b[m has\t5\nor 7 [/]苹果"}])
        assert run(["score", "in.csv"]) == 0
        out = capsys.readouterr().out
        assert "[red]Tom\ufffd[m has 5 or 7 [/]苹果" in out and "\x1b" not in out
        assert "The paraphrase lost 3. (and 1 more)" in out

    def test_the_rows_as_json_lines(self, here, capsys):
        assert run(["score", "pairs.csv", "--json"]) == 0
        captured = capsys.readouterr()
        rows = [json.loads(line) for line in captured.out.splitlines()]
        assert [(row["id"], row["valid"]) for row in rows] == [("p0", True), ("p1", True), ("p2", False), ("p3", False)]
        assert rows[3]["evidence"][0]["kind"] == "number_added"
        assert "number_added" in captured.err  # the counts, beside the rows
        assert run(["score", "pairs.csv", "--json", "--quiet", "--only", "valid"]) == 0
        captured = capsys.readouterr()
        assert (len(captured.out.splitlines()), captured.err) == (2, "")

    def test_options_reach_the_scorer(self, here, scorer):
        command = ["score", "pairs.csv", "-o", "out.csv", "-q", "--model", "mine", "--mode", "encoder"]
        assert run([*command, "--threshold", "0.9"]) == 0
        assert scorer.asked == ("mine", "encoder", 0.9)
        with open("out.csv", newline="") as file:
            assert [row["valid"] for row in csv.DictReader(file)] == ["true", "false", "false", "false"]


def test_standard_output_of_another_encoding(here, scorer, monkeypatch):
    write_csv("in.csv", [{"question": "It costs ₹5. How much?", "paraphrase": "How much is ₹5?"}])
    for arguments, expected in ((["--json", "-q"], b"\\u20b95"), ([], b"How much is ?5?")):
        raw = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
        assert run(["score", "in.csv", *arguments]) == 0
        sys.stdout.flush()
        assert expected in raw.getvalue()


SLOW = """
import sys, time
sys.path.insert(0, sys.argv[1])
from conftest import DigitScorer
from paraqd.cli import options
from paraqd.cli.main import run

class Slow(DigitScorer):
    def score_pairs(self, pairs):
        if len(self.sizes) == 2:
            time.sleep(600)
        return super().score_pairs(pairs)

options.load_scorer = lambda *given, **more: Slow()
sys.exit(run(["score", "many.csv", "-o", "out.csv"]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_rows_do_not_go_where_the_progress_bar_goes(here):
    script = SLOW.replace("600", "0").replace('"-o", "out.csv"', '"--json"')
    write_csv("many.csv", [{"question": QUESTION, "paraphrase": SAME}] * 1000)
    ours, theirs = os.openpty()
    command = [sys.executable, "-c", script, str(Path(__file__).parent)]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=theirs) as running:
        os.close(theirs)
        reader = threading.Thread(target=read_all, args=(ours,), daemon=True)  # a full terminal would hold it up
        reader.start()
        out = running.communicate(timeout=60)[0]
        reader.join(timeout=60)
    os.close(ours)
    assert running.returncode == 0
    assert [json.loads(line)["score"] for line in out.splitlines()] == [1.0] * 1000


def read_all(handle):
    with contextlib.suppress(OSError):  # Linux says so when the other end is closed
        while os.read(handle, 1 << 16):
            pass


# --- the scorer that is shipped -------------------------------------------------------------------


def test_the_shipped_scorer_from_standard_input(here):
    rows = [{"question": QUESTION, "paraphrase": text} for text in (SAME, " ", LOST)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    command = [sys.executable, "-m", "paraqd.cli.main", "score", "-", "--json"]
    done = subprocess.run(command, env=environment(), input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    same, blank, lost = (json.loads(line) for line in done.stdout.splitlines())
    assert (same["score"], same["valid"]) == (1.0, True)
    assert (blank["score"], blank["valid"]) == (-1.0, False) and blank["evidence"]
    assert lost["score"] < 1
    assert same["signature"].startswith(f"paraqd:{paraqd.__version__}|model:")


def test_a_model_that_cannot_be_had(here, fails):
    line = fails("score", "pairs.csv", "-o", "out.csv", "--model", "none")
    assert "none" in line and "unexpected" not in line
