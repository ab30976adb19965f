"""Requests that are generated from the OpenAPI document never make the server fail."""

import pytest
from hypothesis import HealthCheck, settings
from server_process import KEY

from paraqd import Scorer
from paraqd.server.app import create_app
from paraqd.server.settings import Settings

schemathesis = pytest.importorskip("schemathesis")
from schemathesis.specs.openapi import checks  # noqa: E402

EXAMPLES = 100


@pytest.fixture(scope="module")
def described():
    app = create_app(Settings(review=False, api_key=KEY), scorer=Scorer.load("reading"))
    return schemathesis.openapi.from_asgi("/openapi.json", app)


schema = schemathesis.pytest.from_fixture("described")


@schema.parametrize()
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_no_request_makes_the_server_fail(case):
    response = case.call(headers={"Authorization": f"Bearer {KEY}"})
    case.validate_response(
        response,
        checks=[
            schemathesis.checks.not_a_server_error,
            checks.status_code_conformance,
            checks.content_type_conformance,
            checks.response_schema_conformance,
        ],
    )
