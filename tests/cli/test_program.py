"""The program ends quietly if its reader ends or the user presses Ctrl-C."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import paraqd

PAIRS = str(Path(__file__).parents[2] / "samples" / "pairs.csv")
SLOW_MODULE = """
import pathlib, time
pathlib.Path(__file__).with_suffix(".started").touch()
time.sleep(60)
"""


def start(*arguments, path=(), **options):
    places = os.pathsep.join([*map(str, path), str(Path(paraqd.__file__).parents[1])])
    command = [sys.executable, "-m", "paraqd", *arguments]
    options = {"stderr": subprocess.PIPE, **options}
    return subprocess.Popen(command, env=dict(os.environ, PYTHONPATH=places), **options)


@pytest.fixture
def closed_pipe():
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["lab", "operators"], ["lab", "operators", "--json"], ["score", PAIRS], ["score", PAIRS, "--json"]],
)
def test_a_reader_that_ends_is_not_an_error(closed_pipe, arguments):
    program = start(*arguments, stdout=closed_pipe)
    assert program.communicate()[1] == b""
    assert program.returncode == 0


def test_an_error_that_nobody_reads_still_sets_the_exit_code(closed_pipe):
    assert start("score", "missing.csv", stdout=closed_pipe, stderr=closed_pipe).wait() == 2


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has another shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_an_empty_one(tmp_path, closed):
    out = tmp_path / "out.csv"
    for arguments, code in (
        (["score", PAIRS, "-o", out, "--model", "reading"], 0),
        (["lab", "read", "Tom has 5 pens.", "--json"], 0),
        (["score", "-", "-o", tmp_path / "other.csv"], 2),  # no row
        (["score", "missing.csv"], 2),
    ):
        shell = ["sh", "-c", f'exec "$0" -m paraqd "$@" {closed}', sys.executable, *map(str, arguments)]
        places = {"PYTHONPATH": str(Path(paraqd.__file__).parents[1])}
        done = subprocess.run(
            shell, env=os.environ | places, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert out.read_text().startswith("id,question,paraphrase")


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("typer", ["--version"]),
        ("onnxruntime", ["explain", "Tom has 5 pens. How many?", "How many pens?"]),
        ("rich", ["lab", "operators"]),
    ],
)
def test_ctrl_c_while_the_program_starts_shows_no_traceback(tmp_path, module, arguments):
    (tmp_path / f"{module}.py").write_text(SLOW_MODULE)
    program = start(*arguments, path=[tmp_path], stdout=subprocess.PIPE)
    while not (tmp_path / f"{module}.started").exists():
        assert program.poll() is None
        time.sleep(0.01)
    program.send_signal(signal.SIGINT)
    assert program.communicate() == (b"", b"")
    assert program.returncode == 130


def test_little_is_imported_before_ctrl_c_is_handled():
    code = "import sys; before = set(sys.modules); import paraqd.cli.main; print(*(set(sys.modules) - before))"
    environment = dict(os.environ, PYTHONPATH=str(Path(paraqd.__file__).parents[1]))
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    packages = {module.partition(".")[0] for module in done.stdout.split()}
    assert packages - set(sys.stdlib_module_names) == {"paraqd"}
    assert "paraqd.reading" not in done.stdout
