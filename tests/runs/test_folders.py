"""Test that runs over folders write every row once and in order."""

import json
import pickle
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from paraqd.cli.main import run
from paraqd.runs.locations import Location
from paraqd.runs.pieces import cuts, rows_of_a_part
from paraqd.runs.survey import survey
from paraqd.tables.table import Table
from tests.runs.conftest import READING, environment, pairs, parts, rows, same, wait_for, write

pq = pytest.importorskip("pyarrow.parquet")

# the program with a worker that never ends with one of its pieces
BLOCKED = """
import sys, time
from paraqd.cli.main import run
from paraqd.runs.locations import Location
from paraqd.runs.pieces import Reader

rows = Reader.rows

def blocked(self, piece, only=None):
    if piece.index == int(sys.argv[1]) + 1:  # the one before is being scored
        open("blocked", "w").close()
        time.sleep(600)
    return rows(self, piece, only)

Reader.rows = blocked
sys.exit(run(sys.argv[2:]))
"""


def start(*arguments, blocked_at=None):
    """Start a command in a new process. At the piece ``blocked_at``, it creates the file ``blocked`` and waits."""
    program = [sys.executable, "-m", "paraqd.cli.main", *arguments]
    if blocked_at is not None:
        program = [sys.executable, "-c", BLOCKED, str(blocked_at), *arguments]
    return subprocess.Popen(program, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


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
        inputs = survey(Location.at("texts"), part_rows=8, check=lambda table: None, progress=lambda *told: None)
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
            "in/b.parquet has no column 'question'; using 'Question' (the same in 2 files)\n"
            "in/b.parquet has no column 'paraphrase'; using 'PARAPHRASE' (the same in 2 files)\n"
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
        assert "1 of 590 rows (in/c.parquet: blank question: row 4 (a3))" in capsys.readouterr().err
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

        store = Location.at("other://out")
        # the same files behind another sort of file system: nothing may be taken for a path of this machine
        store.__dict__["remote"] = (fs.SubTreeFileSystem(str(here), fs.LocalFileSystem()), "in")
        assert store.local is None
        inputs = survey(store, part_rows=128, check=lambda table: None, progress=lambda *told: None)
        assert [row for piece in inputs.pieces for row in inputs.reader.rows(piece)] == pairs(450) + pairs(130, "b")
        store.put("_manifest.json", b"{}")
        store.put("_manifest.json", b"[]")
        assert store.read("_manifest.json") == b"[]" and store.read("nothing") is None
        store.remove("_manifest.json")
        assert [entry.name for entry in store.entries()[0]] == store.names() == ["a.parquet", "b.parquet"]


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
        assert "continuing after" in err and "580" in out
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
        assert "stopped: 50 of 580 rows (1 of 12 parts) finished and kept in out/" in err
        assert "run the same command again to continue" in err and "Traceback" not in err
        assert run([*self.ARGUMENTS, "-o", "out/", "-q"]) == 0
        assert Counter(row["id"] for row in rows("out")) == Counter(row["id"] for row in pairs(450) + pairs(130, "b"))

    def test_other_settings_are_refused_and_replaced_on_demand(self, here, fails):
        assert run([*self.ARGUMENTS, "-o", "out/", "-q"]) == 0
        assert "finished run" in fails(*self.ARGUMENTS, "-o", "out/")
        Path("out/_SUCCESS").unlink()
        line = fails(*self.ARGUMENTS, "-o", "out/", "--threshold", "0.9")
        assert "the unfinished run in out/ has another threshold; use the same" in line and "--restart" in line
        assert line == fails(*self.ARGUMENTS, "-o", "out/", "--threshold", "0.9", "--overwrite")
        write(Path("in/c.parquet"), pairs(10, "c"))
        told = fails(*self.ARGUMENTS, "-o", "out/")
        assert "has another input (c.parquet is new); pass --restart" in told
        assert run([*self.ARGUMENTS, "-o", "out/", "--restart", "-q"]) == 0
        assert len(rows("out")) == 590


class TestAugment:
    ARGUMENTS = ("lab", "augment", "in", "--operators", "f3,f8,NumberChange,LowTfidfReplacement")

    def test_the_pairs_of_one_file_with_all_questions(self, here):
        write(Path("all.parquet"), pairs(450) + pairs(130, "b"))
        assert run([*self.ARGUMENTS, "-o", "out/", "--part-rows", "90", "-q"]) == 0
        assert run(["lab", "augment", "all.parquet", *self.ARGUMENTS[3:], "-o", "pairs.parquet", "-q"]) == 0
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
