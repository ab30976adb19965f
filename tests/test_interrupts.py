"""Interrupt programs that a test has started, even if the tests themselves run with Ctrl-C ignored."""

import os
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no signals of this kind")

# ready once a Python program would answer Ctrl-C; sleeps for ever if the signal is ignored
_PROGRAM = "import sys, time; print('ready', flush=True); time.sleep(600)"


def test_a_program_that_a_test_starts_can_be_interrupted():
    with subprocess.Popen([sys.executable, "-c", _PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        program.stdout.readline()
        program.send_signal(signal.SIGINT)
        try:
            assert program.wait(timeout=20) == -signal.SIGINT
        finally:
            program.kill()


def test_the_same_if_the_tests_were_started_with_ctrl_c_ignored():
    one = f"{__file__}::test_a_program_that_a_test_starts_can_be_interrupted"
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", one]
    ignored = subprocess.run(
        command,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ignored.returncode == 0, ignored.stdout
