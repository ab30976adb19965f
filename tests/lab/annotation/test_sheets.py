"""Sheets for annotators keep the user's column names and ids, and their labels are merged back."""

import openpyxl
import pytest

from paraqd.cli.main import run
from paraqd.tables.table import open_table

HEAD = ["Nr", "Frage", "Variante", "Thema", "label"]
ROWS = [
    ["Q-1", "Tom has 5 pens. How many?", "Tom owns 5 pens. How many?", "sums", 1],
    ["Q-2", "-3x = 6. Find x.", "Solve -3x = 6 for x.", "algebra", 0],
]
NAMES = ["--question-column", "frage", "--paraphrase-column", "Variante", "--id-column", "Nr"]


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_names_and_ids_survive(tmp_path, monkeypatch, ending):
    monkeypatch.chdir(tmp_path)
    book = openpyxl.Workbook()
    for row in [HEAD, *ROWS]:
        book.active.append(row)
    book.save("bank.xlsx")
    assert run(["lab", "annotate", "export", "bank.xlsx", "-a", "ann", "-o", f"ann.{ending}", "-q", *NAMES]) == 0
    sheet = open_table(f"ann.{ending}")
    assert sheet.columns == ("Nr", "Frage", "Variante", "label")  # nothing that reveals the expected label
    rows = sorted(sheet.rows(), key=lambda row: row["Nr"])
    assert [(row["Nr"], row["Frage"]) for row in rows] == [("Q-1", ROWS[0][1]), ("Q-2", ROWS[1][1])]
    if ending == "csv":
        text = (tmp_path / "ann.csv").read_text(encoding="utf-8-sig")
        assert "'-3x = 6. Find x." in text  # a spreadsheet does not take it for a formula
        lines = [line + "1" if line.startswith("Q-1") else line + "0" for line in text.splitlines()[1:]]
        (tmp_path / "ann.csv").write_text("\n".join([text.splitlines()[0], *lines]), encoding="utf-8-sig")
    else:
        filled = openpyxl.load_workbook("ann.xlsx")
        for row in filled.worksheets[0].iter_rows(min_row=2):
            row[3].value = 1 if row[0].value == "Q-1" else 0
        filled.save("ann.xlsx")
    assert run(["lab", "annotate", "merge", "bank.xlsx", f"ann.{ending}", "-o", "merged.csv", "-q", *NAMES]) == 0
    merged = list(open_table("merged.csv").rows())
    assert list(merged[0])[:5] == ["Nr", "Frage", "Variante", "label", "Thema"]
    assert [(row["Nr"], row["Frage"], row["label"], row["Thema"]) for row in merged] == [
        ("Q-1", ROWS[0][1], "1", "sums"),
        ("Q-2", ROWS[1][1], "0", "algebra"),
    ]


def test_sheets_with_the_usual_names_are_still_merged(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bank.csv").write_text("Nr,Frage,Variante\nQ-1,How many?,How much?\n")
    (tmp_path / "bob.csv").write_text("question,paraphrase,label\nHow many?,How much?,0\n")
    assert run(["lab", "annotate", "merge", "bank.csv", "bob.csv", "-o", "merged.csv", "-q", *NAMES]) == 0
    assert [row["label"] for row in open_table("merged.csv").rows()] == ["0"]
