"""Score the files that spreadsheet programs write, and write files that open correctly in these programs."""

import datetime
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("openpyxl")

import openpyxl

from paraqd.cli.main import run
from paraqd.tables.table import open_table
from tests.runs.conftest import READING, environment, pairs, wait_for

ROWS = [
    ["Q-1", "Tom has 5 pens. How many pens has Tom?", "Tom owns 5 pens. How many pens has Tom?", 2],
    ["Q-2", "Tom has 5 pens. How many pens has Tom?", "Tom has 6 pens. How many pens has Tom?", -5],
    ["Q-3", None, "Tom has 6 pens.", 0.5],
]


@pytest.fixture
def there(tmp_path, monkeypatch):
    """Work in a folder with a workbook that has a title, blank rows, and a notes sheet."""
    monkeypatch.chdir(tmp_path)
    book = openpyxl.Workbook()
    sheet = book.active
    for number, row in [(2, ["ID", "Question", "Paraphrase", "points"]), (3, ROWS[0]), (4, ROWS[1]), (7, ROWS[2])]:
        for place, value in enumerate(row, start=1):
            sheet.cell(number, place, value)
    book.create_sheet("notes").append(["for me"])
    book.save("book.xlsx")
    return tmp_path


def test_a_workbook_in_and_out(there, capsys):
    assert run(["score", "book.xlsx", "-o", "scored.xlsx", *READING]) == 1
    told = capsys.readouterr().err
    assert "could not score 1 of 3 rows (blank question: row 7 (Q-3))" in told
    assert "other sheets are ignored: notes" in told
    sheet, summary = openpyxl.load_workbook("scored.xlsx").worksheets
    names = [cell.value for cell in sheet[1]]
    assert names == [
        *["ID", "Question", "Paraphrase", "points", "score", "valid", "why"],
        *["evidence", "warnings", "error", "signature"],
    ]
    assert sheet.freeze_panes == "A2" and sheet.auto_filter.ref == "A1:K4"
    assert [row[3] for row in sheet.iter_rows(min_row=2, values_only=True)] == [2, -5, 0.5]
    assert sheet["G3"].value == 'A number changed: "5" became "6".'
    assert [sheet[f"F{row}"].fill.fgColor.rgb for row in (2, 3, 4)] == ["00C6EFCE", "00FFC7CE", "00D9D9D9"]
    shown = {row[0]: row[1] for row in summary.iter_rows(values_only=True) if row[0]}
    assert (shown["pairs"], shown["valid"], shown["invalid"], shown["not scored"]) == (3, 1, 1, 1)
    assert shown["number changed"] == 1 and shown["signature"].startswith("paraqd:")


def test_the_same_input_gives_the_same_bytes_also_after_a_kill(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    book = openpyxl.Workbook()
    made = pairs(3000)
    book.active.append(list(made[0]))
    for row in made:
        book.active.append(list(row.values()))
    book.save("book.xlsx")
    assert run(["score", "book.xlsx", "-o", "one.xlsx", "-q", "--workers", "2", *READING]) == 0
    program = [sys.executable, "-m", "paraqd", "score", "book.xlsx", "-o", "two.xlsx", "-q", *READING]
    for pause in ("part-*.jsonl", ".two.xlsx.*.writing"):  # killed while it scores, and while it writes the workbook
        process = subprocess.Popen(program, env=environment())
        wait_for(lambda pause=pause: list(Path("two.xlsx.parts").glob(pause)), process)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert run(["score", "book.xlsx", "-o", "two.xlsx", "-q", *READING]) == 0
    assert Path("one.xlsx").read_bytes() == Path("two.xlsx").read_bytes()
    assert not Path("two.xlsx.parts").exists()


def test_between_csv_and_excel(there):
    assert run(["score", "book.xlsx", "-o", "out.csv", "-q", *READING]) == 1
    raw = Path("out.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbfID,Question,Paraphrase,points,score,valid,evidence")
    assert [row["points"] for row in open_table("out.csv").rows()] == ["2", "-5", "0.5"]
    Path("in.csv").write_text("question,paraphrase,n\nTom has 5 pens. How many?,Tom has 6. How many?,-5\n")
    assert run(["score", "in.csv", "-o", "back.xlsx", "-q", "--no-why", *READING]) == 0
    assert "why" not in open_table("back.xlsx").columns


def test_wide_verdicts_are_coloured(there):
    wide = ["--wide", "--paraphrase-column", "Paraphrase"]
    assert run(["score", "book.xlsx", "-o", "wide.xlsx", "-q", *READING, *wide]) == 1
    sheet, summary = openpyxl.load_workbook("wide.xlsx").worksheets
    names = [cell.value for cell in sheet[1]]
    place = names.index("Paraphrase_decision") + 1
    assert [sheet.cell(row, place).value for row in (2, 3, 4)] == ["valid", "invalid", "error"]
    assert [sheet.cell(row, place).fill.fgColor.rgb for row in (2, 3)] == ["00C6EFCE", "00FFC7CE"]
    assert ("number changed", 1) in {row[:2] for row in summary.iter_rows(values_only=True)}


def test_evaluate_reads_workbooks_and_decimal_commas(there, capsys):
    text = "question;paraphrase;label;points\nTom has 5 pens. How many?;Tom owns 5 pens. How many?;1;2,5\n"
    Path("in.csv").write_text(text + "Tom has 5 pens. How many?;Tom has 6 pens. How many?;0;1,5\n")
    assert run(["score", "in.csv", "-o", "scored.csv", "-q", *READING]) == 0
    lines = Path("scored.csv").read_text().splitlines()
    score = lines[2].split(";")[4]
    assert "," in score and "." not in score and float(score.replace(",", ".")) < 0.5
    for name in ("scored.csv", "scored.xlsx"):
        if name.endswith("xlsx"):
            assert run(["score", "in.csv", "-o", name, "-q", *READING]) == 0
        assert run(["evaluate", name, "--json"]) == 0
        assert '"auc": 1.0' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "encoding", "decimal"),
    [
        ("question;paraphrase;n\na;b;1,5\n", "utf-8", ","),
        ("question;paraphrase;n\na;b;1.5\n", "utf-8-sig", "."),
        ("question;paraphrase\na;b\n", "utf-8-sig", ","),
        ("question;paraphrase\na;b\n", "utf-8", "."),
        ("sep=;\nquestion;paraphrase\na;b\n", "utf-8", ","),
        ('question,paraphrase,n\na,b,"1,5"\n', "utf-8-sig", "."),
        ("question;paraphrase;n\na;b;1,234\n", "utf-8", "."),
    ],
)
def test_the_decimal_sign_is_that_of_the_file(there, text, encoding, decimal):
    Path("in.csv").write_text(text, encoding=encoding)
    assert open_table("in.csv").dialect.decimal == decimal
    assert run(["score", "in.csv", "-o", "out.csv", "-q", *READING]) == 0
    [row] = open_table("out.csv").rows()
    assert decimal in row["score"]


HOSTILE = ["=cmd|' /C calc'!A0", "+cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1+1", "\r=1+1"]
HOSTILE += ["\n=1+1", " =1+1", "\n -2+3+cmd|' /C calc'!A0", "＝1+1"]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_formulas_are_neutralised_in_csv_and_come_back_unchanged(there, text, encoding):
    quoted = '"' + text + '"'
    Path("in.csv").write_text(f"question,paraphrase,{quoted}\nHow many?,{quoted},-5\n", encoding=encoding, newline="")
    assert run(["score", "in.csv", "-o", "out.csv", "-q", *READING]) == 0
    raw = Path("out.csv").read_bytes().decode("utf-8-sig")
    assert raw.count("'" + text) == (2 if text.strip() == text else 1)  # names lose surrounding white space
    assert ",-5," in raw.replace('"', "")
    [row] = open_table("out.csv").rows()
    assert row["paraphrase"] == text
    assert run(["score", "in.csv", "-o", "out.tsv", "-q", *READING]) == 0
    assert raw.count("'" + text) == Path("out.tsv").read_bytes().decode("utf-8-sig").count("'" + text)
    assert run(["score", "out.csv", "-o", "again.csv", "-q", "--overwrite-columns", *READING]) == 0
    assert Path("again.csv").read_bytes() == Path("out.csv").read_bytes()
    assert run(["score", "in.csv", "-o", "out.xlsx", "-q", *READING]) == 0
    cell = openpyxl.load_workbook("out.xlsx").worksheets[0]["B2"]
    assert (cell.data_type, cell.quotePrefix) == ("s", True)


def test_a_plain_csv_keeps_questions_that_begin_with_a_sign(there):
    for text in ("-3x + 5 = 2. Find x.", "- Tom's age (in years) is 5.", "'Tis 5 o'clock."):
        Path("in.csv").write_text(f"question,paraphrase\n{text},{text}\n")
        assert run(["score", "in.csv", "-o", "out.csv", "-q", "--overwrite", *READING]) == 0
        assert f"\n{text},{text},1.0" in Path("out.csv").read_text()
    Path("in.csv").write_text("question,paraphrase\n-3x = 6. Find x.,-3x = 6. Find x.\n")
    assert run(["score", "in.csv", "-o", "out.csv", "-q", "--overwrite", "--for-excel", *READING]) == 0
    assert Path("out.csv").read_bytes().startswith(b"\xef\xbb\xbfquestion,paraphrase")
    assert "\n'-3x = 6. Find x.,'-3x = 6. Find x.,1.0" in Path("out.csv").read_text(encoding="utf-8-sig")


def test_workbooks_in_a_folder(there):
    Path("in").mkdir()
    Path("in/a.xlsx").write_bytes(Path("book.xlsx").read_bytes())
    Path("in/b.csv").write_text("ID,Question,Paraphrase,points\nQ-9,How many?,How many?,1\n")
    assert run(["score", "in", "-o", "out/", "-q", *READING]) == 1
    import pyarrow.parquet as pq

    assert [row["ID"] for row in pq.read_table("out").to_pylist()] == ["Q-1", "Q-2", "Q-3", "Q-9"]


def test_a_sheet_that_claims_endless_rows_is_refused(there, capsys):
    import zipfile

    with zipfile.ZipFile("book.xlsx") as good, zipfile.ZipFile("bad.xlsx", "w") as bad:
        for name in good.namelist():
            content = good.read(name)
            if name.endswith("sheet1.xml"):
                content = content.replace(b'r="7"', b'r="2000000000"')
            bad.writestr(name, content)
    assert run(["score", "bad.xlsx", "-o", "out.csv", "-q", *READING]) == 2
    assert "claims more than 1,048,576 rows" in capsys.readouterr().err


def test_a_text_that_no_cell_can_hold_is_found_before_the_work(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text(f"question,paraphrase,note\na,b,\n\nc,d,{'x' * 32_768}\n")
    assert run(["score", "in.csv", "-o", "out.xlsx", "-q", *READING]) == 2
    assert "in.csv, row 4: the column 'note' has 32,768 characters, and an Excel cell" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_dates_are_not_texts(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    book = openpyxl.Workbook()
    book.active.append(["question", "paraphrase"])
    book.active.append(["How many?", datetime.datetime(2024, 1, 2)])
    book.save("book.xlsx")
    assert run(["score", "book.xlsx", "-o", "out.csv", "-q", *READING]) == 1
    assert "paraphrase is a date (2024-01-02), not text: row 2" in capsys.readouterr().err
