"""Share a scorer, applications in this process, and servers in processes of their own."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # the tests import server_process
from server_process import Server

from paraqd import Scorer

try:
    from fastapi.testclient import TestClient

    from paraqd.server.app import create_app
    from paraqd.server.settings import Settings
except ImportError:  # the extra is not installed
    collect_ignore_glob = ["*"]


@pytest.fixture(scope="session")
def scorer():
    return Scorer.load("reading")


@pytest.fixture
def serving(scorer):
    """Return a function that makes a client of an application with some settings."""
    with contextlib.ExitStack() as stack:

        def make(**settings):
            app = create_app(Settings(review=False, **settings), scorer=scorer)
            return stack.enter_context(TestClient(app))

        yield make


@pytest.fixture
def web(serving):
    return serving()


@pytest.fixture
def start():
    """Return a function that starts a server, which ends with the test."""
    servers = []

    def starting(*options, **others):
        servers.append(Server(*options, **others))
        return servers[-1]

    yield starting
    for server in servers:
        if server.process.poll() is None:
            server.process.kill()
        server.ended()
