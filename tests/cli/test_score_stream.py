"""``paraqd score`` on large files: memory has a bound, a killed run loses nothing, and a log tells how far it is."""

import json
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pair_files import environment

from paraqd.cli.main import run
from paraqd.cli.progress import Lines

QUESTION = "Tom has 5 apples and buys 3 more. How many apples has he now?"
PARAPHRASES = [QUESTION, "Tom buys 3 apples and had 5. How many are there now?", "Tom has 5 apples. How many has he?"]

# the program with a scorer that needs no model
PROGRAM = """
import sys, time
sys.path.insert(0, sys.argv[1])
from conftest import DigitScorer
from paraqd.cli import options
from paraqd.cli.main import run
from paraqd.runs import score_job as score

class Scorer(DigitScorer):
    def begin(self, pairs):
        return lambda: self.score_pairs(pairs)

    def score_pairs(self, pairs):
        if sys.argv[2] == "scoring" and len(self.sizes) == 2:
            time.sleep(600)
        return super().score_pairs(pairs)

def slow(*given, wanted=score.is_wanted, seen=[]):
    seen.append(1)
    if sys.argv[2] == "writing" and len(seen) >= 700:  # it is called once for each row that is written
        time.sleep(600)
    return wanted(*given)

options.load_scorer = lambda *given, **more: Scorer()
score.is_wanted = slow
code = run(sys.argv[3:])
if sys.argv[2] == "memory":  # its own high-water mark: getrusage counts in the process that started it
    print(next(int(line.split()[1]) // 1024 for line in open("/proc/self/status") if line.startswith("VmHWM")))
sys.exit(code)
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pairs(number):
    return [{"nr": i, "question": QUESTION, "paraphrase": PARAPHRASES[i % 3]} for i in range(number)]


def write_rows(path, rows):
    from paraqd.tables.table import open_writer

    with open_writer(Path(path), dict.fromkeys(rows[0], str) | {"nr": int}) as writer:
        writer.write(rows)


def command(pause, *arguments):
    return [sys.executable, "-c", PROGRAM, str(Path(__file__).parent), pause, *arguments]


def wait_for(running, ready, seconds=60):
    deadline = time.monotonic() + seconds
    while running.poll() is None and not ready():
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.02)
    assert running.poll() is None, running.communicate()


unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals and limits")


@unix
@pytest.mark.parametrize(
    ("source", "out"),
    [
        ("in.jsonl", "out.jsonl"),
        ("in.csv.gz", "out.csv.gz"),
        ("in.jsonl.zst", "out.csv.zst"),
        ("in.parquet", "out.parquet"),
    ],
)
def test_a_killed_run_ends_with_the_bytes_of_an_unbroken_one(here, scorer, source, out, capfd):
    write_rows(source, pairs(1000))
    assert run(["score", source, "-o", f"whole.{out}", "-q"]) == 0
    kept = Path(f"{out}.parts")
    with subprocess.Popen(command("scoring", "score", source, "-o", out), env=environment()) as running:
        wait_for(running, lambda: len(list(kept.glob("part-*"))) == 2)
        running.send_signal(signal.SIGKILL)
    assert not Path(out).exists()

    def half_written():
        return [path.name for path in kept.glob(f".{out}.*.writing")]

    with subprocess.Popen(command("writing", "score", source, "-o", out), env=environment()) as running:
        wait_for(running, half_written)
        running.send_signal(signal.SIGKILL)
    assert not Path(out).exists() and half_written()
    assert "continuing after 512 rows" in capfd.readouterr().err
    scorer.sizes.clear()
    assert run(["score", source, "-o", out, "-q"]) == 0
    assert scorer.sizes == []  # all were scored before the second kill
    assert Path(out).read_bytes() == Path(f"whole.{out}").read_bytes()
    assert sorted(path.name for path in here.iterdir()) == sorted([source, out, f"whole.{out}"])


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize(("source", "out"), [("in.jsonl.zst", "out.csv.gz"), ("in.parquet", "out.parquet")])
def test_memory_does_not_grow_with_the_file(here, source, out):
    used = []
    for number in (17_000, 34_000):  # more than a row group of Parquet
        write_rows(source, [dict(row, note=f"{row['nr']:09}" * 222) for row in pairs(number)])
        done = subprocess.run(
            command("memory", "score", source, "-o", out, "--overwrite", "-q"),
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        used.append(int(done.stdout))
    assert used[1] - used[0] < 20, used  # MiB, where 17,000 rows more are 34 MiB of notes alone


def test_large_rows_are_scored_few_at_a_time(here, scorer):
    rows = [dict(row, note="x" * 300_000) for row in pairs(8)]
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run(["score", "in.jsonl", "-o", "out.jsonl", "-q"]) == 0
    assert scorer.sizes == [4, 4]
    assert [json.loads(line)["nr"] for line in Path("out.jsonl").read_text().splitlines()] == list(range(8))


class TestProgressInALog:
    def test_lines_with_rate_and_time_left(self, here, scorer, monkeypatch, capsys):
        monkeypatch.setattr(Lines, "EVERY", 0)
        write_rows("in.csv", pairs(1000))
        assert run(["score", "in.csv", "-o", "out.csv"]) == 0
        lines = capsys.readouterr().err.splitlines()
        assert re.fullmatch(r"scoring: 256 of 1,000 rows, [\d,.]+/s, \d+:\d\d left", lines[0])
        assert [line.split(" of ")[0] for line in lines[3:5]] == ["scoring: 1,000", "writing: 512"]

    def test_none_when_quiet(self, here, scorer, monkeypatch, capsys):
        monkeypatch.setattr(Lines, "EVERY", 0)
        write_rows("in.csv", pairs(1000))
        assert run(["score", "in.csv", "-o", "out.csv", "-q"]) == 0
        assert capsys.readouterr() == ("", "")

    def test_beside_rows_that_go_elsewhere(self, here, scorer, monkeypatch, capsys):
        monkeypatch.setattr(Lines, "EVERY", 0)
        write_rows("in.csv", pairs(1000))
        assert run(["score", "in.csv", "--json"]) == 0
        captured = capsys.readouterr()
        assert len(captured.out.splitlines()) == 1000
        assert "scoring: 512 of 1,000 rows" in captured.err

    def test_what_a_run_found_done_is_no_merit_of_its_own(self):
        now, told = iter([0, 60, 120]), []
        lines = Lines(clock=lambda: next(now), write=told.append)
        for done in (90_000, 90_300, 90_600):
            lines.update("scoring", done, 100_000)
        assert told == ["scoring: 90,300 of 100,000 rows, 5.0/s, 32:20 left", told[1]]
        assert told[1] == "scoring: 90,600 of 100,000 rows, 5.0/s, 31:20 left"

    def test_a_stage_whose_end_is_not_known(self):
        now, told = iter([0, 40]), []
        lines = Lines(clock=lambda: next(now), write=told.append)
        lines.update("reading", 0, None)
        lines.update("reading", 80_000, None)
        assert told == ["reading: 80,000 rows, 2,000/s"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on the size of files")
class TestNoRoom:
    def limited(self, most, *arguments, **options):
        import resource

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        return subprocess.run(
            command("", "score", *arguments, "-q"),
            env=dict(environment(), PYTHONDONTWRITEBYTECODE="1"),
            preexec_fn=limit,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            **options,
        )

    @pytest.mark.parametrize("out", ["out.jsonl", "out.csv.gz", "out.jsonl.zst", "out.parquet"])
    def test_for_the_output(self, here, scorer, out):
        # the rows hold much that does not compress, and the journal little
        draw = random.Random(3)
        rows = [dict(row, note=f"{draw.getrandbits(16_000):x}") for row in pairs(1000)]
        Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert run(["score", "in.jsonl", "-o", f"whole.{out}", "-q"]) == 0
        done = self.limited(1_000_000, "in.jsonl", "-o", out, stdout=subprocess.DEVNULL)
        assert done.returncode == 2
        assert done.stderr == (
            f"error: cannot write {out}: File too large; the finished rows (1,000) are kept in {out}.parts: "
            "free up space and run the same command again\n"
        )
        assert sorted(path.name for path in here.iterdir()) == ["in.jsonl", f"{out}.parts", f"whole.{out}"]
        scorer.sizes.clear()
        assert run(["score", "in.jsonl", "-o", out, "-q"]) == 0
        assert scorer.sizes == []
        assert Path(out).read_bytes() == Path(f"whole.{out}").read_bytes()

    def test_for_what_is_kept_meanwhile(self, here, scorer):
        rows = pairs(1000)
        for row in rows[600:]:
            row["question"] = " ".join(map(str, range(100, 130)))  # much evidence, in parts that are larger
        write_rows("in.csv", rows)
        assert run(["score", "in.csv", "-o", "whole.csv", "-q"]) == 0
        done = self.limited(100_000, "in.csv", "-o", "out.csv", stdout=subprocess.DEVNULL)
        assert done.returncode == 2 and done.stderr.count("\n") == 1
        assert done.stderr.startswith(
            "error: cannot write out.csv.parts/part-00002.jsonl: File too large; the finished"
        )
        assert not Path("out.csv").exists()
        scorer.sizes.clear()
        assert run(["score", "in.csv", "-o", "out.csv", "-q"]) == 0
        assert sum(scorer.sizes) == 1000 - 512
        assert Path("out.csv").read_bytes() == Path("whole.csv").read_bytes()

    def test_for_rows_that_are_shown(self, here):
        write_rows("in.csv", pairs(1000))
        with open("/dev/full", "wb") as full:
            done = self.limited(1_000_000, "in.csv", "--json", stdout=full)
        assert done.stderr.splitlines()[0] == "error: cannot write the output: No space left on device"
        assert "Traceback" not in done.stderr
