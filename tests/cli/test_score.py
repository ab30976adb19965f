"""``paraqd score``: the same rows in the same order with their verdicts, in every format, and nothing lost."""

import contextlib
import csv
import datetime
import gzip
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import paraqd
from paraqd.cli.main import run
from paraqd.data.tables import open_table

QUESTION = "Tom has 5 apples and buys 3 more. How many apples has he now?"
SAME, REWORDED = QUESTION, "Tom buys 3 apples and had 5. How many are there now?"
LOST, ADDED = "Tom has 5 apples. How many has he?", "Tom has 5 apples, buys 3 and eats 2. How many has he?"
PARAPHRASES = [SAME, REWORDED, LOST, ADDED]
NEW = ["score", "valid", "evidence", "error", "signature"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARAQD_DEBUG", raising=False)
    rows = [{"id": f"p{i}", "question": QUESTION, "paraphrase": text} for i, text in enumerate(PARAPHRASES)]
    write_csv("pairs.csv", rows)
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return tmp_path


def write_csv(path, rows, encoding="utf-8", delimiter=","):
    with open(path, "w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)


def read_csv(path, delimiter=","):
    raw = Path(path).read_bytes()
    raw = gzip.decompress(raw) if str(path).endswith(".gz") else raw
    return list(csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline=""), delimiter=delimiter))


def read_jsonl(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def environment():
    return dict(os.environ, PYTHONPATH=str(Path(paraqd.__file__).parents[1]))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.usefixtures("scorer")
class TestTheOutput:
    def test_the_same_rows_with_five_columns_more(self, here):
        assert run(["score", "pairs.csv", "-o", "out.csv", "-q"]) == 0
        before, after = read_csv("pairs.csv"), read_csv("out.csv")
        assert list(after[0]) == [*before[0], *NEW]
        assert [{name: row[name] for name in before[0]} for row in after] == before
        assert [row["score"] for row in after] == ["1.0", "0.8", "-0.25", "-0.25"]
        assert [row["valid"] for row in after] == ["true", "true", "false", "false"]
        assert {row["error"] for row in after} == {""}
        assert {row["signature"] for row in after} == {"paraqd:test|model:digits@00000000|mode:fused|threshold:0.5"}

    def test_evidence_is_json_with_spans_of_the_texts(self, here):
        assert run(["score", "pairs.csv", "-o", "out.csv", "-q"]) == 0
        found = [json.loads(row["evidence"]) for row in read_csv("out.csv")]
        assert found[0] == found[1] == []
        [piece] = found[2]
        assert (piece["kind"], piece["message"], piece["delta"]) == ("number_lost", "The paraphrase lost 3.", -0.6)
        [(start, end)] = piece["question_spans"]
        assert (QUESTION[start:end], piece["paraphrase_spans"]) == ("3", [])

    def test_why_in_plain_sentences(self, here):
        assert run(["score", "pairs.csv", "-o", "out.csv", "--why", "-q"]) == 0
        rows = read_csv("out.csv")
        assert list(rows[0])[-6:] == ["score", "valid", "why", *NEW[2:]]
        assert [rows[0]["why"], rows[2]["why"]] == ["", "The paraphrase lost 3."]
        assert run(["score", "out.csv", "-o", "again.csv", "--why", "-q"]) == 2  # the column is there

    @pytest.mark.parametrize("name", ["again.csv", "again.jsonl", "again.parquet", "again/"])
    def test_sentences_of_an_earlier_run_do_not_stand_beside_new_verdicts(self, here, name, capsys):
        assert run(["score", "pairs.csv", "-o", "out.csv", "--why", "-q"]) == 0
        assert run(["score", "out.csv", "-o", name, "--overwrite-columns", "-q"]) == 0
        assert "out.csv has the column 'why' of an earlier scoring; it is left out" in capsys.readouterr().err
        found = open_table(next(Path(name).glob("*.parquet")) if name.endswith("/") else name)
        assert "why" not in found.columns and "why" not in next(found.rows())
        assert [column for column in found.columns if column in NEW] == NEW

    def test_sentences_that_were_shown_as_json_are_known_again(self, here, capsys):
        assert run(["score", "pairs.jsonl", "-o", "out.jsonl", "-q"]) == 0
        assert run(["score", "out.jsonl", "--why", "--overwrite-columns", "--json", "-q"]) == 0
        Path("shown.jsonl").write_text(capsys.readouterr().out)
        assert run(["score", "shown.jsonl", "-o", "again.jsonl", "--overwrite-columns", "-q"]) == 0
        assert "why" in read_jsonl("shown.jsonl")[2] and "why" not in read_jsonl("again.jsonl")[2]

    @pytest.mark.parametrize("name", ["again.csv", "again/"])
    def test_somebodys_own_column_of_that_name_stays(self, here, name):
        rows = read_csv("pairs.csv")
        write_csv("pairs.csv", [{**row, "why": f"note {row['id']}"} for row in rows])
        assert run(["score", "pairs.csv", "-o", "out.csv", "-q"]) == 0
        assert run(["score", "out.csv", "-o", name, "--overwrite-columns", "-q"]) == 0
        found = open_table(next(Path(name).glob("*.parquet")) if name.endswith("/") else name)
        assert [row["why"] for row in found.rows()] == [f"note {row['id']}" for row in rows]

    def test_in_json_lines_the_evidence_is_a_list(self, here):
        assert run(["score", "pairs.jsonl", "-o", "out.jsonl", "-q"]) == 0
        rows = read_jsonl("out.jsonl")
        assert list(rows[2]) == ["id", "question", "paraphrase", *NEW]
        assert (rows[2]["score"], rows[2]["valid"], rows[2]["error"]) == (-0.25, False, None)
        assert [piece["kind"] for piece in rows[2]["evidence"]] == ["number_lost"]

    @pytest.mark.parametrize("out", ["out.csv", "out.tsv", "out.jsonl", "out.csv.gz", "out.tsv.zst", "out.jsonl.zst"])
    def test_every_format_reads_back(self, here, out):
        assert run(["score", "pairs.csv", "-o", out, "-q"]) == 0
        assert run(["score", out, "-o", "again.jsonl", "--overwrite-columns", "-q"]) == 0
        assert [row["score"] for row in read_jsonl("again.jsonl")] == [1.0, 0.8, -0.25, -0.25]
        assert [row["paraphrase"] for row in read_jsonl("again.jsonl")] == PARAPHRASES

    def test_parquet(self, here):
        import pyarrow.parquet as pq

        assert run(["score", "pairs.jsonl", "-o", "out.parquet", "-q"]) == 0
        table = pq.read_table("out.parquet")
        assert table.schema.names == ["id", "question", "paraphrase", *NEW]
        assert [str(table.schema.field(name).type) for name in NEW] == ["double", "bool", "string", "string", "string"]
        assert table["valid"].to_pylist() == [True, True, False, False]
        assert json.loads(table["evidence"][2].as_py())[0]["kind"] == "number_lost"
        assert json.loads(table.schema.metadata[b"paraqd"])["signature"].startswith("paraqd:test|")

    def test_parquet_keeps_its_own_types(self, here):
        import pyarrow as pa
        import pyarrow.parquet as pq

        day = datetime.date(2024, 2, 29)
        extra = {"tags": [["a", "b"]], "day": [day], "n": pa.array([7], pa.int8()), "who": [{"name": "Ann"}]}
        pq.write_table(pa.table({"question": [QUESTION], "paraphrase": [LOST], **extra}), "in.parquet")
        assert run(["score", "in.parquet", "-o", "out.parquet", "-q"]) == 0
        before, after = pq.read_table("in.parquet"), pq.read_table("out.parquet")
        assert after.select(before.schema.names).equals(before)
        assert run(["score", "in.parquet", "-o", "out.jsonl", "-q"]) == 0
        [row] = read_jsonl("out.jsonl")
        assert (row["tags"], row["day"], row["n"], row["who"]) == (["a", "b"], "2024-02-29", 7, {"name": "Ann"})
        assert run(["score", "in.parquet", "-o", "out.csv", "-q"]) == 0
        [row] = read_csv("out.csv")
        assert (row["tags"], row["day"], row["n"], row["who"]) == ('["a", "b"]', "2024-02-29", "7", '{"name": "Ann"}')

    def test_json_values_of_every_sort_reach_parquet(self, here):
        import pyarrow.parquet as pq

        extras = [
            {"n": 1, "share": 1, "ok": True, "mixed": 1, "big": 10**30, "list": [1]},
            {"n": 2, "share": 0.5, "ok": None, "mixed": "one", "late": "only here"},
        ]
        lines = [json.dumps({"question": QUESTION, "paraphrase": SAME, **extra}) for extra in extras]
        Path("in.jsonl").write_text("\n".join(lines))
        assert run(["score", "in.jsonl", "-o", "out.parquet", "-q"]) == 0
        rows = pq.read_table("out.parquet").to_pylist()
        assert [row["n"] for row in rows] == [1, 2]
        assert [row["share"] for row in rows] == [1.0, 0.5]
        assert [row["ok"] for row in rows] == [True, None]
        assert [row["mixed"] for row in rows] == ["1", "one"]
        assert [row["big"] for row in rows] == [str(10**30), None]
        assert [row["list"] for row in rows] == ["[1]", None]
        assert [row["late"] for row in rows] == [None, "only here"]

    def test_excels_csv_comes_back_as_excel_reads_it(self, here):
        rows = [{"question": "It’s £5 each. How much for 2?", "paraphrase": "How much are 2 at £5?", "note": "a\nb;c"}]
        write_csv("in.csv", rows, encoding="utf-8-sig", delimiter=";")
        assert run(["score", "in.csv", "-o", "out.csv", "-q"]) == 0
        assert Path("out.csv").read_bytes().startswith(b"\xef\xbb\xbfquestion;paraphrase;note;score;")
        [row] = read_csv("out.csv", delimiter=";")
        assert (row["note"], row["valid"]) == ("a\nb;c", "true")

    def test_another_encoding_is_written_as_utf8_with_a_mark(self, here):
        write_csv("in.csv", [{"question": "It’s £5. How much?", "paraphrase": "How much is it, £5?"}], "cp1252", ";")
        assert run(["score", "in.csv", "-o", "out.csv", "--encoding", "cp1252", "-q"]) == 0
        assert Path("out.csv").read_bytes().startswith(b"\xef\xbb\xbf")
        assert read_csv("out.csv", delimiter=";")[0]["question"] == "It’s £5. How much?"

    def test_columns_by_other_names(self, here):
        write_csv("in.csv", [{"text": QUESTION, "augmented": LOST}])
        command = ["score", "in.csv", "-o", "out.csv", "-q", "--question-column", "text"]
        assert run([*command, "--paraphrase-column", "augmented"]) == 0
        assert read_csv("out.csv")[0]["valid"] == "false"

    @pytest.mark.parametrize(("only", "ids"), [("valid", ["p0", "p1"]), ("invalid", ["p2", "p3"])])
    def test_only_one_verdict(self, here, only, ids):
        assert run(["score", "pairs.csv", "-o", "out.csv", "--only", only, "-q"]) == 0
        assert [row["id"] for row in read_csv("out.csv")] == ids

    def test_none_of_that_verdict_leaves_the_header(self, here):
        write_csv("in.csv", [{"question": QUESTION, "paraphrase": SAME}])
        assert run(["score", "in.csv", "-o", "out.csv", "--only", "invalid", "-q"]) == 0
        assert Path("out.csv").read_text() == "question,paraphrase,score,valid,evidence,error,signature\n"

    def test_a_column_that_is_there_is_replaced_only_when_asked(self, here, fails):
        write_csv("in.csv", [{"score": "9", "question": QUESTION, "error": "old", "paraphrase": SAME}])
        line = fails("score", "in.csv", "-o", "out.csv")
        assert line == "error: in.csv has the columns score, error already; give --overwrite-columns to replace them"
        assert run(["score", "in.csv", "-o", "out.csv", "--overwrite-columns", "-q"]) == 0
        [row] = read_csv("out.csv")
        assert list(row) == ["question", "paraphrase", *NEW]
        assert (row["score"], row["error"]) == ("1.0", "")

    def test_a_text_is_never_replaced(self, here, fails):
        write_csv("in.csv", [{"question": QUESTION, "valid": SAME}])
        line = fails("score", "in.csv", "-o", "o.csv", "--paraphrase-column", "valid", "--overwrite-columns")
        assert "'valid' of in.csv cannot be the paraphrase" in line

    def test_the_verdict_can_be_told_from_the_score_as_it_is_written(self, here, monkeypatch):
        from paraqd.cli import options
        from paraqd.scoring.verdict import Verdict

        class Close:
            threshold, signature = 0.5, "paraqd:test"

            def begin(self, pairs):
                return lambda: [Verdict(0.5 + 1e-9, True, (), ""), Verdict(0.123456789, False, (), "")]

        monkeypatch.setattr(options, "load_scorer", lambda *given, **more: Close())
        write_csv("in.csv", [{"question": QUESTION, "paraphrase": SAME}] * 2)
        assert run(["score", "in.csv", "-o", "out.csv", "-q"]) == 0
        first, second = read_csv("out.csv")
        assert float(first["score"]) > 0.5 and first["valid"] == "true"
        assert second["score"] == "0.123457"

    def test_several_unnamed_columns_are_not_dropped_unsaid(self, here, capsys):
        Path("in.csv").write_text(f"question,paraphrase,,\n{QUESTION},{SAME},a,b\n")
        assert run(["score", "in.csv", "-o", "out.csv", "-q"]) == 0
        assert "several columns without a name; the last of them is kept" in capsys.readouterr().err
        assert read_csv("out.csv")[0][""] == "b"


@pytest.mark.usefixtures("scorer")
class TestWhatIsShown:
    def test_counts_by_verdict_and_fault(self, here, capsys):
        assert run(["score", "pairs.csv", "-o", "out.csv"]) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        lines = [line.split() for line in captured.out.splitlines() if line.strip()]
        assert lines[:4] == [
            ["valid", "2", "50.0%"],
            ["invalid", "2", "50.0%"],
            ["number_added", "1"],
            ["number_lost", "1"],
        ]
        assert lines[4:] == [
            ["4", "rows", "→", "out.csv"],
            ["paraqd:test|model:digits@00000000|mode:fused|threshold:0.5"],
        ]

    def test_counts_as_json(self, here, capsys):
        assert run(["score", "pairs.csv", "-o", "out.csv", "--json", "--only", "invalid"]) == 0
        assert json.loads(capsys.readouterr().out) == {
            "source": "pairs.csv",
            "out": "out.csv",
            "rows": 4,
            "written": 2,
            "valid": 2,
            "invalid": 2,
            "errors": 0,
            "faults": {"number_added": 1, "number_lost": 1},
            "threshold": 0.5,
            "signature": "paraqd:test|model:digits@00000000|mode:fused|threshold:0.5",
        }

    def test_quiet(self, here, capsys):
        assert run(["score", "pairs.csv", "-o", "out.csv", "--quiet"]) == 0
        assert capsys.readouterr() == ("", "")

    def test_a_table_where_no_file_is_wanted(self, here, capsys):
        assert run(["score", "pairs.csv"]) == 0
        out = capsys.readouterr().out
        lines = [line.rstrip() for line in out.splitlines()]
        assert lines[0].split()[:3] == ["row", "score", "verdict"]
        assert lines[1].startswith("  1   1.00  valid       Tom has 5 apples")
        assert lines[3].startswith("  3  -0.25  invalid     Tom has 5 apples. How many has he?")
        assert lines[4].strip() == "The paraphrase lost 3."
        assert "valid" in out and "50.0%" in out
        assert "\x1b" not in out
        assert names(here) == ["pairs.csv", "pairs.jsonl"]

    def test_the_table_shows_only_what_is_asked_for(self, here, capsys):
        assert run(["score", "pairs.csv", "--only", "invalid", "-q"]) == 0
        rows = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.strip()[0].isdigit()]
        assert rows == ["3", "4"]

    def test_a_text_does_not_command_the_terminal(self, here, capsys):
        write_csv("in.csv", [{"question": QUESTION, "paraphrase": "[red]Tom\x1b[m has\t5\nor 7 [/]苹果"}])
        assert run(["score", "in.csv"]) == 0
        out = capsys.readouterr().out
        assert "[red]Tom\ufffd[m has 5 or 7 [/]苹果" in out and "\x1b" not in out
        assert "The paraphrase lost 3. (and 1 more)" in out

    def test_the_rows_as_json_lines(self, here, capsys):
        assert run(["score", "pairs.csv", "--json"]) == 0
        captured = capsys.readouterr()
        rows = [json.loads(line) for line in captured.out.splitlines()]
        assert [(row["id"], row["valid"]) for row in rows] == [("p0", True), ("p1", True), ("p2", False), ("p3", False)]
        assert rows[3]["evidence"][0]["kind"] == "number_added"
        assert "number_added" in captured.err  # the counts, beside the rows
        assert run(["score", "pairs.csv", "--json", "--quiet", "--only", "valid"]) == 0
        captured = capsys.readouterr()
        assert (len(captured.out.splitlines()), captured.err) == (2, "")

    def test_options_reach_the_scorer(self, here, scorer):
        command = ["score", "pairs.csv", "-o", "out.csv", "-q", "--model", "mine", "--mode", "encoder"]
        assert run([*command, "--threshold", "0.9"]) == 0
        assert scorer.asked == ("mine", "encoder", 0.9)
        assert [row["valid"] for row in read_csv("out.csv")] == ["true", "false", "false", "false"]


@pytest.mark.usefixtures("scorer")
class TestRowsThatCannotBeScored:
    ROWS = (
        {"question": QUESTION, "paraphrase": SAME},
        {"question": " ", "paraphrase": SAME},
        {"paraphrase": SAME},
        {"question": 5, "paraphrase": SAME},
        {"question": QUESTION, "paraphrase": ["Tom"]},
        {"question": QUESTION, "paraphrase": "half a sign \ud83d"},
        {"question": QUESTION, "paraphrase": None},
    )

    @pytest.fixture
    def bad(self, here):
        Path("bad.jsonl").write_text("".join(json.dumps(row) + "\n" for row in self.ROWS))

    def test_each_is_named_and_kept_and_the_code_is_1(self, bad, capsys):
        assert run(["score", "bad.jsonl", "-o", "out.jsonl", "-q"]) == 1
        assert capsys.readouterr() == (
            "",
            "could not score 5 of 7 rows (blank question: row 2–3; question is not text: row 4; "
            "paraphrase is not text: row 5; paraphrase is not valid Unicode: row 6)\n",
        )
        rows = read_jsonl("out.jsonl")
        assert [row["question"] for row in rows] == [row.get("question") for row in self.ROWS]
        assert [row["paraphrase"] for row in rows] == [row["paraphrase"] for row in self.ROWS]
        assert [row["error"] for row in rows] == [
            None,
            "blank question",
            "blank question",
            "question is not text",
            "paraphrase is not text",
            "paraphrase is not valid Unicode",
            None,
        ]
        assert all((row["score"] is None) == (row["valid"] is None) == (row["error"] is not None) for row in rows)
        assert len({row["signature"] for row in rows}) == 1

    def test_a_paraphrase_that_is_missing_is_blank_and_has_lost_everything(self, bad):
        assert run(["score", "bad.jsonl", "-o", "out.csv", "-q"]) == 1
        last = read_csv("out.csv")[-1]
        assert (last["score"], last["valid"], last["error"]) == ("-1.0", "false", "")

    @pytest.mark.parametrize("out", ["out.csv", "out.parquet"])
    def test_a_sign_that_only_json_can_write_becomes_its_escape(self, bad, out):
        assert run(["score", "bad.jsonl", "-o", out, "-q"]) == 1
        assert run(["score", out, "-o", "again.jsonl", "--overwrite-columns", "-q"]) == 1
        assert read_jsonl("again.jsonl")[5]["paraphrase"] == r"half a sign \ud83d"
        assert read_jsonl("again.jsonl")[4]["paraphrase"] == '["Tom"]'

    def test_they_are_in_the_counts_and_in_the_table(self, bad, capsys):
        assert run(["score", "bad.jsonl"]) == 1
        captured = capsys.readouterr()
        assert ["not", "scored", "5", "71.4%"] in [line.split() for line in captured.out.splitlines()]
        assert any(line.split()[:3] == ["2", "not", "scored"] for line in captured.out.splitlines())
        assert "could not score 5 of 7 rows" in captured.err
        assert run(["score", "bad.jsonl", "--json", "-q"]) == 1
        assert len(capsys.readouterr().out.splitlines()) == 7

    def test_they_have_no_verdict_to_be_chosen_by(self, bad):
        for only, expected in (("valid", 1), ("invalid", 1)):
            assert run(["score", "bad.jsonl", "-o", f"{only}.jsonl", "--only", only, "-q"]) == 1
            assert len(read_jsonl(f"{only}.jsonl")) == expected

    def test_a_row_that_the_scorer_refuses_does_not_spoil_its_neighbours(self, here, scorer):
        scorer.refuses = "eats"
        assert run(["score", "pairs.csv", "-o", "out.csv", "-q"]) == 1
        rows = read_csv("out.csv")
        assert [row["score"] for row in rows] == ["1.0", "0.8", "-0.25", ""]
        assert rows[3]["error"] == "eats is refused"

    def test_a_short_row_of_a_csv(self, here):
        Path("in.csv").write_text(f"question,paraphrase,note\n{QUESTION}\n,{SAME},x\n")
        assert run(["score", "in.csv", "-o", "out.csv", "-q"]) == 1
        assert [row["score"] for row in read_csv("out.csv")] == ["-1.0", ""]


class TestManyRows:
    @pytest.fixture
    def many(self, here):
        rows = [{"nr": i, "question": QUESTION, "paraphrase": PARAPHRASES[i % 4]} for i in range(1000)]
        write_csv("many.csv", rows)

    def test_they_are_scored_some_hundred_at_a_time_in_their_order(self, many, scorer):
        assert run(["score", "many.csv", "-o", "out.csv", "-q"]) == 0
        assert scorer.sizes == [256, 256, 256, 232]
        rows = read_csv("out.csv")
        assert [int(row["nr"]) for row in rows] == list(range(1000))
        assert [row["score"] for row in rows] == ["1.0", "0.8", "-0.25", "-0.25"] * 250

    def test_the_pieces_of_the_table_have_one_header(self, many, scorer, capsys):
        assert run(["score", "many.csv"]) == 0
        out = capsys.readouterr().out
        assert out.count("verdict") == 1
        starts = {line.index("valid") for line in out.splitlines() if line[:4].strip().isdigit() and " valid" in line}
        assert len(starts) == 1

    def test_after_ctrl_c_the_same_command_goes_on(self, many, here, scorer, capsys):
        assert run(["score", "many.csv", "-o", "whole.csv", "-q"]) == 0
        scorer.sizes.clear()
        scorer.stops_after = 512
        assert run(["score", "many.csv", "-o", "out.csv", "-q"]) == 130
        assert capsys.readouterr().err == (
            "stopped: 512 of 1,000 rows are scored; they are kept in out.csv.unfinished; run the same command again to "
            "go on\n"
        )
        assert not Path("out.csv").exists()
        scorer.sizes.clear()
        scorer.stops_after = None
        assert run(["score", "many.csv", "-o", "out.csv", "-q"]) == 0
        assert capsys.readouterr().err == "going on after 512 rows that were scored before\n"
        assert scorer.sizes == [256, 232]
        assert Path("out.csv").read_bytes() == Path("whole.csv").read_bytes()
        assert not Path("out.csv.unfinished").exists()

    def test_ctrl_c_keeps_an_older_output_and_leaves_nothing_half_written(self, many, here, scorer):
        Path("out.csv").write_text("precious")
        scorer.stops_after = 0
        assert run(["score", "many.csv", "-o", "out.csv", "--overwrite", "-q"]) == 130
        assert Path("out.csv").read_text() == "precious"
        assert names(here) == ["many.csv", "out.csv", "pairs.csv", "pairs.jsonl"]

    def test_rows_of_a_run_with_other_settings_are_not_thrown_away_unasked(self, many, scorer, fails, capsys):
        scorer.stops_after = 256
        assert run(["score", "many.csv", "-o", "out.csv", "-q"]) == 130
        scorer.stops_after = None
        capsys.readouterr()
        kept = Path("out.csv.unfinished").read_bytes()
        line = fails("score", "many.csv", "-o", "out.csv", "--threshold", "0.9")
        assert line == (
            "error: out.csv.unfinished keeps 256 rows of a run with another threshold: do as that run did to go on "
            "with it, or give --restart to begin anew"
        )
        assert Path("out.csv.unfinished").read_bytes() == kept
        assert "keeps 256 rows" in fails("score", "many.csv", "-o", "out.csv", "--threshold", "0.9", "--overwrite")
        assert run(["score", "many.csv", "-o", "out.csv", "--threshold", "0.9", "--restart", "-q"]) == 0
        assert capsys.readouterr().err == "256 rows of a run with another threshold are thrown away\n"
        assert [row["valid"] for row in read_csv("out.csv")[:3]] == ["true", "false", "false"]

    @pytest.mark.parametrize(
        ("change", "other"),
        [
            (lambda settings: settings.pop("encoding"), "encoding"),
            (lambda settings: settings.update(form=2), "form"),
            (lambda settings: settings.update(input="0"), "input"),
            (lambda settings: settings.update(signature="paraqd:0|model:m@1|threshold:0.5"), "version of paraqd"),
        ],
    )
    def test_nor_are_those_of_a_journal_of_another_shape(self, many, scorer, fails, capsys, change, other):
        scorer.stops_after = 256
        assert run(["score", "many.csv", "-o", "out.csv", "-q"]) == 130
        capsys.readouterr()
        journal = Path("out.csv.unfinished")
        first, rest = journal.read_bytes().split(b"\n", 1)
        change(settings := json.loads(first))
        journal.write_bytes(json.dumps(settings).encode() + b"\n" + rest)
        assert f"keeps 256 rows of a run with another {other}" in fails("score", "many.csv", "-o", "out.csv")

    def test_what_is_no_journal_is_begun_anew(self, many, scorer):
        for left in (b"", b"{}\n", b"5\n", b"\xff\xfe", b'{"input": "x"'):
            Path("out.csv.unfinished").write_bytes(left)
            assert run(["score", "many.csv", "-o", "out.csv", "-q"]) == 0
            assert len(read_csv("out.csv")) == 1000
            Path("out.csv").unlink()

    def test_what_a_power_cut_left_is_used_as_far_as_it_is_whole(self, many, scorer):
        scorer.stops_after = 512
        assert run(["score", "many.csv", "-o", "out.csv", "-q"]) == 130
        journal = Path("out.csv.unfinished")
        journal.write_bytes(journal.read_bytes()[:-7])
        scorer.sizes.clear()
        scorer.stops_after = None
        assert run(["score", "many.csv", "-o", "out.csv", "-q"]) == 0
        assert scorer.sizes == [256, 256, 232]
        assert [int(row["nr"]) for row in read_csv("out.csv")] == list(range(1000))

    def test_ctrl_c_while_rows_are_shown(self, many, scorer, capsys):
        scorer.stops_after = 256
        assert run(["score", "many.csv", "--json", "-q"]) == 130
        captured = capsys.readouterr()
        assert len(captured.out.splitlines()) == 256
        assert captured.err == "stopped: 256 of 1,000 rows are scored\n"

    def test_a_file_that_changes_meanwhile(self, many, scorer, fails, monkeypatch):
        real = type(scorer).score_pairs

        def adding(self, pairs, on_progress=None):
            with open("many.csv", "a") as file:
                file.write(f"1001,{QUESTION},{SAME}\n")
            return real(self, pairs)

        monkeypatch.setattr(type(scorer), "score_pairs", adding)
        assert "many.csv was changed while it was being scored" in fails("score", "many.csv", "-o", "out.csv", "-q")
        assert not Path("out.csv").exists()

    def test_a_file_that_gets_other_rows_of_the_same_number(self, here, scorer, fails, monkeypatch):
        Path("many.csv").write_text("question,paraphrase\n" + "What is 1 + 2?,Add 1 and 2.\n" * 300)
        scoring = scorer.score_pairs

        def and_write_over(pairs):
            Path("many.csv").write_text("question,paraphrase\n" + "What is 1 + 2?,Add 1 and 3.\n" * 300)
            os.utime("many.csv", ns=(1, 1))  # the clock may be too coarse to tell
            return scoring(pairs)

        monkeypatch.setattr(scorer, "score_pairs", and_write_over)
        assert "many.csv was changed while it was being scored" in fails("score", "many.csv", "-o", "out.csv", "-q")
        assert not Path("out.csv").exists()
        monkeypatch.undo()
        monkeypatch.chdir(here)
        assert not Path("out.csv.unfinished").exists()  # the same command is not refused for what it left

    def test_a_file_that_is_merely_touched(self, many, scorer, monkeypatch):
        scoring = scorer.score_pairs

        def and_touch(pairs):
            os.utime("many.csv", ns=(1, 1))
            return scoring(pairs)

        monkeypatch.setattr(scorer, "score_pairs", and_touch)
        assert run(["score", "many.csv", "-o", "out.csv", "-q"]) == 0
        assert len(read_csv("out.csv")) == 1000

    def test_a_file_that_is_broken_meanwhile(self, many, scorer, fails, monkeypatch):
        scoring = scorer.score_pairs

        def and_break(pairs):
            Path("many.csv").write_text('question,paraphrase\nWhat is 1 + 2?,"Add')
            return scoring(pairs)

        monkeypatch.setattr(scorer, "score_pairs", and_break)
        assert "many.csv was changed while it was being scored" in fails("score", "many.csv", "-o", "out.csv", "-q")
        assert not Path("out.csv.unfinished").exists()

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

    def test_a_second_run_to_the_same_output(self, many, scorer, fails):
        fcntl = pytest.importorskip("fcntl")
        with open("out.csv.unfinished", "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            assert "another run is writing out.csv" in fails("score", "many.csv", "-o", "out.csv", "-q")


@pytest.mark.usefixtures("scorer")
class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "line"),
        [
            (["none.csv", "-o", "out.csv"], "there is no file none.csv"),
            (["pairs.docx", "-o", "out.csv"], "use .csv, .tsv, .jsonl or .parquet"),
            (["pairs.csv", "-o", "out.docx"], "use .csv, .tsv, .jsonl or .parquet"),
            (["pairs.csv", "-o", "none/out.csv"], "there is no folder none"),
            (["pairs.csv", "-o", "pairs.csv", "--overwrite"], "is an input itself"),
            (["pairs.csv", "-o", "pairs.jsonl"], "is there already; give --overwrite"),
            (["pairs.csv", "-o", "-"], "give --json and no -o"),
            (["pairs.csv", "-o", "out.csv", "--question-column", "body"], "pairs.csv has no column 'body'"),
            (["pairs.jsonl", "-o", "out.csv", "--paraphrase-column", "body"], "pairs.jsonl has no column 'body'"),
            (["pairs.csv", "-o", "out.csv", "--only", "good"], "'good' is not one of"),
            (["pairs.csv", "-o", "out.csv", "--mode", "magic"], "'magic' is not one of"),
            (["pairs.csv", "-o", "out.csv", "--threshold", "2"], "--threshold"),
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

    def test_a_full_disk_while_rows_are_kept(self, here, fails, monkeypatch):
        from paraqd.data import writers

        def full(handle):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(writers.os, "fsync", full)
        line = fails("score", "pairs.csv", "-o", "out.csv", "-q")
        assert line.startswith("error: cannot write out.csv: No space left on device; the 4 rows that are scored are")
        assert names(here) == ["out.csv.unfinished", "pairs.csv", "pairs.jsonl"]


def test_standard_output_of_another_encoding(here, scorer, monkeypatch):
    write_csv("in.csv", [{"question": "It costs ₹5. How much?", "paraphrase": "How much is ₹5?"}])
    for arguments, expected in ((["--json", "-q"], b"\\u20b95"), ([], b"How much is ?5?")):
        raw = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
        assert run(["score", "in.csv", *arguments]) == 0
        sys.stdout.flush()
        assert expected in raw.getvalue()


SLOW = """
import sys, time
sys.path.insert(0, sys.argv[1])
from conftest import DigitScorer
from paraqd.cli import options
from paraqd.cli.main import run

class Slow(DigitScorer):
    def score_pairs(self, pairs):
        if len(self.sizes) == 2:
            time.sleep(600)
        return super().score_pairs(pairs)

options.load_scorer = lambda *given, **more: Slow()
sys.exit(run(["score", "many.csv", "-o", "out.csv"]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
@pytest.mark.parametrize("how", ["SIGINT", "SIGKILL"])
def test_a_process_that_is_stopped_or_killed_loses_nothing(here, scorer, how):
    write_csv("many.csv", [{"question": QUESTION, "paraphrase": PARAPHRASES[i % 4]} for i in range(1000)])
    command = [sys.executable, "-c", SLOW, str(Path(__file__).parent)]
    with subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True) as running:
        journal = Path("out.csv.unfinished")
        while running.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") == 3):
            time.sleep(0.02)
        running.send_signal(getattr(signal, how))
        errors = running.communicate()[1]
    assert "Traceback" not in errors
    if how == "SIGINT":
        assert running.returncode == 130
        assert errors.startswith("stopped: 512 of 1,000 rows are scored; they are kept in out.csv.unfinished")
    assert not Path("out.csv").exists()
    assert run(["score", "many.csv", "-o", "out.csv", "-q"]) == 0
    assert scorer.sizes == [256, 232]
    assert [row["paraphrase"] for row in read_csv("out.csv")] == PARAPHRASES * 250


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_rows_do_not_go_where_the_progress_bar_goes(here):
    script = SLOW.replace("600", "0").replace('"-o", "out.csv"', '"--json"')
    write_csv("many.csv", [{"question": QUESTION, "paraphrase": SAME}] * 1000)
    ours, theirs = os.openpty()
    command = [sys.executable, "-c", script, str(Path(__file__).parent)]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=theirs) as running:
        os.close(theirs)
        reader = threading.Thread(target=read_all, args=(ours,), daemon=True)  # a full terminal would hold it up
        reader.start()
        out = running.communicate(timeout=60)[0]
        reader.join(timeout=60)
    os.close(ours)
    assert running.returncode == 0
    assert [json.loads(line)["score"] for line in out.splitlines()] == [1.0] * 1000


def read_all(handle):
    with contextlib.suppress(OSError):  # Linux says so when the other end is closed
        while os.read(handle, 1 << 16):
            pass


# --- the scorer that is shipped -------------------------------------------------------------------


def test_the_shipped_scorer_from_standard_input(here):
    rows = [{"question": QUESTION, "paraphrase": text} for text in (SAME, " ", LOST)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    command = [sys.executable, "-m", "paraqd.cli.main", "score", "-", "--json"]
    done = subprocess.run(command, env=environment(), input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    same, blank, lost = (json.loads(line) for line in done.stdout.splitlines())
    assert (same["score"], same["valid"]) == (1.0, True)
    assert (blank["score"], blank["valid"]) == (-1.0, False) and blank["evidence"]
    assert lost["score"] < 1
    assert same["signature"].startswith(f"paraqd:{paraqd.__version__}|model:")


def test_a_model_that_cannot_be_had(here, fails):
    line = fails("score", "pairs.csv", "-o", "out.csv", "--model", "none")
    assert "none" in line and "unexpected" not in line
