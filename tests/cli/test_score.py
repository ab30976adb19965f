"""Test that ``paraqd score`` writes the same rows in the same order with their verdicts, in every format."""

import datetime
import json
from pathlib import Path

import pytest
from pair_files import LOST, NEW, PARAPHRASES, QUESTION, SAME, read_csv, read_jsonl, write_csv

from paraqd.cli.main import run
from paraqd.tables.table import open_table


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
        assert list(rows[0])[-7:] == ["score", "valid", "why", *NEW[2:]]
        assert [rows[0]["why"], rows[2]["why"]] == ["", "The paraphrase lost 3."]
        assert run(["score", "out.csv", "-o", "again.csv", "--why", "-q"]) == 2  # the column is there

    @pytest.mark.parametrize("name", ["again.csv", "again.jsonl", "again.parquet", "again/"])
    def test_sentences_of_an_earlier_run_do_not_stand_beside_new_verdicts(self, here, name, capsys):
        assert run(["score", "pairs.csv", "-o", "out.csv", "--why", "-q"]) == 0
        assert run(["score", "out.csv", "-o", name, "--overwrite-columns", "-q"]) == 0
        assert (
            "out.csv has a column 'why' from an earlier scoring, which is dropped (--why adds it again)"
            in capsys.readouterr().err
        )
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
        assert [str(table.schema.field(name).type) for name in NEW] == ["double", "bool", *["string"] * 4]
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
        assert Path("out.csv").read_text() == "question,paraphrase,score,valid,evidence,warnings,error,signature\n"

    def test_a_column_that_is_there_is_replaced_only_when_asked(self, here, fails):
        write_csv("in.csv", [{"score": "9", "question": QUESTION, "error": "old", "paraphrase": SAME}])
        line = fails("score", "in.csv", "-o", "out.csv")
        assert line == "error: in.csv already has the columns score, error; pass --overwrite-columns to replace them"
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
        assert "several columns without a name; only the last of them is kept" in capsys.readouterr().err
        assert read_csv("out.csv")[0][""] == "b"


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
            "could not score 5 of 7 rows (blank question: rows 2–3; question is not text: row 4; "
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

    @pytest.mark.parametrize("out", ["out.csv", "out.tsv", "out.parquet", "out.jsonl", "out.xlsx"])
    def test_half_a_sign_in_the_name_of_a_column(self, here, capsys, out):
        rows = [{"question": QUESTION, "paraphrase": SAME}, {"question": QUESTION, "paraphrase": SAME, "\ud800": 1}]
        Path("odd.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert run(["score", "odd.jsonl", "-o", out, "-q"]) == 2
        why = "odd.jsonl, line 2 has a column whose name is not valid Unicode; rename the column"
        assert capsys.readouterr().err == f"error: {why}; to score the other rows, pass --keep-going\n"
        assert run(["score", "odd.jsonl", "-o", out, "-q", "--keep-going"]) == 1
        assert "the name of a column is not valid Unicode: row 2" in capsys.readouterr().err

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
        assert [row["score"] for row in read_csv("out.csv")] == ["", ""]
        errors = [row["error"] for row in read_csv("out.csv")]
        assert errors == ["the row ends before the column 'paraphrase'", "blank question"]
