"""``paraqd lab pseudo-label``: the table, JSON, and one line for what cannot be done."""

import json
from pathlib import Path

import numpy as np
import pytest

from paraqd.cli.main import run
from paraqd.lab.corpora import pseudo_labels

ROWS = [
    {"id": "1", "question": "five pens", "paraphrase": "five pens", "label": 1, "operator": "Backtranslation"},
    {"id": "1", "question": "five pens", "paraphrase": "red", "label": 1, "operator": "LowTfidfReplacement"},
]


class ByLength:
    name = "by-length"

    def __call__(self, texts):
        return np.array([[1.0, 0.0] if len(text) > 3 else [0.0, 1.0] for text in texts])


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARAQD_DEBUG", raising=False)
    Path("pairs.jsonl").write_text("\n".join(json.dumps(row) for row in ROWS), encoding="utf-8")
    return tmp_path


@pytest.fixture
def encoder(monkeypatch):
    """An encoder that needs no model."""
    monkeypatch.setattr(pseudo_labels, "load_encoder", lambda name, device=None: ByLength())


@pytest.mark.usefixtures("encoder")
class TestLabelling:
    def test_the_table(self, here, capsys):
        assert run(["lab", "pseudo-label", "pairs.jsonl", "-o", "out.jsonl"]) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        lines = [line.split() for line in captured.out.splitlines()]
        assert lines[0] == ["operator", "pairs", "valid", "%", "invalid", "%"]
        assert ["Backtranslation", "1", "100.00", "0.00"] in lines
        assert ["LowTfidfReplacement", "1", "0.00", "100.00"] in lines
        assert ["all", "2", "50.00", "50.00"] in lines
        assert "valid: cosine similarity above 0.8 with by-length; written to out.jsonl" in captured.out
        assert [json.loads(line)["label"] for line in Path("out.jsonl").read_text().splitlines()] == [1, 0]

    def test_json_and_quiet(self, here, capsys):
        assert run(["lab", "pseudo-label", "pairs.jsonl", "-o", "out.csv", "--json", "--threshold", "-0.5"]) == 0
        report = json.loads(capsys.readouterr().out)
        assert (report["total"], report["positive_pct"], report["threshold"]) == (2, 100.0, -0.5)
        assert report["operators"]["LowTfidfReplacement"]["positive"] == 1
        assert run(["lab", "pseudo-label", "pairs.jsonl", "-o", "out.tsv", "--quiet"]) == 0
        captured = capsys.readouterr()
        assert (captured.out, captured.err) == ("", "")

    def test_labels_of_ones_own_are_replaced_and_it_is_said(self, here, capsys):
        Path("pairs.csv").write_text("question,paraphrase,label\nfive pens,five pens,0\nfive pens,red,\n")
        assert run(["lab", "pseudo-label", "pairs.csv", "-o", "out.csv"]) == 0
        line = capsys.readouterr().err
        assert line.startswith("the labels in pairs.csv do not come from operators") and line.count("\n") == 1
        assert line.endswith("out.csv contains the encoder's labels instead\n")
        assert run(["lab", "pseudo-label", "pairs.csv", "-o", "out.csv", "--overwrite", "--quiet"]) == 0
        assert capsys.readouterr().err == ""
        assert run(["lab", "pseudo-label", "pairs.csv", "-o", "out.csv", "--overwrite", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["replaced"] == 1

    def test_rows_that_could_not_be_labelled(self, here, capsys):
        Path("pairs.csv").write_text("q,p\nfive pens,five pens\nfive pens,\n,x\n")
        command = ["lab", "pseudo-label", "pairs.csv", "-o", "out.csv", "-q"]
        assert run([*command, "--question-column", "q", "--paraphrase-column", "p"]) == 1
        named = "skipped 2 rows without a usable pair (blank paraphrase: row 3; blank question: row 4)\n"
        assert capsys.readouterr().err == named


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["none.jsonl", "-o", "out.csv"], "there is no file none.jsonl"),
        (["pairs.jsonl", "-o", "pairs.jsonl"], "the input itself"),
        (["pairs.jsonl", "-o", "none/out.csv"], "there is no folder none"),
        (["pairs.jsonl", "-o", "out.csv", "--threshold", "2"], "--threshold"),
        (["pairs.jsonl", "-o", "out.csv", "--encoder", "none"], "no such model on this machine; pass"),
        (["pairs.jsonl", "-o", "out.csv", "--paraphrase-column", "text"], "no column 'text'"),
        (["pairs.jsonl", "-o", "out.csv", "--device", "gpu"], "device 'gpu' is not available"),
        (["pairs.jsonl"], "Missing option"),
    ],
)
def test_bad_input(here, capsys, arguments, line):
    pytest.importorskip("transformers")
    assert run(["lab", "pseudo-label", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert line in captured.err
    assert [path.name for path in here.iterdir()] == ["pairs.jsonl"]
