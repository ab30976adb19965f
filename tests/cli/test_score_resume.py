"""Test that ``paraqd score`` keeps what is finished, and continues where it stopped."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pair_files import PARAPHRASES, QUESTION, SAME, environment, names, read_csv, write_csv

from paraqd.cli.main import run


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
            "stopped: 512 of 1,000 rows (2 of 4 parts) finished and kept in out.csv.parts; "
            "run the same command again to continue\n"
        )
        assert not Path("out.csv").exists()
        scorer.sizes.clear()
        scorer.stops_after = None
        assert run(["score", "many.csv", "-o", "out.csv", "-q"]) == 0
        assert capsys.readouterr().err == "continuing after 512 rows that were finished before\n"
        assert scorer.sizes == [256, 232]
        assert Path("out.csv").read_bytes() == Path("whole.csv").read_bytes()
        assert not Path("out.csv.parts").exists()

    def test_ctrl_c_keeps_an_older_output_and_leaves_nothing_half_written(self, many, here, scorer):
        Path("out.csv").write_text("precious")
        scorer.stops_after = 0
        assert run(["score", "many.csv", "-o", "out.csv", "--overwrite", "-q"]) == 130
        assert Path("out.csv").read_text() == "precious"
        assert names(here) == ["many.csv", "out.csv", "pairs.csv", "pairs.jsonl"]

    def test_rows_of_a_run_with_other_settings_are_not_discarded_without_being_asked(self, many, scorer, fails, capsys):
        scorer.stops_after = 256
        assert run(["score", "many.csv", "-o", "out.csv", "-q"]) == 130
        scorer.stops_after = None
        capsys.readouterr()
        kept = {path.name: path.read_bytes() for path in Path("out.csv.parts").iterdir()}
        for more in ([], ["--overwrite"]):
            line = fails("score", "many.csv", "-o", "out.csv", "--threshold", "0.9", *more)
            assert line == (
                "error: the unfinished run in out.csv.parts has another threshold; use the same options to continue "
                "it, or pass --restart to discard it and start again"
            )
        assert {path.name: path.read_bytes() for path in Path("out.csv.parts").iterdir()} == kept
        assert run(["score", "many.csv", "-o", "out.csv", "--threshold", "0.9", "--restart", "-q"]) == 0
        assert [row["valid"] for row in read_csv("out.csv")[:3]] == ["true", "false", "false"]

    @pytest.mark.parametrize(
        ("change", "other"),
        [
            (lambda settings: settings.update(encoding="cp1252"), "another encoding (cp1252, now None)"),
            (lambda settings: settings.update(new_thing=2), "another new thing"),
            (lambda settings: settings.update(input=[]), "another input (the file is new)"),
            (lambda settings: settings.pop("form_of_verdicts"), "verdicts in an older form; use the same options"),
            (lambda settings: settings.update(model="paraqd:0|model:m@1|threshold:0.5"), "another version of paraqd"),
        ],
    )
    def test_one_line_says_what_differs(self, many, scorer, fails, capsys, change, other):
        scorer.stops_after = 256
        assert run(["score", "many.csv", "-o", "out.csv", "-q"]) == 130
        capsys.readouterr()
        manifest = Path("out.csv.parts/_manifest.json")
        change(settings := json.loads(manifest.read_text()))
        manifest.write_text(json.dumps(settings))
        assert f"the unfinished run in out.csv.parts has {other}" in fails("score", "many.csv", "-o", "out.csv")

    def test_what_is_written_of_the_rows_may_change_meanwhile(self, many, scorer):
        scorer.stops_after = 512
        assert run(["score", "many.csv", "-o", "out.csv", "-q"]) == 130
        scorer.sizes.clear()
        scorer.stops_after = None
        assert run(["score", "many.csv", "-o", "out.csv", "--only", "valid", "--why", "-q"]) == 0
        assert scorer.sizes == [256, 232]
        assert {row["valid"] for row in read_csv("out.csv")} == {"true"} and len(read_csv("out.csv")) == 500

    def test_a_part_that_is_cut_off_or_of_another_run_is_made_again(self, many, scorer):
        assert run(["score", "many.csv", "-o", "whole.csv", "-q"]) == 0
        scorer.stops_after = sum(scorer.sizes) + 768
        assert run(["score", "many.csv", "-o", "out.csv", "-q"]) == 130
        first, second = sorted(Path("out.csv.parts").glob("part-*.jsonl"))[:2]
        first.write_bytes(first.read_bytes()[:-7])
        _, head, rows = second.read_bytes().split(b"\n", 2)
        changed = json.dumps({**json.loads(head), "run": "another"}).encode() + b"\n" + rows
        second.write_bytes(hashlib.sha256(changed).hexdigest().encode() + b"\n" + changed)
        scorer.sizes.clear()
        scorer.stops_after = None
        assert run(["score", "many.csv", "-o", "out.csv", "-q"]) == 0
        assert scorer.sizes == [256, 256, 232]
        assert Path("out.csv").read_bytes() == Path("whole.csv").read_bytes()

    def test_an_output_that_an_unfinished_run_was_to_replace(self, many, scorer):
        Path("out.csv").write_text("old")
        scorer.stops_after = 256
        assert run(["score", "many.csv", "-o", "out.csv", "-q"]) == 2
        assert run(["score", "many.csv", "-o", "out.csv", "--overwrite", "-q"]) == 130
        scorer.stops_after = None
        assert run(["score", "many.csv", "-o", "out.csv", "-q"]) == 0  # it was asked for before
        assert len(read_csv("out.csv")) == 1000

    def test_ctrl_c_while_rows_are_shown(self, many, scorer, capsys):
        scorer.stops_after = 256
        assert run(["score", "many.csv", "--json", "-q"]) == 130
        captured = capsys.readouterr()
        assert len(captured.out.splitlines()) == 256
        assert captured.err == "stopped: 256 of 1,000 rows finished\n"

    def test_a_file_that_changes_meanwhile(self, many, scorer, fails, monkeypatch):
        real = type(scorer).score_pairs

        def adding(self, pairs, on_progress=None):
            with open("many.csv", "a") as file:
                file.write(f"1001,{QUESTION},{SAME}\n")
            return real(self, pairs)

        monkeypatch.setattr(type(scorer), "score_pairs", adding)
        assert "many.csv was changed during the run" in fails("score", "many.csv", "-o", "out.csv", "-q")
        assert not Path("out.csv").exists()

    def test_a_file_that_gets_other_rows_of_the_same_number(self, here, scorer, fails, monkeypatch):
        Path("many.csv").write_text("question,paraphrase\n" + "What is 1 + 2?,Add 1 and 2.\n" * 300)
        scoring = scorer.score_pairs

        def and_write_over(pairs):
            Path("many.csv").write_text("question,paraphrase\n" + "What is 1 + 2?,Add 1 and 3.\n" * 300)
            os.utime("many.csv", ns=(1, 1))  # the clock may be too coarse to tell
            return scoring(pairs)

        monkeypatch.setattr(scorer, "score_pairs", and_write_over)
        assert "many.csv was changed during the run" in fails("score", "many.csv", "-o", "out.csv", "-q")
        assert not Path("out.csv").exists()
        monkeypatch.undo()
        monkeypatch.chdir(here)
        assert not Path("out.csv.parts").exists()  # the same command is not refused for what it left

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
        assert "many.csv was changed during the run" in fails("score", "many.csv", "-o", "out.csv", "-q")
        assert not Path("out.csv.parts").exists()

    def test_a_second_run_to_the_same_output(self, many, scorer, fails):
        fcntl = pytest.importorskip("fcntl")
        Path("out.csv.parts").mkdir()
        with open("out.csv.parts/.lock", "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            assert "another run is writing out.csv" in fails("score", "many.csv", "-o", "out.csv", "-q")

    def test_a_full_disk_while_the_output_is_written(self, many, scorer, fails, monkeypatch):
        from paraqd.runs import run as module

        def full(path, *given, **more):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(module, "open_writer", full)
        line = fails("score", "many.csv", "-o", "out.csv", "-q")
        assert line.startswith("error: cannot write out.csv: No space left on device; the finished rows (1,000) are")
        assert line.endswith("kept in out.csv.parts: free up space and run the same command again")
        monkeypatch.undo()


@pytest.mark.usefixtures("scorer")
class TestWhatBelongsToOthers:
    def test_a_file_of_the_old_name_is_left_alone(self, here):
        for theirs in (b"", b"{}\n", b"5\n", b"\xff\xfe", b"my notes\n", b'{"input": 5}\n'):
            Path("out.csv.unfinished").write_bytes(theirs)
            assert run(["score", "pairs.csv", "-o", "out.csv", "--overwrite", "--restart", "-q"]) == 0
            assert Path("out.csv.unfinished").read_bytes() == theirs

    def test_links_are_not_written_through(self, here, fails):
        Path("precious").mkdir()
        Path("precious/file").write_text("precious")
        Path("out.csv.unfinished").symlink_to("precious/file")
        Path("out.csv.parts").symlink_to("precious")
        assert "out.csv.parts is in the way: it is a symbolic link" in fails("score", "pairs.csv", "-o", "out.csv")
        Path("out.csv.parts").unlink()
        assert run(["score", "pairs.csv", "-o", "out.csv", "--restart", "-q"]) == 0
        assert names(Path("precious")) == ["file"] and Path("precious/file").read_text() == "precious"

    def test_a_folder_of_that_name_is_left_alone(self, here, fails):
        Path("out.csv.parts").mkdir()
        Path("out.csv.parts/thesis.doc").write_text("years of work")
        for more in ((), ("--restart",), ("--overwrite",)):
            assert "it holds thesis.doc" in fails("score", "pairs.csv", "-o", "out.csv", *more)
        assert names(Path("out.csv.parts")) == ["thesis.doc"]

    def test_an_unfinished_run_of_an_earlier_version(self, here, fails):
        journal = {
            "input": "0",
            "encoding": "utf-8",
            "columns": ["question", "paraphrase"],
            "signature": "paraqd:0.1.0",
        }
        Path("out.csv.unfinished").write_text(json.dumps(journal) + "\n")
        line = fails("score", "pairs.csv", "-o", "out.csv")
        assert line == (
            "error: out.csv.unfinished holds an unfinished run of paraqd 0.1, which this version cannot continue: "
            "pass --restart to discard it and start again"
        )
        assert run(["score", "pairs.csv", "-o", "out.csv", "--restart", "-q"]) == 0
        assert not Path("out.csv.unfinished").exists()


SLOW = """
import sys, time
sys.path.insert(0, sys.argv[1])
from conftest import DigitScorer
from paraqd.cli import options
from paraqd.cli.main import run

class Slow(DigitScorer):
    def score_pairs(self, pairs):
        if len(self.sizes) == 2:
            open("sleeping", "w").close()
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
        deadline = time.monotonic() + 60
        while running.poll() is None and not Path("sleeping").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        running.send_signal(getattr(signal, how))
        errors = running.communicate()[1]
    assert "Traceback" not in errors
    if how == "SIGINT":
        assert running.returncode == 130
        assert errors.startswith("stopped: 512 of 1,000 rows (2 of 4 parts) finished and kept in out.csv.parts")
    assert not Path("out.csv").exists()
    assert run(["score", "many.csv", "-o", "out.csv", "-q"]) == 0
    assert scorer.sizes == [256, 232]
    assert [row["paraphrase"] for row in read_csv("out.csv")] == PARAPHRASES * 250
