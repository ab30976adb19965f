"""Every format reads back what was written, and every flaw of a file is one helpful line."""

import csv
import gzip
import io
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraqd.extras import MissingExtraError
from paraqd.tables import row_readers
from paraqd.tables.formats import Format, Kind, Packing, kind_of
from paraqd.tables.table import Columns, Dialect, TableError, check_writable, default_id, open_table, open_writer
from paraqd.tables.writers import write_rows

SCHEMA = {"id": str, "question": str, "label": int, "stand_in": bool}
ROWS = [
    {"id": "a", "question": 'Tom says "5 apples, please". How many?', "label": 1, "stand_in": False},
    {"id": "b", "question": "Line one.\nLine two; ₹14 each.\tHow much?", "label": 0, "stand_in": True},
    {"id": "c", "question": "A bare \r return and a trailing space ", "label": 1, "stand_in": False},
]


def text_of(row):
    return {key: value if isinstance(value, str) else str(value).lower() for key, value in row.items()}


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.csv.gz", "x.tsv.gz", "x.csv.zst", "x.tsv.zst"])
def test_csv_and_tsv_read_back_as_text(tmp_path, name):
    with open_writer(tmp_path / name, SCHEMA) as writer:
        writer.write(ROWS)
    table = open_table(tmp_path / name)
    assert table.columns == tuple(SCHEMA)
    assert list(table.rows()) == [text_of(row) for row in ROWS]
    assert list(table.rows()) == [text_of(row) for row in ROWS], "rows can be had again"


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz", "x.jsonl.zst", "x.ndjson", "x.parquet"])
def test_jsonl_and_parquet_keep_types(tmp_path, name):
    with open_writer(tmp_path / name, SCHEMA) as writer:
        writer.write(ROWS)
    assert list(open_table(tmp_path / name).rows()) == ROWS


@pytest.mark.parametrize("name", ["x.csv", "x.tsv.gz", "x.jsonl.gz", "x.jsonl.zst", "x.parquet"])
def test_the_same_rows_give_the_same_bytes_however_they_come(tmp_path, name):
    rows = [dict(ROWS[i % 3], id=str(i)) for i in range(20_000)]
    (tmp_path / "a").mkdir()
    with open_writer(tmp_path / name, SCHEMA) as writer:
        writer.write(rows)
    with open_writer(tmp_path / "a" / name, SCHEMA) as writer:
        for start in range(0, len(rows), 77):
            writer.write(iter(rows[start : start + 77]))
    assert (tmp_path / name).read_bytes() == (tmp_path / "a" / name).read_bytes()


def test_parquet_carries_metadata(tmp_path):
    import pyarrow.parquet as pq

    with open_writer(tmp_path / "x.parquet", SCHEMA, metadata={"seed": 3407}) as writer:
        writer.write(ROWS)
    assert json.loads(pq.read_schema(tmp_path / "x.parquet").metadata[b"paraqd"]) == {"seed": 3407}


@pytest.mark.parametrize(
    ("content", "delimiter"),
    [
        (b'id;question\n1;"Has 3,5 kg; how many?"\n', ";"),
        (b'\xef\xbb\xbfquestion,id\r\n"Has 3,5 kg; how many?",1\r\n', ","),
        (b"id\tquestion\n1\tHas 3,5 kg; how many?\n", "\t"),
        (b'sep=;\r\nid;question\r\n1;"Has 3,5 kg; how many?"\r\n', ";"),
        ('id;question\r\n1;"Has 3,5 kg; how many?"\r\n'.encode("utf-16"), ";"),
        (b'question\n"Has 3,5 kg; how many?"\n', ","),
    ],
)
def test_csv_as_spreadsheets_make_it(tmp_path, content, delimiter):
    path = tmp_path / "excel.csv"
    path.write_bytes(content)
    table = open_table(path)
    assert table.dialect.delimiter == delimiter
    assert [row["question"] for row in table.rows()] == ["Has 3,5 kg; how many?"]


def test_quoted_newlines_stay_in_one_row(tmp_path):
    path = tmp_path / "excel.csv"
    path.write_bytes(b'id,question\r\n1,"First line.\nSecond ""line""."\r\n\r\n2,Short?\r\n')
    assert [row["question"] for row in open_table(path).rows()] == ['First line.\nSecond "line".', "Short?"]


def test_cp1252_with_the_option(tmp_path):
    path = tmp_path / "old.csv"
    path.write_bytes("id,question\n1,It costs £5 – how much for two?\n".encode("cp1252"))
    rows = list(open_table(path, encoding="cp1252").rows())
    assert rows[0]["question"] == "It costs £5 – how much for two?"


def test_a_written_csv_can_follow_the_one_that_was_read(tmp_path):
    with open_writer(tmp_path / "x.csv", SCHEMA, dialect=Dialect(delimiter=";", bom=True)) as writer:
        writer.write(ROWS)
    assert (tmp_path / "x.csv").read_bytes().startswith(b"\xef\xbb\xbfid;question;label")
    assert open_table(tmp_path / "x.csv").dialect == Dialect(delimiter=";", bom=True, decimal=",")


def test_short_rows_lack_their_last_columns_and_jsonl_rows_their_own(tmp_path):
    (tmp_path / "x.csv").write_text("id,question,label\n1,How many?\n2,How much?,1,,\n")
    assert [row["label"] for row in open_table(tmp_path / "x.csv").rows()] == [None, "1"]
    (tmp_path / "x.jsonl").write_text('{"question": "How many?"}\n\n{"id": 3}\n')
    assert list(open_table(tmp_path / "x.jsonl").rows()) == [{"question": "How many?"}, {"id": 3}]


def test_standard_input_is_jsonl_and_can_be_read_twice():
    code = (
        "from paraqd.tables.table import open_table; t = open_table('-'); "
        "assert list(t.rows()) == list(t.rows()); import sys; sys.stdout.write(t.name + repr(t.columns))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=b'{"question": "How many?"}\n', capture_output=True, check=False
    )
    assert done.stdout.decode() == "standard input('question',)", done.stderr.decode()


def error_of(function, *arguments, **options):
    with pytest.raises(TableError) as caught:
        function(*arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


def read_error(path, content, **options):
    path.write_bytes(content)
    return error_of(lambda: list(open_table(path, **options).rows()))


def test_a_missing_column_names_what_there_is_and_the_option(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("nr,Problem,answer\n1,How many?,3\n")
    table = open_table(path)
    message = error_of(table.require, Columns())
    assert "no column 'question' (it has: nr, Problem, answer)" in message
    assert message.endswith("did you mean question='Problem'?")
    assert error_of(table.require, Columns(question="anwser")).endswith("question='answer'?")
    path.write_text("a b,c\n1,2\n")
    assert error_of(open_table(path).require, Columns()).endswith("with question='NAME'")
    assert "question='a b'?" in error_of(open_table(path).require, Columns(question="a_b"))


def test_a_folder_where_a_file_is_wanted(tmp_path):
    folder = tmp_path / "samples"
    folder.mkdir()
    assert error_of(open_table, folder) == f"{folder} is a folder; pass a file"
    for name in ("readme.txt", "pairs.csv", "questions.csv.gz"):
        (folder / name).write_text("")
    assert error_of(open_table, folder) == f"{folder} is a folder; pass a file, such as {folder / 'pairs.csv'}"


def test_not_utf8_names_line_and_byte(tmp_path):
    message = read_error(tmp_path / "x.csv", b"id,question\n1,fine\n2,it\x92s 5 km\n")
    assert "not UTF-8: line 3, byte 24 of the file is 0x92" in message
    assert "encoding='cp1252'" in message
    assert "line 1" in read_error(tmp_path / "y.jsonl", b'{"question": "caf\xe9"}\n')
    packed = gzip.compress(b"question\n" + b"fine\n" * 50_000 + b"caf\xe9\n")
    assert "line 50002" in read_error(tmp_path / "z.csv.gz", packed)
    assert "ascii" in read_error(tmp_path / "z.csv", "question\né\n".encode(), encoding="ascii")
    assert "unknown encoding 'utf-9'" in read_error(tmp_path / "z.csv", b"question\nx\n", encoding="utf-9")
    assert "utf-16-le" in read_error(tmp_path / "w.csv", "question\nHow?\n".encode("utf-16-le"))


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ("undefined", "unknown encoding 'undefined'; try utf-8"),
        ("utf\0", r"unknown encoding 'utf\x00'; try utf-8"),
        ("\ud800", r"unknown encoding '\ud800'; try utf-8"),
        ("punycode", "cannot be read as punycode ("),
        ("utf-16", "cannot be read as utf-16 (UTF-16 stream does not start with BOM); use another encoding"),
    ],
)
def test_an_odd_encoding_is_one_clear_line(tmp_path, name, encoding, message):
    content = b"question,paraphrase\n1-,2-\n" if name == "a.csv" else b'{"question": "1-", "paraphrase": "2-"}\n'
    assert message in read_error(tmp_path / name, content, encoding=encoding)


def test_half_a_sign_in_the_name_of_a_column(tmp_path):
    content = b'{"question": "a"}\n{"question": "b", "\\ud800": 1}\n{"question": "c", "x": {"\\ud800": 1}}\n'
    message = read_error(tmp_path / "a.jsonl", content)
    assert message.endswith("line 2 has a column whose name is not valid Unicode; rename the column")
    rows = list(open_table(tmp_path / "a.jsonl", lenient=True).rows())
    assert [row.get("question") for row in rows] == ["a", None, "c"]
    assert rows[1].why == "the name of a column is not valid Unicode"


def zstd(data):
    import pyarrow as pa

    return pa.compress(data, codec="zstd", asbytes=True)


@pytest.mark.parametrize(("name", "pack"), [("x.jsonl.gz", gzip.compress), ("x.jsonl.zst", zstd)])
def test_files_that_were_joined_after_they_were_compressed(tmp_path, name, pack):
    parts = [b"".join(b'{"question": "How many are %d?"}\n' % i for i in range(n, n + 9000)) for n in (0, 9000, 18000)]
    (tmp_path / name).write_bytes(b"".join(map(pack, parts)))
    found = [row["question"] for row in open_table(tmp_path / name).rows()]
    assert found == [f"How many are {i}?" for i in range(27000)]


def test_a_file_without_line_ends_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(row_readers, "_LIMIT", 1000)
    for name, head in (("x.jsonl", b'{"question": "a"}\n'), ("x.csv", b"question\na\n")):
        message = read_error(tmp_path / name, head + b"0" * 5000)
        assert message.endswith(f"line {head.count(b'%c' % 10) + 1} is longer than 1,000 characters")


def test_large_rows_make_small_row_groups(tmp_path):
    import pyarrow.parquet as pq

    rows = [{"question": "5 apples. " * 1_000_000}] * 5
    with open_writer(tmp_path / "x.parquet", {"question": str}) as writer:
        writer.write(rows)
    facts = pq.read_metadata(tmp_path / "x.parquet")
    assert [facts.row_group(i).num_rows for i in range(facts.num_row_groups)] == [2, 2, 1]
    assert list(open_table(tmp_path / "x.parquet").rows()) == rows


def test_half_written_files(tmp_path):
    lines = b"".join(b'{"question": "How many are %d apples?"}\n' % i for i in range(5000))
    packed = gzip.compress(lines)
    assert "cut off" in read_error(tmp_path / "x.jsonl.gz", packed[: len(packed) // 2])
    assert "not a valid gzip file" in read_error(tmp_path / "x.jsonl.gz", lines)
    packed = zstd(lines)
    assert "cut off: the zstd data" in read_error(tmp_path / "x.jsonl.zst", packed[: len(packed) // 2])
    assert "not a valid zstd file" in read_error(tmp_path / "x.jsonl.zst", lines)
    assert "line 5000 is not valid JSON" in read_error(tmp_path / "x.jsonl", lines[:-9])
    assert "cut off" in read_error(tmp_path / "x.jsonl", lines[:-9])
    message = read_error(tmp_path / "x.csv", b'id,question\n1,"Tom has 5 apples and\n')
    assert "cut off" in message and "in the row of line 2 is never closed" in message
    stray = read_error(tmp_path / "x.tsv", b'id\tquestion\n1\tHow?\n2\t"Tom" has 5 apples\n')
    assert "stray quotation mark in the row of line 3" in stray
    buffer = tmp_path / "whole.parquet"
    with open_writer(buffer, SCHEMA) as writer:
        writer.write(ROWS)
    whole = buffer.read_bytes()
    assert "cut off or not a Parquet file" in read_error(tmp_path / "x.parquet", whole[:-20])
    assert "cut off or not a Parquet file" in read_error(tmp_path / "x.parquet", whole[:40])


def test_damage_inside_a_parquet_file(tmp_path):
    path = tmp_path / "x.parquet"
    with open_writer(path, SCHEMA) as writer:
        writer.write([dict(ROWS[0], id=str(i), question=f"{i} apples?") for i in range(5000)])
    whole = bytearray(path.read_bytes())
    whole[200:2000] = b"\xff" * 1800
    assert "x.parquet" in read_error(path, bytes(whole))


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.parquet", "x.tsv"])
def test_empty_files(tmp_path, name):
    assert read_error(tmp_path / name, b"").endswith("is empty; pass a file with at least one row")
    if name != "x.parquet":
        assert read_error(tmp_path / name, b"\n\n").endswith("is empty; pass a file with at least one row")


def test_files_that_are_something_else(tmp_path):
    assert "x.csv.gz" in read_error(tmp_path / "x.csv", gzip.compress(b"question\nx\n"))
    assert "x.csv.zst" in read_error(tmp_path / "x.csv", zstd(b"question\nx\n"))
    assert "remove .zst from the name" in error_of(open_table, tmp_path / "x.parquet.zst")
    assert "a Parquet file, not CSV" in read_error(tmp_path / "x.csv", b"PAR1....")
    assert "spreadsheet" in read_error(tmp_path / "x.csv", b"PK\x03\x04....")
    assert "as CSV (UTF-8)" in error_of(open_table, tmp_path / "x.xls")
    assert ".csv, .tsv, .jsonl, .xlsx or .parquet" in error_of(open_table, tmp_path / "x.txt")
    assert "no extension" in error_of(open_table, tmp_path / "x")
    assert "remove .gz from the name" in error_of(open_table, tmp_path / "x.parquet.gz")
    assert "there is no file" in error_of(open_table, tmp_path / "none.csv")
    assert "there is no file" in error_of(open_table, tmp_path / "none.parquet")
    (tmp_path / "folder.csv").mkdir()
    assert "is a folder" in error_of(open_table, tmp_path / "folder.csv")
    assert "not a JSON object" in read_error(tmp_path / "x.jsonl", b'"How many?"\n')
    assert "twice" in read_error(tmp_path / "x.csv", b"question,question\na,b\n")
    message = read_error(tmp_path / "x.csv", b"id,question\n1,Tom has 5, Ann has 6. How many?\n")
    assert "line 2 has 3 fields, but the header has 2" in message


def test_unwritable_outputs_are_known_before_any_work(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.csv").mkdir()
    assert "is not a folder" in error_of(check_writable, tmp_path / "file" / "x.csv")
    assert "there is no folder" in error_of(check_writable, tmp_path / "none" / "x.csv")
    assert "it is a folder" in error_of(check_writable, tmp_path / "folder.csv")
    assert "must be a file" in error_of(check_writable, "-")
    assert "cannot tell the format" in error_of(check_writable, tmp_path / "x.docx")
    assert check_writable(tmp_path / "x.tsv").format is Format.TSV


def test_a_long_field_is_read_whole(tmp_path):
    long = "5 apples, " * 50_000
    with open_writer(tmp_path / "x.csv", {"question": str}) as writer:
        writer.write([{"question": long}])
    assert next(open_table(tmp_path / "x.csv").rows())["question"] == long


def test_the_default_id_is_of_the_text_alone():
    assert default_id("What is 2 + 2?") == "38d46ad3618826cf"
    assert len(default_id("\ud800")) == 16


def test_kinds_by_name():
    assert kind_of("-").format is Format.JSONL
    assert kind_of("A.CSV.GZ").packing is Packing.GZIP
    assert kind_of("a.jsonl.zst") == Kind(Format.JSONL, Packing.ZSTD)
    assert kind_of("my.data.parquet").format is Format.PARQUET


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=5))
def test_any_text_survives_csv(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("any") / "x.csv"
    with open_writer(path, {"question": str, "label": int}) as writer:
        writer.write({"question": text, "label": 1} for text in texts)
    assert [row["question"] for row in open_table(path).rows()] == texts


def test_rows_are_a_stream(tmp_path):
    # a file without an end: only what is asked for is read
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"question": "How many?"}\n' * 10 + b"{broken")
    rows = open_table(path).rows()
    assert [next(rows) for _ in range(10)]
    with pytest.raises(TableError):
        next(rows)


def test_nothing_is_written_to_the_console(tmp_path, monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    with open_writer(tmp_path / "x.csv", SCHEMA) as writer:
        writer.write(ROWS)
    assert out.getvalue() == ""


# --- hostile and unlucky files --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x.csv", "x.tsv"])
def test_a_first_line_without_end_is_not_a_header(tmp_path, name):
    message = read_error(tmp_path / name, b"question" * 20_000 + b"\nWhat?\n")
    assert "is longer than 131,072 characters; it must be a header" in message and len(message) < 300


def test_long_names_of_columns_are_cut_in_messages(tmp_path):
    csv.field_size_limit(1000)  # as other code in the same process may do
    (tmp_path / "x.csv").write_text("n" * 100_000 + ",text\n1,What?\n")
    table = open_table(tmp_path / "x.csv")
    assert len(error_of(table.require, Columns())) < 300


@pytest.mark.parametrize("depth", [900, 975, 985, 100_000])
def test_deep_json_is_one_clear_line_or_is_written_back(tmp_path, depth):
    (tmp_path / "x.jsonl").write_text('{"question": "How many?", "other": ' + "[" * depth + "]" * depth + "}\n")
    try:
        rows = list(open_table(tmp_path / "x.jsonl").rows())
        with open_writer(tmp_path / "y.jsonl", {"question": str, "other": str}) as writer:
            writer.write(rows)
    except TableError as error:
        assert "nested too deeply" in str(error)
    else:
        assert len((tmp_path / "y.jsonl").read_text()) > 2 * depth


def test_files_that_need_pyarrow_say_so_if_it_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for name, what in (("x.parquet", "Parquet files"), ("x.csv.zst", ".zst files")):
        (tmp_path / name).write_bytes(b"anything")
        for action in (open_table, check_writable):
            with pytest.raises(MissingExtraError) as error:
                action(tmp_path / name)
            assert str(error.value) == f"pyarrow is not installed (needed for {what}): pip install 'paraqd[parquet]'"


def test_an_apostrophe_in_a_tsv_file_with_decimal_commas_is_kept(tmp_path):
    (tmp_path / "a.tsv").write_text("question\tscore\n'-3x = 6\t0,5\n")
    table = open_table(tmp_path / "a.tsv")
    assert table.dialect.decimal == "," and next(iter(table.rows()))["question"] == "'-3x = 6"


@pytest.mark.parametrize(
    ("rows", "decimal"),
    [("1.5;0,93\n2.5;0,2", ","), ("1.5;0.93\n2.5;0,2", "."), ("1.5;0.93", "."), ("a;0,93\nb;0.5", ".")],
)
def test_one_column_with_decimal_commas_is_enough(tmp_path, rows, decimal):
    (tmp_path / "a.csv").write_text(f"version;score\n{rows}\n")
    assert open_table(tmp_path / "a.csv").dialect.decimal == decimal


def test_marks_in_an_output_do_not_depend_on_a_hint_in_the_input(tmp_path):
    write_rows(tmp_path / "a.csv", {"question": str}, [{"question": "-3x = 6"}], dialect=Dialect(hinted=True))
    assert list(open_table(tmp_path / "a.csv").rows()) == [{"question": "-3x = 6"}]
