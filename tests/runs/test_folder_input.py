"""Test folders with unreadable files, and folders that cannot be written."""

import errno
import gzip
import json
import os
import random
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paraqd.runs.pieces  # noqa: F401  # loaded before a test patches what it imports
from paraqd.cli.main import run
from paraqd.tables.locks import try_lock
from tests.runs.conftest import READING, pairs, parts, rows, write


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
        line = fails("score", "in", "-o", "out/", "--overwrite", *READING)
        assert f"holds {name}, which is not part of this run" in line
        assert stranger.read_text() == "years of work" and Path("out/_SUCCESS").exists()
        stranger.unlink()
        Path("out/.part-00000.parquet.crc").write_bytes(b"sum")
        assert run(["score", "in", "-o", "out/", "--overwrite", "--part-rows", "300", "-q", *READING]) == 0
        assert not Path("out/.part-00000.parquet.crc").exists() and len(parts("out")) == 3

    def test_two_runs_at_once_lock_the_same_file(self, here):
        assert run(["score", "in", "-o", "out/", "-q", *READING]) == 0
        with open("out/.lock", "ab") as waiting:  # opened while the first run was at work, locked when it is over
            assert run(["score", "in", "-o", "out/", "--overwrite", "-q", *READING]) == 0
            assert try_lock(waiting)
            assert run(["score", "in", "-o", "out/", "--overwrite", "-q", *READING]) == 2

    def test_outputs_that_cannot_be(self, here, fails):
        assert "is inside the other" in fails("score", "in", "-o", "in/out/", *READING)
        assert "is inside the other" in fails("score", "in", "-o", "in/", *READING)
        assert "there is no folder" in fails("score", "in", "-o", "nowhere/out/", *READING)
        assert "-o NAME/" in fails("score", "in", *READING)
        assert "-o scored/" in fails("score", "in", "-o", "scored.csv", *READING)
        assert "it is a file" in fails("score", "in", "-o", "in/a.parquet/", *READING)
        assert sorted(path.name for path in here.iterdir()) == ["in"]

    def test_inputs_that_cannot_be(self, here, fails):
        Path("empty").mkdir()
        assert "has no .parquet" in fails("score", "empty", "-o", "out/", *READING)
        assert "there is no file nothing.parquet" in fails("score", "nothing.parquet", "-o", "out/", *READING)
        assert "there is no file or folder nothing" in fails("score", "nothing", "-o", "out/", *READING)
        write(Path("other/a.parquet"), [{"text": "x"}])
        assert "no column 'question'" in fails("score", "other", "-o", "out/", *READING)
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
        assert "could not score 100 of 580 rows (in/a.parquet: row group 3 cannot be read: rows 201–300)" in err
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
        assert line == "could not score 10 of 610 rows (in/c.parquet: row group 2 cannot be read: rows 11–20)"
        assert "in/c.parquet, row group 2 cannot be read (In column 2" in reason and "Invalid UTF8" in reason
        assert len(rows("out")) == 610 and Path("out/_SUCCESS").exists()

    def test_which_rows_are_lost_does_not_depend_on_the_parts(self, here):
        """Damage the middle of a row group that has more rows than are read at a time."""
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

        monkeypatch.setattr("paraqd.tables.parquet.batches", starved)
        assert run(["score", "in", "-o", "out/", "-q", *READING]) == 1
        assert "part-00000.parquet is missing" in capsys.readouterr().err

    def test_a_disk_that_fails_is_no_damage(self, here, capsys, monkeypatch):
        def broken(*given):
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr("paraqd.tables.parquet.batches", broken)
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
        assert one.endswith("to score the other rows, pass --keep-going and choose another output")
        assert "in/d.jsonl.gz is cut off" in two and two.endswith(
            "rows before that, pass --keep-going and choose another output"
        )
        sound = int(two.split(" rows before")[0].split()[-1].replace(",", ""))
        assert len(rows("out")) == 580
        assert run(["score", "in", "-o", "more/", "--keep-going", "-q", *READING]) == 1
        one, two = capsys.readouterr().err.splitlines()
        assert one == f"could not score 1 of {584 + sound:,} rows (in/c.jsonl: not valid JSON: row 2)"
        assert "in/d.jsonl.gz is cut off" in two and two.endswith(f"only the {sound:,} rows before that are used")
        found = rows("more")
        assert 500 < sound < 2000 and len(found) == 584 + sound
        assert [row["error"] for row in found if row["error"] is not None] == ["not valid JSON"]

    def test_a_first_line_that_cannot_be_read(self, here, capsys):
        good = json.dumps(pairs(1)[0])
        Path("in/c.jsonl").write_text(f"<<<<\n{good}\n")
        assert run(["score", "in", "-o", "out/", "-q", *READING]) == 1
        assert capsys.readouterr().err.endswith(
            "to score the other rows, pass --keep-going and choose another output\n"
        )
        assert run(["score", "in", "-o", "more/", "--keep-going", "-q", *READING]) == 1
        assert [row["error"] for row in rows("more")[-2:]] == ["not valid JSON", None]

    @pytest.mark.parametrize("command", [["score", *READING], ["lab augment", "--operators", "f2,f6"]])
    def test_an_empty_file_has_no_rows_and_spoils_nothing(self, here, command, capsys):
        assert run([*command[0].split(), "in", "-o", "without/", "-q", *command[1:]]) == 0
        Path("in/c.jsonl").touch()
        Path("in/d.csv.gz").write_bytes(gzip.compress(b""))
        Path("in/e.jsonl").write_text("\n\n")
        Path("in/f.csv").write_text("  \n \n")
        assert run([*command[0].split(), "in", "-o", "out/", *command[1:]]) == 0
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

    @pytest.mark.parametrize("command", [["score", *READING], ["lab augment", "--operators", "f2,f6"]])
    def test_where_every_file_is_empty_there_is_nothing_to_do(self, tmp_path, monkeypatch, fails, command):
        monkeypatch.chdir(tmp_path)
        Path("in").mkdir()
        Path("in/a.csv").touch()
        arguments = [*command[0].split(), "in", "-o", "out/", *command[1:]]
        assert fails(*arguments) == "error: in has no rows"
        Path("in/b.jsonl").write_text("<<<<")  # what is wrong with the others is not hidden by it
        assert "error: in/b.jsonl, line 1 is not valid JSON" in fails(
            *command[0].split(), "in", "-o", "out/", *command[1:]
        )

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
        assert "could not score 10 of 610 rows" in line and line.endswith(": rows 11–20)") and "CRC" in reason

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
        assert "--threads 2 cannot be combined with --workers 2: each worker uses one core" in line
        assert "with --engine ray" in fails("score", "in", "-o", "out/", "--threads", "2", "--engine", "ray", *READING)
        assert run(["score", "in", "-o", "out/", "--threads", "2", "-q", *READING]) == 0

    def test_the_extra_is_named_where_ray_is_missing(self, here, fails, monkeypatch):
        monkeypatch.setitem(sys.modules, "ray", None)
        line = fails("score", "in", "-o", "out/", "--engine", "ray", *READING)
        assert line == "error: ray is not installed: pip install 'paraqd[ray]'"
        assert not Path("out").exists()


class TestLinks:
    def test_each_file_is_read_once_and_no_link_leads_out(self, here, capsys):
        write(Path("elsewhere/c.parquet"), pairs(10))
        Path("in/again").symlink_to(".")  # a cycle
        Path("in/whole").symlink_to("../in")
        Path("in/nowhere.parquet").symlink_to("nowhere.parquet")
        Path("in/link.parquet").symlink_to("b.parquet")
        Path("in/c.parquet").symlink_to("../elsewhere/c.parquet")
        Path("in/more").symlink_to("../elsewhere")
        assert run(["score", "in", "-o", "out/", "-q", *READING]) == 0
        assert len(rows("out")) == 580
        line = "in/c.parquet points outside the folder and is not followed (the same in 2 files)\n"
        assert capsys.readouterr().err == line

    def test_a_link_to_a_file_that_is_not_read_by_itself(self, here):
        write(Path("in/.cache/0123"), pairs(10))
        Path("in/c.parquet").symlink_to(".cache/0123")
        assert run(["score", "in", "-o", "out/", "-q", *READING]) == 0
        assert len(rows("out")) == 590

    def test_a_folder_of_links_that_lead_out(self, here, fails):
        Path("links").mkdir()
        Path("links/a.parquet").symlink_to("../in/a.parquet")
        line = fails("score", "links", "-o", "out/", *READING)
        assert line == (
            "error: links has no .parquet, .jsonl, .csv or .tsv files, "
            "only links that point outside the folder (a.parquet)"
        )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes")
@pytest.mark.parametrize(
    "command", ["score", "evaluate", "lab augment", "lab purity", "lab testset", "lab pseudo-label"]
)
def test_a_pipe_is_refused_instead_of_waited_for(here, fails, command):
    os.mkfifo("pipe.csv")
    out = {"lab purity": [], "evaluate": []}.get(command, ["-o", "out.csv"])
    assert "pipe.csv is not a regular file but a pipe or a device" in fails(*command.split(), "pipe.csv", *out)
    os.mkfifo("in/pipe.csv")  # in a folder, it is listed with the unreadable files
    assert run(["score", "in", "-o", "out/", "-q", *READING]) == 1


def test_an_existing_folder_needs_no_slash(here):
    Path("out").mkdir()
    assert run(["score", "in/b.parquet", "-o", "out", "-q", *READING]) == 0
    assert len(rows("out")) == 130
