"""Test the inputs of ``paraqd score``: flaws are found before any work is done, and one line says what is wrong."""

import gzip
import io
import json
import sys
from pathlib import Path

import pytest
from pair_files import QUESTION, SAME, names, read_jsonl

from paraqd.cli.main import run


@pytest.mark.usefixtures("scorer")
class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "line"),
        [
            (["none.csv", "-o", "out.csv"], "there is no file none.csv"),
            (["pairs.csv", "-o", "out.csv", "--id-column", "Nummer"], "has no column 'Nummer'"),
            (["pairs.docx", "-o", "out.csv"], "use .csv, .tsv, .jsonl, .xlsx or .parquet"),
            (["pairs.csv", "-o", "out.docx"], "use .csv, .tsv, .jsonl, .xlsx or .parquet"),
            (["pairs.csv", "-o", "none/out.csv"], "there is no folder none"),
            (["pairs.csv", "-o", "pairs.csv", "--overwrite"], "is the input itself"),
            (["pairs.csv", "-o", "pairs.jsonl"], "already exists; pass --overwrite"),
            (["pairs.csv", "-o", "-"], "pass --json without -o"),
            (["pairs.csv", "-o", "out.csv", "--question-column", "body"], "pairs.csv has no column 'body'"),
            (["pairs.jsonl", "-o", "out.csv", "--paraphrase-column", "body"], "pairs.jsonl has no column 'body'"),
            (["pairs.csv", "-o", "out.csv", "--only", "good"], "'good' is not one of"),
            (["pairs.csv", "-o", "out.csv", "--mode", "magic"], "'magic' is not one of"),
            (["pairs.csv", "-o", "out.csv", "--threshold", "2"], "--threshold"),
            (["pairs.csv", "-o", "out.csv", "--threshold", "abc"], "--threshold"),
            (["pairs.csv", "-o", "out.csv", "--threshold", "nan"], "--threshold"),
            (["pairs.csv", "-o", "out.csv", "--workers", "0"], "at least one is needed"),
            (["pairs.csv", "--workers", "2"], "pass -o"),
            (["pairs.csv", "-o", "out.csv", "--encoding", "klingon"], "unknown encoding"),
            ([], "Missing argument 'IN'"),
        ],
    )
    def test_one_line_and_nothing_written(self, here, fails, arguments, line):
        assert line in fails("score", *arguments)
        assert names(here) == ["pairs.csv", "pairs.jsonl"]

    @pytest.mark.parametrize(
        ("name", "content", "line"),
        [
            ("in.csv", b"", "in.csv is empty"),
            ("in.csv", b"question,paraphrase\n", "in.csv has no rows"),
            ("in.csv", b"question,paraphrase\na,b\nc,d,e\n", "line 3 has 3 fields"),
            ("in.csv", b'question,paraphrase\na,"b\n', "is cut off"),
            ("in.csv", b"question,paraphrase\na,\xa35\n", "try --encoding cp1252"),
            ("in.jsonl", b'{"question": "a", "paraphrase": "b"}\n{"question', "line 2 is not valid JSON"),
            ("in.jsonl", b"[1]\n", "is not a JSON object"),
            ("in.parquet", b"PAR1 and then the disk was full", "cut off or not a Parquet file"),
            ("in.csv.gz", gzip.compress(b"question,paraphrase\n" * 999, mtime=0)[:-20], "cut off"),
        ],
    )
    def test_flaws_of_a_file_are_found_before_any_work(self, here, fails, scorer, name, content, line):
        Path(name).write_bytes(content)
        assert line in fails("score", name, "-o", "out.csv")
        assert scorer.sizes == []
        assert names(here) == [name, "pairs.csv", "pairs.jsonl"]

    def test_a_column_that_later_rows_have(self, here):
        Path("in.jsonl").write_text(
            '{"question": "How many?"}\n' + json.dumps({"question": QUESTION, "paraphrase": SAME})
        )
        assert run(["score", "in.jsonl", "-o", "out.jsonl", "-q"]) == 0
        assert [row["score"] for row in read_jsonl("out.jsonl")] == [-1.0, 1.0]


@pytest.mark.usefixtures("scorer")
class TestUnusualInput:
    def test_one_column_for_both_texts(self, here, fails):
        line = fails("score", "pairs.csv", "-o", "out.csv", "--paraphrase-column", "question")
        assert line == "error: the question and the paraphrase cannot both be the column 'question'"
        assert "--question-column NAME" in fails("score", "pairs.csv", "-o", "out.csv", "--question-column", "Frage")

    @pytest.mark.parametrize(
        ("given", "told"),
        [("question,paraphrase\na,b\n", True), ('{"question": "a",}\n', False), ('{"question": "a"', False)],
    )
    def test_standard_input_that_is_no_json(self, here, fails, monkeypatch, given, told):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        line = fails("score", "-", "-o", "out.csv")
        assert "standard input, line 1 is not valid JSON" in line
        assert ("standard input must be JSON lines" in line) is told

    def test_json_lines_by_another_name(self, here, fails):
        Path("in.csv").write_text(json.dumps({"question": QUESTION, "paraphrase": QUESTION}) + "\n")
        assert (
            fails("score", "in.csv", "-o", "out.csv")
            == "error: in.csv contains JSON lines, not CSV; rename it to .jsonl"
        )

    def test_tabs_become_commas_in_csv(self, here):
        Path("in.tsv").write_text(f"question\tparaphrase\n{QUESTION}\t{QUESTION}\n")
        assert run(["score", "in.tsv", "-o", "out.csv", "-q"]) == 0
        assert Path("out.csv").read_text().startswith("question,paraphrase,score,")
        assert run(["score", "in.tsv", "-o", "out.tsv", "-q"]) == 0
        assert Path("out.tsv").read_text().startswith("question\tparaphrase\tscore\t")

    @pytest.mark.parametrize("packing", ["gzip", "zstd"])
    @pytest.mark.extra("parquet")
    def test_standard_input_may_be_compressed(self, here, monkeypatch, packing):
        import pyarrow as pa

        text = json.dumps({"question": QUESTION, "paraphrase": QUESTION}) + "\n"
        packed = pa.compress(text.encode(), packing, asbytes=True)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
        assert run(["score", "-", "-o", "out.jsonl", "-q"]) == 0
        assert [row["question"] for row in read_jsonl("out.jsonl")] == [QUESTION]

    @pytest.mark.parametrize(
        ("made", "told"),
        [
            (lambda packed: packed[:-9], "error: standard input is cut off: the gzip data ends too early"),
            (lambda packed: packed[:2] + b"junk" * 9, "error: standard input is not a valid gzip file"),
            (gzip.compress, "error: standard input is compressed twice"),
        ],
    )
    def test_what_is_wrong_with_it_is_said_of_standard_input(self, here, monkeypatch, fails, made, told):
        packed = made(gzip.compress(json.dumps({"question": QUESTION, "paraphrase": QUESTION}).encode()))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
        assert fails("score", "-", "-o", "out.jsonl").startswith(told)
