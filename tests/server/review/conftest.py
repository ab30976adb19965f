"""Run the storage tests on SQLite and on a PostgreSQL that the tests start themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

from fastapi.testclient import TestClient
from sqlalchemy import delete

from paraqd.server.app import create_app
from paraqd.server.review import decisions, projects, scoring_queue
from paraqd.server.review.database import open_database
from paraqd.server.review.new_projects import listed_rows
from paraqd.server.review.tables import projects as projects_table
from paraqd.server.settings import Settings


def _binaries():
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


class Cluster:
    """A PostgreSQL in a temporary folder. It listens only on a socket."""

    def __init__(self, folder, run):
        self.url = f"postgresql://paraqd@/postgres?host={folder}"
        self._folder, self._run = folder, run
        run(
            "initdb",
            "--no-sync",
            "-A",
            "trust",
            "-U",
            "paraqd",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
            "-D",
            folder / "data",
        )

    def start(self):
        options = f"-c listen_addresses='' -k {self._folder} -c fsync=off -c max_connections=100"
        self._run("pg_ctl", "-D", self._folder / "data", "-o", options, "-l", self._folder / "log", "-w", "start")

    def stop(self):
        self._run("pg_ctl", "-D", self._folder / "data", "-m", "immediate", "stop")


@pytest.fixture(scope="session")
def cluster():
    """Start PostgreSQL, and return what stops it and starts it again."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed (on Debian: apt install postgresql)")
    pytest.importorskip("psycopg")
    folder = Path(tempfile.mkdtemp(prefix="pq-"))  # a short name, because the path of a socket has a limit
    other = []
    if os.getuid() == 0:  # PostgreSQL refuses to run as root
        try:
            shutil.chown(folder, "postgres", "postgres")
        except LookupError:
            pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
        other = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]

    def run(program, *arguments):
        subprocess.run(
            [*other, binaries / program, *arguments], check=True, stdout=subprocess.DEVNULL, timeout=60, cwd=folder
        )

    found = Cluster(folder, run)
    found.start()
    try:
        yield found
    finally:
        found.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgresql(cluster):
    """Return the URL of the database of a running PostgreSQL."""
    return cluster.url


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    """Return the path or the URL of an empty database."""
    if request.param == "sqlite":
        return str(tmp_path / "review.sqlite")
    url = request.getfixturevalue("postgresql")
    database = open_database(url)
    database.write(lambda connection: connection.execute(delete(projects_table)))
    database.close()
    return url


@pytest.fixture
def database(address):
    database = open_database(address)
    yield database
    database.close()


def pens(count):
    """Return pairs; in every second pair, a number is changed."""
    return [
        {
            "question": f"Mia has {number} pens and buys 3 more. How many pens does she have?",
            "paraphrase": f"Mia owns {number + number % 2} pens and gets 3 more. How many pens does she have?",
            "id": f"P-{number}",
        }
        for number in range(10, 10 + count)
    ]


@pytest.fixture
def make(database, scorer):
    """Return a function that stores a project and scores it at once."""

    def make(pairs=6, *, score=True, **options):
        given = pens(pairs) if isinstance(pairs, int) else pairs
        columns = ("id", "question", "paraphrase")
        new = projects.NewProject(
            **{"name": "Pens", "threshold": 0.5, "columns": columns, "paraphrase_columns": ("paraphrase",), **options}
        )
        project = projects.create_project(database, new, listed_rows(given, 10_000))
        while score:
            assert scoring_queue.take_lease(database, project, "test")
            chosen = scoring_queue.next_slice(database, project, 500)
            if not chosen:
                scoring_queue.finish_project(database, project, "test")
                break
            verdicts = scorer.score_pairs([(question, paraphrase) for _, question, paraphrase in chosen])
            results = {n: verdict for (n, _, _), verdict in zip(chosen, verdicts, strict=True)}
            scoring_queue.store_results(database, project, "test", results)
        return project

    return make


@pytest.fixture
def vote(database):
    """Return a function that records a decision."""

    def vote(project, reviewer, n, decision="accept", note=None):
        return decisions.decide(database, project, reviewer, n, decision, note)

    return vote


@pytest.fixture
def client(tmp_path, scorer):
    """Return a client of a running server whose requests come from the reviewer Ann."""
    app = create_app(Settings(model="reading", database=str(tmp_path / "review.sqlite")), scorer=scorer)
    with TestClient(app, base_url="http://localhost", headers={"X-Reviewer": "Ann"}) as client:
        yield client
