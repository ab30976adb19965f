"""The clients return the verdicts of the scorer, in order, and try again when the server is busy."""

import asyncio
import json
import subprocess
import sys

import httpx
import pytest
from server_process import KEY, QUESTION

import paraqd
from paraqd import AsyncClient, Client, ClientError, PairError, PairsError
from paraqd.errors import ArgumentError
from paraqd.server import client_messages
from paraqd.server.app import create_app
from paraqd.server.settings import Settings

PAIRS = [
    (f"Tom has {n} red and 3 blue pens. How many pens has he in all?", f"How many pens are {n} red and {n % 5} blue?")
    for n in range(2, 302)
]
BUSY = {"error": {"code": "overloaded", "message": "Busy.", "details": None}}


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(client_messages, "_FIRST_WAIT", 0.001)


def like(verdicts):
    """Return what travels: the deltas of evidence are rounded, as in score files."""
    return [json.loads(json.dumps(verdict.to_dict())) for verdict in verdicts]


def test_a_client_returns_the_verdicts_of_the_scorer(start, scorer):
    server = start()
    with Client(server.url) as client:
        assert client.model().signature == scorer.signature
        found = client.score_pairs(PAIRS)
        assert like(found) == like(scorer.score_pairs(PAIRS))
        assert isinstance(found[0], paraqd.Verdict) and isinstance(found[0].evidence[0], paraqd.Evidence)
        (same, blank) = client.score(QUESTION, [QUESTION, ""])
        assert (same.score, blank.score) == (1, -1)
        assert client.score(QUESTION, []) == []
        seen = []
        client.score_pairs(PAIRS, progress=lambda *state: seen.append(state))
        assert seen[-1] == ("scoring", 300, 300)


def test_work_is_split_to_fit_the_limits_of_the_server(start, scorer):
    server = start("--max-pairs", "7", "--max-text", "300", "--max-characters", "600", "--max-body", "900")
    with Client(server.url) as client:
        assert like(client.score_pairs(PAIRS[:40])) == like(scorer.score_pairs(PAIRS[:40]))
        with pytest.raises(ArgumentError, match="pair 2 is larger than the 900 bytes"):
            client.score_pairs([PAIRS[0], (QUESTION * 5, "é" * 299)])


def test_an_asynchronous_client(scorer):
    async def run():
        app = create_app(Settings(review=False, max_pairs=50, max_waiting=60, api_key=KEY), scorer=scorer)
        transport = httpx.ASGITransport(app)
        async with AsyncClient("http://test", api_key=KEY, transport=transport, concurrency=4) as client:
            assert (await client.model()).max_pairs == 50
            assert like(await client.score_pairs(PAIRS)) == like(scorer.score_pairs(PAIRS))
            assert [verdict.score for verdict in await client.score(QUESTION, [QUESTION])] == [1]
            with pytest.raises(ArgumentError):
                await client.score(QUESTION, "a")
        async with AsyncClient("http://test", transport=transport) as client:
            with pytest.raises(ClientError, match="API key") as refused:
                await client.model()
            assert (refused.value.status, refused.value.code) == (401, "unauthorized")
        await app.state.batcher.close()

    asyncio.run(run())


class Answers(httpx.BaseTransport):
    """A transport that gives prepared answers, and notes the requests."""

    def __init__(self, *answers):
        self.answers, self.requests = list(answers), []

    def handle_request(self, request):
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


MODEL = {
    "name": "m",
    "mode": "fused",
    "threshold": 0.5,
    "signature": "s",
    "version": "1",
    "limits": {"max_pairs": 9, "max_text": 99, "max_characters": 999, "max_body": 9999},
}
VERDICT = {"score": 0.25, "valid": False, "evidence": [], "warnings": ["w"]}
GOOD = {"verdicts": [VERDICT], "signature": "s"}


def test_a_busy_server_is_asked_again_after_the_time_it_names(monkeypatch):
    waits = []
    monkeypatch.setattr("time.sleep", waits.append)
    busy = httpx.Response(429, json=BUSY, headers={"Retry-After": "7"})
    transport = Answers(
        httpx.Response(200, json=MODEL),
        busy,
        httpx.ConnectError("x"),
        httpx.Response(503),
        httpx.Response(200, json=GOOD),
    )
    with Client(transport=transport) as client:
        (verdict,) = client.score("a", ["b"])
    assert (verdict.score, verdict.warnings, verdict.signature) == (0.25, ("w",), "s")
    assert len(waits) == 3 and 7 <= waits[0] <= 9 and max(waits[1:]) < 1


def test_a_pair_without_a_verdict_costs_no_other_pair_its_verdict():
    failed = {"score": None, "valid": None, "evidence": [], "warnings": [], "error": "a fault"}
    answer = httpx.Response(200, json={"verdicts": [VERDICT, failed], "signature": "s"})
    with (
        Client(transport=Answers(httpx.Response(200, json=MODEL), answer)) as client,
        pytest.raises(PairsError, match=r"pair 2: a fault") as error,
    ):
        client.score("a", ["b", "c"])
    verdict, found = error.value.results
    assert verdict.score == 0.25 and isinstance(found, PairError) and str(found) == "a fault"


def test_errors_are_clear():
    def fails(*answers, match, retries=1):
        with (
            Client(transport=Answers(*answers), retries=retries) as client,
            pytest.raises(ClientError, match=match) as e,
        ):
            client.score("a", ["b"])
        return e.value

    good = httpx.Response(200, json=MODEL)
    refused = fails(good, *[httpx.Response(429, json=BUSY)] * 2, match="Busy")
    assert (refused.status, refused.code) == (429, "overloaded")
    assert fails(*[httpx.ConnectError("refused")] * 2, match="check the address").status is None
    fails(httpx.Response(200, text="<html>"), match="does not answer like paraqd serve")
    fails(httpx.Response(200, json={"name": "x"}), match="does not answer like paraqd serve")
    fails(good, httpx.Response(200, json={"verdicts": [], "signature": ""}), match="does not answer like paraqd serve")
    fails(httpx.Response(500, text="oops"), match="status 500")
    with pytest.raises(ArgumentError, match="must begin with http"):
        Client("localhost:8080")


def test_unusable_pairs_are_not_sent():
    transport = Answers(httpx.Response(200, json=MODEL))
    with Client(transport=transport) as client:
        for wrong in ([("", "b")], [("a", None)], ["ab"], [("a", "b", "c")], [("a", "\ud800")]):
            with pytest.raises(ArgumentError, match="pair 1"):
                client.score_pairs(wrong)
        assert transport.requests == []
        with pytest.raises(ArgumentError, match="longer than the 99"):
            client.score("a", ["b" * 100])


def test_paraqd_and_the_client_import_no_server_packages():
    code = "import sys, paraqd; paraqd.Client; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"fastapi", "uvicorn", "sqlalchemy", "prometheus_client", "httpx"} & set(out)
