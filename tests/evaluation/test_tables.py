"""Tables in three formats, with their notes, and the paper's rows beside ours."""

import json

import pytest

from paraqd.evaluation.errors import EvaluationError
from paraqd.evaluation.intervals import Estimate
from paraqd.evaluation.published import published
from paraqd.evaluation.tables import Column, Table, metric_columns, side_by_side, write_tables

COLUMNS = (Column("method", "method"), Column("n", "pairs"), *metric_columns(["mu_pos", "auc"]))
ROWS = (
    {"method": "A_1 & 50 %|x", "n": 1234, "mu_pos": -0.0001, "auc": Estimate(0.675, 0.631, 0.719)},
    {"method": "B", "n": 5, "auc": Estimate(0.9, 0.85, 0.951)},
)
TABLE = Table("Methods", COLUMNS, ROWS, notes=("stand-ins: f1, f9",))


def test_markdown():
    assert TABLE.to_markdown().splitlines() == [
        "**Methods**",
        "",
        "| method | pairs | μ+ | AUC |",
        "| --- | ---: | ---: | ---: |",
        "| A_1 & 50 %\\|x | 1,234 | 0.000 | 0.675 [0.63, 0.72] |",
        "| B | 5 | – | **0.900 [0.85, 0.95]** |",
        "",
        "Note: stand-ins: f1, f9",
    ]


def test_latex():
    lines = TABLE.to_latex().splitlines()
    assert lines[2:7] == [
        r"\caption{Methods}",
        r"\begin{tabular}{lrrr}",
        r"\toprule",
        r"method & pairs & $\mu^+$ & AUC \\",
        r"\midrule",
    ]
    assert r"A\_1 \& 50 \%\textbar{}x & 1,234 & 0.000 & 0.675 [0.63, 0.72] \\" in lines
    assert r"B & 5 & -- & \textbf{0.900 [0.85, 0.95]} \\" in lines
    assert lines[-2].endswith("Note: stand-ins: f1, f9")


def test_latex_escapes_what_means_something_to_it():
    table = Table("50 % of {x}^2 \\ #1 ~ $", (Column("a_b", "a_b"),), ())
    text = table.to_latex()
    assert r"50 \% of \{x\}\textasciicircum{}2 \textbackslash{} \#1 \textasciitilde{} \$" in text
    assert r"a\_b \\" in text


def test_json_keeps_the_numbers_whole():
    data = json.loads(json.dumps(TABLE.to_dict(), allow_nan=False))
    assert data["notes"] == ["stand-ins: f1, f9"]
    assert data["rows"][0]["auc"] == {"value": 0.675, "low": 0.631, "high": 0.719}
    assert data["rows"][1]["mu_pos"] is None
    assert Table("t", (Column("x", "x"),), ({"x": float("nan")},)).to_dict()["rows"] == [{"x": None}]


def test_notes_are_added_to_every_format():
    table = TABLE.noted("two-layer encoder: smoke scale")
    for text in (table.to_markdown(), table.to_latex(), json.dumps(table.to_dict())):
        assert "two-layer encoder: smoke scale" in text and "stand-ins: f1, f9" in text


def test_ours_beside_the_papers():
    ours = [{"dataset": "aquarat", "method": "ParaQD", "separation": Estimate(0.7, 0.6, 0.8), "auc": 0.8}]
    rows = published("main", dataset="aquarat")
    table = side_by_side(ours, rows, on=["dataset", "method"], metrics=["separation", "auc"], title="Main")
    assert len(table.rows) == 1 + len(rows)
    first, second, *rest = table.rows
    assert (first["figures"], second["figures"], second["separation"]) == ("ours", "paper", 0.78)
    assert {row["figures"] for row in rest} == {"paper"}
    lines = table.to_markdown().splitlines()
    assert lines[4] == "| aquarat | ParaQD | ours | 0.700 [0.60, 0.80] | 0.800 |"
    assert lines[5] == "| aquarat | ParaQD | paper | 0.780 | – |"


def test_only_ours_compete_for_bold():
    ours = [{"method": "UDA", "separation": 0.5}, {"method": "ParaQD", "separation": 0.6}]
    table = side_by_side(ours, published("train_operators"), on=["method"], metrics=["separation"], title="t")
    assert table.to_markdown().count("**0.600**") == 1
    assert "**1.583**" not in table.to_markdown()


@pytest.mark.parametrize(("name", "start"), [("t.md", "**Methods**"), ("t.tex", r"\begin{table}"), ("t.json", "[")])
def test_files_by_name(tmp_path, name, start):
    write_tables([TABLE, TABLE], tmp_path / name)
    text = (tmp_path / name).read_text("utf-8")
    assert text.startswith(start) and text.count("Methods") == 2


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(EvaluationError, match=r"use \.md, \.tex or \.json"):
        write_tables([TABLE], tmp_path / "t.pdf")
    with pytest.raises(EvaluationError, match="cannot write"):
        write_tables([TABLE], tmp_path / "none" / "t.md")
