"""Upload tables, export projects, and import decisions."""

import csv
import io
import json
import re
import tempfile
import zipfile

import openpyxl
import pytest

from paraqd.server.review import imports, routes
from paraqd.server.review.columns import find_columns
from paraqd.server.review.errors import BadRequest
from paraqd.server.review.new_projects import Terms
from paraqd.tables.formulas import begins_like_formula
from paraqd.tables.temporary import temporary_folder

HEAD = ["Nr", "Original", "Rewritten", "Author"]
ROWS = [
    ["A-1", "Tom has 5 nuts and eats 2. How many are left?", "Tom owns 5 nuts and eats 2. How many are left?", "Zoë"],
    ["A-2", "Tom has 6 nuts and eats 2. How many are left?", "Tom owns 7 nuts and eats 2. How many are left?", "=1+1"],
    ["A-3", "Tom has 5 nuts and eats 2. How many are left?", "Tom owns 5 nuts and eats 2. How many are left?", "Kim"],
    ["A-4", "Tom has 9 nuts. How many?", "", "-"],
]


def as_csv(rows, delimiter=",", encoding="utf-8"):
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter).writerows(rows)
    return file.getvalue().encode(encoding)


def as_xlsx(rows):
    book, file = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(["" if cell is None else str(cell) for cell in row])
        for cell in book.active[book.active.max_row]:
            cell.data_type = "s"
    book.save(file)
    return file.getvalue()


def as_jsonl(rows):
    head, *rest = rows
    return "\n".join(json.dumps(dict(zip(head, row, strict=True))) for row in rest).encode()


def upload(client, name, content, /, **fields):
    return client.post("/v1/projects/upload", files={"file": (name, content)}, data=fields)


def export(client, project, kind, **query):
    answer = client.get(f"/v1/projects/{project}/export", params={"format": kind, **query})
    assert answer.status_code == 200, answer.text
    return answer.content


def rows_of(kind, content):
    """Read an exported file as other programs do."""
    if kind == "csv":
        text = content.decode("utf-8-sig")
        return list(csv.DictReader(io.StringIO(text), delimiter=";" if ";" in text.split("\n")[0] else ","))
    if kind == "jsonl":
        return [json.loads(line) for line in content.decode().splitlines()]
    head, *rest = openpyxl.load_workbook(io.BytesIO(content)).worksheets[0].iter_rows(values_only=True)
    return [dict(zip(head, row, strict=True)) for row in rest]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bank.csv", as_csv([HEAD, *ROWS])),
        ("BANK.CSV", as_csv([HEAD, *ROWS], ";", "utf-8-sig")),
        ("bank.tsv", as_csv([HEAD, *ROWS], "\t")),
        ("bank.xlsx", as_xlsx([HEAD, *ROWS])),
        ("../bank.jsonl", as_jsonl([HEAD, *ROWS])),
    ],
    ids=lambda value: value if isinstance(value, str) else "",  # a workbook contains the time, and ids must not change
)
def test_a_table_becomes_a_project(client, monkeypatch, tmp_path, name, content):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    answer = upload(client, name, content)
    assert answer.status_code == 201, answer.text
    found = answer.json()
    assert (found["name"].lower(), found["total"], found["rows"], found["empty"]) == ("bank", 2, 3, 1)
    assert found["paraphrase_columns"] == ["Rewritten"]
    pair = client.get(f"/v1/projects/{found['id']}/pairs/2").json()
    assert (pair["id"], pair["paraphrase"]) == ("A-2", ROWS[1][2])
    assert pair["row"] == (2 if name.endswith("jsonl") else 3)
    assert len(list(tmp_path.glob("paraqd-temporary-*"))) == 1
    assert not list(tmp_path.glob("paraqd-temporary-*/[!.]*"))


def test_several_paraphrases_in_a_row_are_pairs_of_their_own(client):
    rows = [["Question", "V1", "V2", "Note"], ["How many nuts are 5 nuts?", "5 nuts: how many?", "", "x"]]
    found = upload(client, "a.csv", as_csv(rows), votes_needed="2", review="0.2,0.8", name="Nuts").json()
    assert (found["total"], found["empty"], found["paraphrase_columns"]) == (1, 1, ["V1", "V2"])
    assert (found["name"], found["votes_needed"], found["review"]) == ("Nuts", 2, [0.2, 0.8])
    chosen = upload(client, "a.csv", as_csv(rows), question_column="note", paraphrase_columns="V*").json()
    assert chosen["paraphrase_columns"] == ["V1", "V2"]
    repeated = upload(client, "a.csv", as_csv(rows), question_column="note", paraphrase_columns=["V2", "V1"]).json()
    assert repeated["paraphrase_columns"] == ["V2", "V1"]


def test_columns_are_guessed_from_common_names():
    assert find_columns(["ID", "Problem", "paraphrase_1", "Paraphrase 2"]).paraphrases == (
        "paraphrase_1",
        "Paraphrase 2",
    )
    assert find_columns(["text", "Question", "Variant"]).question == "Question"
    assert find_columns(["Item no.", "Question", "Variant"]).id == "Item no."
    with pytest.raises(BadRequest, match="No column has a common name for the question"):
        find_columns(["Frage", "V1"])


def test_unknown_columns_are_listed(client):
    answer = upload(client, "a.csv", as_csv([["Frage", "Neu"], ["Wie viele?", "Wie viel?"]]))
    error = answer.json()["error"]
    assert answer.status_code == 400 and error["details"]["columns"] == ["Frage", "Neu"] and error["details"]["hint"]
    columns = {"question_column": "Frage", "paraphrase_columns": "Neu"}
    assert (
        upload(client, "a.csv", as_csv([["Frage", "Neu"], ["Wie viele?", "Wie viel?"]]), **columns).status_code == 201
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("photo.png", b"\x89PNG", "photo.png is not a table"),
        ("table.csv.gz", b"\x1f\x8b", "is not a table"),
        ("noname", b"a,b", "is not a table"),
        ("a.csv", b"", "a.csv is empty"),
        ("a.csv", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "a.csv"),
        ("a.csv", as_csv([["question", "paraphrase"], ["Wie groß?", "Wie lang?"]], encoding="cp1252"), "cp1252"),
        ("a.xlsx", b"PK\x03\x04 no archive", "a.xlsx is not an Excel file"),
        ("a.xlsx", b"question,paraphrase", "a.xlsx is not an Excel file"),
        ("a.jsonl", b"{not json}", "not valid JSON"),
        ("a.parquet", b"PAR1 but no more", "a.parquet"),
        ("a.csv", b"question,paraphrase\n", "no pair to score"),
        ("../../etc/passwd.csv", b"", "passwd.csv is empty"),
    ],
)
def test_a_file_that_is_no_table_is_refused(client, name, content, message):
    answer = upload(client, name, content)
    assert answer.status_code == 400, answer.text
    assert message in answer.json()["error"]["message"]
    assert "/tmp" not in answer.text and "Traceback" not in answer.text
    assert client.get("/v1/projects").json() == {"projects": []}


def test_a_zip_bomb_is_refused(client):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * (imports.LARGEST_UNPACKED + 1))
    answer = upload(client, "bomb.xlsx", file.getvalue())
    assert answer.status_code == 400 and "MB unpacked" in answer.json()["error"]["message"]


def test_a_table_with_too_many_pairs_is_refused(client, monkeypatch):
    monkeypatch.setattr(routes, "default_terms", lambda app: Terms(0.5, most_pairs=2))
    answer = upload(client, "a.csv", as_csv([HEAD, *ROWS]))
    assert answer.status_code == 413 and "more than 2 pairs" in answer.json()["error"]["message"]
    assert client.get("/v1/projects").json() == {"projects": []}


def reviewed(client, name="bank.csv", content=None):
    """Return a project in which Ann and Ben have decided."""
    project = upload(client, name, content or as_csv([HEAD, *ROWS])).json()["id"]
    path = f"/v1/projects/{project}/decisions"
    client.post(path, json={"pair": 1, "decision": "reject", "note": "=HYPERLINK(1)"}, headers={"X-Reviewer": "Ben"})
    client.post(path, json={"pair": 1, "decision": "accept"})
    client.post(path, json={"pair": 2, "decision": "reject", "note": "7, not 6"})
    return project


@pytest.mark.parametrize("kind", ["csv", "xlsx", "jsonl"])
def test_an_export_has_the_users_rows_and_every_decision(client, kind):
    project = reviewed(client)
    rows = rows_of(kind, export(client, project, kind))
    assert list(rows[0])[:5] == [*HEAD, "paraphrase_column"]
    assert [row["Nr"] for row in rows] == ["A-1", "A-2", "A-3"]  # the folded pair is written twice
    assert [row["status"] for row in rows] == ["accepted", "rejected", "accepted"]
    assert rows[2]["decision by Ben"] == "reject" and rows[2]["decision by Ann"] == "accept"
    assert rows[1]["note by Ann"] == "7, not 6" and not rows[1]["decision by Ben"]
    only = rows_of(kind, export(client, project, kind, only="accepted"))
    assert [row["Nr"] for row in only] == ["A-1", "A-3"]


def test_no_cell_of_an_export_is_a_formula(client):
    rows = [["question", "paraphrase", "=cmd|' /C calc'!A0"], ["=1+2 is how many?", "@SUM(1) is how many?", "\n=1+1"]]
    project = upload(client, "a.csv", as_csv(rows), name="=1+1\x07").json()["id"]
    note = {"pair": 1, "decision": "accept", "note": "\n =cmd|' /C calc'!A0"}
    client.post(f"/v1/projects/{project}/decisions", json=note, headers={"X-Reviewer": "%3D1%2B1"})
    for row in csv.reader(io.StringIO(export(client, project, "csv").decode("utf-8-sig"))):
        assert not [cell for cell in row if begins_like_formula(cell) and not re.fullmatch(r"-[0-9.]+", cell)]
    book = openpyxl.load_workbook(io.BytesIO(export(client, project, "xlsx")))
    cells = [cell for sheet in book for row in sheet for cell in row]
    assert not [cell for cell in cells if cell.data_type == "f"]
    assert all(cell.quotePrefix for cell in cells if isinstance(cell.value, str) and begins_like_formula(cell.value))


@pytest.mark.parametrize("kind", ["csv", "xlsx", "jsonl"])
def test_an_export_can_be_uploaded_as_a_new_project(client, kind):
    rows = [
        ["question", "paraphrase", "score"],
        ["=1+2: how many?", "'-1 and 4: how many?", "good"],
        ["How?", "Why?", ""],
    ]
    project = reviewed(client, content=as_csv(rows))
    content = export(client, project, kind)
    again = upload(client, f"export.{kind}", content)
    assert again.status_code == 201, again.text
    second = again.json()
    assert (second["total"], second["status"]["accepted"], second["status"]["rejected"]) == (2, 1, 1)
    pair = client.get(f"/v1/projects/{second['id']}/pairs/1").json()
    first = client.get(f"/v1/projects/{project}/pairs/1").json()
    assert (pair["question"], pair["paraphrase"]) == (rows[1][0], rows[1][1])
    assert pair["votes"] == first["votes"]
    # the second export has the same columns as the first
    both = [rows_of(kind, export(client, each, kind)) for each in (project, second["id"])]
    names = (
        "question",
        "paraphrase",
        "score",
        "status",
        "decision by Ann",
        "note by Ben",
        "time by Ben",
        "paraqd_pair",
    )
    assert list(both[0][0]) == list(both[1][0])
    assert [[row[name] for name in names] for row in both[0]] == [[row[name] for name in names] for row in both[1]]
    assert both[0][0]["score"] == "good"


def test_an_export_knows_its_columns_even_if_their_names_are_unusual(client):
    rows = [["Frage", "Neu A", "Neu B"], ["Wie viele?", "Wie viel?", "Welche Zahl?"]]
    project = upload(client, "a.csv", as_csv(rows), question_column="Frage", paraphrase_columns="Neu*").json()["id"]
    again = upload(client, "b.xlsx", export(client, project, "xlsx")).json()
    assert (again["total"], again["rows"], again["paraphrase_columns"]) == (2, 2, ["Neu A", "Neu B"])


@pytest.mark.parametrize("kind", ["csv", "xlsx", "jsonl"])
def test_decisions_of_an_export_are_merged_into_a_project(client, kind):
    project = reviewed(client)
    content = export(client, project, kind)
    path = f"/v1/projects/{project}"
    answer = client.post(f"{path}/import", files={"file": (f"e.{kind}", content)})
    assert answer.json() == {"decisions": 0, "unknown": 0, "unchanged": 3}
    other = upload(client, "bank.csv", as_csv([HEAD, *ROWS[:1]])).json()["id"]
    answer = client.post(f"/v1/projects/{other}/import", files={"file": (f"e.{kind}", content)})
    assert answer.json() == {"decisions": 2, "unknown": 1, "unchanged": 0}
    assert client.get(f"/v1/projects/{other}").json()["status"]["accepted"] == 1
    # an import is one step of the reviewer who imports
    assert client.post(f"/v1/projects/{other}/undo").json() == {"changed": [1], "undo": 0, "redo": 1}
    assert client.get(f"/v1/projects/{other}").json()["status"]["open"] == 1


def test_decisions_may_be_edited_in_the_file(client):
    project = reviewed(client)
    book = openpyxl.load_workbook(io.BytesIO(export(client, project, "xlsx")))
    sheet = book.worksheets[0]
    column = [cell.value for cell in sheet[1]].index("decision by Ann") + 1
    sheet.cell(3, column).value = "Accepted"
    file = io.BytesIO()
    book.save(file)
    path = f"/v1/projects/{project}"
    answer = client.post(f"{path}/import", files={"file": ("e.xlsx", file.getvalue())}, headers={"X-Reviewer": "Cy"})
    assert answer.json() == {"decisions": 1, "unknown": 0, "unchanged": 2}
    assert client.get(f"{path}/pairs/2").json()["my_vote"] == "accept"
    sheet.cell(3, column).value = "perhaps"
    book.save(file := io.BytesIO())
    answer = client.post(f"{path}/import", files={"file": ("e.xlsx", file.getvalue())})
    assert answer.status_code == 400 and "Row 3" in answer.json()["error"]["message"]


def with_decisions(client, project, *given):
    """Return an export as CSV in which Ann's decisions are replaced; the first and the last row have the same pair."""
    rows = rows_of("csv", export(client, project, "csv"))
    for row, decision in zip(rows, given, strict=True):
        row["decision by Ann"] = decision
    return as_csv([list(rows[0]), *(list(row.values()) for row in rows)])


@pytest.mark.parametrize("edited", [("reject", "reject", "accept"), ("accept", "reject", "reject")])
def test_one_of_several_equal_rows_may_be_edited(client, edited):
    project = reviewed(client)
    content = with_decisions(client, project, *edited)
    answer = client.post(f"/v1/projects/{project}/import", files={"file": ("e.csv", content)})
    assert answer.json() == {"decisions": 1, "unknown": 0, "unchanged": 2}
    assert client.get(f"/v1/projects/{project}/pairs/1").json()["my_vote"] == "reject"


def test_equal_rows_with_different_new_decisions_are_refused(client):
    project, empty = reviewed(client), upload(client, "bank.csv", as_csv([HEAD, *ROWS])).json()["id"]
    content = with_decisions(client, project, "accept", "", "reject")
    answer = client.post(f"/v1/projects/{empty}/import", files={"file": ("e.csv", content)})
    assert answer.status_code == 400 and "Rows 2 and 4 have the same pair" in answer.json()["error"]["message"]
    assert client.get(f"/v1/projects/{empty}").json()["status"]["open"] == 2
    # a new project is stored with all its decisions or not at all
    answer = upload(client, "e.csv", content)
    assert answer.status_code == 400 and "Rows 2 and 4" in answer.json()["error"]["message"]
    assert len(client.get("/v1/projects").json()["projects"]) == 2


def test_a_note_with_spaces_around_it_survives_export_and_import(client):
    project = reviewed(client)
    path = f"/v1/projects/{project}"
    client.post(f"{path}/decisions", json={"pair": 1, "decision": "accept", "note": " fine \n"})
    assert "fine" in [vote["note"] for vote in client.get(f"{path}/pairs/1").json()["votes"]]
    answer = client.post(f"{path}/import", files={"file": ("e.csv", export(client, project, "csv"))})
    assert answer.json()["decisions"] == 0


def test_a_file_without_decisions_cannot_be_imported(client):
    project = reviewed(client)
    answer = client.post(f"/v1/projects/{project}/import", files={"file": ("bank.csv", as_csv([HEAD, *ROWS]))})
    assert answer.status_code == 400 and answer.json()["error"]["code"] == "no_decisions"


def test_a_scored_file_has_one_pair_in_each_row(client):
    head = ["Question", "V1", "V2", "paraphrase_column", "score", "valid"]
    texts = ["Ann has 5 pens. How many?", "How many pens has Ann, who has 5?", "Ann has 6 pens. How many?"]
    rows = [head, [*texts, "V1", "0.9", "true"], [*texts, "V2", "-0.9", "false"]]
    found = upload(client, "scored.csv", as_csv(rows)).json()
    assert (found["total"], found["rows"], found["paraphrase_columns"]) == (2, 2, ["V1", "V2"])


@pytest.mark.parametrize("given", ["bytes=0-3", "bytes=9-2", "nonsense", "bytes=999999999-"])
def test_a_download_is_always_complete_and_leaves_nothing_behind(client, given):
    project = reviewed(client)
    answer = client.get(f"/v1/projects/{project}/export?format=csv", headers={"Range": given})
    assert answer.status_code == 200 and len(rows_of("csv", answer.content)) == 3
    assert not list(temporary_folder().glob("export-*"))


def test_a_download_has_the_name_of_the_project(client):
    project = upload(client, "a.csv", as_csv([HEAD, *ROWS]), name='Übung "3"/\r\n4').json()["id"]
    answer = client.get(f"/v1/projects/{project}/export?format=csv")
    assert answer.headers["content-disposition"].startswith('attachment; filename="_bung _3_')
    assert "filename*=UTF-8''%C3%9Cbung%20_3_" in answer.headers["content-disposition"]


def test_a_csv_export_keeps_the_delimiter_of_the_upload(client):
    project = upload(client, "a.csv", as_csv([HEAD, *ROWS], ";")).json()["id"]
    assert export(client, project, "csv").startswith(b"\xef\xbb\xbfNr;Original;")
