"""Test how ``paraqd score`` and ``paraqd explain`` show warnings, with the shipped rules."""

import json

import pytest
from pair_files import QUESTION, read_csv, read_jsonl, write_csv

from paraqd import score_file
from paraqd.cli.main import run

SPANISH = "Tom tiene 5 manzanas y compra 3 más. ¿Cuántas manzanas tiene ahora?"
CHATTER = f"Sure! {QUESTION}"
NOT_ENGLISH = (
    "The paraphrase does not seem to be in English. The scorer was made for English, so the score may be wrong."
)
REMARK = 'The paraphrase seems to contain a remark by an assistant: "Sure!".'


@pytest.fixture
def pairs(here):
    """Write in.csv with a Spanish paraphrase, one with a remark, an identical one, and a blank question."""
    texts = [(QUESTION, SPANISH), (QUESTION, CHATTER), (QUESTION, QUESTION), (" ", QUESTION)]
    write_csv("in.csv", [{"question": question, "paraphrase": paraphrase} for question, paraphrase in texts])
    return here


def test_the_column_is_json_like_the_evidence(pairs):
    assert run(["score", "in.csv", "-o", "out.csv", "--model", "reading", "-q"]) == 1
    rows = read_csv("out.csv")
    assert [json.loads(row["warnings"]) for row in rows] == [[NOT_ENGLISH], [REMARK], [], []]
    assert rows[3]["warnings"] == rows[3]["evidence"] == "[]"
    assert run(["score", "in.csv", "-o", "out.jsonl", "--model", "reading", "-q"]) == 1
    assert [row["warnings"] for row in read_jsonl("out.jsonl")] == [[NOT_ENGLISH], [REMARK], [], []]


@pytest.mark.extra("parquet")
def test_a_folder_has_the_column_too(pairs):
    import pyarrow.parquet as pq

    assert run(["score", "in.csv", "-o", "out/", "--model", "reading", "-q"]) == 1
    assert [json.loads(text) for text in pq.read_table("out")["warnings"].to_pylist()][:2] == [[NOT_ENGLISH], [REMARK]]


def test_the_sentences_for_a_spreadsheet_include_them(pairs):
    assert run(["score", "in.csv", "-o", "out.csv", "--model", "reading", "--why", "-q"]) == 1
    assert read_csv("out.csv")[1]["why"].endswith(REMARK)


def test_they_are_counted(pairs, capsys):
    assert run(["score", "in.csv", "-o", "out.csv", "--model", "reading"]) == 1
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["with", "warnings", "2", "50.0%"] in lines
    report = score_file("in.csv", "again.csv", scorer="reading")
    assert report.warned == report.to_dict()["warned"] == 2


def test_they_are_shown_beside_the_rows(pairs, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    assert run(["score", "in.csv", "--model", "reading"]) == 1
    assert REMARK in [line.strip() for line in capsys.readouterr().out.splitlines()]


def test_a_file_with_such_a_column_is_refused(here, fails):
    write_csv("in.csv", [{"question": QUESTION, "paraphrase": QUESTION, "warnings": "mine"}])
    assert "already has a column 'warnings'; pass --overwrite-columns" in fails("score", "in.csv", "-o", "out.csv")


def test_explain(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    assert run(["explain", QUESTION, CHATTER, "--model", "reading"]) == 0
    assert f"\nWarnings\n  {REMARK}\n\nScore\n" in "\n".join(map(str.rstrip, capsys.readouterr().out.splitlines()))
    assert run(["explain", QUESTION, QUESTION, "--model", "reading"]) == 0
    assert "Warnings" not in capsys.readouterr().out
    assert run(["explain", QUESTION, CHATTER, "--model", "reading", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["warnings"] == [REMARK]
