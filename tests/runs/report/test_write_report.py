"""Check what a report contains, and that its counts are those of the scored file."""

import base64
import csv
import gzip
import json
import re

import pytest

from paraqd import Columns, TableError, score_file, write_report
from paraqd.runs.report.pairs import DECISIONS

EVIL = "</script><img src=x onerror=alert(1)><script>alert(2)</script>"
SIGNATURE = "paraqd:1|model:m@0|mode:fused|threshold:0.5"
NUMBER = {
    "kind": "number_changed",
    "question_spans": [[6, 7]],
    "paraphrase_spans": [[6, 7]],
    "message": 'A number changed: "5" became "6".',
    "delta": -0.5,
}


def scored_row(paraphrase="Tom 🍎 6.", score=-0.5, **more):
    return {
        "id": "a1",
        "question": "Tom 🍎 5.",
        "paraphrase": paraphrase,
        "score": score,
        "valid": "true" if score and score > 0.5 else "false",
        "evidence": json.dumps([NUMBER] if score and score < 0.5 else []),
        "warnings": "[]",
        "error": "",
        "signature": SIGNATURE,
        **more,
    }


def write_rows(path, rows, delimiter=","):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def data_of(report):
    """Return the data that a report contains."""
    packed = re.search(r'REPORT_DATA = "([A-Za-z0-9+/=]*)"', report.read_text(encoding="utf-8"))
    return json.loads(gzip.decompress(base64.b64decode(packed[1])))


@pytest.fixture
def report(tmp_path):
    """Write a report on rows, and return its data."""

    def make(rows, **options):
        out = tmp_path / "report.html"
        write_report(write_rows(tmp_path / "scored.csv", rows), out, overwrite=True, **options)
        return data_of(out)

    return make


def test_every_field_of_a_pair_is_in_the_report(report):
    data = report([scored_row()])
    row, question, paraphrase, score, decision, evidence, warnings, error, own_id, column = data["pairs"][0]
    assert (row, data["questions"][question], paraphrase, score) == (2, "Tom 🍎 5.", "Tom 🍎 6.", -0.5)
    assert (DECISIONS[decision], warnings, error, own_id, column) == ("invalid", [], "", "a1", "")
    [[kind, in_question, in_paraphrase, message, delta]] = evidence
    assert (data["kinds"][kind], message, delta) == ("number_changed", NUMBER["message"], -0.5)
    assert "Tom 🍎 5."[slice(*in_question[0])] == "5"  # positions are code points, as in the file
    assert "Tom 🍎 6."[slice(*in_paraphrase[0])] == "6"
    assert (data["threshold"], data["band"], data["signatures"]) == (0.5, None, [[SIGNATURE, 1]])


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "xlsx", "parquet", "csv.gz"])
def test_the_counts_are_those_of_the_score_file_in_any_format(tmp_path, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    if ending == "xlsx":
        pytest.importorskip("openpyxl")
    pairs = [
        {"Item": "p1", "Original": "Tom has 5 pens. How many?", "Version": "Tom has 6 pens. How many?"},
        {"Item": "p2", "Original": "Tom has 5 pens. How many?", "Version": "Tom has five pens. How many?"},
        {"Item": "p3", "Original": "Ann has 3 m of rope. How much?", "Version": "Ann has 3 km of rope. How much?"},
        {"Item": "p4", "Original": "", "Version": "Ann has 3 km of rope. How much?"},
    ]
    columns = Columns(question="original", paraphrase="version", id="Item")
    scored, out = tmp_path / f"scored.{ending}", tmp_path / "report.html"
    counts = score_file(write_rows(tmp_path / "pairs.csv", pairs), scored, scorer="reading", columns=columns)
    summary = write_report(scored, out, columns=columns)
    for name in ("rows", "valid", "invalid", "errors", "warned", "faults"):
        assert getattr(summary, name) == getattr(counts, name)
    data = data_of(out)
    assert data["summary"] == summary.to_dict()
    assert len(data["pairs"]) == counts.rows == 4
    assert [pair[8] for pair in data["pairs"]] == ["p1", "p2", "p3", "p4"]
    assert [pair[0] for pair in data["pairs"]] == ([1, 2, 3, 4] if ending in ("jsonl", "parquet") else [2, 3, 4, 5])
    assert data["pairs"][3][3] is None and data["pairs"][3][7] == "blank question"


def test_the_column_decision_decides_where_it_exists(report):
    rows = [
        scored_row(score=0.6, decision="review", signature=f"{SIGNATURE}|review:0.2,0.8"),
        scored_row(score=0.9, decision="valid", signature=f"{SIGNATURE}|review:0.2,0.8"),
        scored_row(score=-0.9, decision="invalid", signature=f"{SIGNATURE}|review:0.2,0.8"),
    ]
    data = report(rows)
    assert [DECISIONS[pair[4]] for pair in data["pairs"]] == ["review", "valid", "invalid"]
    assert data["band"] == [0.2, 0.8]
    assert data["summary"]["faults"] == {"number_changed": 1}  # as in the counts of paraqd score: of invalid pairs


def test_a_row_with_several_paraphrases_shows_the_one_that_was_scored(report):
    row = scored_row(paraphrase="somebody's own note", paraphrase_column="V2")
    data = report([{**row, "V1": "One?", "V2": "Two?"}])
    assert (data["pairs"][0][2], data["pairs"][0][9]) == ("Two?", "V2")


def test_scores_may_have_a_decimal_comma(tmp_path):
    rows = [scored_row(score=-0.5) | {"score": "-0,25", "valid": "FALSE"}]
    write_rows(tmp_path / "scored.csv", rows, delimiter=";")
    write_report(tmp_path / "scored.csv", tmp_path / "report.html")
    assert data_of(tmp_path / "report.html")["pairs"][0][3] == -0.25


def test_a_file_without_verdicts_is_decided_by_its_threshold(report):
    rows = [{"question": "Q?", "paraphrase": "P?", "score": score} for score in (0.5, 0.51)]
    assert report(rows, threshold=0.5)["summary"]["valid"] == 1
    signed = [{**row, "signature": SIGNATURE} for row in rows]
    assert report(signed)["summary"]["valid"] == 1


def test_hostile_text_cannot_leave_the_data(tmp_path):
    scored = write_rows(tmp_path / "scored.csv", [scored_row(EVIL, id=EVIL)])
    out = tmp_path / "report.html"
    write_report(scored, out, title=f"{EVIL} {{{{data}}}}")
    page = out.read_text(encoding="utf-8")
    assert "<img" not in page and page.count("</script>") == 2
    assert page.count("{{data}}") == 2  # the title and the heading; the title is no template
    assert data_of(out)["pairs"][0][2] == EVIL


def test_the_report_refers_to_nothing_outside(tmp_path):
    write_report(write_rows(tmp_path / "scored.csv", [scored_row()]), tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^\s\"']+", page)) == {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert not re.search(r"<link|<script src|@import|url\(", page)
    assert "default-src 'none'" in page


def test_a_file_with_only_a_header_gives_a_report_without_pairs(tmp_path):
    (tmp_path / "scored.csv").write_text("question,paraphrase,score,valid,evidence,error,signature\n", encoding="utf-8")
    assert write_report(tmp_path / "scored.csv", tmp_path / "report.html").rows == 0
    (tmp_path / "empty.jsonl").write_text("", encoding="utf-8")  # what --only valid writes if nothing is valid
    assert write_report(tmp_path / "empty.jsonl", tmp_path / "report2.html").rows == 0


def test_broken_unicode_is_kept(tmp_path):
    row = {**scored_row(), "paraphrase": "\ud83d?", "evidence": [], "warnings": [], "valid": False}
    (tmp_path / "scored.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    write_report(tmp_path / "scored.jsonl", tmp_path / "report.html")
    assert data_of(tmp_path / "report.html")["pairs"][0][2] == "\ud83d?"


def test_the_same_file_gives_the_same_report(tmp_path):
    scored = write_rows(tmp_path / "scored.csv", [scored_row(), scored_row("Tom has five.", 0.9)])
    write_report(scored, tmp_path / "a.html")
    write_report(scored, tmp_path / "b.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_a_report_on_20000_pairs_is_much_smaller_than_the_file(tmp_path):
    rows = []
    for number in range(20_000):
        question = f"Tom 🍎 {number}. He buys {number % 97} pears at {number % 13} cents. How much is that in total?"
        paraphrase = f"At {number % 13} cents each, what do {number % 97} pears cost? Tom 🍎 {number + 1} is waiting."
        rows.append({**scored_row(paraphrase), "question": question})
    scored, out = write_rows(tmp_path / "scored.csv", rows), tmp_path / "report.html"
    assert write_report(scored, out).rows == 20_000
    assert len(data_of(out)["pairs"]) == 20_000  # nothing is left out
    assert out.stat().st_size < 2_000_000 < scored.stat().st_size / 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": "high"}, "scored.csv, row 2: the score 'high' is not a number; correct the row"),
        ({"valid": "perhaps"}, "scored.csv, row 2: valid is 'perhaps', not true or false; correct the row"),
        ({"decision": "maybe"}, "the decision 'maybe' is none of valid, invalid and review"),
        ({"evidence": "[{"}, "scored.csv, row 2: the column 'evidence' is not a JSON list; score the file again"),
        ({"evidence": '["x"]'}, "the column 'evidence' is not as paraqd writes it"),
        ({"warnings": "{}"}, "the column 'warnings' is not a JSON list"),
    ],
)
def test_a_damaged_row_is_named(report, change, message):
    with pytest.raises(TableError) as error:
        report([scored_row() | change])
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"question": "Q", "paraphrase": "P"}], "has no column 'score': score it first with paraqd score"),
        ([{"question": "Q", "V1": "P", "paraphrase": "", "V1_score": 1}], "several scores in a row (V1_score)"),
        ([{"problem": "Q", "paraphrase": "P", "score": 1}], "has no column 'question'"),
        ([{"question": "Q", "paraphrase": "P", "score": 1}], "neither a verdict nor a threshold"),
    ],
)
def test_a_file_that_is_not_a_score_file_is_refused(report, rows, message):
    with pytest.raises(TableError) as error:
        report(rows)
    assert message in str(error.value)


def test_a_file_with_too_many_pairs_is_refused(report, monkeypatch):
    monkeypatch.setattr("paraqd.runs.report.MOST_PAIRS", 1)
    assert report([scored_row()])["summary"]["rows"] == 1
    with pytest.raises(TableError, match="has more than 1 pairs, too many for a browser"):
        report([scored_row(), scored_row()])


def test_an_existing_report_is_replaced_only_on_request(tmp_path):
    scored = write_rows(tmp_path / "scored.csv", [scored_row()])
    out = tmp_path / "report.html"
    write_report(scored, out)
    with pytest.raises(TableError, match="already exists; pass overwrite=True"):
        write_report(scored, out)
    for name, message in (("report.pdf", "ends in .html"), ("none/report.html", "there is no folder")):
        with pytest.raises(TableError, match=message):
            write_report(scored, tmp_path / name)
