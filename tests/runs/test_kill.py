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
    "augment": ["--operators", "f2,f3,f8,LowTfidfReplacement"],
    "testset": ["--recipe", "rules.toml"],
    "purity": [],
    "pseudo-label": [],
}
# the program with a part that is never finished; the encoder is one that needs no model
BLOCKED = """
import sys, time
import numpy as np
from paraqd.cli.main import run
from paraqd.runs import parts as stored, pseudo_labels

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
    monkeypatch.setattr("paraqd.runs.pseudo_labels.load_encoder", encoder)
    rows = list(pairs(ROWS))
    Path("rules.toml").write_text(RECIPE)
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("in").mkdir()
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.Table.from_pylist(rows[:50]), "in/a.parquet", row_group_size=20)
    Path("in/b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows[50:]))
    return tmp_path


def arguments(command, source, out, *more):
    where = "--offenders" if command == "purity" else "-o"
    return [command, source, where, out, "--part-rows", str(SIZE), *COMMANDS[command], *more]


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
@pytest.mark.parametrize("command", ["score", "augment", "testset", "purity"])
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
