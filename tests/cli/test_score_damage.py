"""``paraqd score`` and files that are cut off, damaged or odd."""

import gzip
import io
import json
import random
import sys
from pathlib import Path

import pytest
from pair_files import read_jsonl

from paraqd.cli.main import run

QUESTION = "Tom has 5 apples and buys 3 more. How many apples has he now?"
PARAPHRASES = [QUESTION, "Tom buys 3 apples and had 5. How many are there now?", "Tom has 5 apples. How many has he?"]


@pytest.fixture
def here(tmp_path, monkeypatch, scorer):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pairs(number):
    return [{"nr": i, "question": QUESTION, "paraphrase": PARAPHRASES[i % 3]} for i in range(number)]


def write_rows(path, rows):
    from paraqd.tables.table import open_writer

    with open_writer(Path(path), {"nr": int, "question": str, "paraphrase": str}) as writer:
        writer.write(rows)


def cut(path, share=0.6):
    data = Path(path).read_bytes()
    Path(path).write_bytes(data[: int(len(data) * share)])


def shuffled(number):
    """Return rows that do not compress to nothing."""
    draw = random.Random(7)
    return [{"nr": i, "question": QUESTION, "paraphrase": f"{draw.getrandbits(256):x}"} for i in range(number)]


class TestAFileThatIsCutOff:
    @pytest.mark.parametrize("name", ["in.csv.gz", "in.jsonl.gz", "in.jsonl.zst", "in.tsv.zst"])
    def test_it_is_refused_before_any_work_unless_asked_to_keep_going(self, here, fails, scorer, capsys, name):
        write_rows(name, shuffled(4000))
        cut(name)
        line = fails("score", name, "-o", "out.jsonl")
        assert f"{name} is cut off: the " in line and line.endswith(" rows before that, pass --keep-going")
        sound = int(line.split(" rows before")[0].split()[-1].replace(",", ""))
        assert 1500 < sound < 3000
        assert scorer.sizes == [] and not Path("out.jsonl").exists()
        assert run(["score", name, "-o", "out.jsonl", "--keep-going", "-q"]) == 1
        assert f"{name} is cut off" in (told := capsys.readouterr().err) and f"the {sound:,} rows before that" in told
        rows = read_jsonl("out.jsonl")
        assert [int(row["nr"]) for row in rows] == list(range(sound))
        assert [row["paraphrase"] for row in rows] == [row["paraphrase"] for row in shuffled(sound)]

    def test_a_csv_whose_last_text_never_ends(self, here, fails):
        Path("in.csv").write_text(f'question,paraphrase\n{QUESTION},{QUESTION}\n{QUESTION},"Tom has')
        assert "to score the 1 row before that" in fails("score", "in.csv", "-o", "out.csv")
        assert run(["score", "in.csv", "-o", "out.jsonl", "--keep-going", "-q"]) == 1
        assert [row["score"] for row in read_jsonl("out.jsonl")] == [1.0]

    def test_counts_for_a_program_name_the_damage(self, here, capsys):
        write_rows("in.csv.gz", shuffled(2000))
        cut("in.csv.gz")
        assert run(["score", "in.csv.gz", "-o", "out.csv", "--keep-going", "--json"]) == 1
        [problem] = json.loads(capsys.readouterr().out)["problems"]
        assert "in.csv.gz is cut off" in problem

    def test_where_nothing_is_sound_nothing_is_offered(self, here, fails):
        write_rows("in.jsonl.zst", shuffled(20))
        cut("in.jsonl.zst", 0.1)
        assert "--keep-going" not in fails("score", "in.jsonl.zst", "-o", "out.csv", "--keep-going")


class TestLinesThatCannotBeRead:
    def test_json(self, here, fails, capsys):
        good = json.dumps({"question": QUESTION, "paraphrase": QUESTION})
        Path("in.jsonl").write_bytes("\n".join([good, '{"question', "[5]", good, "\0" * 99]).encode())
        line = fails("score", "in.jsonl", "-o", "out.jsonl")
        assert "line 2 is not valid JSON" in line and line.endswith("to score the other rows, pass --keep-going")
        assert run(["score", "in.jsonl", "-o", "out.jsonl", "--keep-going", "-q"]) == 1
        told = "could not score 3 of 5 rows (not valid JSON: rows 2, 5; not a JSON object: row 3)\n"
        assert capsys.readouterr().err == told
        rows = read_jsonl("out.jsonl")
        assert [row["error"] for row in rows] == [None, "not valid JSON", "not a JSON object", None, "not valid JSON"]
        assert [row["score"] for row in rows] == [1.0, None, None, 1.0, None]

    def test_the_very_first(self, here, fails, monkeypatch):
        good = json.dumps({"question": QUESTION, "paraphrase": QUESTION})
        Path("in.jsonl").write_text("<<<<\n<<<<\n")
        assert fails("score", "in.jsonl", "-o", "out.jsonl").endswith("line 1 is not valid JSON (Expecting value)")
        Path("in.jsonl").write_text(f"<<<<\n{good}\n")
        line = fails("score", "in.jsonl", "-o", "out.jsonl")
        assert line.endswith("line 1 is not valid JSON (Expecting value); to score the other rows, pass --keep-going")
        given = io.TextIOWrapper(io.BytesIO(("# a licence\n" * 150 + good).encode()))
        monkeypatch.setattr(sys, "stdin", given)
        assert fails("score", "-", "-o", "out.jsonl").endswith("; to score the other rows, pass --keep-going")
        assert run(["score", "in.jsonl", "-o", "out.jsonl", "--keep-going", "-q"]) == 1
        assert [row["score"] for row in read_jsonl("out.jsonl")] == [None, 1.0]

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("in.jsonl", b'{"question": "%s", "paraphrase": "%s"}\n'),
            ("in.csv", b"%s,%s\n"),
            ("in.tsv.gz", b"%s\t%s\n"),
        ],
    )
    def test_bytes_that_are_no_text(self, here, fails, capsys, name, text):
        good, bad = QUESTION.encode(), QUESTION.encode() + b"\xff"
        head = b"" if name == "in.jsonl" else text % (b"question", b"paraphrase")
        raw = head + text % (good, "für".encode()) + text % (good, bad) + text % (good, good)
        Path(name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
        line = fails("score", name, "-o", "out.jsonl")
        assert f"{name} is not UTF-8: line {3 if head else 2}, byte " in line
        assert line.endswith("try --encoding cp1252; to score the other rows, pass --keep-going")
        assert run(["score", name, "-o", "out.jsonl", "--keep-going", "-q"]) == 1
        assert capsys.readouterr().err == f"could not score 1 of 3 rows (not UTF-8: row {3 if head else 2})\n"
        assert [row["error"] for row in read_jsonl("out.jsonl")] == [None, "not UTF-8", None]
        assert read_jsonl("out.jsonl")[0]["paraphrase"] == "für"

    def test_a_header_that_is_no_text(self, here, fails):
        Path("in.csv").write_bytes(b"question,paraphr\xe4se\na,b\n")
        for more in ((), ("--keep-going",)):
            assert "in.csv is not UTF-8: line 1, byte 17" in fails("score", "in.csv", "-o", "out.csv", *more)

    def test_csv(self, here, capsys):
        Path("in.csv").write_text(f"question,paraphrase\n{QUESTION},a,b\n{QUESTION},{QUESTION}\n")
        assert run(["score", "in.csv", "-o", "out.jsonl", "--keep-going", "-q"]) == 1
        assert capsys.readouterr().err == "could not score 1 of 2 rows (more fields than the header has: row 2)\n"
        assert [row["score"] for row in read_jsonl("out.jsonl")] == [None, 1.0]


@pytest.mark.parametrize("error", ["ArrowMemoryError", "ArrowNotImplementedError"])
def test_what_the_machine_cannot_do_is_no_damage_of_the_file(here, fails, monkeypatch, error):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(pairs(30)), "in.parquet")

    def cannot(*given):
        raise getattr(pa, error)("this cannot be done here")

    monkeypatch.setattr("paraqd.tables.parquet.batches", cannot)
    line = fails("score", "in.parquet", "-o", "out.csv")
    assert line == "error: rows 1–30 of in.parquet cannot be read: this cannot be done here"


class TestADamagedRowGroup:
    @pytest.fixture
    def damaged(self, here):
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.Table.from_pylist(pairs(3000))
        pq.write_table(table, "in.parquet", row_group_size=1000, use_dictionary=False)
        self.spoil(1)

    @staticmethod
    def spoil(group):
        import pyarrow.parquet as pq

        place = pq.read_metadata("in.parquet").row_group(group).column(1).data_page_offset
        data = bytearray(Path("in.parquet").read_bytes())
        data[place : place + 200] = b"\xff" * 200
        Path("in.parquet").write_bytes(data)

    @pytest.mark.parametrize("out", ["out.jsonl", "out.parquet"])
    def test_the_others_are_scored_and_its_rows_named(self, damaged, capsys, out):
        assert run(["score", "in.parquet", "-o", out, "-q"]) == 1
        first, last = capsys.readouterr().err.splitlines()
        assert first.startswith("in.parquet, row group 2 cannot be read (") and first.isprintable()
        assert last == "could not score 1,000 of 3,000 rows (row group 2 cannot be read: rows 1001–2000)"
        assert run(["score", out, "-o", "again.jsonl", "--overwrite-columns", "-q"]) == 1
        rows = read_jsonl("again.jsonl")
        assert [row["nr"] for row in rows] == [*range(1000), *[None] * 1000, *range(2000, 3000)]
        assert [row["score"] for row in rows[2000:2003]] == [-0.25, 1.0, 0.8]
        if out == "out.jsonl":
            assert {row["error"] for row in read_jsonl(out)[1000:2000]} == {"row group 2 cannot be read"}

    def test_a_killed_run_goes_on(self, damaged, scorer):
        assert run(["score", "in.parquet", "-o", "whole.jsonl", "-q"]) == 1
        scorer.sizes.clear()
        scorer.stops_after = 512
        assert run(["score", "in.parquet", "-o", "out.jsonl", "-q"]) == 130
        scorer.stops_after = None
        assert run(["score", "in.parquet", "-o", "out.jsonl", "-q"]) == 1
        assert Path("out.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()

    def test_nothing_is_done_where_all_are_damaged(self, damaged, fails):
        for group in (0, 2):
            self.spoil(group)
        line = fails("score", "in.parquet", "-o", "out.jsonl")
        assert "in.parquet: none of its rows can be read (" in line and "row group 3 cannot be read" in line
        assert not Path("out.jsonl").exists()

    def test_text_that_is_no_text(self, here, capsys):
        import pyarrow as pa
        import pyarrow.parquet as pq

        raw = pa.array([QUESTION.encode(), b"Tom\xff has 5", *[QUESTION.encode()] * 2], pa.binary())
        table = pa.table({"question": [QUESTION] * 4, "paraphrase": raw.view(pa.string())})
        pq.write_table(table, "in.parquet", row_group_size=2)
        assert run(["score", "in.parquet", "-o", "out.jsonl", "-q"]) == 1
        assert "row group 1 cannot be read (In column 1: Invalid: Invalid UTF8" in capsys.readouterr().err
        assert [row["score"] for row in read_jsonl("out.jsonl")] == [None, None, 1.0, 1.0]


class TestOddRows:
    @pytest.mark.parametrize("out", ["out.jsonl", "out.csv.zst", "out.parquet"])
    def test_a_row_of_ten_megabytes(self, here, out):
        rows = pairs(5)
        rows[2]["paraphrase"] = "Tom has 5 apples. " * 600_000
        rows[3]["question"] = "?" * 100_001
        write_rows("in.jsonl", rows)
        assert run(["score", "in.jsonl", "-o", out, "-q"]) == 1
        assert run(["score", out, "-o", "again.jsonl", "--overwrite-columns", "-q"]) == 1
        again = read_jsonl("again.jsonl")
        assert [row["score"] for row in again] == [1.0, 0.8, None, None, 0.8]
        assert again[2]["error"] == "paraphrase is longer than 100,000 characters"
        assert again[3]["error"] == "question is longer than 100,000 characters"
        assert again[2]["paraphrase"] == rows[2]["paraphrase"]

    def test_zeros_in_a_text(self, here, capsys):
        text = QUESTION.encode()
        Path("in.csv").write_bytes(b"question,paraphrase\n" + text + b"," + text + b"\0\n\0\0,x\n" + b"\0" * 400)
        assert run(["score", "in.csv", "-o", "out.jsonl", "-q"]) == 1
        assert capsys.readouterr().err == "could not score 2 of 3 rows (blank question: rows 3–4)\n"
        first = read_jsonl("out.jsonl")[0]
        assert (first["paraphrase"], first["score"]) == (QUESTION + "\0", 0.8)

    def test_blank_rows(self, here, capsys):
        Path("in.csv").write_text(f"question,paraphrase\n\n{QUESTION},{QUESTION}\n,\n\n")
        assert run(["score", "in.csv", "-o", "out.jsonl", "-q"]) == 1
        assert capsys.readouterr().err == "could not score 1 of 2 rows (blank question: row 4)\n"


class TestColumnsInAnotherCase:
    @pytest.mark.parametrize("name", ["in.csv", "in.jsonl", "in.parquet"])
    def test_they_are_taken_and_told(self, here, capsys, name):
        from paraqd.tables.table import open_writer

        with open_writer(Path(name), {"Question": str, "PARAPHRASE": str}) as writer:
            writer.write([{"Question": QUESTION, "PARAPHRASE": PARAPHRASES[1]}])
        assert run(["score", name, "-o", "out.jsonl", "-q"]) == 0
        assert capsys.readouterr().err == (
            f"{name} has no column 'question'; using 'Question'\n"
            f"{name} has no column 'paraphrase'; using 'PARAPHRASE'\n"
        )
        [row] = read_jsonl("out.jsonl")
        assert (row["Question"], row["score"]) == (QUESTION, 0.8)

    def test_not_where_two_are_alike(self, here, fails):
        Path("in.csv").write_text(f"Question,QUESTION,paraphrase\n{QUESTION},{QUESTION},{QUESTION}\n")
        assert "in.csv has no column 'question' (it has: Question, QUESTION" in fails("score", "in.csv", "-o", "o.csv")

    def test_the_exact_one_is_taken_without_a_word(self, here, capsys):
        Path("in.csv").write_text(f"Question,question,paraphrase\n?,{QUESTION},{QUESTION}\n")
        assert run(["score", "in.csv", "-o", "out.jsonl", "-q"]) == 0
        assert capsys.readouterr().err == ""
        assert read_jsonl("out.jsonl")[0]["score"] == 1.0


def test_a_gzip_file_with_a_wrong_checksum(here, fails):
    data = bytearray(gzip.compress(b"question,paraphrase\n" + b"How many are 5?,How many are 5?\n" * 50))
    data[-6] ^= 0xFF
    Path("in.csv.gz").write_bytes(data)
    line = fails("score", "in.csv.gz", "-o", "out.csv")
    assert "is not a valid gzip file (CRC check failed" in line and "to score the 50 rows before that" in line
