"""The open benchmark comes with the package: listed, found and evaluated by its name, with no data folder."""

import json

import pytest

import paraqd
from paraqd.cli.main import run
from paraqd.lab.corpora.awp_variants import EVIDENCE_KINDS
from paraqd.tables.table import open_table, open_writer


@pytest.fixture
def here(without_data):
    return without_data


@pytest.fixture
def scored(here, monkeypatch):
    """Put scores into a copy of the benchmark: a model is no part of these tests."""
    from paraqd.tables import datasets

    table = open_table(datasets.find("awp-variants"))
    # a careless scorer: it sees a lost question and a lost number, and takes all else for valid
    seen = {"question_lost", "number_lost"}
    rows = [{**row, "score": -0.5 if row["fault"] in seen else 0.9} for row in table.rows()]
    schema = {name: int if name == "label" else str for name in table.columns} | {"score": float}
    folder = here / "bundled"
    folder.mkdir()
    with open_writer(folder / "awp_variants.jsonl.gz", schema) as writer:
        writer.write(rows)
    monkeypatch.setattr(datasets, "_BUNDLED", folder)


def test_list_and_path(here, capsys):
    assert run(["lab", "data", "list"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line[:1].strip()}
    assert lines["awp-variants"].split()[1:5] == ["pairs", "2,615", "bundled", "Apache-2.0"]
    assert run(["lab", "data", "path", "awp-variants"]) == 0
    captured = capsys.readouterr()
    assert captured.out.strip().endswith("awp_variants.jsonl.gz") and captured.err == ""
    assert run(["lab", "data", "get", "awp-variants", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["failed"] == {}
    assert not (here / "cache").exists(), "nothing was downloaded"


def test_a_name_written_otherwise_is_corrected(here, fails):
    assert "did you mean awp-variants?" in fails("lab", "data", "path", "awp_variants")


def test_evaluate_by_name_breaks_down_by_fault(scored, capsys):
    assert run(["evaluate", "awp-variants", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["n"] == 2615 and report["intervals"]["grouped"] is True
    rejected = {row["operator"]: 1 - row["accepted"] for row in report["operators"]}
    assert set(rejected) == {"(none)", *EVIDENCE_KINDS}
    assert (rejected["question_lost"], rejected["number_lost"], rejected["unit_changed"]) == (1, 1, 0)
    assert report["mu_pos"] == pytest.approx(0.9)


def test_intervals_are_drawn_over_problems(scored):
    found = paraqd.evaluate_file("awp-variants", intervals=False).scored
    assert len(set(found.groups)) == 438, "the two wordings of a problem are not independent questions"
