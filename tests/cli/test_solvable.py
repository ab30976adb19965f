"""``paraqd solvable`` checks the questions of a file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from pair_files import names, read_csv, read_jsonl, write_csv

from paraqd import RunInterrupted, SolvableChecker, solvable_file
from paraqd.cli.main import run
from paraqd.model_folder import find_model_folder
from paraqd.tables.table import open_table

WHOLE = "Tom has 5 pens and buys 3 more. How many pens does he have now?"
VAGUE = "Tom has 5 pens and buys some more. How many pens does he have now?"
UNASKED = "Tom has 5 pens and buys 3 more."
NEW = ["score", "solvable", "evidence", "warnings", "error", "signature"]


@pytest.fixture
def questions(tmp_path, monkeypatch):
    """Work in an empty folder with three questions in questions.csv."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    write_csv("questions.csv", [{"id": f"q{n}", "question": text} for n, text in enumerate((WHOLE, VAGUE, UNASKED))])
    return tmp_path


def test_the_rows_stay_and_get_new_columns(questions, capsys):
    assert run(["solvable", "questions.csv", "-o", "out.csv"]) == 0
    rows = read_csv("out.csv")
    assert list(rows[0]) == ["id", "question", *NEW]
    assert [row["question"] for row in rows] == [WHOLE, VAGUE, UNASKED]
    assert [row["solvable"] for row in rows] == ["true", "false", "false"]
    checker = SolvableChecker.load()
    for row in rows:
        found = checker.check(row["question"])
        assert float(row["score"]) == pytest.approx(found.score, abs=1e-6)
        assert json.loads(row["evidence"]) == json.loads(json.dumps([piece.to_dict() for piece in found.evidence]))
        assert row["signature"] == checker.signature
    shown = capsys.readouterr().out
    for line in ("solvable 1 33.3%", "unsolvable 2 66.7%", "number_missing 1", "question_missing 1"):
        assert line in " ".join(shown.split())
    assert "3 rows → out.csv" in shown


def test_json_counts(questions, capsys):
    assert run(["solvable", "questions.csv", "-o", "out.jsonl", "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)
    assert (counts["rows"], counts["solvable"], counts["unsolvable"], counts["errors"]) == (3, 1, 2, 0)
    assert counts["faults"] == {"number_missing": 1, "question_missing": 1}
    assert read_jsonl("out.jsonl")[1]["evidence"][0]["kind"] == "number_missing"


@pytest.mark.parametrize(("only", "kept"), [("solvable", [WHOLE]), ("unsolvable", [VAGUE, UNASKED])])
@pytest.mark.parametrize("out", ["out.csv", "out/"])
def test_only_one_verdict(questions, only, kept, out):
    assert run(["solvable", "questions.csv", "-o", out, "--only", only, "--quiet"]) == 0
    rows = open_table(out if out.endswith("csv") else next(Path(out).glob("*.parquet"))).rows()
    assert [row["question"] for row in rows] == kept


def test_the_threshold(questions):
    assert run(["solvable", "questions.csv", "-o", "out.csv", "--threshold", "1", "--quiet"]) == 0
    assert {row["solvable"] for row in read_csv("out.csv")} == {"false"}


@pytest.mark.parametrize("ending", ["tsv", "jsonl", "parquet", "xlsx"])
def test_other_formats(questions, ending):
    assert run(["solvable", "questions.csv", "-o", f"out.{ending}", "--quiet"]) == 0
    rows = list(open_table(f"out.{ending}").rows())
    assert [row["question"] for row in rows] == [WHOLE, VAGUE, UNASKED]
    assert [str(row["solvable"]).lower() for row in rows] == ["true", "false", "false"]


def test_rows_that_cannot_be_checked_are_kept_and_named(questions, capsys):
    rows = [{"id": "a", "question": WHOLE}, {"id": "b", "question": " "}, {"id": "c", "question": "#REF!"}]
    write_csv("some.csv", rows)
    assert run(["solvable", "some.csv", "-o", "out.csv"]) == 1
    captured = capsys.readouterr()
    assert "could not check 2 of 3 rows" in captured.err
    assert "blank question: row 3 (b)" in captured.err
    assert "not checked 2 66.7%" in " ".join(captured.out.split())
    found = read_csv("out.csv")
    assert [row["error"] for row in found] == [
        "",
        "blank question",
        "question is a spreadsheet error (#REF!), not text",
    ]
    assert [row["score"] != "" for row in found] == [True, False, False]


def test_another_column_and_another_encoding(questions):
    text = VAGUE.replace("Tom", "Zoë")
    write_csv("latin.csv", [{"Aufgabe": text}], encoding="cp1252")
    options = ["--question-column", "Aufgabe", "--encoding", "cp1252", "--quiet"]
    assert run(["solvable", "latin.csv", "-o", "out.csv", *options]) == 0
    [row] = read_csv("out.csv")
    assert (row["Aufgabe"], row["solvable"]) == (text, "false")


def test_a_clash_of_names(questions, fails):
    assert run(["solvable", "questions.csv", "-o", "out.csv", "--quiet"]) == 0
    line = fails("solvable", "out.csv", "-o", "again.csv")
    assert "out.csv already has the columns score, solvable," in line and "--overwrite-columns" in line
    assert run(["solvable", "out.csv", "-o", "again.csv", "--overwrite-columns", "--quiet"]) == 0
    assert read_csv("again.csv") == read_csv("out.csv")
    line = fails("solvable", "out.csv", "-o", "a.csv", "--question-column", "score")
    assert "the column 'score' of out.csv cannot be the question" in line
    assert line.endswith("because the output gets a column with this name; rename it")


def test_what_cannot_be_done_fails_with_one_line(questions, fails):
    assert "there is no file none.csv" in fails("solvable", "none.csv", "-o", "out.csv")
    Path("text.pdf").write_text("no table")
    assert "text.pdf" in fails("solvable", "text.pdf", "-o", "out.csv")
    assert "has no column 'text'" in fails("solvable", "questions.csv", "-o", "out.csv", "--question-column", "text")
    assert "none does not exist" in fails("solvable", "questions.csv", "-o", "out.csv", "--model", "none")
    folder = shutil.copytree(find_model_folder("solvable"), "model")
    with open(f"{folder}/onnx/model.onnx", "ab") as file:
        file.write(b"x")
    assert "has changed since the model was written" in fails(
        "solvable", "questions.csv", "-o", "out.csv", "--model", folder
    )
    assert "--only" in fails("solvable", "questions.csv", "-o", "out.csv", "--only", "valid")
    assert names(questions) == ["model", "questions.csv", "text.pdf"]


def test_an_interrupted_run_is_resumed(questions, monkeypatch):
    texts = [WHOLE, VAGUE, UNASKED, WHOLE] * 200
    write_csv("many.csv", [{"question": text} for text in texts])
    check, calls = SolvableChecker.check_texts, []

    def interrupted(self, some, **options):
        calls.append(len(some))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return check(self, some, **options)

    monkeypatch.setattr(SolvableChecker, "check_texts", interrupted)
    with pytest.raises(RunInterrupted):
        solvable_file("many.csv", "out.csv", part_rows=256)
    assert not Path("out.csv").exists()
    done = []
    report = solvable_file("many.csv", "out.csv", part_rows=256, progress=lambda *call: done.append(call))
    assert report.resumed == 512
    assert (report.rows, report.solvable, report.written) == (800, 400, 800)
    assert sum(calls[3:]) == 288
    assert [row["question"] for row in read_csv("out.csv")] == texts
    assert any(call[0] == "checking" for call in done)


def test_workers_give_the_same_output(questions):
    write_csv("many.csv", [{"question": text} for text in [WHOLE, VAGUE, UNASKED] * 100])
    solvable_file("many.csv", "one.csv", part_rows=100)
    solvable_file("many.csv", "two.csv", part_rows=100, workers=2)
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()


def test_threads_are_for_one_process(questions, fails):
    line = fails("solvable", "questions.csv", "-o", "out.csv", "--threads", "2", "--workers", "2")
    assert "--threads 2 cannot be combined with --workers 2: each worker uses one core" in line
    assert names(questions) == ["questions.csv"]
    assert run(["solvable", "questions.csv", "-o", "out.csv", "--threads", "2", "--quiet"]) == 0


def test_the_second_sheet_counts_questions_verdicts_and_faults(questions):
    openpyxl = pytest.importorskip("openpyxl")
    texts = [WHOLE, VAGUE, UNASKED, " "]
    write_csv("some.csv", [{"question": text} for text in texts])
    assert run(["solvable", "some.csv", "-o", "out.xlsx", "--only", "solvable", "--quiet"]) == 1
    counts = openpyxl.load_workbook("out.xlsx").worksheets[1]
    assert [row for row in counts.iter_rows(values_only=True) if row[0]] == [
        ("paraqd", None, None),
        ("questions", 4, None),
        ("solvable", 1, 0.25),
        ("unsolvable", 2, 0.5),
        ("not checked", 1, 0.25),
        ("rows on the first sheet", 1, None),
        ("faults of the unsolvable questions", None, None),
        ("number missing", 1, None),
        ("question missing", 1, None),
        ("threshold", "0.5", None),
        ("signature", SolvableChecker.load().signature, None),
    ]


class TestADamagedRowGroup:
    @pytest.fixture
    def damaged(self, questions):
        pytest.importorskip("pyarrow")
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.Table.from_pylist([{"nr": nr, "question": [WHOLE, VAGUE][nr % 2]} for nr in range(900)])
        pq.write_table(table, "in.parquet", row_group_size=300, use_dictionary=False)
        spoil("in.parquet", 1)

    @pytest.mark.parametrize("out", ["out.jsonl", "out.parquet", "out/"])
    def test_the_other_rows_are_checked(self, damaged, capsys, out):
        assert run(["solvable", "in.parquet", "-o", out, "--quiet"]) == 1
        first, last = capsys.readouterr().err.splitlines()
        assert first.startswith("in.parquet, row group 2 cannot be read (")
        assert last == "could not check 300 of 900 rows (row group 2 cannot be read: rows 301–600)"
        parts = sorted(Path(out).glob("*.parquet")) if out == "out/" else [out]
        rows = [row for part in parts for row in open_table(part).rows()]
        assert [row["solvable"] for row in rows] == [*[True, False] * 150, *[None] * 300, *[True, False] * 150]
        assert {row["error"] for row in rows[300:600]} == {"row group 2 cannot be read"}

    def test_the_report_names_the_damage(self, damaged):
        report = solvable_file("in.parquet", "out.csv")
        [line] = report.damage
        assert line.startswith("in.parquet, row group 2 cannot be read")
        assert (report.rows, report.errors, report.to_dict()["damage"]) == (900, 300, [line])

    def test_nothing_is_written_if_all_are_damaged(self, damaged, fails):
        for group in (0, 2):
            spoil("in.parquet", group)
        assert "in.parquet: none of its rows can be read (" in fails("solvable", "in.parquet", "-o", "out.csv")
        assert not Path("out.csv").exists()


def spoil(file, group):
    """Damage the questions in a row group of a Parquet file."""
    import pyarrow.parquet as pq

    place = pq.read_metadata(file).row_group(group).column(1).data_page_offset
    data = bytearray(Path(file).read_bytes())
    data[place : place + 200] = b"\xff" * 200
    Path(file).write_bytes(data)


def test_an_unknown_verdict_is_refused(questions):
    with pytest.raises(ValueError, match="choose solvable or unsolvable"):
        solvable_file("questions.csv", "out.csv", only="valid")
