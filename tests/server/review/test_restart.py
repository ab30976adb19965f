"""A server that is killed loses no decision that it answered, and goes on scoring after a restart."""

import signal
import time

import httpx
import pytest

PAIRS = [
    {"question": f"A box holds {n} eggs and 4 break. How many are whole?", "paraphrase": f"Of {n} eggs, 4 break. Left?"}
    for n in range(10, 1500)
]


def ready(client, path):
    for _ in range(1500):
        found = client.get(path).json()
        if found["state"] == "ready":
            return found
        time.sleep(0.02)
    raise AssertionError(found)


@pytest.fixture
def serve(start, address):
    def serving(**environment):
        server = start("--database", address, environment={"PARAQD_SERVE_REVIEW": "true", **environment})
        return server, httpx.Client(base_url=server.url, headers={"X-Reviewer": "Ann"}, timeout=60)

    return serving


def test_a_killed_server_loses_nothing(serve):
    server, client = serve()
    path = f"/v1/projects/{client.post('/v1/projects', json={'name': 'Eggs', 'pairs': PAIRS}).json()['id']}"
    for n in range(1, 21):
        body = {"pair": n, "decision": "accept", "note": f"note {n}"}
        assert client.post(f"{path}/decisions", json=body).status_code == 200
    server.stop(signal.SIGKILL)
    server.ended()
    _, client = serve()
    found = client.get(path).json()
    assert found["status"]["accepted"] == 20 and found["undo"] == 20
    assert ready(client, path)["scored"] == len(PAIRS)
    assert client.post(f"{path}/undo").json() == {"changed": [20], "undo": 19, "redo": 1}
    assert client.get(f"{path}/pairs/19").json()["note"] == "note 19"


def test_the_next_server_removes_the_temporary_files_of_a_killed_one(serve, tmp_path):
    place = tmp_path / "temporary"
    place.mkdir()
    server, client = serve(TMPDIR=str(place))
    long = [{"question": f"{n} {'very ' * 2000}old eggs. How many?", "paraphrase": "How many?"} for n in range(1000)]
    project = client.post("/v1/projects", json={"name": "Eggs", "pairs": long}).json()["id"]
    with client.stream("GET", f"/v1/projects/{project}/export?format=csv") as answer:  # nobody reads it
        assert answer.status_code == 200 and list(place.rglob("export.csv"))
        server.stop(signal.SIGKILL)
        server.ended()
    assert list(place.rglob("export.csv"))
    serve(TMPDIR=str(place))
    assert not list(place.rglob("export.csv"))


def test_two_servers_share_a_database(serve):
    (_, one), (_, two) = serve(), serve()
    path = f"/v1/projects/{one.post('/v1/projects', json={'name': 'Eggs', 'pairs': PAIRS[:100]}).json()['id']}"
    assert ready(two, path)["scored"] == 100
    first = one.post(f"{path}/next", json={"filter": {}}).json()["pair"]["n"]
    second = two.post(f"{path}/next", json={"filter": {}}, headers={"X-Reviewer": "Ben"}).json()["pair"]["n"]
    assert (first, second) == (1, 2)
    one.post(f"{path}/decisions", json={"pair": 1, "decision": "reject"})
    assert two.get(f"{path}/pairs/1").json()["status"] == "rejected"
    assert two.post(f"{path}/undo").json()["changed"] == [1]
