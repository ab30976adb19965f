"""A whole report: its tables, its plain data and its figures."""

import json
from dataclasses import replace

import pytest

from paraqd.evaluation.report import Scored, build_report, report_tables, write_plots

LABELS = [1, 0, 1, 0, 1, 0] * 6
SCORES = [0.9, -0.2, 0.6, 0.7, 0.8, 0.1] * 6
GROUPS = [f"q{i // 3}" for i in range(36)]
SCORED = Scored("toy", "a|signature", LABELS, SCORES, GROUPS, ["f2", "f8", "f3"] * 12)


def test_the_tables_of_a_report():
    report = build_report(SCORED)
    tables = {table.title: table for table in report_tables(report, notes=["smoke scale"])}
    assert list(tables) == [
        "toy: 36 pairs, 18 valid, 18 invalid; 30 correct decisions",
        "Confusion matrix",
        "Threshold and calibration",
        "Choosing a threshold",
        "By operator",
    ]
    for table in tables.values():
        assert table.notes[-2:] == ("smoke scale", "a|signature")
    first = next(iter(tables.values())).to_markdown()
    assert "| metric | value [95% interval] |" in first
    assert "bootstrap over questions" in first
    oracle = tables["Threshold and calibration"].to_markdown()
    assert "best threshold for macro F1 (oracle)" in oracle and "not a result" in oracle
    assert "| labelled invalid | 12 | 6 |" in tables["Confusion matrix"].to_markdown()


def test_the_papers_figures_stand_beside_ours_where_it_has_some():
    report = build_report(SCORED, intervals=False)
    first = report_tables(report, dataset="aquarat")[0]
    assert [column.title for column in first.columns][-2:] == ["paper: Pretrained", "paper: ParaQD"]
    rows = {row["metric"]: row for row in first.rows}
    assert rows["separation"]["paper ParaQD"] == 0.78
    assert rows["AUC"]["paper ParaQD"] is None
    assert len(report_tables(report, dataset="other")[0].columns) == 2


def test_two_methods_are_compared():
    better = Scored("better", "b|signature", LABELS, [1.0 if label else -1.0 for label in LABELS])
    report = build_report(SCORED, other=better, intervals=False)
    titles = [table.title for table in report_tables(report)]
    assert titles[1:] == [
        "Comparison of toy and better",
        "Confusion matrix: toy",
        "Threshold and calibration: toy",
        "Choosing a threshold: toy",
        "By operator: toy",
    ]
    table = report_tables(report)[1]
    assert [column.title for column in table.columns] == ["metric", "toy", "better", "difference", "p"]
    accuracy = next(row for row in table.rows if row["metric"] == "accuracy")
    assert (accuracy["b"], accuracy["a"]) == (1.0, pytest.approx(5 / 6))
    assert any("only toy is right 0 times, only better 6 times" in note for note in table.notes)
    assert any(note.startswith("permutation tests: separation p = ") for note in table.notes)
    assert "better: b|signature" in table.notes
    assert report.to_dict()["comparison"]["b"] == "b|signature"


def test_two_of_one_name_are_told_apart():
    name = "scores_of_the_second_model_of_march.csv"
    report = build_report(replace(SCORED, name=name), other=replace(SCORED, name=name), intervals=False)
    titles = [column.title for column in report_tables(report)[1].columns]
    assert titles[1:3] == ["a: scores_of_t…of_march.csv", "b: scores_of_t…of_march.csv"]


def test_plain_data():
    data = json.loads(json.dumps(build_report(SCORED).to_dict(), allow_nan=False))
    assert (data["n"], data["signature"]) == (36, "a|signature")
    assert set(data["intervals"]["metrics"]) >= {"auc", "macro_f1", "separation"}
    assert data["best_threshold_oracle"]["macro_f1"] >= data["macro_f1"]
    assert data["calibration"]["balanced"] and not data["calibration_as_found"]["balanced"]
    assert [row["operator"] for row in data["operators"]] == ["f2", "f8", "f3"]


def test_scores_of_another_scale_have_no_calibration():
    report = build_report(Scored("bleu", "s", [1, 0], [55.0, 20.0]), threshold=50, intervals=False)
    assert report.metrics.accuracy == 1 and report.calibration is None
    assert "cannot be converted to probabilities" in report_tables(report)[2].to_markdown()


def test_progress_names_the_stage():
    seen = []
    build_report(SCORED, other=SCORED, progress=lambda *news: seen.append(news))
    assert {stage for stage, _, _ in seen} == {"intervals", "comparison"}


def test_figures(tmp_path):
    pytest.importorskip("matplotlib")
    report = build_report(SCORED, other=SCORED, intervals=False)
    files = write_plots(report, tmp_path / "figures")
    assert sorted(path.name for path in files) == ["confusion.png", "reliability.png", "scores.png", "thresholds.png"]
    assert all(path.stat().st_size > 1000 for path in files)
    bleu = build_report(Scored("bleu", "s", [1, 0], [55.0, 20.0]), threshold=50, intervals=False)
    assert "reliability.svg" not in [path.name for path in write_plots(bleu, tmp_path / "bleu", ending=".svg")]
