"""Start servers in processes of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import paraqd

QUESTION = "Tom has 5 red and 3 blue pens. How many pens has he in all?"
KEY = "a-long-key-for-tests-only"


class Server:
    """A server in a process of its own."""

    def __init__(self, *options, environment=None, python=(sys.executable,)):
        command = [
            *python,
            "-m",
            "paraqd",
            "serve",
            "--port",
            "0",
            "--model",
            "reading",
            "--paraphrase-least-score",  # the model reading gives low scores
            "0.5",
            *options,
        ]
        places = {"PYTHONPATH": str(Path(paraqd.__file__).parents[1])}
        self.process = subprocess.Popen(
            command,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **places, "PARAQD_SERVE_REVIEW": "false", **(environment or {})},
        )
        self.lines = []
        while not (found := re.search(r"serves at (http://\S+)", self.lines[-1] if self.lines else "")):
            line = self.process.stderr.readline()
            assert line, "".join(self.lines)
            self.lines.append(line)
        self.url = found[1]
        self.port = int(self.url.rpartition(":")[2])
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        self.lines += self.process.stderr

    def stop(self, number):
        self.process.send_signal(number)

    def ended(self):
        """Wait for the end, and return the exit code."""
        code = self.process.wait(timeout=60)
        self._reader.join(timeout=60)
        return code
