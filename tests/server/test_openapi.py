"""Requests that are generated from the OpenAPI document never make a real server fail."""

import pytest
from hypothesis import HealthCheck, settings
from server_process import KEY, Server

schemathesis = pytest.importorskip("schemathesis")
from schemathesis.specs.openapi import checks  # noqa: E402

EXAMPLES = 30
PATIENCE = 120  # seconds for an answer; a busy machine needs many for paraphrases
HEADERS = {"Authorization": f"Bearer {KEY}"}


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    database = tmp_path_factory.mktemp("database") / "review.sqlite"
    environment = {
        "PARAQD_SERVE_API_KEY": KEY,
        "PARAQD_SERVE_REVIEW": "true",
        "PARAQD_SERVE_DATABASE": f"sqlite:///{database}",
    }
    server = Server(environment=environment)
    yield schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    server.process.terminate()
    assert server.ended() == 0
    assert "Traceback" not in "".join(server.lines), "".join(server.lines)[-4000:]


schema = schemathesis.pytest.from_fixture("described")


@schema.parametrize()
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_no_request_makes_the_server_fail(case):
    wanted = [schemathesis.checks.not_a_server_error]
    if not case.path.startswith("/v1/projects"):
        wanted += [
            checks.status_code_conformance,
            checks.content_type_conformance,
            checks.response_schema_conformance,
        ]
    case.validate_response(case.call(headers=HEADERS, timeout=PATIENCE), checks=wanted)
