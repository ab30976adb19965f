"""Excel workbooks are read like other tables, and what is written opens in Excel as text, never as a formula."""

from __future__ import annotations

import datetime
import json
import zipfile

import pytest

pytest.importorskip("openpyxl")

import openpyxl

from paraqd.tables import excel, workbook
from paraqd.tables.formats import EmptyError, TableError
from paraqd.tables.table import open_table
from paraqd.tables.writers import open_writer, write_rows

SCHEMA = {"id": str, "question": str, "paraphrase": str, "score": float, "valid": bool, "why": str, "evidence": str}


def book_with(path, *sheets):
    """Write a workbook whose sheets have the given rows."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets, start=1):
        sheet = book.create_sheet(f"Sheet{number}")
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_rows_are_read_with_their_types(tmp_path):
    day = datetime.datetime(2026, 3, 1)
    rows = [
        ["id", "question", " score "],
        [7, "How many?", 0.5],
        [8.0, "Wie viele Äpfel? 🍎", None],
        ["x", "1+1", day],
    ]
    table = open_table(book_with(tmp_path / "a.xlsx", rows))
    assert table.columns == ("id", "question", "score") and table.name.endswith("a.xlsx")
    assert list(table.rows())[:2] == [
        {"id": 7, "question": "How many?", "score": 0.5},
        {"id": 8, "question": "Wie viele Äpfel? 🍎", "score": None},
    ]
    assert list(table.rows())[2]["score"] == "2026-03-01"
    assert table.origin == tmp_path / "a.xlsx" and table.dialect.bom


def test_blank_rows_and_sheets_are_passed_over_and_other_sheets_are_named(tmp_path):
    rows = [[], [None, None], ["question", "paraphrase", None], ["a", "b"], [None], ["c", None], []]
    table = open_table(book_with(tmp_path / "a.xlsx", [], rows, [["x"], [1]]))
    assert list(table.rows()) == [{"question": "a", "paraphrase": "b"}, {"question": "c", "paraphrase": None}]
    assert table.notes == (f"{table.name}: the sheet 'Sheet2' is read; other sheets are ignored: Sheet1, Sheet3",)
    assert [row.number for row in table.rows()] == [4, 6]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([["question", "question"], ["a", "b"]], "has the column 'question' twice"),
        ([["question"], ["a", "b"]], "row 2 has more cells than the header has names"),
        ([["My bank"], ["question", "V1"], ["a", "b"]], r"row 1 \(My bank\) must hold the names of all columns"),
    ],
)
def test_headers_that_cannot_be_used(tmp_path, rows, told):
    with pytest.raises(TableError, match=told):
        open_table(book_with(tmp_path / "a.xlsx", rows))


def test_columns_without_a_name_are_named_by_their_letter(tmp_path):
    rows = [["question", " ", None, "V1"], ["a", "note", "more", "b"]]
    table = open_table(book_with(tmp_path / "a.xlsx", rows))
    assert list(table.rows()) == [{"question": "a", "B": "note", "C": "more", "V1": "b"}]


def test_a_cover_sheet_is_passed_over_and_the_sheet_is_named_in_errors(tmp_path):
    table = open_table(book_with(tmp_path / "a.xlsx", [["My question bank"]], [[" "], ["q", "V1"], ["a", "b"]]))
    assert table.columns == ("q", "V1") and [row.number for row in table.rows()] == [3]
    with pytest.raises(TableError, match=r"a.xlsx \(sheet 'Sheet2'; not read: Sheet1\) has no column 'question'"):
        table.need("question", "question")
    with pytest.raises(EmptyError, match=r"no sheet of .*b.xlsx \(Sheet1, Sheet2\) has rows"):
        open_table(book_with(tmp_path / "b.xlsx", [["My question bank"]], [["q", "V1"]]))


def test_a_formula_without_a_saved_value_is_refused(tmp_path):
    path = book_with(tmp_path / "a.xlsx", [["question", "V1"], ["a", "b"], ["c", '=A2&"?"']])
    with pytest.raises(TableError, match="row 3: V1 is a formula without a saved value; open the workbook in Excel"):
        open_table(path)


@pytest.mark.parametrize(("saved", "value"), [(b"<v>a?</v>", "a?"), (b"<v></v>", None)])
def test_a_formula_has_its_saved_value(tmp_path, saved, value):
    book_with(tmp_path / "given.xlsx", [["question", "V1"], ["a", "=A2"]])
    with zipfile.ZipFile(tmp_path / "given.xlsx") as given, zipfile.ZipFile(tmp_path / "a.xlsx", "w") as made:
        for name in given.namelist():
            content = given.read(name)
            for empty in (b"<v />", b"<v/>", b"<v></v>"):
                content = content.replace(b'<c r="B2"><f>A2</f>' + empty, b'<c r="B2" t="str"><f>A2</f>' + saved)
            made.writestr(name, content)
    assert list(open_table(tmp_path / "a.xlsx").rows()) == [{"question": "a", "V1": value}]


def test_escaped_characters_are_read(tmp_path):
    rows = [["question", "V1"], ["a_x000D_\nb", "_x005F_x0041_ and _xD800_ and _x0007_"]]
    table = open_table(book_with(tmp_path / "a.xlsx", rows))
    assert list(table.rows()) == [{"question": "a\r\nb", "V1": "_x0041_ and \ufffd and \ufffd"}]


@pytest.mark.parametrize("rows", [[], [[" "], [" "]], [["question", "paraphrase"]]])
def test_empty_workbooks(tmp_path, rows):
    with pytest.raises(EmptyError):
        open_table(book_with(tmp_path / "a.xlsx", rows))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b"question,paraphrase\na,b\n", "is not an Excel file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "protected by a password or is an old .xls file"),
        (b"PK\x03\x04" + b"\0" * 60, "is not an Excel file"),
    ],
)
def test_files_that_are_not_workbooks_are_one_line(tmp_path, content, told):
    (tmp_path / "a.xlsx").write_bytes(content)
    with pytest.raises(TableError, match=told) as found:
        open_table(tmp_path / "a.xlsx")
    assert "\n" not in str(found.value)


def test_an_archive_without_sheets_or_with_broken_ones(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as archive:
        archive.writestr("hello.txt", "hello")
    with pytest.raises(TableError, match="cannot be read as an Excel file"):
        open_table(tmp_path / "a.xlsx")
    book_with(tmp_path / "good.xlsx", [["question"], ["a"]])
    with zipfile.ZipFile(tmp_path / "good.xlsx") as good, zipfile.ZipFile(tmp_path / "bad.xlsx", "w") as bad:
        for name in good.namelist():
            bad.writestr(name, good.read(name)[: 150 if "sheet1" in name else None])
    with pytest.raises(TableError, match="cannot be read as an Excel file"):
        list(open_table(tmp_path / "bad.xlsx").rows())


def test_an_archive_that_would_fill_the_memory_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * (1 << 22))
    monkeypatch.setattr(excel, "LARGEST", 1 << 20)
    with pytest.raises(TableError, match=r"would need 4 MB unpacked, and the limit is 1 MB; save it as CSV"):
        open_table(tmp_path / "bomb.xlsx")


def scored(**changes):
    row = {"id": "1", "question": "q", "paraphrase": "p", "score": 0.9, "valid": True, "why": "", "evidence": "[]"}
    return {**row, **changes}


def test_written_rows_can_be_read_again(tmp_path):
    rows = [scored(), scored(score=-0.5, valid=False, why="A number changed.", question="two\nlines")]
    write_rows(tmp_path / "out.xlsx", SCHEMA, rows)
    assert list(open_table(tmp_path / "out.xlsx").rows()) == [
        {name: value if value != "" else None for name, value in row.items()} for row in rows
    ]


def test_the_sheet_is_made_for_reading(tmp_path):
    evidence = json.dumps([{"kind": "number_lost"}, {"kind": "number_lost"}])
    rows = [
        scored(),
        scored(valid=False, evidence=evidence),
        scored(valid=True, decision="review"),
        scored(error="no text", valid=None),
    ]
    schema = {**SCHEMA, "decision": str, "error": str}
    with open_writer(tmp_path / "out.xlsx", schema, metadata={"signature": "paraqd:x"}) as writer:
        writer.write(rows)
    book = openpyxl.load_workbook(tmp_path / "out.xlsx")
    sheet, summary = book.worksheets
    assert sheet.freeze_panes == "A2" and sheet.auto_filter.ref == "A1:I5"
    names = [cell.value for cell in sheet[1]]
    colours = [sheet.cell(row, names.index("valid") + 1).fill.fgColor.rgb for row in range(2, 6)]
    assert colours == ["00C6EFCE", "00FFC7CE", "00FFEB9C", "00D9D9D9"]
    assert sheet.column_dimensions["G"].hidden and not sheet.column_dimensions["B"].hidden
    assert sheet["B2"].alignment.wrap_text
    shown = {row[0]: row[1] for row in summary.iter_rows(values_only=True)}
    assert shown == {
        "paraqd": None,
        None: None,
        "pairs": 4,
        "valid": 1,
        "invalid": 1,
        "check by hand": 1,
        "not scored": 1,
        "signature": "paraqd:x",
        "faults of the invalid pairs": None,
        "number lost": 1,
    }


@pytest.mark.parametrize("text", ["=1+1", "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", '=HYPERLINK("http://x")'])
def test_texts_are_never_formulas(tmp_path, text):
    write_rows(tmp_path / "out.xlsx", SCHEMA, [scored(question=text)])
    cell = openpyxl.load_workbook(tmp_path / "out.xlsx").worksheets[0]["B2"]
    assert (cell.value, cell.data_type, cell.quotePrefix) == (text, "s", True)
    with zipfile.ZipFile(tmp_path / "out.xlsx") as archive:
        assert b"<f>" not in archive.read("xl/worksheets/sheet1.xml")


def test_the_same_rows_produce_the_same_bytes(tmp_path):
    for name in ("a.xlsx", "b.xlsx"):
        write_rows(tmp_path / name, SCHEMA, [scored(), scored(valid=False)])
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()


def test_what_a_cell_cannot_hold(tmp_path, monkeypatch):
    write_rows(tmp_path / "out.xlsx", SCHEMA, [scored(question="bell \x07 and \ud83d")])
    assert openpyxl.load_workbook(tmp_path / "out.xlsx").worksheets[0]["B2"].value == "bell \ufffd and \ufffd"
    with pytest.raises(TableError, match=r"row 2: the column 'question' has 32,768 characters"):
        write_rows(tmp_path / "long.xlsx", SCHEMA, [scored(question="x" * 32_768)])
    assert not (tmp_path / "long.xlsx").exists()
    monkeypatch.setattr(workbook, "MOST_ROWS", 3)
    with pytest.raises(TableError, match="at most 3 rows"):
        write_rows(tmp_path / "many.xlsx", SCHEMA, [scored()] * 3)


def test_a_control_character_in_a_column_name_is_replaced(tmp_path):
    write_rows(tmp_path / "out.xlsx", {"a\x0bb": str}, [{"a\x0bb": "text"}])
    assert list(open_table(tmp_path / "out.xlsx").rows()) == [{"a\ufffdb": "text"}]


@pytest.mark.parametrize("row", [{"valid": [1]}, {"decision": ["valid"]}, {"valid": {}}])
def test_other_values_are_not_verdicts(row):
    assert workbook.verdict_of(row) == ""


def test_lists_are_written_as_json(tmp_path):
    write_rows(tmp_path / "out.xlsx", SCHEMA, [scored(evidence=[{"kind": "number_lost"}])])
    cell = openpyxl.load_workbook(tmp_path / "out.xlsx").worksheets[0]["G2"]
    assert json.loads(cell.value) == [{"kind": "number_lost"}]


def test_compressed_workbooks_and_other_spreadsheets(tmp_path):
    with pytest.raises(TableError, match=r"Excel files are already compressed; remove \.gz"):
        open_table(tmp_path / "a.xlsx.gz")
    for ending in ("xls", "ods", "xlsm"):
        with pytest.raises(TableError, match=r"save it as \.xlsx or as CSV"):
            open_table(tmp_path / f"a.{ending}")
