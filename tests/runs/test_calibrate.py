"""Test the suggestion from decisions in files."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from paraqd import ParaqdError, calibrate_file
from paraqd.scoring.verdict import score_of
from paraqd.tables.formats import TableError


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        writer.writerows(rows)
    return path


def decided(n, *, cut=0.85, words=("accept", "reject"), column="label", seed=1, **more):
    """Return scored rows that a person decided with a threshold of their own."""
    p = np.random.default_rng(seed).beta(0.4, 0.4, n)
    scores = [round(score_of(float(each)), 4) for each in p]
    return [
        {"question": f"q{i}", "paraphrase": f"p{i}", "score": score, column: words[score <= cut], **more}
        for i, score in enumerate(scores)
    ]


def test_a_stricter_editor_gets_a_higher_threshold(tmp_path):
    report = calibrate_file(write(tmp_path / "a.csv", decided(200)))
    assert 0.75 < report.suggestion.threshold < 0.92 and report.suggestion.right_after > report.suggestion.right_before
    assert report.columns == ("label",) and report.suggestion.decided == 200


@pytest.mark.parametrize(
    "words", [("1", "0"), ("true", "false"), ("Accepted", "Rejected"), ("yes", "NO"), ("valid", "invalid")]
)
def test_the_words_for_a_decision(tmp_path, words):
    report = calibrate_file(write(tmp_path / "a.csv", decided(60, words=words)))
    assert report.suggestion.accepted == sum(row["score"] > 0.85 for row in decided(60))


def test_open_pairs_do_not_count(tmp_path):
    rows = decided(60, column="status") + [{"score": 0.3, "status": word} for word in ("", "open", "disputed")]
    report = calibrate_file(write(tmp_path / "a.csv", rows))
    assert (report.suggestion.decided, report.undecided) == (60, 3)


def test_copies_and_contradictions_do_not_count_twice(tmp_path):
    rows = decided(60)
    rows += [rows[0], {**rows[1], "label": "reject" if rows[1]["label"] == "accept" else "accept"}]
    rows += [{"question": "q", "paraphrase": "p", "score": "", "label": "accept"}]
    report = calibrate_file(write(tmp_path / "a.csv", rows))
    assert (report.suggestion.decided, report.repeated, report.disputed, report.unscored) == (59, 1, 1, 1)


def test_two_reviewers_and_two_files(tmp_path):
    first = [{**row, "ann": row["label"], "ben": row["label"]} for row in decided(50)]
    first[0]["ben"] = "reject" if first[0]["ann"] == "accept" else "accept"
    first[1]["ben"] = ""
    second = [{**row, "ann": row["label"], "question": f"other {i}"} for i, row in enumerate(decided(40, seed=2))]
    files = [write(tmp_path / "a.csv", first), write(tmp_path / "b.csv", second)]
    report = calibrate_file(files, label_columns=["ann", "ben"])
    assert (report.suggestion.decided, report.disputed) == (89, 1) and report.columns == ("ann", "ben")


def test_too_few_decisions_are_never_a_confident_answer(tmp_path):
    report = calibrate_file(write(tmp_path / "a.csv", decided(10)))
    assert not report.suggestion.enough and report.suggestion.threshold == 0.5
    assert "too few" in report.suggestion.note


def test_the_current_threshold_is_that_of_the_scores(tmp_path):
    rows = decided(60, signature="paraqd:0|model:a@0|mode:fused|threshold:0.85")
    report = calibrate_file(write(tmp_path / "a.csv", rows))
    assert report.suggestion.current == report.suggestion.threshold == 0.85


def test_several_paraphrases_per_row(tmp_path):
    rows = [
        {"question": f"q{i}", "V1": "x", "V1_score": a["score"], "V1_decision": "valid", "V1_label": a["label"],
         "V2": "y", "V2_score": b["score"], "V2_decision": "valid", "V2_label": b["label"]}
        for i, (a, b) in enumerate(zip(decided(40), decided(40, seed=2), strict=True))
    ]  # fmt: skip
    report = calibrate_file(write(tmp_path / "a.csv", rows))
    assert report.suggestion.decided == 80 and report.columns == ("V1_label", "V2_label")


def test_what_the_model_decided_is_not_a_persons_decision(tmp_path):
    rows = [{**row, "valid": "true", "decision": "valid"} for row in decided(40, column="other")]
    with pytest.raises(ParaqdError, match="no column with a person's decisions: add a column 'label'"):
        calibrate_file(write(tmp_path / "a.csv", rows))
    assert calibrate_file(tmp_path / "a.csv", label_columns="other").suggestion.decided == 40


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([{"score": 0.5, "label": "maybe so"}], {}, "row 2: 'maybe so' in the column 'label' is not a decision"),
        ([{"score": 0.5, "label": ""}], {}, "no decided pair with a score"),
        ([{"score": 0.5, "label": 1}], {"label_columns": "mine"}, "has no column 'mine'"),
        ([{"label": 1}], {}, "has no column 'score'"),
        ([{"score": 0.5, "label": 1}], {"right": 1.5}, "choose a share between 0.5 and 1"),
        ([{"score": 0.5, "label": 1}], {"threshold": 3}, "from -1 to 1"),
        ([{"score": 0.5, "label": 1, "signature": f"model:{m}@0|threshold:0.5"} for m in "ab"], {}, "several models"),
    ],
)
def test_input_that_cannot_be_used(tmp_path, rows, options, message):
    with pytest.raises(ParaqdError, match=message):
        calibrate_file(write(tmp_path / "a.csv", rows), **options)


def test_the_report_is_json(tmp_path):
    shown = json.loads(json.dumps(calibrate_file(write(tmp_path / "a.csv", decided(300))).to_dict()))
    assert shown["decided"] == 300 and 0.75 < shown["threshold"] < 0.92 and shown["columns"] == ["label"]


def test_columns_in_another_spelling_are_found(tmp_path):
    rows = decided(60)
    rows = [{name.title(): value for name, value in row.items()} for row in [*rows, rows[0]]]
    report = calibrate_file(write(tmp_path / "a.csv", rows))
    assert (report.suggestion.decided, report.repeated) == (60, 1)


def test_copies_in_a_file_with_a_row_for_each_paraphrase(tmp_path):
    rows = [
        {"question": row["question"], "V1": row["paraphrase"], "V2": "same", "paraphrase_column": column, **row}
        for row in decided(60)
        for column in ("V1", "V2")
    ]
    for row in rows:
        del row["paraphrase"]
    report = calibrate_file(write(tmp_path / "a.csv", [*rows, rows[0], rows[3]]))
    assert (report.suggestion.decided, report.repeated) == (120, 2)


@pytest.mark.parametrize("options", [{}, {"label_columns": "label"}])
def test_a_wide_file_needs_a_column_of_decisions_for_each_score(tmp_path, options):
    (tmp_path / "wide.csv").write_text("question,V1,V1_score,V1_decision,label\nHow many?,How much?,0.9,valid,accept\n")
    with pytest.raises(TableError, match="each needs its own column with decisions, such as 'V1_label'"):
        calibrate_file(tmp_path / "wide.csv", **options)
