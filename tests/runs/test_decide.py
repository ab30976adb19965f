"""Test deciding about scored pairs again."""

from __future__ import annotations

import csv
import json

import pyarrow.parquet as pq
import pytest

from paraqd import ParaqdError, decide_file, score_file
from paraqd.scoring.decisions import Band
from paraqd.tables.table import open_table

SIGNATURE = "paraqd:0|model:mine@01234567|mode:fused|threshold:0.5|judge:cascade:other@1"
FAULT = json.dumps([{"kind": "number_lost", "message": "A number was lost."}])
SCORED = [
    {"id": "a", "score": "0.95", "valid": "true", "evidence": "[]", "error": "", "signature": SIGNATURE},
    {"id": "b", "score": "0.6", "valid": "true", "evidence": FAULT, "error": "", "signature": SIGNATURE},
    {"id": "c", "score": "-0.8", "valid": "false", "evidence": FAULT, "error": "", "signature": SIGNATURE},
    {"id": "d", "score": "", "valid": "", "evidence": "[]", "error": "blank question", "signature": SIGNATURE},
]


@pytest.fixture
def scored(tmp_path):
    """Return a scored CSV file."""
    return write(tmp_path / "scored.csv", SCORED)


def write(path, rows, delimiter=","):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def rows_of(path):
    return list(open_table(path).rows())


def test_another_threshold_decides_again(scored, tmp_path):
    report = decide_file(scored, tmp_path / "out.csv", threshold=0.7)
    rows = rows_of(tmp_path / "out.csv")
    assert [row["valid"] for row in rows] == ["true", "false", "false", ""]
    assert list(rows[0]) == list(SCORED[0])  # nothing else is added
    assert [row["evidence"] for row in rows] == [row["evidence"] for row in SCORED]
    assert [row["score"] for row in rows] == [row["score"] for row in SCORED]
    assert {row["signature"] for row in rows} == {SIGNATURE.replace("threshold:0.5", "threshold:0.7")}
    assert (report.valid, report.invalid, report.errors, report.changed) == (1, 2, 1, 1)
    assert report.faults == {"number_lost": 2}
    assert report.error_rows == ((str(scored), 5, "blank question"),)


def test_a_band_adds_the_decision_beside_the_verdict(scored, tmp_path):
    report = decide_file(scored, tmp_path / "out.csv", review=(0.2, 0.8))
    rows = rows_of(tmp_path / "out.csv")
    assert list(rows[0])[:4] == ["id", "score", "valid", "decision"]
    assert [row["decision"] for row in rows] == ["valid", "review", "invalid", ""]
    assert [row["valid"] for row in rows] == ["true", "true", "false", ""]
    assert rows[0]["signature"] == f"{SIGNATURE}|review:0.2,0.8"
    assert (report.threshold, report.review, report.faults) == (0.5, 1, {"number_lost": 1})


def test_without_a_band_nothing_is_left_for_review(scored, tmp_path):
    decide_file(scored, tmp_path / "one.csv", review=Band(0.2, 0.8))
    report = decide_file(tmp_path / "one.csv", tmp_path / "two.csv", threshold=0.7)
    rows = rows_of(tmp_path / "two.csv")
    assert [row["decision"] for row in rows] == ["valid", "invalid", "invalid", ""]
    assert "review" not in rows[0]["signature"]
    assert report.changed == 1


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".jsonl.gz", ".parquet", ".xlsx"])
def test_any_format_in_and_out(scored, tmp_path, ending):
    decide_file(scored, tmp_path / f"one{ending}", review=(0.2, 0.8))
    decide_file(tmp_path / f"one{ending}", tmp_path / f"two{ending}", threshold=0.9, review=(0.7, 0.96))
    rows = rows_of(tmp_path / f"two{ending}")
    assert [str(row["decision"] or "") for row in rows] == ["review", "invalid", "invalid", ""]
    assert [float(row["score"]) for row in rows[:3]] == [0.95, 0.6, -0.8]


def test_scores_with_a_decimal_comma(tmp_path):
    source = write(tmp_path / "scored.csv", [{"id": 1, "score": "0,75"}, {"id": 2, "score": "-0,2"}], delimiter=";")
    report = decide_file(source, tmp_path / "out.csv", threshold=0.7)
    assert (report.valid, report.invalid, report.errors) == (1, 1, 0)


def test_the_same_decisions_as_scoring(tmp_path):
    question = "Tom has 5 pens and buys 3 more. How many pens does he have?"
    texts = [question, question.replace("5", "6"), "Tom owns 5 pens and gets 3 more. How many are his?", ""]
    pairs = write(tmp_path / "pairs.csv", [{"question": question, "paraphrase": text} for text in texts])
    score_file(pairs, tmp_path / "a.jsonl", scorer="reading", threshold=0.4, review=(0.3, 0.9), why=True)
    score_file(pairs, tmp_path / "b.jsonl", scorer="reading", why=True)
    decide_file(tmp_path / "b.jsonl", tmp_path / "c.jsonl", threshold=0.4, review=(0.3, 0.9))
    assert rows_of(tmp_path / "a.jsonl") == rows_of(tmp_path / "c.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "c.jsonl").read_bytes()


def test_a_file_with_several_paraphrases_per_row(tmp_path):
    rows = [
        {
            "q": "x",
            "V1": "y",
            "V1_score": 0.9,
            "V1_decision": "valid",
            "V2": "z",
            "V2_score": 0.6,
            "V2_decision": "valid",
        },
        {"q": "x", "V1": "y", "V1_score": -0.9, "V1_decision": "invalid", "V2": "", "V2_score": "", "V2_decision": ""},
    ]
    source = write(tmp_path / "wide.csv", rows)
    report = decide_file(source, tmp_path / "out.csv", threshold=0.7, review=(0.65, 0.95))
    found = rows_of(tmp_path / "out.csv")
    assert list(found[0]) == list(rows[0])
    assert [(row["V1_decision"], row["V2_decision"]) for row in found] == [("review", "invalid"), ("invalid", "")]
    assert (report.rows, report.pairs, report.valid, report.invalid, report.review) == (2, 3, 0, 2, 1)
    assert report.errors == 0 and report.changed == 2


def test_a_folder_of_parts(tmp_path):
    question = "Tom has 5 pens and buys 3 more. How many pens does he have?"
    pairs = write(tmp_path / "pairs.csv", [{"question": question, "paraphrase": f"{question} {n}"} for n in range(20)])
    score_file(pairs, f"{tmp_path}/scored/", scorer="reading", part_rows=7)
    report = decide_file(tmp_path / "scored", f"{tmp_path}/again/", review=(-1, 1))
    assert (report.rows, report.review) == (20, 20)
    table = pq.read_table(tmp_path / "again")
    assert set(table["decision"].to_pylist()) == {"review"} and table["score"].type == "double"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"review": True}, "no band for review was measured"),
        ({"threshold": 2}, "from -1 to 1"),
        ({"review": (0.6, 0.8)}, "does not contain the threshold 0.5"),
        ({"score_column": "points"}, "has no column 'points'"),
    ],
)
def test_settings_that_cannot_be_used(scored, tmp_path, options, message):
    with pytest.raises(ParaqdError, match=message):
        decide_file(scored, tmp_path / "out.csv", **options)
    assert [path.name for path in tmp_path.iterdir()] == ["scored.csv"]


def test_the_input_is_never_replaced(scored):
    with pytest.raises(ParaqdError, match="is the input itself"):
        decide_file(scored, scored, overwrite=True)


def test_somebody_elses_decisions_are_not_replaced(tmp_path):
    source = write(tmp_path / "scored.csv", [{"score": 0.9, "valid": "true", "decision": "accept"}])
    with pytest.raises(ParaqdError, match="contains 'accept', which scoring does not write: rename"):
        decide_file(source, tmp_path / "out.csv", threshold=0.7)


def test_scores_of_several_models_need_a_threshold(tmp_path):
    rows = [{**SCORED[0], "signature": f"paraqd:0|model:{name}@0|threshold:0.5"} for name in "ab"]
    source = write(tmp_path / "scored.csv", rows)
    with pytest.raises(ParaqdError, match="scores of several models or thresholds: pass threshold"):
        decide_file(source, tmp_path / "out.csv")
    assert decide_file(source, tmp_path / "out.csv", threshold=0.7).valid == 2


def test_a_score_that_is_not_a_number_is_named(tmp_path):
    source = write(tmp_path / "scored.csv", [{"score": "high"}, {"score": "nan"}, {"score": "3"}, {"score": "0.8"}])
    report = decide_file(source, tmp_path / "out.csv", threshold=0.7)
    assert (report.valid, report.errors) == (1, 3)
    assert report.error_rows[0][1:] == (2, "the score 'high' is not a number from -1 to 1")
    assert rows_of(tmp_path / "out.csv")[0]["score"] == "high"


def test_errors_beside_paraphrases_stay_errors(tmp_path):
    rows = [
        {"V1": "y", "V1_score": 0.9, "V1_decision": "valid", "V1_why": ""},
        {"V1": "z", "V1_score": "", "V1_decision": "error", "V1_why": "blank question"},
        {"V1": "", "V1_score": "", "V1_decision": "", "V1_why": ""},
    ]
    report = decide_file(write(tmp_path / "wide.csv", rows), tmp_path / "out.csv", threshold=0.7)
    assert [row["V1_decision"] for row in rows_of(tmp_path / "out.csv")] == ["valid", "error", ""]
    assert (report.pairs, report.errors) == (2, 1) and report.error_rows[0][1:] == (3, "blank question")


def test_somebody_elses_column_valid_is_not_replaced(tmp_path):
    source = write(tmp_path / "scored.csv", [{"score": 0.9, "valid": "until May"}])
    with pytest.raises(ParaqdError, match=r"the column 'valid' of .* contains 'until May', which scoring does not"):
        decide_file(source, tmp_path / "out.csv", threshold=0.7)


def test_a_spreadsheet_program_may_have_translated_the_verdicts(tmp_path):
    source = write(tmp_path / "scored.csv", [{"score": 0.9, "valid": "WAHR"}, {"score": 0.6, "valid": "WAHR"}])
    assert decide_file(source, tmp_path / "out.csv", threshold=0.7).changed == 1


@pytest.mark.parametrize(
    ("content", "encoding"),
    [("sep=,\nscore,question\n0.9,'-3x = 6 für x\n", None), ("score,question\n0.9,-3x = 6 für x\n", "cp1252")],
)
def test_the_output_opens_in_the_program_that_wrote_the_input(tmp_path, content, encoding):
    (tmp_path / "scored.csv").write_text(content, encoding=encoding or "utf-8")
    decide_file(tmp_path / "scored.csv", tmp_path / "out.csv", threshold=0.7, encoding=encoding)
    assert (tmp_path / "out.csv").read_bytes().startswith(b"\xef\xbb\xbfscore")
    assert rows_of(tmp_path / "out.csv")[0]["question"] == "-3x = 6 für x"
