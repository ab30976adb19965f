"""Run ``paraqd serve`` in a process of its own, and kill it when a test wants that."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx


class PageServer:
    """A server on a free port of this machine, with a database in a folder."""

    def __init__(self, folder: Path, *, model: str = "reading", **environment: str) -> None:
        self.model = model
        self.database = f"sqlite:///{folder / 'review.sqlite'}"
        self.log = folder / "server.log"
        self.environment = environment
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        """Start, and wait until the server is ready."""
        arguments = ["serve", "--model", self.model, "--port", str(self.port), "--database", self.database, "--quiet"]
        arguments += ["--paraphrase-least-score", "0.5"]  # the model reading gives low scores
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "paraqd", *arguments],
                stdout=log,
                stderr=log,
                env={**os.environ, **{f"PARAQD_SERVE_{name}": value for name, value in self.environment.items()}},
            )
        for _ in range(300):
            assert self.process.poll() is None, self.log.read_text()
            try:
                if httpx.get(f"{self.address}/readyz").status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.1)
        raise AssertionError(self.log.read_text())

    def kill(self) -> None:
        """Stop at once, without any clean-up."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """Ask the server to stop, and wait."""
        self.process.terminate()
        self.process.wait(timeout=30)

    def create(self, pairs, *, name="Pairs", reviewer="Meera", **settings) -> str:
        """Create a project, wait until it is scored, and return its id."""
        listed = [{"question": question, "paraphrase": paraphrase} for question, paraphrase in pairs]
        made = httpx.post(
            f"{self.address}/v1/projects",
            json={"name": name, "pairs": listed, **settings},
            headers={"X-Reviewer": reviewer},
        )
        assert made.status_code == 201, made.text
        project = made.json()["id"]
        for _ in range(300):
            if self.get(project)["state"] == "ready":
                return project
            time.sleep(0.05)
        raise AssertionError("the project was not scored")

    def get(self, project: str, path: str = "", reviewer: str = "Meera", **query):
        """Return the answer to a GET request about a project."""
        return httpx.get(
            f"{self.address}/v1/projects/{project}{path}", params=query, headers={"X-Reviewer": reviewer}, timeout=30
        ).json()


def free_port() -> int:
    """Return a port that nobody uses now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


NAMES = ("Meera", "Ravi", "Tom", "Ana", "Kofi", "Lena", "Omar", "Yuki", "Sofia", "Ben")
THINGS = ("pencils", "marbles", "stickers", "apples", "books", "shells", "stamps")


def pair(number: int) -> tuple[str, str]:
    """Return a question and a paraphrase of it. Every second paraphrase has a fault."""
    who, other = NAMES[number % 10], NAMES[(number // 10 + number % 10 + 1) % 10]
    thing, have, give = THINGS[number % 7], 20 + number, 3 + number % 9
    question = (
        f"{who} has {have} {thing}. {who} gives {give} {thing} to {other}. How many {thing} does {who} have left?"
    )
    paraphrases = (
        f"{who} starts with {have} {thing} and hands {give} of them to {other}. How many {thing} remain with {who}?",
        f"{who} has {have + 7} {thing}. {who} gives {give} {thing} to {other}. How many {thing} does {who} have left?",
        f"{who} owns {have} {thing}. {give} {thing} go to {other}. How many {thing} does {who} still own?",
        f"{who} has {have} {thing}. {other} gets {give} of them.",
    )
    return question, paraphrases[number % 4]
