"""Check the option --report of ``paraqd score``."""

import base64
import gzip
import json
import re
from pathlib import Path

import pytest

from paraqd.cli.main import run


def data_of(report):
    packed = re.search(r'REPORT_DATA = "([^"]*)"', Path(report).read_text(encoding="utf-8"))
    return json.loads(gzip.decompress(base64.b64decode(packed[1])))


def test_the_report_has_the_counts_of_the_command(here, scorer, capsys):
    assert run(["score", "pairs.csv", "-o", "scored.csv", "--report", "report.html"]) == 0
    assert "report → report.html" in capsys.readouterr().out
    data = data_of("report.html")
    assert data["source"] == "scored.csv"
    assert (data["summary"]["rows"], data["summary"]["valid"], data["summary"]["invalid"]) == (4, 2, 2)
    assert [pair[8] for pair in data["pairs"]] == ["p0", "p1", "p2", "p3"]
    assert data["threshold"] == 0.5 and data["notes"] == []


def test_the_json_names_the_report_and_quiet_is_quiet(here, scorer, capsys):
    assert run(["score", "pairs.csv", "-o", "scored.csv", "--report", "report.html", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["report"] == "report.html"
    options = ["--report", "report.html", "--overwrite", "--quiet"]
    assert run(["score", "pairs.csv", "-o", "scored.csv", *options]) == 0
    assert capsys.readouterr().out == ""


def test_a_report_on_some_rows_says_so(here, scorer):
    options = ["--only", "invalid", "--report", "report.html"]
    assert run(["score", "pairs.jsonl", "-o", "scored.jsonl", *options]) == 0
    data = data_of("report.html")
    assert data["summary"]["rows"] == data["summary"]["invalid"] == 2
    assert data["notes"] == ["This file contains only the pairs with the verdict invalid."]


def test_pairs_for_review_are_counted_as_in_the_command(here, scorer, capsys):
    options = ["--review", "0.5,0.9", "--report", "report.html", "--json"]
    assert run(["score", "pairs.csv", "-o", "scored.csv", *options]) == 0
    counts = json.loads(capsys.readouterr().out)
    data = data_of("report.html")
    names = ("rows", "valid", "invalid", "review", "errors", "warned", "faults")
    assert {name: data["summary"][name] for name in names} == {name: counts[name] for name in names}
    assert (data["summary"]["review"], data["band"]) == (1, [0.5, 0.9])


def test_rows_that_cannot_be_scored_are_in_the_report(here, scorer):
    Path("odd.csv").write_text('question,paraphrase\n,Tom?\n"Tom has 5.","Tom has 5."\n', encoding="utf-8")
    assert run(["score", "odd.csv", "-o", "scored.csv", "--report", "report.html"]) == 1
    assert data_of("report.html")["summary"]["errors"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--report", "report.html"], "--report needs an output file, from which the report is made: pass -o"),
        (["-o", "out/", "--report", "report.html"], "--report needs a file as output, not a folder"),
        (["-o", "scored.csv", "--report", "report.txt"], "choose a name that ends in .html"),
        (["-o", "scored.csv", "--report", "none/report.html"], "there is no folder none"),
        (["-o", "scored.csv", "--report", "old.html"], "old.html already exists; pass --overwrite"),
    ],
)
def test_a_report_that_cannot_be_written_stops_the_command_before_it_scores(here, scorer, fails, options, message):
    Path("old.html").write_text("old", encoding="utf-8")
    assert message in fails("score", "pairs.csv", *options)
    assert not Path("scored.csv").exists() and scorer.sizes == []


def test_the_scores_are_kept_if_the_report_fails(here, scorer, capsys, monkeypatch):
    monkeypatch.setattr("paraqd.runs.report.MOST_PAIRS", 3)
    assert run(["score", "pairs.csv", "-o", "scored.csv", "--report", "report.html"]) == 1
    assert "scored.csv is written, but not the report: scored.csv has more than 3 pairs" in capsys.readouterr().err
    assert Path("scored.csv").exists() and not Path("report.html").exists()
