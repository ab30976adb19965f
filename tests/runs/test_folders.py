"""Folders scored and augmented part by part: every row once, in its place, whatever is killed, by whichever engine."""

import errno
import gzip
import json
import logging
import os
import pickle
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paraqd
from paraqd.cli.main import run
from paraqd.data.locks import locked
from paraqd.data.tables import Table, TableError
from paraqd.runs.engines import Result, in_processes
from paraqd.runs.pieces import Piece, cuts, rows_of_a_part, survey
from paraqd.runs.ray_engine import ClusterError, _Hand, on_ray
from paraqd.runs.stores import Store

pytestmark = pytest.mark.xdist_group("ray")
READING = ["--model", "reading"]


def pairs(count, name="a"):
    rows = []
    for i in range(count):
        question = f"Tom has {i + 2} apples and buys {i % 7 + 3} more. How many apples has he now?"
        paraphrase = question.replace("buys", "gets") if i % 3 else question.replace(f"{i % 7 + 3} more", "more")
        rows.append({"id": f"{name}{i}", "question": question, "paraphrase": paraphrase, "number": i})
    return rows


def write(path, rows, group=100):
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=group)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARAQD_DEBUG", raising=False)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    write(Path("in/a.parquet"), pairs(450))
    write(Path("in/b.parquet"), pairs(130, "b"), group=1000)
    return tmp_path


class CannotBegin:
    """A job whose workers cannot load what they need."""

    def worker(self, *, threads=None):
        raise TableError("the model is not there")


class Counting:
    """A job that is its own worker and does nothing; sent to other processes as a whole."""

    identity = "none"

    def worker(self, *, threads=None):
        return self

    def work(self, piece, on_rows):
        return {}


class AllDie(Counting):
    def worker(self, *, threads=None):
        os._exit(1)


class OneOfTwo(Counting):
    """A job for two workers on a cluster, of which the first that comes is known again when it is started anew."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def first(self):
        import ray

        me = ray.get_runtime_context().get_actor_id()
        try:
            with open(self.folder / "first", "x") as file:
                file.write(me)
        except FileExistsError:
            pass
        return (self.folder / "first").read_text() == me


class OneDies(OneOfTwo):
    def worker(self, *, threads=None):
        if self.first():
            with open(self.folder / "deaths", "a") as file:
                file.write("x")
            os._exit(1)
        return self

    def work(self, piece, on_rows):
        """Have the first piece take until the other worker is given up."""
        still = time.monotonic() + 300
        while piece.index == 0 and not (self.folder / "given up").exists():
            assert time.monotonic() < still
            time.sleep(0.05)
        return {}


class OneLacks(OneOfTwo):
    def worker(self, *, threads=None):
        if self.first():
            raise TableError("the model is not there")
        return self


PIECES = [Piece(i, "a", i, 1) for i in range(3)]


def parts(folder):
    return sorted(Path(folder).glob("part-*.parquet"))


def rows(folder):
    return [row for part in parts(folder) for row in pq.read_table(part, partitioning=None).to_pylist()]


def same(one, two):
    """Whether two folders hold the same parts, byte by byte."""
    return [(part.name, part.read_bytes()) for part in parts(one)] == [
        (part.name, part.read_bytes()) for part in parts(two)
    ]


def environment():
    return dict(os.environ, PYTHONPATH=str(Path(paraqd.__file__).parents[1]), OMP_NUM_THREADS="1")


# the program with a worker that never ends with one of its pieces
BLOCKED = """
import sys, time
from paraqd.cli.main import run
from paraqd.runs.score_folder import ScoreWorker

work = ScoreWorker.work

def blocked(self, piece, on_rows):
    if piece.index == int(sys.argv[1]):
        open("blocked", "w").close()
        time.sleep(600)
    return work(self, piece, on_rows)

ScoreWorker.work = blocked
sys.exit(run(sys.argv[2:]))
"""


def start(*arguments, blocked_at=None):
    """Start a command as a program of its own; at the piece ``blocked_at`` it makes a file ``blocked`` and waits."""
    program = [sys.executable, "-m", "paraqd.cli.main", *arguments]
    if blocked_at is not None:
        program = [sys.executable, "-c", BLOCKED, str(blocked_at), *arguments]
    return subprocess.Popen(program, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(condition, process, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.005)


class TestParts:
    def test_every_row_in_its_place_and_the_file_form_says_the_same(self, here):
        assert run(["score", "in", "-o", "out/", "--part-rows", "128", "-q", *READING]) == 0
        assert [part.name for part in parts("out")] == [f"part-{i:05}.parquet" for i in range(7)]
        assert [pq.read_metadata(part).num_rows for part in parts("out")] == [100, 100, 100, 100, 50, 65, 65]
        found = rows("out")
        assert [row["id"] for row in found] == [row["id"] for row in pairs(450) + pairs(130, "b")]
        for name in ("a", "b"):
            assert run(["score", f"in/{name}.parquet", "-o", f"{name}.parquet", "-q", *READING]) == 0
        assert found == pq.read_table("a.parquet").to_pylist() + pq.read_table("b.parquet").to_pylist()
        assert pq.read_schema("a.parquet") == pq.read_schema(parts("out")[0])
        assert json.loads(Path("out/_SUCCESS").read_text())["rows"] == 580

    def test_one_file_into_a_folder_and_text_files_too(self, here):
        Path("texts").mkdir()
        lines = [json.dumps(row) for row in pairs(20)]
        Path("texts/a.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        Path("texts/b.csv").write_text("id,question,paraphrase\nz,What is 2 + 3?,Add 2 to 3.\n", encoding="utf-8")
        Path("texts/_notes.csv").write_text("no pairs\n", encoding="utf-8")
        Path("texts/read.me").write_text("no pairs\n", encoding="utf-8")
        assert run(["score", "texts", "-o", "out/", "--part-rows", "8", "-q", *READING]) == 0
        assert [row["id"] for row in rows("out")] == [f"a{i}" for i in range(20)] + ["z"]
        assert [row["number"] for row in rows("out")] == [*range(20), None]
        assert run(["score", "texts/a.jsonl", "-o", "one/", "-q", *READING]) == 0
        assert [row["score"] for row in rows("one")] == [row["score"] for row in rows("out")[:20]]

    def test_a_text_file_is_read_once_however_many_parts_it_has(self, here, monkeypatch):
        Path("texts").mkdir()
        for name in ("a", "b"):
            lines = [json.dumps(row) for row in pairs(50, name)]
            Path(f"texts/{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        inputs = survey(Store.at("texts"), part_rows=8, check=lambda table: None, progress=lambda *told: None)
        read, began = [], Table.rows

        def counted(table, only=None):
            for row in began(table, only):
                read.append(row["id"])
                yield row

        monkeypatch.setattr(Table, "rows", counted)
        reader = pickle.loads(pickle.dumps(inputs.reader))
        found = [[row["id"] for row in reader.rows(piece)] for piece in inputs.pieces]
        assert [id for ids in found for id in ids] == [f"{name}{i}" for name in "ab" for i in range(50)]
        assert len(read) == 100
        for wanted in (3, 1, 1, 8, 2):  # and in any other order
            assert [row["id"] for row in reader.rows(inputs.pieces[wanted])] == found[wanted]

    @pytest.mark.parametrize("workers", [[], ["--workers", "2"]])
    def test_columns_in_another_case_are_taken_and_told(self, here, capsys, workers):
        for name in ("b", "c"):
            renamed = {"question": "Question", "paraphrase": "PARAPHRASE"}
            write(Path(f"in/{name}.parquet"), [{renamed.get(k, k): v for k, v in row.items()} for row in pairs(9)])
        assert run(["score", "in", "-o", "out/", "-q", *workers, *READING]) == 0
        assert capsys.readouterr().err == (
            "in/b.parquet has no column 'question'; taking 'Question' (the same in 2 files)\n"
            "in/b.parquet has no column 'paraphrase'; taking 'PARAPHRASE' (the same in 2 files)\n"
        )
        found = rows("out")
        assert [row["score"] for row in found[450:]] == [row["score"] for row in found[:9]] * 2
        assert "Question" not in found[0] and found[450]["question"] == found[0]["question"]

    def test_files_whose_columns_differ(self, here):
        base = pairs(3)
        write(Path("mixed/a.parquet"), [{**row, "extra": 1, "mark": 1} for row in base])
        write(Path("mixed/b.parquet"), [{**row, "extra": 0.5, "mark": "two"} for row in base])
        write(Path("mixed/c.parquet"), base)
        assert run(["score", "mixed", "-o", "out/", "-q", *READING]) == 0
        found = rows("out")
        assert [row["extra"] for row in found] == [1.0] * 3 + [0.5] * 3 + [None] * 3
        assert [row["mark"] for row in found] == ["1"] * 3 + ["two"] * 3 + [None] * 3
        assert len({pq.read_schema(part).remove_metadata().to_string() for part in parts("out")}) == 1

    def test_only_some_rows_and_why(self, here):
        assert run(["score", "in", "-o", "out/", "--only", "invalid", "--why", "-q", *READING]) == 0
        found = rows("out")
        assert found and not any(row["valid"] for row in found)
        assert "number" in found[0]["why"]
        assert json.loads(Path("out/_SUCCESS").read_text())["written"] == len(found)

    def test_rows_that_cannot_be_scored_are_named_with_their_file(self, here, capsys):
        bad = pairs(10)
        bad[3]["question"] = " "
        write(Path("in/c.parquet"), bad)
        assert run(["score", "in", "-o", "out/", "-q", *READING]) == 1
        assert "1 of 590 rows (in/c.parquet: blank question: row 4)" in capsys.readouterr().err
        assert Path("out/_SUCCESS").exists()
        assert [row["error"] for row in rows("out") if row["error"]] == ["blank question"]

    def test_several_processes_write_the_same_bytes(self, here):
        assert run(["score", "in", "-o", "one/", "--part-rows", "128", "-q", *READING]) == 0
        done = start("score", "in", "-o", "two/", "--part-rows", "128", "--workers", "2", "-q", *READING)
        assert done.wait(60) == 0, done.communicate()
        assert same("one", "two")

    def test_the_size_of_parts_depends_on_the_rows_alone(self):
        sizes = [rows_of_a_part(count) for count in (1, 10**6, 10**7, 10**9, 10**10)]
        assert sizes == sorted(sizes) and sizes[0] == 1024 and sizes[-1] == 65_536

    @pytest.mark.parametrize("groups", [[], [0], [5], [7, 7, 7], [30, 1, 1, 12], [10, 0, 10, 21]])
    def test_cuts_hold_every_row_once(self, groups):
        found = cuts(groups, 10)
        assert [row for start, count in found for row in range(start, start + count)] == list(range(sum(groups)))
        assert all(0 < count <= 10 for _, count in found)

    def test_a_store_that_is_no_disk_of_this_machine(self, here):
        from pyarrow import fs

        store = Store.at("other://out")
        # the same files behind another sort of file system: nothing may be taken for a path of this machine
        store.__dict__["_reached"] = (fs.SubTreeFileSystem(str(here), fs.LocalFileSystem()), "in")
        assert store.local is None
        inputs = survey(store, part_rows=128, check=lambda table: None, progress=lambda *told: None)
        assert [row for piece in inputs.pieces for row in inputs.reader.rows(piece)] == pairs(450) + pairs(130, "b")
        store.put("_manifest.json", b"{}")
        store.put("_manifest.json", b"[]")
        assert store.read("_manifest.json") == b"[]" and store.read("nothing") is None
        store.remove("_manifest.json")
        assert [entry.name for entry in store.entries()] == ["a.parquet", "b.parquet"]


class TestGoingOn:
    ARGUMENTS = ("score", "in", "--part-rows", "50", *READING)

    def test_after_kill_9_it_goes_on_to_the_same_bytes(self, here):
        assert run([*self.ARGUMENTS, "-o", "whole/", "-q"]) == 0
        process = start(*self.ARGUMENTS, "-o", "out/", blocked_at=2)
        wait_for(Path("blocked").exists, process)
        process.kill()
        process.communicate(timeout=60)
        kept = {part.name: part.stat().st_mtime_ns for part in parts("out")}
        assert len(kept) == 2 and not Path("out/_SUCCESS").exists()
        Path("out/.part-00009.parquet.abc.writing").write_bytes(b"half")
        again = start(*self.ARGUMENTS, "-o", "out/")
        out, err = again.communicate(timeout=60)
        assert again.returncode == 0, err
        assert "going on after" in err and "580" in out
        assert same("whole", "out") and Path("out/_SUCCESS").read_bytes() == Path("whole/_SUCCESS").read_bytes()
        assert {part.name: part.stat().st_mtime_ns for part in parts("out") if part.name in kept} == kept
        assert sorted(path.name for path in Path("out").iterdir() if path.name.startswith(".")) == [".lock"]

    def test_a_part_that_is_cut_off_or_of_another_run_is_made_again(self, here):
        assert run([*self.ARGUMENTS, "-o", "out/", "-q"]) == 0
        whole = {part.name: part.read_bytes() for part in parts("out")}
        assert run([*self.ARGUMENTS, "-o", "other/", "--threshold", "0.9", "-q"]) == 0
        Path("out/_SUCCESS").unlink()
        first, second, third = parts("out")[:3]
        first.write_bytes(whole[first.name][:-30])
        second.write_bytes(Path("other", second.name).read_bytes())
        third.unlink()
        assert run([*self.ARGUMENTS, "-o", "out/", "-q"]) == 0
        assert {part.name: part.read_bytes() for part in parts("out")} == whole

    def test_ctrl_c_says_how_to_go_on(self, here):
        process = start(*self.ARGUMENTS, "-o", "out/", blocked_at=1)
        wait_for(Path("blocked").exists, process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "stopped: 50 of 580 rows are finished" in err
        assert "run the same command again to go on" in err and "Traceback" not in err
        assert run([*self.ARGUMENTS, "-o", "out/", "-q"]) == 0
        assert Counter(row["id"] for row in rows("out")) == Counter(row["id"] for row in pairs(450) + pairs(130, "b"))

    def test_other_settings_are_refused_and_replaced_on_demand(self, here, fails):
        assert run([*self.ARGUMENTS, "-o", "out/", "-q"]) == 0
        assert "finished run" in fails(*self.ARGUMENTS, "-o", "out/")
        Path("out/_SUCCESS").unlink()
        line = fails(*self.ARGUMENTS, "-o", "out/", "--threshold", "0.9")
        assert "the unfinished run in out/ has another threshold; give the same" in line and "--overwrite" in line
        write(Path("in/c.parquet"), pairs(10, "c"))
        told = fails(*self.ARGUMENTS, "-o", "out/")
        assert "has another input (c.parquet is new); give --overwrite" in told
        assert run([*self.ARGUMENTS, "-o", "out/", "--overwrite", "-q"]) == 0
        assert len(rows("out")) == 590


class TestBadInput:
    def test_a_folder_that_is_not_ours_is_left_alone(self, here, fails):
        Path("mine").mkdir()
        Path("mine/thesis.doc").write_text("years of work")
        assert "thesis.doc" in fails("score", "in", "-o", "mine/", *READING)
        assert "thesis.doc" in fails("score", "in", "-o", "mine/", "--overwrite", *READING)
        assert [path.name for path in Path("mine").iterdir()] == ["thesis.doc"]

    @pytest.mark.parametrize("name", [".env", "_thesis.doc", "part-one.parquet", ".x.writing", "a/part-00000.parquet"])
    def test_overwriting_removes_what_a_run_has_written_and_nothing_else(self, here, fails, name):
        assert run(["score", "in", "-o", "out/", "-q", *READING]) == 0
        stranger = Path("out", name)
        stranger.parent.mkdir(exist_ok=True)
        stranger.write_text("years of work")
        assert f"holds {name}, which is not of this run" in fails("score", "in", "-o", "out/", "--overwrite", *READING)
        assert stranger.read_text() == "years of work" and Path("out/_SUCCESS").exists()
        stranger.unlink()
        Path("out/.part-00000.parquet.crc").write_bytes(b"sum")
        assert run(["score", "in", "-o", "out/", "--overwrite", "--part-rows", "300", "-q", *READING]) == 0
        assert not Path("out/.part-00000.parquet.crc").exists() and len(parts("out")) == 3

    def test_two_runs_at_once_lock_the_same_file(self, here):
        assert run(["score", "in", "-o", "out/", "-q", *READING]) == 0
        with open("out/.lock", "ab") as waiting:  # opened while the first run was at work, locked when it is over
            assert run(["score", "in", "-o", "out/", "--overwrite", "-q", *READING]) == 0
            assert locked(waiting)
            assert run(["score", "in", "-o", "out/", "--overwrite", "-q", *READING]) == 2

    def test_outputs_that_cannot_be(self, here, fails):
        assert "lie in each other" in fails("score", "in", "-o", "in/out/", *READING)
        assert "lie in each other" in fails("score", "in", "-o", "in/", *READING)
        assert "there is no folder" in fails("score", "in", "-o", "nowhere/out/", *READING)
        assert "-o NAME/" in fails("score", "in", *READING)
        assert "-o scored/" in fails("score", "in", "-o", "scored.csv", *READING)
        assert "it is a file" in fails("score", "in", "-o", "in/a.parquet/", *READING)
        assert sorted(path.name for path in here.iterdir()) == ["in"]

    def test_inputs_that_cannot_be(self, here, fails):
        Path("empty").mkdir()
        assert "has no .parquet" in fails("score", "empty", "-o", "out/", *READING)
        assert "no file or folder" in fails("score", "nothing.parquet", "-o", "out/", *READING)
        write(Path("other/a.parquet"), [{"text": "x"}])
        assert "no column 'question'" in fails("score", "other", "-o", "out/", *READING)
        assert "--part-rows" in fails("score", "in/a.parquet", "-o", "x.csv", "--part-rows", "5", *READING)
        assert "--engine ray" in fails("score", "in", "-o", "out/", "--address", "auto", *READING)
        assert not Path("out").exists()

    @pytest.mark.parametrize("workers", [[], ["--workers", "2"]])
    def test_of_a_corrupt_row_group_the_rows_alone_are_lost(self, here, capsys, workers):
        raw = bytearray(Path("in/a.parquet").read_bytes())
        group = pq.read_metadata("in/a.parquet").row_group(2).column(1)
        start = group.dictionary_page_offset or group.data_page_offset
        raw[start : start + group.total_compressed_size] = b"\xff" * group.total_compressed_size
        Path("in/a.parquet").write_bytes(raw)
        Path("in/c.parquet").write_bytes(b"PAR1 and nothing more")
        arguments = ["score", "in", "-o", "out/", "--part-rows", "350", "-q", *workers, *READING]
        assert run(arguments) == 1
        err = capsys.readouterr().err
        assert "could not score 100 of 580 rows (in/a.parquet: row group 3 cannot be read: row 201–300)" in err
        assert "in/a.parquet, row group 3 cannot be read (" in err
        assert "in/c.parquet is cut off or not a Parquet file" in err and "Traceback" not in err
        found, good = rows("out"), [row["id"] for row in pairs(450) + pairs(130, "b")]
        assert [row["id"] for row in found] == [None if 200 <= i < 300 else each for i, each in enumerate(good)]
        assert [i for i, row in enumerate(found) if row["error"]] == list(range(200, 300))
        assert not Path("out/_SUCCESS").exists()
        assert run(arguments) == 1  # tried again, and no more
        assert len(rows("out")) == 580

    @pytest.mark.parametrize("workers", [[], ["--workers", "2"]])
    def test_text_that_is_no_text_spoils_its_row_group_alone(self, here, capsys, workers):
        texts = [row["paraphrase"].encode() for row in pairs(30)]
        texts[12] = b"Tom\xff has 5"
        table = pa.Table.from_pylist(pairs(30))
        table = table.set_column(2, "paraphrase", pa.array(texts, pa.binary()).view(pa.string()))
        pq.write_table(table, "in/c.parquet", row_group_size=10)
        arguments = ["score", "in", "-o", "out/", "--part-rows", "25", "-q", *workers, *READING]
        assert run(arguments) == 1
        reason, line = capsys.readouterr().err.splitlines()
        assert line == "could not score 10 of 610 rows (in/c.parquet: row group 2 cannot be read: row 11–20)"
        assert "in/c.parquet, row group 2 cannot be read (In column 2" in reason and "Invalid UTF8" in reason
        assert len(rows("out")) == 610 and Path("out/_SUCCESS").exists()

    def test_which_rows_are_lost_does_not_depend_on_the_parts(self, here):
        """A row group of more rows than are read at a time, spoiled in its middle."""
        texts = [row["paraphrase"].encode() for row in pairs(3000)]
        texts[2500] = b"Tom\xff has 5"
        table = pa.Table.from_pylist(pairs(3000))
        table = table.set_column(2, "paraphrase", pa.array(texts, pa.binary()).view(pa.string()))
        pq.write_table(pa.concat_tables([pa.Table.from_pylist(pairs(10)), table]), "in/c.parquet", row_group_size=3000)
        raw = pq.ParquetFile("in/c.parquet")
        assert [raw.metadata.row_group(group).num_rows for group in range(raw.num_row_groups)] == [3000, 10]
        found = []
        for size in ("100", "1500", "5000"):
            assert run(["score", "in", "-o", f"out{size}/", "--part-rows", size, "-q", *READING]) == 1
            found.append([row["error"] is not None for row in rows(f"out{size}")])
        assert run(["score", "in/c.parquet", "-o", "out.parquet", "-q", *READING]) == 1
        alone = [row["error"] is not None for row in pq.read_table("out.parquet").to_pylist()]
        assert found[0] == found[1] == found[2] and sum(found[0]) == 3000
        assert found[0][-3010:] == alone

    def test_a_file_of_which_nothing_can_be_read_is_no_finished_run(self, here, capsys):
        texts = [b"Tom\xff has 5" for row in pairs(30)]
        table = pa.Table.from_pylist(pairs(30))
        table = table.set_column(2, "paraphrase", pa.array(texts, pa.binary()).view(pa.string()))
        pq.write_table(table, "in/c.parquet", row_group_size=10)
        assert run(["score", "in", "-o", "out/", "-q", *READING]) == 1
        assert "in/c.parquet: none of its rows can be read" in capsys.readouterr().err
        assert not Path("out/_SUCCESS").exists()
        assert run(["score", "in", "-o", "out/", "-q", *READING]) == 1
        assert "none of its rows can be read" in capsys.readouterr().err

    def test_want_of_memory_is_no_damage(self, here, capsys, monkeypatch):
        def starved(*given):
            raise pa.ArrowMemoryError("malloc of size 64 failed")

        monkeypatch.setattr("paraqd.data.parquet.batches", starved)
        assert run(["score", "in", "-o", "out/", "-q", *READING]) == 1
        assert "part-00000.parquet is missing" in capsys.readouterr().err

    def test_a_disk_that_fails_is_no_damage(self, here, capsys, monkeypatch):
        def broken(*given):
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr("paraqd.data.parquet.batches", broken)
        assert run(["score", "in", "-o", "out/", "-q", *READING]) == 1
        assert "part-00000.parquet is missing: rows 1–450 of in/a.parquet cannot be read" in capsys.readouterr().err
        monkeypatch.undo()
        monkeypatch.chdir(here)
        assert run(["score", "in", "-o", "out/", "-q", *READING]) == 0
        assert len(rows("out")) == 580

    def test_lines_of_text_that_cannot_be_read(self, here, capsys):
        good = [json.dumps(row) for row in pairs(3, "c")]
        Path("in/c.jsonl").write_text("\n".join([good[0], '{"question', *good[1:]]))
        with gzip.open("in/d.jsonl.gz", "wt") as file:
            draw = random.Random(7)
            file.writelines(json.dumps({**row, "id": f"{draw.random()}"}) + "\n" for row in pairs(2000, "d"))
        whole = Path("in/d.jsonl.gz").read_bytes()
        Path("in/d.jsonl.gz").write_bytes(whole[: len(whole) // 2])
        assert run(["score", "in", "-o", "out/", "-q", *READING]) == 1
        one, two = capsys.readouterr().err.splitlines()
        assert "in/c.jsonl, line 2 is not valid JSON" in one
        assert one.endswith("to score the other rows, give --keep-going and another -o")
        assert "in/d.jsonl.gz is cut off" in two and two.endswith("rows before that, give --keep-going and another -o")
        sound = int(two.split(" rows before")[0].split()[-1].replace(",", ""))
        assert len(rows("out")) == 580
        assert run(["score", "in", "-o", "more/", "--keep-going", "-q", *READING]) == 1
        one, two = capsys.readouterr().err.splitlines()
        assert one == f"could not score 1 of {584 + sound:,} rows (in/c.jsonl: not valid JSON: row 2)"
        assert "in/d.jsonl.gz is cut off" in two and two.endswith(f"only the {sound:,} rows before that are scored")
        found = rows("more")
        assert 500 < sound < 2000 and len(found) == 584 + sound
        assert [row["error"] for row in found if row["error"] is not None] == ["not valid JSON"]

    def test_a_first_line_that_cannot_be_read(self, here, capsys):
        good = json.dumps(pairs(1)[0])
        Path("in/c.jsonl").write_text(f"<<<<\n{good}\n")
        assert run(["score", "in", "-o", "out/", "-q", *READING]) == 1
        assert capsys.readouterr().err.endswith("to score the other rows, give --keep-going and another -o\n")
        assert run(["score", "in", "-o", "more/", "--keep-going", "-q", *READING]) == 1
        assert [row["error"] for row in rows("more")[-2:]] == ["not valid JSON", None]

    @pytest.mark.parametrize("command", [["score", *READING], ["augment", "--operators", "f2,f6"]])
    def test_an_empty_file_has_no_rows_and_spoils_nothing(self, here, command, capsys):
        assert run([command[0], "in", "-o", "without/", "-q", *command[1:]]) == 0
        Path("in/c.jsonl").touch()
        Path("in/d.csv.gz").write_bytes(gzip.compress(b""))
        Path("in/e.jsonl").write_text("\n\n")
        Path("in/f.csv").write_text("  \n \n")
        assert run([command[0], "in", "-o", "out/", *command[1:]]) == 0
        assert "in/c.jsonl is empty (the same in 4 files)\n" in capsys.readouterr().err
        assert Path("out/_SUCCESS").exists() and rows("out") == rows("without")

    def test_programs_are_told_how_many_files_are_empty(self, here, capsys):
        Path("in/c.jsonl").touch()
        assert run(["score", "in", "-o", "out/", "--json", *READING]) == 0
        assert json.loads(capsys.readouterr().out)["empty_files"] == 1

    @pytest.mark.parametrize("name", ["c.jsonl.gz", "c.csv.zst", "c.parquet"])
    def test_what_was_never_compressed_did_not_arrive(self, here, name, capsys):
        Path(f"in/{name}").touch()
        assert run(["score", "in", "-o", "out/", "-q", *READING]) == 1
        assert f"in/{name} is" in capsys.readouterr().err
        assert len(rows("out")) == 580 and not Path("out/_SUCCESS").exists()

    @pytest.mark.parametrize("command", [["score", *READING], ["augment", "--operators", "f2,f6"]])
    def test_where_every_file_is_empty_there_is_nothing_to_do(self, tmp_path, monkeypatch, fails, command):
        monkeypatch.chdir(tmp_path)
        Path("in").mkdir()
        Path("in/a.csv").touch()
        assert fails(command[0], "in", "-o", "out/", *command[1:]) == "error: in has no rows"
        Path("in/b.jsonl").write_text("<<<<")  # what is wrong with the others is not hidden by it
        assert "error: in/b.jsonl, line 1 is not valid JSON" in fails(command[0], "in", "-o", "out/", *command[1:])

    def test_a_file_without_the_columns(self, here, fails, capsys):
        Path("in/c.jsonl").write_text('{"a": 1}\n')
        assert "in/c.jsonl has no column 'question'" in fails("score", "in", "-o", "out/", *READING)
        assert run(["score", "in", "-o", "out/", "--keep-going", "-q", *READING]) == 1
        assert "in/c.jsonl has no column 'question'" in capsys.readouterr().err
        assert len(rows("out")) == 580 and "a" not in rows("out")[0]

    def test_columns_in_another_case_are_one_column(self, here):
        Path("in/c.csv").write_text("Question,Paraphrase,note\nWhat is 1 + 2?,Add 1 and 2.,x\n")
        assert run(["score", "in", "-o", "out/", "-q", *READING]) == 0
        found = rows("out")[-1]
        assert (found["question"], found["paraphrase"], found["note"]) == ("What is 1 + 2?", "Add 1 and 2.", "x")
        assert "Question" not in found and "Paraphrase" not in found and found["score"] is not None
        Path("alone").mkdir()
        Path("in/c.csv").rename("alone/c.csv")
        assert run(["score", "alone", "-o", "out2/", "-q", *READING]) == 0
        assert rows("out2")[0]["Question"] == "What is 1 + 2?"  # where no other file has them they stay

    def test_keeping_going_does_not_fail_for_a_file_without_a_sound_line(self, here, capsys):
        Path("in/c.jsonl").write_text('{"question": "Tom')
        assert run(["score", "in", "-o", "out/", "--keep-going", *READING]) == 1
        err = capsys.readouterr().err
        assert err.count("no line of in/c.jsonl can be read") == 2  # before the work, and at the end
        assert len(rows("out")) == 580
        assert run(["score", "in/c.jsonl", "-o", "out.csv", "--keep-going", *READING]) == 2
        assert "no line of in/c.jsonl can be read" in capsys.readouterr().err

    def test_pages_are_held_against_their_checksums(self, here, capsys):
        table = pa.Table.from_pylist(pairs(30))
        plain = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
        pq.write_table(table, "in/c.parquet", row_group_size=10, **plain)
        raw = bytearray(Path("in/c.parquet").read_bytes())
        place = raw.index(b"Tom has 14 apples")
        raw[place : place + 3] = b"Tim"
        Path("in/c.parquet").write_bytes(raw)
        assert run(["score", "in", "-o", "out/", "-q", *READING]) == 1
        reason, line = capsys.readouterr().err.splitlines()
        assert "could not score 10 of 610 rows" in line and line.endswith(": row 11–20)") and "CRC" in reason

    def test_a_parquet_file_with_a_column_twice(self, here, fails, capsys):
        names = ["question", "paraphrase", "note", "note"]
        texts = [[row[name] for row in pairs(3)] for name in ("question", "paraphrase", "id", "id")]
        pq.write_table(pa.table([pa.array(column) for column in texts], names=names), "in/c.parquet")
        line = "in/c.parquet has the column 'note' twice; rename one of them"
        assert fails("score", "in/c.parquet", "-o", "out.csv", *READING) == f"error: {line}"
        assert run(["score", "in", "-o", "out/", "-q", *READING]) == 1
        assert capsys.readouterr().err == f"{line}\n" and len(rows("out")) == 580

    def test_threads_are_for_one_process(self, here, fails):
        line = fails("score", "in", "-o", "out/", "--threads", "2", "--workers", "2", *READING)
        assert "--threads does not go with --workers: workers have one core each" in line
        assert "with --engine ray" in fails("score", "in", "-o", "out/", "--threads", "2", "--engine", "ray", *READING)
        assert run(["score", "in", "-o", "out/", "--threads", "2", "-q", *READING]) == 0

    def test_a_worker_that_cannot_begin_tells_why(self):
        with pytest.raises(TableError, match="the model is not there"):
            list(in_processes(2)(CannotBegin(), [Piece(0, "a", 0, 1)], lambda rows: None))

    def test_the_extra_is_named_where_ray_is_missing(self, here, fails, monkeypatch):
        monkeypatch.setitem(sys.modules, "ray", None)
        line = fails("score", "in", "-o", "out/", "--engine", "ray", *READING)
        assert line == "error: ray is not installed: pip install 'paraqd[ray]'"
        assert not Path("out").exists()


class TestAugment:
    ARGUMENTS = ("augment", "in", "--operators", "f3,f8,NumberChange,LowTfidfReplacement")

    def test_the_pairs_of_one_file_with_all_questions(self, here):
        write(Path("all.parquet"), pairs(450) + pairs(130, "b"))
        assert run([*self.ARGUMENTS, "-o", "out/", "--part-rows", "90", "-q"]) == 0
        assert run(["augment", "all.parquet", *self.ARGUMENTS[2:], "-o", "pairs.parquet", "-q"]) == 0
        assert rows("out") == pq.read_table("pairs.parquet").to_pylist()
        schema = pq.read_schema("pairs.parquet")
        assert schema.equals(pq.read_schema(parts("out")[0]).with_metadata(schema.metadata), check_metadata=True)

    def test_the_report_adds_up_and_names_rows(self, here, capsys):
        bad = pairs(10)
        bad[3]["question"] = ""
        write(Path("in/c.parquet"), bad)
        assert run([*self.ARGUMENTS, "-o", "out/", "--part-rows", "90", "--json"]) == 1
        captured = capsys.readouterr()
        report = json.loads(captured.out)
        assert report["questions"] == 589 and report["skipped_rows"] == [
            {"row": 4, "reason": "blank question, in/c.parquet"}
        ]
        assert report["written"] == len(rows("out")) == sum(each["applied"] for each in report["operators"])
        assert all(len(each["examples"]) == 3 for each in report["operators"])


# --- on a cluster -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    """A Ray cluster with two slots on this machine, and its address."""
    ray = pytest.importorskip("ray")
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(
            num_cpus=2,
            include_dashboard=False,
            object_store_memory=80 << 20,
            log_to_driver=False,
            logging_level="CRITICAL",
        )
        yield ray.get_runtime_context().gcs_address
        ray.shutdown()


def busy_workers():
    """Return the processes below this one that work on a piece just now, by the title that Ray gives them."""
    found, parents = [], {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int(entry.joinpath("stat").read_text().rpartition(")")[2].split()[1])
                if entry.joinpath("cmdline").read_bytes().startswith(b"ray::_Hand.work"):
                    found.append(int(entry.name))
            except OSError:  # it has ended meanwhile
                continue
    return [pid for pid in found if os.getpid() in ancestors(pid, parents)]


def held_worker(process, seconds=60):
    """Return a worker that was stopped in the middle of a piece, and will not end with it."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        for pid in busy_workers():
            os.kill(pid, signal.SIGSTOP)
            if pid in busy_workers():
                return pid
            os.kill(pid, signal.SIGCONT)  # it had come to its end meanwhile
    raise AssertionError("no worker is at work")


def ancestors(pid, parents):
    while pid in parents:
        pid = parents[pid]
        yield pid


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are found by /proc")
class TestRay:
    ARGUMENTS = ("score", "in", "--part-rows", "40", *READING)

    def test_a_worker_killed_in_the_middle(self, here, cluster):
        write(Path("in/c.parquet"), pairs(1000, "c"))
        assert run([*self.ARGUMENTS, "-o", "whole/", "-q"]) == 0
        process = start(*self.ARGUMENTS, "-o", "out/", "--engine", "ray", "--address", cluster, "--workers", "2")
        for least in (1, 8):
            wait_for(lambda least=least: len(parts("out")) >= least, process)
            os.kill(held_worker(process), signal.SIGKILL)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert err == ""  # and nothing of what Ray has to say about it
        assert "1,580 rows" in out
        assert same("whole", "out")
        assert Counter(row["id"] for row in rows("out")).most_common(1)[0][1] == 1

    def test_the_driver_killed_and_the_rest_done_by_the_other_engine(self, here, cluster):
        write(Path("in/c.parquet"), pairs(1000, "c"))
        assert run([*self.ARGUMENTS, "-o", "whole/", "-q"]) == 0
        process = start(*self.ARGUMENTS, "-o", "out/", "--engine", "ray", "--address", cluster, "--workers", "2")
        wait_for(lambda: len(parts("out")) >= 2, process)
        held = held_worker(process)  # its piece cannot come to an end before the driver does
        process.kill()
        process.communicate(timeout=60)
        with suppress(ProcessLookupError):  # Ray may have ended it with its driver
            os.kill(held, signal.SIGKILL)
        assert not Path("out/_SUCCESS").exists()
        assert run([*self.ARGUMENTS, "-o", "out/", "-q"]) == 0
        assert same("whole", "out")

    def test_augment_and_a_corrupt_file_on_the_cluster(self, here, cluster):
        Path("in/c.parquet").write_bytes(b"nothing")
        arguments = ["augment", "in", "--operators", "f3,f8,NumberChange", "--part-rows", "90", "-q"]
        assert run([*arguments, "-o", "one/"]) == 1
        process = start(*arguments, "-o", "two/", "--engine", "ray", "--address", cluster)
        _, err = process.communicate(timeout=120)
        assert process.returncode == 1 and err.count("\n") == 1 and "in/c.parquet" in err
        assert rows("one") and same("one", "two")

    def test_a_cluster_that_cannot_be_reached(self, here, fails):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))  # bound and not listening: nobody answers there
            address = f"127.0.0.1:{free.getsockname()[1]}"
            line = fails("score", "in", "-o", "out/", "--engine", "ray", "--address", address, *READING)
        assert f"no Ray cluster answers at {address}" in line
        assert "HOST:PORT" in fails("score", "in", "-o", "out/", "--engine", "ray", "--address", "there", *READING)
        assert not Path("out").exists()

    def test_something_else_answers_at_the_address(self, here, fails, monkeypatch):
        monkeypatch.setattr("paraqd.runs.ray_engine._ANSWERED_WITHIN", 3.0)
        with socket.create_server(("127.0.0.1", 0)) as server:
            address = f"127.0.0.1:{server.getsockname()[1]}"
            line = fails("score", "in", "-o", "out/", "--engine", "ray", "--address", address, *READING)
        assert f"what listens at {address} did not answer as a Ray cluster within 3 s" in line
        assert not Path("out").exists()

    def test_an_address_beside_a_cluster_that_the_program_has(self, here, cluster, monkeypatch):
        with socket.create_server(("127.0.0.1", 0)) as server:
            address = f"127.0.0.1:{server.getsockname()[1]}"
            monkeypatch.setattr("paraqd.runs.ray_engine.check_address", lambda address: None)
            with pytest.raises(ClusterError, match=f"connected to the Ray cluster at {cluster}, not at {address}"):
                on_ray(address=address)
        monkeypatch.undo()
        monkeypatch.setattr("sys.executable", "/nowhere")  # none of these asks another process
        for address in (cluster, "auto", "local", None):
            assert list(on_ray(address=address)(Counting(), PIECES[:1], lambda rows: None)) == [Result(PIECES[0], {})]

    def test_one_bad_machine_does_not_end_the_run(self, here, cluster, caplog, monkeypatch):
        """A worker that dies whenever it is started, beside one that is well and takes longer than that."""
        handler = logging.Handler()
        monkeypatch.setattr(handler, "emit", lambda record: "given up" in record.msg and (here / "given up").touch())
        logger = logging.getLogger("paraqd.runs.ray_engine")
        logger.addHandler(handler)
        try:
            found = list(on_ray(workers=2)(OneDies(str(here)), PIECES, lambda rows: None))
        finally:
            logger.removeHandler(handler)
        assert sorted(result.piece.index for result in found) == [0, 1, 2]
        assert not any(result.problem for result in found)
        # a call that comes while Ray is starting the worker counts, too
        assert 1 <= len((here / "deaths").read_text()) <= 4
        assert [record.message.partition(":")[0] for record in caplog.records] == ["a worker is given up"]

    def test_one_machine_without_what_is_needed_does_not_end_the_run(self, here, cluster, caplog):
        found = list(on_ray(workers=2)(OneLacks(str(here)), PIECES, lambda rows: None))
        assert sorted(result.piece.index for result in found) == [0, 1, 2]
        assert "a worker is given up: the model is not there" in caplog.text

    def test_no_worker_left(self, here, cluster):
        with pytest.raises(ClusterError, match="a worker could not be started"):
            list(on_ray(workers=2)(AllDie(), PIECES, lambda rows: None))
        with pytest.raises(TableError, match="the model is not there"):
            list(on_ray(workers=2)(CannotBegin(), PIECES, lambda rows: None))

    def test_a_worker_that_forgets_is_one_that_died(self, here, cluster, monkeypatch):
        """Ray may have started a worker anew before its piece came."""

        class Forgets(_Hand):
            calls = 0

            def work(self, piece):
                self.calls += 1
                assert self.calls < 20, "it is asked forever"
                self._worker = None
                return super().work(piece)

        monkeypatch.setattr("paraqd.runs.ray_engine._Hand", Forgets)
        [result] = on_ray(workers=1)(Counting(), PIECES[:1], lambda rows: None)
        assert result.problem == "its worker died 4 times (out of memory?)"

    def test_batches_of_ray_data(self, here, cluster):
        from paraqd.integrations.ray_data import ScoreBatches

        assert run(["score", "in/b.parquet", "-o", "b.parquet", "-q", *READING]) == 0
        scored = ScoreBatches("reading")(pq.read_table("in/b.parquet"))
        assert scored.to_pylist() == pq.read_table("b.parquet").to_pylist()
        assert ScoreBatches("reading")(scored).equals(scored)
        signature = ScoreBatches("default", skip=False)(pq.read_table("in/b.parquet").slice(0, 1))["signature"][0]
        assert "|skip:no" in str(signature)
        import ray.data

        ray.data.DataContext.get_current().enable_progress_bars = False
        made = ray.data.read_parquet(str(here / "in" / "b.parquet")).map_batches(
            ScoreBatches,
            fn_constructor_args=["reading"],
            batch_format="pyarrow",
            batch_size=50,
            concurrency=1,
            num_cpus=1,
        )
        assert sorted(made.take_all(), key=lambda row: row["number"]) == scored.to_pylist()
