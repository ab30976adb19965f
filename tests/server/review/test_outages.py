"""While the database or the disk cannot be used, the server says so and goes on scoring; then it recovers."""

import asyncio
import os
import resource
import shutil
import sqlite3
import time
from contextlib import closing

import httpx
import pytest
from fastapi.testclient import TestClient

from paraqd.server.app import create_app
from paraqd.server.review import database as database_module
from paraqd.server.review import health, scoring_task
from paraqd.server.review.database import open_database
from paraqd.server.review.errors import StorageError
from paraqd.server.settings import Settings

PAIRS = [{"question": "Mia has 10 pens and buys 3. How many?", "paraphrase": "Mia owns 10 pens and gets 3. How many?"}]
SCORE = {"question": PAIRS[0]["question"], "paraphrases": [PAIRS[0]["paraphrase"]]}


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr(database_module, "_BUSY_SECONDS", 1)
    monkeypatch.setattr(health, "_LOOK_SECONDS", 0.05)
    monkeypatch.setattr(scoring_task, "_RETRY_SECONDS", 0.05)


@pytest.fixture
def client(address, scorer):
    app = create_app(Settings(model="reading", database=address), scorer=scorer)
    with TestClient(app, base_url="http://localhost", headers={"X-Reviewer": "Ann"}) as client:
        yield client


@pytest.fixture
def project(client):
    return f"/v1/projects/{client.post('/v1/projects', json={'name': 'Pens', 'pairs': PAIRS}).json()['id']}"


def until(client, status):
    end = time.monotonic() + 60
    while (answer := client.get("/readyz")).status_code != status:
        assert time.monotonic() < end
        time.sleep(0.02)
    return answer


def decide(client, project, **others):
    return client.post(f"{project}/decisions", json={"pair": 1, "decision": "accept", **others})


def assert_away(client, answer):
    assert answer.status_code == 503 and answer.headers["retry-after"]
    assert answer.json()["error"]["code"] == "storage_unavailable"
    assert until(client, 503).json()["error"]["code"] == "storage_unavailable"
    assert "paraqd_ready 0.0" in client.get("/metrics").text.splitlines()
    assert client.get("/healthz").is_success
    assert client.post("/v1/score", json=SCORE).is_success


def assert_back(client, project, caplog, cause):
    until(client, 200)
    assert decide(client, project).is_success
    assert client.get(project).json()["status"]["accepted"] == 1
    assert "paraqd_ready 1.0" in client.get("/metrics").text.splitlines()
    lines = [record for record in caplog.records if record.name.startswith("paraqd")]
    assert [record.levelname for record in lines] == ["ERROR", "WARNING"] * (len(lines) // 2), caplog.text
    assert cause in lines[0].getMessage() and "Traceback" not in caplog.text
    assert len({record.getMessage() for record in lines}) <= 3


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
def test_a_locked_file(client, project, address, caplog):
    with closing(sqlite3.connect(address, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert_away(client, decide(client, project))
        other.rollback()
    assert_back(client, project, caplog, "database is locked")


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
def test_a_locked_file_is_noticed_without_a_request(client, address, monkeypatch, caplog):
    monkeypatch.setattr(health, "_PATIENCE", 0.1)
    with closing(sqlite3.connect(address, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        until(client, 503)
        other.rollback()
    until(client, 200)
    assert "does not answer; trying again" in caplog.text


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
def test_a_locked_file_does_not_hold_up_the_end(scorer, address, monkeypatch, caplog):
    with closing(sqlite3.connect(address, isolation_level=None)) as other:
        with TestClient(create_app(Settings(model="reading", database=address), scorer=scorer)):
            other.execute("BEGIN EXCLUSIVE")
        other.rollback()
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
def test_a_folder_that_is_away(client, project, address, tmp_path_factory, caplog):
    folder, place = os.path.dirname(address), tmp_path_factory.mktemp("away") / "kept"
    os.rename(folder, place)
    assert_away(client, decide(client, project))
    assert client.get(project).status_code == 503
    assert not os.path.exists(folder)
    os.rename(place, folder)
    assert_back(client, project, caplog, "unable to open database file")


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
def test_decisions_go_to_the_file_that_is_there(client, project, address, tmp_path):
    """A connection to a file that was replaced would write to the old file, which nobody can reach any more."""
    decide(client, project, note="before")
    with closing(sqlite3.connect(address)) as given, closing(sqlite3.connect(tmp_path / "copy")) as copy:
        given.backup(copy)
    for name in (address, f"{address}-wal", f"{address}-shm"):
        os.remove(name)
    shutil.move(tmp_path / "copy", address)
    until(client, 200)
    assert decide(client, project, note="after").is_success
    with closing(sqlite3.connect(address)) as found:
        assert found.execute("SELECT note FROM votes").fetchall() == [("after",)]


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
def test_a_damaged_file(client, project, address, caplog):
    with closing(sqlite3.connect(address)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    client.app.state.review.database.engine.dispose()
    with open(address, "rb+") as file:
        kept = file.read(4096)
        file.seek(0)
        file.write(b"x" * 4096)
    assert_away(client, decide(client, project))
    with open(address, "rb+") as file:
        file.write(kept)
    assert_back(client, project, caplog, "file is not a database")


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
def test_a_server_that_is_away(client, project, cluster, caplog):
    cluster.stop()
    try:
        assert_away(client, decide(client, project))
        assert client.get(project).status_code == 503
    finally:
        cluster.start()
    assert_back(client, project, caplog, "cannot use the database postgresql+psycopg://paraqd@/")


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
def test_a_lock_that_nobody_gives_back(client, project, address):
    other = open_database(address)
    with other.engine.connect() as connection, connection.begin():
        connection.exec_driver_sql("SELECT * FROM projects FOR UPDATE")
        answer = decide(client, project)
        assert answer.status_code == 503 and answer.json()["error"]["code"] == "storage_unavailable"
    until(client, 200)
    assert decide(client, project).is_success
    other.close()


def test_a_database_that_failed_once_is_looked_at_again(database):
    told = []

    async def run():
        watch = health.Health(told.append)
        watch.start(database)
        watch.report(StorageError("cannot use the database"))
        while told != [False, True]:
            await asyncio.sleep(0.01)
        await watch.stop()

    asyncio.run(asyncio.wait_for(run(), 60))


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs a limit on the size of another process's files")
def test_a_full_disk(start, tmp_path):
    """Files may not grow beyond a limit, which is an error as on a full disk."""
    environment = {"PARAQD_SERVE_REVIEW": "true", "TMPDIR": str(tmp_path)}
    server = start("--database", str(tmp_path / "review.sqlite"), environment=environment)
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    with httpx.Client(base_url=server.url, headers={"X-Reviewer": "Ann"}, timeout=60) as client:
        pairs = [{**PAIRS[0], "id": "x" * 900 + str(number)} for number in range(100)]
        made = client.post("/v1/projects", json={"name": "Pens", "pairs": [*pairs, *PAIRS]}).json()
        project = f"/v1/projects/{made['id']}"
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))
        table = {"file": ("a.csv", "question,paraphrase\n" + "a,b\n" * 400_000)}
        for answer in (
            decide(client, project, note="x" * 2000),
            client.get(f"{project}/export?format=csv"),
            client.get(f"{project}/export"),
            client.post("/v1/projects/upload", files=table),
        ):
            assert answer.status_code == 503, answer.text
            assert answer.json()["error"]["code"] == "storage_unavailable"
        assert until(client, 503).json()["error"]["code"] == "storage_unavailable"
        assert client.post("/v1/score", json=SCORE).is_success
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, unlimited)
        until(client, 200)
        assert decide(client, project, note="x" * 2000).is_success
        assert client.get(f"{project}/export?format=csv").is_success
    server.process.terminate()
    assert server.ended() == 0
    log = "".join(server.lines)
    assert "disk I/O error; trying again" in log and "cannot write a temporary file" in log
    assert "Traceback" not in log and not list(tmp_path.glob("paraqd-*"))
