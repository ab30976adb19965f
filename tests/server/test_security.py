"""The server asks for its key, and tells browsers what they may do."""

import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from server_process import KEY, QUESTION

from paraqd.server.app import create_app
from paraqd.server.security import COOKIE, PUBLIC, PUBLIC_FOLDERS, new_session
from paraqd.server.settings import Settings

BODY = {"question": QUESTION, "paraphrases": ["a"]}


@pytest.fixture
def locked(serving):
    return serving(api_key=KEY)


@pytest.mark.parametrize("headers", [{"Authorization": f"Bearer {KEY}"}, {"X-API-Key": KEY}])
def test_the_key_opens(locked, headers):
    assert locked.post("/v1/score", json=BODY, headers=headers).is_success
    assert locked.get("/metrics", headers=headers).is_success


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": f"Bearer {KEY}x"},
        {"Authorization": f"Basic {KEY}"},
        {"Authorization": KEY},
        {"Authorization": "Bearer"},
        {"X-API-Key": KEY.upper()},
        {"X-API-Key": "é".encode()},
        {"Cookie": f"{COOKIE}={KEY}"},
        {"Cookie": f"{COOKIE}={new_session('another-key-of-someone')}"},
        {"Cookie": f"{COOKIE}={new_session(KEY, now=0)}"},
        {"Cookie": f"{COOKIE}=99999999999999999999.abc"},
    ],
)
def test_without_the_key_nothing_is_scored(locked, headers):
    for method, path in (("POST", "/v1/score"), ("GET", "/v1/model"), ("GET", "/metrics"), ("GET", "/v1/projects")):
        response = locked.request(method, path, json=BODY, headers=headers)
        assert response.status_code == 401
        assert response.json()["error"]["code"] == "unauthorized"
        assert response.headers["www-authenticate"] == "Bearer"


def test_only_what_is_listed_is_public(locked, scorer):
    app = create_app(Settings(api_key=KEY), scorer=scorer)
    web = TestClient(app)  # the key is asked for before the database is needed
    paths = {path: list(methods) for path, methods in app.openapi()["paths"].items() if path not in PUBLIC}
    checked = [(method, path) for path, methods in {**paths, "/metrics": ["get"]}.items() for method in methods]
    assert len(checked) > 15
    for method, path in checked:
        assert web.request(method, path.format(project="ab12", n=1)).status_code == 401, (method, path)
    assert locked.get("/healthz").is_success and locked.get("/docs").is_success
    for trick in ("//v1/model", "/V1/model", "/static/../v1/model", "/v1/login/../model", "/docs/../metrics"):
        assert locked.get(trick).status_code in (401, 404)


def test_the_guide_lists_what_is_public():
    guide = Path(__file__).parents[2] / "docs" / "deploy.md"
    sentence = next(line for line in guide.read_text("utf-8").split(". ") if "need no key" in line)
    assert set(re.findall("`([^`]+)`", sentence)) == {*PUBLIC, *PUBLIC_FOLDERS}


def test_a_browser_logs_in_and_out(locked):
    assert locked.post("/v1/login", json={"key": "wrong"}).status_code == 401
    assert locked.get("/v1/model").status_code == 401
    answer = locked.post("/v1/login", json={"key": KEY})
    cookie = answer.headers["set-cookie"]
    assert answer.is_success and KEY not in cookie
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    assert locked.get("/v1/model").is_success
    assert locked.post("/v1/logout").status_code == 204
    assert locked.get("/v1/model").status_code == 401


def test_security_headers_are_everywhere(web):
    for path in ("/healthz", "/nothing", "/docs", "/v1/model"):
        headers = web.get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers
    assert web.get("/v1/model").headers["cache-control"] == "no-store"


def test_other_web_sites_may_not_read_answers_unless_told(serving):
    asked = {"Origin": "https://site.example", "Access-Control-Request-Method": "POST"}
    closed, opened = serving(), serving(allowed_origins=("https://site.example",))
    assert "access-control-allow-origin" not in closed.get("/v1/model", headers=asked).headers
    assert closed.options("/v1/score", headers=asked).status_code == 405
    assert opened.options("/v1/score", headers=asked).headers["access-control-allow-origin"] == "https://site.example"
    other = opened.get("/v1/model", headers={"Origin": "https://other.example"})
    assert "access-control-allow-origin" not in other.headers


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_name_that_leads_to_this_machine_by_trickery_is_refused(serving, host):
    web = serving(host=host, allowed_hosts=("paraqd.example",))
    for name in ("127.0.0.1:8080", "localhost", "[::1]:8080", "paraqd.example"):
        assert web.get("/v1/model", headers={"Host": name}).is_success
    response = serving(host=host).get("/v1/model", headers={"Host": "evil.example:8080"})
    assert response.status_code == 421 and response.json()["error"]["code"] == "unknown_host"
    assert serving(api_key=KEY).get("/healthz", headers={"Host": "evil.example"}).is_success
