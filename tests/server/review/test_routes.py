"""Use the interface as a browser does."""

import json
import time

import pytest
from fastapi.testclient import TestClient

from paraqd.server.app import create_app
from paraqd.server.settings import Settings

BEN = {"X-Reviewer": "Ben"}
PAIRS = [
    {"question": "Mia has 10 pens and buys 3. How many?", "paraphrase": "Mia owns 10 pens and gets 3. How many?"},
    {"question": "Mia has 11 pens and buys 3. How many?", "paraphrase": "Mia owns 12 pens and gets 3. How many?"},
]


def ready(client, project):
    for _ in range(500):
        found = client.get(f"/v1/projects/{project}").json()
        if found["state"] == "ready":
            return found
        time.sleep(0.02)
    raise AssertionError(found)


@pytest.fixture
def project(client):
    answer = client.post("/v1/projects", json={"name": "Pens", "pairs": PAIRS})
    assert answer.status_code == 201, answer.text
    ready(client, answer.json()["id"])
    return f"/v1/projects/{answer.json()['id']}"


def test_a_project_is_created_scored_changed_and_deleted(client):
    body = {"name": " Pens ", "pairs": PAIRS, "threshold": 0.6, "review": [0.2, 0.9], "votes_needed": 2}
    made = client.post("/v1/projects", json=body).json()
    assert (made["name"], made["total"], made["threshold"], made["review"]) == ("Pens", 2, 0.6, [0.2, 0.9])
    found = ready(client, made["id"])
    assert found["signature"].startswith("paraqd:") and found["counts"]["invalid"] == 1
    assert [each["id"] for each in client.get("/v1/projects").json()["projects"]] == [made["id"]]
    path = f"/v1/projects/{made['id']}"
    changed = client.patch(path, json={"threshold": -1, "review": None, "name": "Stifte", "votes_needed": 1}).json()
    assert (changed["counts"]["valid"], changed["review"], changed["name"]) == (2, None, "Stifte")
    assert client.patch(path, json={}).json() == changed
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404


def test_a_review_takes_its_course(client, project):
    first = client.post(f"{project}/next", json={"filter": {"status": "open"}, "after": None}).json()
    assert first["pair"]["n"] == 1 and first["left"] == 2
    saved = client.post(f"{project}/decisions", json={"pair": 1, "decision": "accept", "note": "schön"}).json()
    assert saved["pair"]["status"] == "accepted" and saved["undo"] == 1
    bulk = {"filter": {"decision": "invalid", "fault": "number_changed"}, "decision": "reject", "expected": 1}
    assert client.post(f"{project}/decisions/bulk", json=bulk).json() == {"changed": 1, "undo": 2, "redo": 0}
    bulk["expected"] = 7
    assert client.post(f"{project}/decisions/bulk", json=bulk).status_code == 409
    assert client.post(f"{project}/undo").json() == {"changed": [2], "undo": 1, "redo": 1}
    assert client.post(f"{project}/redo").json() == {"changed": [2], "undo": 2, "redo": 0}
    log = client.get(f"{project}/log").json()
    assert [event["pair"] for event in log["events"]] == [2, 2, 2, 1] and not log["more"]
    found = client.get(f"{project}/pairs", params={"q": "SCHÖN", "status": "accepted,mine", "sort": "-score"}).json()
    assert [pair["n"] for pair in found["pairs"]] == [1]
    assert client.get(f"{project}/pairs/1", headers=BEN).json()["my_vote"] is None
    assert len(client.get(f"{project}/scores").json()["scores"]) == 2
    assert client.get(f"{project}/agreement").json()["model"][0]["share"] == 1
    assert client.get(f"{project}/suggestion").json()["suggestion"] is None


def test_a_decision_with_a_key_may_be_sent_again(client, project):
    body = {"pair": 1, "decision": "accept", "request": "2026-05-01.a_1"}
    first = client.post(f"{project}/decisions", json=body).json()
    assert client.post(f"{project}/decisions", json=body).json() == first
    bulk = {"filter": {"status": "open"}, "decision": "reject", "expected": 1, "request": "b"}
    assert client.post(f"{project}/decisions/bulk", json=bulk).json()["changed"] == 1
    assert client.post(f"{project}/decisions/bulk", json=bulk).json() == {"changed": 1, "undo": 2, "redo": 0}
    for key in ("", "a b", "a\n", "x" * 65, "é", 7):
        assert client.post(f"{project}/decisions", json={**body, "request": key}).status_code == 422


@pytest.mark.parametrize("name", ["%C3%89va%20M%C3%BCller", "%F0%9F%A6%8A", "Ann"])
def test_reviewers_may_have_any_name(client, project, name):
    answer = client.post(f"{project}/decisions", json={"pair": 1, "decision": "accept"}, headers={"X-Reviewer": name})
    assert answer.status_code == 200
    assert answer.json()["pair"]["votes"][0]["reviewer"] in ("Éva Müller", "🦊", "Ann")


@pytest.mark.parametrize("name", ["", "%20", "a" * 81, "%FF", "a%0Ab", "%00"])
def test_a_bad_name_is_refused(client, project, name):
    answer = client.post(f"{project}/undo", headers={"X-Reviewer": name})
    assert answer.status_code == 400 and answer.json()["error"]["code"] == "bad_request"


def test_every_change_needs_a_name(client, project):
    del client.headers["X-Reviewer"]
    for method, path in (
        ("POST", "/v1/projects"),
        ("POST", "/v1/projects/upload"),
        ("PATCH", project),
        ("DELETE", project),
        *(("POST", f"{project}/{name}") for name in ("next", "decisions", "decisions/bulk", "undo", "redo", "import")),
    ):
        answer = client.request(method, path, json={})
        assert answer.status_code in (400, 422), (method, path)
        assert answer.json()["error"]["code"] in ("bad_request", "invalid_request")
    answer = client.post(f"{project}/decisions", json={"pair": 1, "decision": "accept"})
    assert answer.status_code == 400 and "X-Reviewer" in answer.json()["error"]["message"]
    assert client.get(project).json()["status"]["open"] == 2


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("decisions", {"pair": 99, "decision": "accept"}, 404),
        ("decisions", {"pair": 0, "decision": "accept"}, 422),
        ("decisions", {"pair": 1, "decision": "maybe"}, 422),
        ("decisions", {"pair": 1, "decision": "accept", "note": "x" * 2001}, 422),
        ("decisions", {"pair": 1, "decision": "accept", "note": "\ud800"}, 422),
        ("decisions", {"pair": 10**30, "decision": "accept"}, 422),
        ("decisions", {"pair": 1}, 422),
        ("decisions", [], 422),
        ("next", {"filter": {"sort": "size"}}, 422),
        ("next", {"filter": {"decision": "good"}}, 422),
        ("next", {"filter": {"q": "x" * 501}}, 422),
        ("next", {"filter": {"low": 7}}, 422),
        ("next", {"filter": {"colour": "red"}}, 422),
        ("decisions/bulk", {"filter": {"status": ["open", "closed"]}, "decision": "accept", "expected": 1}, 422),
        ("decisions/bulk", {"filter": {}, "decision": "accept"}, 422),
    ],
)
def test_a_bad_body_is_refused(client, project, path, body, status):
    answer = client.post(f"{project}/{path}", content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["message"]
    assert client.get(project).json()["undo"] == 0


@pytest.mark.parametrize(
    "query", ["low=x", "low=2", "high=nan", "sort=up", "status=x", "fault=x", "offset=-1", "limit=9999"]
)
def test_a_bad_query_is_refused(client, project, query):
    assert client.get(f"{project}/pairs?{query}").status_code == 422


@pytest.mark.parametrize("path", ["nothing", "nothing/pairs", "..%2F..%2Fetc", "%00", "nothing/export", "nothing/log"])
def test_an_unknown_project_is_not_found(client, path):
    answer = client.get(f"/v1/projects/{path}")
    assert answer.status_code == 404 and answer.json()["error"]["code"] == "not_found"


def test_only_new_projects_and_files_may_be_large(tmp_path, scorer):
    settings = Settings(model="reading", database=str(tmp_path / "a.sqlite"), max_body=1000, max_upload=5000)
    with TestClient(create_app(settings, scorer=scorer), headers={"X-Reviewer": "Ann"}) as client:
        assert client.post("/v1/projects", json={"name": "Pens", "pairs": PAIRS * 10}).status_code == 201
        project = client.get("/v1/projects").json()["projects"][0]["id"]
        large = {"file": ("a.csv", b"question,paraphrase\n" + b"a,b\n" * 500)}
        assert client.post("/v1/projects/upload", files=large).status_code == 201
        assert client.post(f"/v1/projects/{project}/import", files=large).status_code == 400
        body = {"pair": 1, "decision": "accept", "note": "x" * 1500}
        assert client.post(f"/v1/projects/{project}/decisions", json=body).status_code == 413
        assert client.patch(f"/v1/projects/{project}", json={"name": "x" * 1500}).status_code == 413


def test_a_list_with_too_many_pairs_is_not_read(client):
    answer = client.post("/v1/projects", json={"name": "Pens", "pairs": [{}] * 100_001})
    assert answer.status_code == 422 and "at most 100000" in answer.json()["error"]["message"]


def test_no_text_of_a_path_reaches_the_database(address, scorer):
    app = create_app(Settings(model="reading", database=address), scorer=scorer)
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        for path in ("%00", "ab%00", "%F0%9F%98%80/pairs", "AB/export"):
            assert client.get(f"/v1/projects/{path}").status_code == 404


@pytest.mark.parametrize(
    "change",
    [
        {"pairs": []},
        {"pairs": [{"question": "How many?", "paraphrase": " "}]},
        {"pairs": [{"question": "How many?"}]},
        {"pairs": [{"question": 5, "paraphrase": "x"}]},
        {"threshold": 2},
        {"review": [0.9, 0.2]},
        {"review": "sometimes"},
        {"votes_needed": 3},
        {"name": "x" * 201},
    ],
)
def test_a_bad_project_is_refused(client, change):
    answer = client.post("/v1/projects", json={"name": "Pens", "pairs": PAIRS, **change})
    assert answer.status_code in (400, 422), answer.text
    assert client.get("/v1/projects").json() == {"projects": []}


def test_nul_characters_are_dropped(client):
    body = {"name": "a\0b", "pairs": [{"question": "How\0 many?", "paraphrase": "How much?", "id": "\0"}]}
    made = client.post("/v1/projects", json=body).json()
    assert made["name"] == "ab"
    assert client.get(f"/v1/projects/{made['id']}/pairs/1").json()["question"] == "How many?"
