"""Uploaded tables may contain anything; the server refuses them or stores them, and never fails."""

import datetime
import decimal
import io
import json

import openpyxl
import pytest
from fastapi.testclient import TestClient

from paraqd.server.app import create_app
from paraqd.server.review import imports
from paraqd.server.settings import Settings

QUESTION, PARAPHRASE = "Tom has 5 nuts and eats 2. How many are left?", "Tom owns 5 nuts and eats 2. How many are left?"
CSV = f"question,paraphrase\n{QUESTION},{PARAPHRASE}\n".encode()


def upload(client, name, content, /, **fields):
    return client.post("/v1/projects/upload", files={"file": (name, content)}, data=fields)


def as_parquet(**columns):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def as_jsonl(**more):
    return json.dumps({"question": QUESTION, "paraphrase": PARAPHRASE, **more}).encode()


def exports(client, answer):
    assert answer.status_code == 201, answer.text
    for kind in ("csv", "xlsx", "jsonl"):
        found = client.get(f"/v1/projects/{answer.json()['id']}/export?format={kind}")
        assert found.status_code == 200, found.text
    return json.loads(found.text.splitlines()[0])


def test_cells_of_every_type_are_stored(client):
    content = as_parquet(
        question=[QUESTION],
        paraphrase=[PARAPHRASE],
        day=[datetime.date(2026, 5, 1)],
        time=[datetime.datetime(2026, 5, 1, 12)],
        took=[datetime.timedelta(seconds=90)],
        price=[decimal.Decimal("1.50")],
        raw=[b"\xffx"],
        many=[[decimal.Decimal("2.5")]],
    )
    found = exports(client, upload(client, "a.parquet", content))
    assert (found["day"], found["took"], found["price"], found["many"]) == ("2026-05-01", "0:01:30", "1.50", ["2.5"])
    assert found["raw"].endswith("x")


def test_texts_that_are_not_unicode_are_mended(client):
    found = exports(
        client, upload(client, "a.jsonl", as_jsonl(a="7 \ud83d", b={"\ud83d": ["\udc00", "\0"]}, c="\0\x07"))
    )
    assert found["a"] == "7 ?" and found["b"] == {"?": ["?", "\0"]}


@pytest.mark.parametrize("name", ["bad \ud83d", "bad \x07"])
def test_a_column_name_that_cannot_be_shown_is_refused(client, name):
    answer = upload(client, "a.jsonl", as_jsonl(**{name: 1}))
    assert answer.status_code == 400 and "rename the column" in answer.json()["error"]["message"]


@pytest.mark.parametrize("encoding", ["utf-16", "punycode", "undefined", "utf\0", "idna", "unicode_escape", "rot13"])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_an_encoding_that_does_not_fit_is_no_fault_of_the_server(client, name, encoding):
    content = CSV + b"\\x,\xc3\xa9\n" if name == "a.csv" else as_jsonl() + b"\xc3\xa9\\x"
    answer = upload(client, name, content, encoding=encoding)
    assert answer.status_code == 400, answer.text
    assert "/tmp" not in answer.text


def test_a_text_may_be_as_long_as_the_settings_say(tmp_path, scorer):
    app = create_app(Settings(database=str(tmp_path / "a.sqlite"), max_text=20), scorer=scorer)
    with TestClient(app, base_url="http://localhost", headers={"X-Reviewer": "Ann"}) as client:
        body = {"name": "x", "pairs": [{"question": QUESTION, "paraphrase": PARAPHRASE}]}
        for answer in (upload(client, "a.csv", CSV), client.post("/v1/projects", json=body)):
            pair = client.get(f"/v1/projects/{answer.json()['id']}/pairs/1").json()
            assert pair["error"] == "question is longer than 20 characters"


def repeated_parquet(**more):
    return as_parquet(question=[QUESTION] * 500, paraphrase=["x" * 1000] * 500, **more)


def repeated_xlsx():
    book, file = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["question", "paraphrase"])
    for _ in range(500):
        book.active.append([QUESTION, "x" * 1000])
    book.save(file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("a.parquet", repeated_parquet),
        ("a.parquet", lambda: as_parquet(question=["How?"], paraphrase=["Why?"], many=[["x" * 1000] * 500])),
        (
            "a.parquet",
            lambda: as_parquet(question=["How?"], paraphrase=["Why?"], many=[{"a": {"b": ["x" * 1000] * 500}}]),
        ),
        ("a.parquet", lambda: as_parquet(question=["How?"], paraphrase=["Why?"], many=[[7] * 50_000])),
        ("a.xlsx", repeated_xlsx),
        ("a.csv", lambda: ("question,paraphrase," + ",".join(map(str, range(200))) + "\n" + "a,\n" * 300).encode()),
    ],
)
def test_repeated_values_count_each_time(client, monkeypatch, tmp_path, name, make):
    monkeypatch.setattr(imports, "LARGEST_UNPACKED", 300_000)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    content = make()
    assert len(content) < 100_000
    answer = upload(client, name, content)
    assert answer.status_code == 400, answer.text
    assert "MB unpacked" in answer.json()["error"]["message"] and str(tmp_path) not in answer.text
    assert not list(tmp_path.glob("*/[!.]*"))
