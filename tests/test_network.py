"""Scoring does not use the network, and writes nothing but its output.

A library that reports about its users may wait before it does so. Each run therefore lasts longer than 15 seconds.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import httpx
import no_internet
import pytest

import paraqd
from paraqd.telemetry import OFF
from tests.server.server_process import Server

SECONDS = 16
QUESTION = "Tom has 5 red and 3 blue pens. How many pens has he in all?"
PARAPHRASE = "Tom owns 5 red pens and 3 blue ones. How many pens does he own?"
PAIR = {"question": QUESTION, "paraphrase": PARAPHRASE}
WATCHED = pytest.mark.skipif(not no_internet.supported(), reason="only Linux can watch programs")
COMMAND = f"""
import sys, time
from paraqd.cli.main import run
started = time.monotonic()
code = run(sys.argv[1:])
time.sleep(max(0, started + {SECONDS} - time.monotonic()))
sys.exit(code)
"""
LIBRARY = f"""
import time
import paraqd
assert paraqd.Scorer.load().score({QUESTION!r}, {PARAPHRASE!r}).valid
paraqd.SolvableChecker.load().check({QUESTION!r})
time.sleep({SECONDS})
"""


def watched(*options):
    """Return the command that runs Python under watch."""
    return [sys.executable, no_internet.__file__, *options, sys.executable]


@WATCHED
@pytest.mark.parametrize(
    ("options", "program", "code"),
    [
        ([], "import socket; socket.socket()", -signal.SIGSYS),
        ([], "import socket; socket.socketpair()", 0),
        (["--listen"], "import socket; socket.create_server(('127.0.0.1', 0))", 0),
        (["--listen"], "import socket; socket.create_connection(('127.0.0.1', 9))", -signal.SIGSYS),
        (["--listen"], "import socket; socket.socket(type=2).sendto(b'', ('127.0.0.1', 9))", -signal.SIGSYS),
    ],
)
def test_the_watch_sees_the_use_of_the_internet(options, program, code):
    assert subprocess.run([*watched(*options), "-c", program], check=False).returncode == code


def test_importing_paraqd_switches_the_reports_of_other_packages_off():
    """Programs that paraqd starts, such as its workers, inherit the variables."""
    program = "import os, paraqd.telemetry as t; print({name: os.environ[name] for name in t.OFF} == t.OFF)"
    places = {"PYTHONPATH": str(Path(paraqd.__file__).parents[1])}
    given = {**os.environ, **dict.fromkeys(OFF, ""), **places}
    assert subprocess.check_output([sys.executable, "-c", program], env=given, text=True) == "True\n"


@WATCHED
@pytest.mark.waits
def test_a_long_run_uses_no_internet_and_leaves_no_other_file(tmp_path):
    """The command, the library and the server run at the same time, each with folders of its own."""
    variables, out = {"HOME": "home", "XDG_CACHE_HOME": "cache", "TMPDIR": "temporary"}, {}
    for name in ("command", "library", "server"):
        for folder in (*variables.values(), "out"):
            (tmp_path / name / folder).mkdir(parents=True)
        out[name] = tmp_path / name / "out"

    def environment(name):
        folders = {variable: str(tmp_path / name / folder) for variable, folder in variables.items()}
        return {**os.environ, **folders, "PYTHONPATH": str(Path(paraqd.__file__).parents[1])}

    def start(name, program, *arguments):
        return subprocess.Popen(
            [*watched(), "-c", program, *arguments], env=environment(name), cwd=out[name], stdout=subprocess.DEVNULL
        )

    (tmp_path / "in.jsonl").write_text(json.dumps(PAIR) + "\n")
    with ExitStack() as stack:
        server = Server(
            "--model",
            "default",
            "--database",
            f"sqlite:///{out['server']}/review.sqlite",
            environment={**environment("server"), "PARAQD_SERVE_REVIEW": "true"},
            python=watched("--listen"),
        )
        stack.callback(server.process.kill)
        started = time.monotonic()
        asked = {"question": QUESTION, "paraphrases": [PARAPHRASE]}
        assert httpx.post(f"{server.url}/v1/score", json=asked, timeout=60).json()["verdicts"]
        others = [
            start("command", COMMAND, "score", "../../in.jsonl", "-o", "out.csv", "-q"),
            start("library", LIBRARY),
        ]
        for each in others:
            stack.callback(each.kill)
        assert [each.wait(timeout=120) for each in others] == [0, 0]
        time.sleep(max(0, started + SECONDS - time.monotonic()))
        server.stop(signal.SIGTERM)
        assert server.ended() == 0, server.lines
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.glob("*/**/*") if not path.is_dir()}
    assert files == {"command/out/out.csv", "server/out/review.sqlite"}
