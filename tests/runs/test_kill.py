"""Test that every command resumes after kill -9 and Ctrl-C, and that the output has the same bytes."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from paraqd.cli.main import run
from tests.runs.conftest import environment, wait_for

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")

ROWS, SIZE = 90, 10
RECIPE = 'name = "rules"\n[operators]\nvalid = ["NumToWords"]\ninvalid = ["RandomDeletion", "TfidfReplacement"]\n'
COMMANDS = {
    "score": ["--model", "reading"],
    "lab augment": ["--operators", "f2,f3,f8,LowTfidfReplacement"],
    "lab testset": ["--recipe", "rules.toml"],
    "lab purity": [],
    "lab pseudo-label": [],
}
# the program with a part that is never finished; the encoder is one that needs no model
BLOCKED = """
import sys, time
import numpy as np
from paraqd.cli.main import run
from paraqd.runs import parts as stored
from paraqd.lab.corpora import pseudo_labels

def blocked(part):
    def wait(self, index):
        if index == 2:
            open("blocked", "w").close()
            time.sleep(600)
        return part(self, index)
    return wait

for parts in (stored.JsonParts, stored.ParquetParts):
    parts.part = blocked(parts.part)
pseudo_labels.load_encoder = lambda name, device=None: lambda texts: np.array(
    [[1.0, 0.0] if len(text) % 2 else [0.0, 1.0] for text in texts]
)
sys.exit(run(sys.argv[1:]))
"""
# the program with a leading process that stops when the first part is finished, so that most parts are never assigned
WAITING = """
import sys, time
from paraqd.cli.main import run
from paraqd.runs.run import _Run

report = _Run._report

def wait(self, more=0):
    report(self, more)
    if self.rows:
        open("blocked", "w").close()
        time.sleep(600)

_Run._report = wait
sys.exit(run(sys.argv[1:]))
"""


# the program that is killed in the last instant: the function is called as often as the second argument says
LAST_INSTANT = """
import os, signal, sys
from paraqd.cli.main import run
from paraqd.runs import run as runs
from paraqd.runs.locations import Location
from paraqd.runs.store import Store

owner = {"remove": Location, "write_beside": runs}.get(sys.argv[1], Store)
function, calls = getattr(owner, sys.argv[1]), int(sys.argv[2])

def killed(*given, **more):
    global calls
    if not calls:
        os.kill(os.getpid(), signal.SIGKILL)
    calls -= 1
    return function(*given, **more)

setattr(owner, sys.argv[1], killed)
sys.exit(run(sys.argv[3:]))
"""


def encoder(name, device=None):
    import numpy as np

    return lambda texts: np.array([[1.0, 0.0] if len(text) % 2 else [0.0, 1.0] for text in texts])


def pairs(count):
    for i in range(count):
        question = f"Tom has {i + 2} apples and buys {i % 7 + 3} more. How many apples has he now?"
        paraphrase = question.replace("buys", "gets") if i % 3 else question.replace(f"{i % 7 + 3} more", "more")
        yield {"id": f"q{i}", "question": question, "paraphrase": paraphrase, "label": 1, "operator": "Rewrite"}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARAQD_DEBUG", raising=False)
    monkeypatch.setattr("paraqd.lab.corpora.pseudo_labels.load_encoder", encoder)
    rows = list(pairs(ROWS))
    Path("rules.toml").write_text(RECIPE)
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("in").mkdir()
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.Table.from_pylist(rows[:50]), "in/a.parquet", row_group_size=20)
    Path("in/b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows[50:]))
    return tmp_path


def arguments(command, source, out, *more):
    where = "--offenders" if command == "lab purity" else "-o"
    return [*command.split(), source, where, out, "--part-rows", str(SIZE), *COMMANDS[command], *more]


def start(*program):
    return subprocess.Popen(
        [sys.executable, *program], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def parts(place):
    return sorted(path.name for path in Path(place).glob("part-*"))


def contents(out):
    if Path(out).is_file():
        return Path(out).read_bytes()
    return {path.name: path.read_bytes() for path in Path(out).glob("part-*")}


@pytest.mark.parametrize("how", ["SIGKILL", "SIGINT"])
@pytest.mark.parametrize(("source", "out"), [("in.jsonl", "out.csv"), ("in", "out/")])
@pytest.mark.parametrize("command", COMMANDS)
def test_an_interrupted_run_continues(here, capsys, command, source, out, how):
    run(arguments(command, source, f"whole{out.removeprefix('out')}", "--json"))
    report = json.loads(capsys.readouterr().out)
    kept = out if out.endswith("/") else f"{out}.parts"
    process = start("-c", BLOCKED, *arguments(command, source, out))
    wait_for(Path("blocked").exists, process)
    process.send_signal(getattr(signal, how))
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    if how == "SIGINT":
        assert process.returncode == 130
        finished = f"{2 * SIZE} of {ROWS} rows (2 of {ROWS // SIZE} parts) finished"
        assert errors.startswith(f"stopped: {finished} and kept in {kept}; run the same command")
    written = {name: Path(kept, name).stat().st_mtime_ns for name in parts(kept)}
    assert len(written) == 2 and not Path("out.csv").exists() and not Path("out/_SUCCESS").exists()
    code = run(arguments(command, source, out, "--json"))
    captured = capsys.readouterr()
    assert code == 0, captured.err
    assert f"continuing after {2 * SIZE} rows that were finished before" in captured.err
    assert contents(out) == contents(f"whole{out.removeprefix('out')}") and contents(out)
    again = json.loads(captured.out)
    for other in ("out", "seconds", "resumed"):
        report.pop(other, None)
        again.pop(other, None)
    assert again == report
    if out.endswith("/"):
        assert Path("out/_SUCCESS").exists()
        assert {name: Path(kept, name).stat().st_mtime_ns for name in written} == written
    else:
        assert not Path(kept).exists()


@pytest.mark.parametrize(("source", "out"), [("in.jsonl", "out.csv"), ("in", "out/")])
# pseudo-label is missing, because its worker processes would load a real encoder instead of the one defined above
@pytest.mark.parametrize("command", ["score", "lab augment", "lab testset", "lab purity"])
def test_a_run_of_several_processes_continues_in_one(here, command, source, out):
    assert run(arguments(command, source, f"whole{out.removeprefix('out')}", "-q")) == 0
    kept = out if out.endswith("/") else f"{out}.parts"
    process = start("-c", WAITING, *arguments(command, source, out, "--workers", "2", "-q"))
    wait_for(Path("blocked").exists, process)
    process.kill()
    process.communicate(timeout=60)
    assert 0 < len(parts(kept)) < ROWS // SIZE and not Path("out.csv").exists() and not Path("out/_SUCCESS").exists()
    assert run(arguments(command, source, out, "-q")) == 0
    assert contents(out) == contents(f"whole{out.removeprefix('out')}") and contents(out)


@pytest.mark.parametrize("command", COMMANDS)
def test_options_mean_the_same_for_every_command(here, fails, capsys, command):
    """Replace a finished output only with --overwrite, and an unfinished run only with --restart."""
    for out in ("out.csv", "out/"):
        source, kept = ("in", out) if out.endswith("/") else ("in.jsonl", f"{out}.parts")
        assert run(arguments(command, source, out, "-q")) == 0
        before = contents(out)
        capsys.readouterr()
        assert "pass --overwrite to replace it" in fails(*arguments(command, source, out))
        assert run(arguments(command, source, out, "--overwrite", "-q")) == 0
        assert contents(out) == before
        capsys.readouterr()
        other = [*arguments(command, source, out)]
        other[other.index(str(SIZE))] = "7"
        if out.endswith("/"):
            Path("out/_SUCCESS").unlink()
        else:
            Path(out).unlink()
            process = start("-c", BLOCKED, *arguments(command, source, out))
            wait_for(Path("blocked").exists, process)
            process.kill()
            process.communicate(timeout=60)
        for more in ([], ["--overwrite"]):
            line = fails(*other, *more)
            assert f"the unfinished run in {kept} has parts of another size" in line and "--restart" in line
        assert run([*other, "--restart", "-q"]) == 0
        assert Path(out).exists()


@pytest.mark.parametrize(
    ("command", "function", "calls"),
    [
        ("lab testset", "write_beside", 0),  # score writes no record beside its output
        ("lab testset", "clear", 0),
        ("score", "clear", 0),
        ("score", "remove", 5),
        ("score", "remove", ROWS // SIZE),  # only the manifest is left
    ],
)
def test_a_run_that_was_killed_in_the_last_instant_is_complete(here, capsys, command, function, calls):
    """A repeated command recognises its own output, neither writes it again nor does its work again, and tidies up."""
    given = arguments(command, "in.jsonl", "out.csv", "--json")
    run(arguments(command, "in.jsonl", "whole.csv", "--json"))
    report = json.loads(capsys.readouterr().out)
    process = start("-c", LAST_INSTANT, function, str(calls), *given)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL, errors
    assert contents("out.csv") == contents("whole.csv") and Path("out.csv.parts").is_dir()
    before = Path("out.csv").stat()
    assert run(given) == 0
    captured = capsys.readouterr()
    assert f"continuing after {ROWS} rows that were finished before" in captured.err
    again = json.loads(captured.out)
    assert {key: report[key] for key in report if key not in ("out", "seconds", "resumed")} == {
        key: again[key] for key in again if key not in ("out", "seconds", "resumed")
    }
    assert not Path("out.csv.parts").exists() and Path("out.csv").stat().st_ino == before.st_ino
    assert Path("out.csv.meta.json").exists() == Path("whole.csv.meta.json").exists()


def test_a_folder_that_a_killed_run_left_empty_is_removed(here, fails):
    given = arguments("score", "in.jsonl", "out.csv")
    assert start("-c", LAST_INSTANT, "release", "0", *given).wait(timeout=120) == -signal.SIGKILL
    assert [path.name for path in Path("out.csv.parts").iterdir()] == [".lock"]
    assert "out.csv already exists; pass --overwrite to replace it" in fails(*given)
    assert not Path("out.csv.parts").exists()


def test_another_command_does_not_take_the_finished_output_for_its_own(here, fails):
    given = arguments("score", "in.jsonl", "out.csv")
    assert start("-c", LAST_INSTANT, "clear", "0", *given).wait(timeout=120) == -signal.SIGKILL
    other = [*given, "--threshold", "0.9"]
    assert "out.csv already exists; pass --overwrite to replace it" in fails(*other)
    before = contents("out.csv")
    assert run([*other, "--overwrite", "-q"]) == 0
    assert contents("out.csv") != before and not Path("out.csv.parts").exists()


def test_a_file_that_was_changed_after_the_kill_is_not_replaced(here, fails):
    given = arguments("score", "in.jsonl", "out.csv")
    assert start("-c", LAST_INSTANT, "clear", "0", *given).wait(timeout=120) == -signal.SIGKILL
    Path("out.csv").write_text("mine")
    assert "out.csv already exists; pass --overwrite to replace it" in fails(*given)
    assert Path("out.csv").read_text() == "mine"
    assert run([*given, "--overwrite", "-q"]) == 0
    assert contents("out.csv") != b"mine" and not Path("out.csv.parts").exists()
