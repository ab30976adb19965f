"""Other web sites change nothing, and no text becomes a statement, a header, a path or markup."""

import json
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from paraqd.server.app import create_app
from paraqd.server.settings import Settings

TEXTS = (
    "'; DROP TABLE pairs; --",
    "' OR '1'='1",
    '" OR ""="',
    "'); DELETE FROM votes; --",
    "100%",
    "a_c",
    "back\\slash",
    "%s %n {0} ${jndi:ldap://x} {{7*7}}",
    "<script>alert(1)</script>",
    "one\r\nX-Injected: 1",
    "../../../etc/passwd",
    "\N{RIGHT-TO-LEFT OVERRIDE}txet",
    "\N{COLLISION SYMBOL}",
)
TABLE = "question,paraphrase\na,b"
FILE = f'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n{TABLE}\r\n--x--\r\n'
FORMS = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x")


@pytest.fixture
def client(address, scorer):
    app = create_app(Settings(model="reading", database=address), scorer=scorer)
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def project(client):
    pairs = [{"question": f"How many? {text}", "paraphrase": f"What number? {text}", "id": text} for text in TEXTS]
    made = client.post("/v1/projects", json={"name": TEXTS[0], "pairs": pairs}, headers={"X-Reviewer": "Ann"})
    assert made.status_code == 201, made.text
    return made.json()["id"]


def state(client):
    """Return everything that a request could have changed."""
    listed = client.get("/v1/projects").json()["projects"]
    logs = [client.get(f"/v1/projects/{each['id']}/log").json() for each in listed]
    return [
        {name: each[name] for name in ("id", "name", "threshold", "total", "status", "undo")} for each in listed
    ], logs


def test_forms_of_other_sites_change_nothing(client, project):
    """A browser sends such requests with cookies and without asking: they have no header of their own."""
    before = state(client)
    bodies = {
        "/v1/projects": {"name": "Theirs", "pairs": [{"question": "How many?", "paraphrase": "What number?"}]},
        "/v1/projects/{project}/pairs": {"pair": 1, "paraphrase": "What number is it?"},
        "/v1/projects/{project}/decisions": {"pair": 1, "decision": "accept"},
        "/v1/projects/{project}/decisions/bulk": {"filter": {}, "decision": "accept", "expected": len(TEXTS)},
    }
    paths = [path for path, methods in client.app.openapi()["paths"].items() if "post" in methods]
    assert set(bodies) < set(paths) and len(paths) > 10
    for path in paths:
        text = json.dumps(bodies.get(path, {}))
        for kind in FORMS:
            headers = {"Content-Type": kind, "Origin": "https://evil.example"}
            content = FILE if kind.startswith("multipart") else text
            answer = client.post(path.replace("{project}", project), content=content, headers=headers)
            assert path == "/v1/logout" or 400 <= answer.status_code < 500, (path, kind, answer.text)
            assert "access-control-allow-origin" not in answer.headers
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Headers": "x-reviewer"}
    for method in ("POST", "PATCH", "DELETE"):  # a browser asks before it sends a header of its own
        headers = {**asked, "Access-Control-Request-Method": method}
        answer = client.options(f"/v1/projects/{project}", headers=headers)
        assert answer.status_code == 405 and "access-control-allow-origin" not in answer.headers
    assert state(client) == before


def test_texts_are_only_texts(client, project):
    path = f"/v1/projects/{project}"
    names = []
    for number, text in enumerate(TEXTS, start=1):
        name = " ".join("".join(each if each.isprintable() else " " for each in text).split())
        names.append(name)
        headers = {"X-Reviewer": quote(name)}
        body = {"pair": number, "decision": "accept", "note": text}
        assert client.post(f"{path}/decisions", json=body, headers=headers).is_success
        assert client.patch(path, json={"name": text}, headers=headers).json()["name"] == name
        found = client.get(f"{path}/pairs", params={"q": text}, headers=headers).json()["pairs"]
        assert [pair["n"] for pair in found] == [number]
        assert (found[0]["id"], found[0]["note"]) == (text, text)
        for odd in ({"sort": text}, {"fault": text}, {"low": text}, {"offset": text}):
            assert client.get(f"{path}/pairs", params=odd).status_code == 422
        for kind in ("csv", "xlsx", "jsonl"):
            answer = client.get(f"{path}/export", params={"format": kind})
            assert answer.is_success and "x-injected" not in answer.headers
            assert not set(answer.headers["content-disposition"]) & set("/\\\r\n<>")
        for place in (f"/v1/projects/{quote(text, safe='')}", f"{path}/pairs/{quote(text, safe='')}"):
            answer = client.get(place)
            assert answer.status_code in (404, 422) and text not in answer.json()["error"]["message"]
    events = client.get(f"{path}/log").json()["events"]
    assert [event["reviewer"] for event in events] == names[::-1]
    assert client.get(path).json()["status"]["accepted"] == len(TEXTS)
