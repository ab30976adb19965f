"""A real server writes paraphrases without holding up verdicts, and forgets clients that went away."""

import asyncio
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler

import httpx
import pytest
from quiet_server import QuietServer
from server_process import QUESTION, Server

import paraqd
from paraqd import AsyncClient, Client, ClientError
from paraqd.cli.main import run
from paraqd.errors import ArgumentError
from paraqd.paraphrasing.choice import Limits
from paraqd.paraphrasing.sources.base import Found
from paraqd.server.batching import Batcher
from paraqd.server.errors import ShuttingDown
from paraqd.server.paraphrase_queue import ParaphraseQueue
from paraqd.server.settings import Settings

LONG = (
    "Meera bought 12 kg of rice at Rs. 46 per kg and 3 kg of sugar at Rs. 42 per kg. She paid with a note of Rs. 1,000 "
    "and put half of the change into a jar that already held Rs. 250. How much money is in the jar now? "
)
REWRITTEN = "How many pens does Tom have altogether if 5 of them are red and the other 3 are blue?"


@pytest.fixture(scope="module")
def server():
    pytest.importorskip("spacy", reason="the extra augment is not installed")
    running = Server("--max-paraphrases", "12")
    yield running
    running.process.terminate()
    assert running.ended() == 0
    assert "Traceback" not in "".join(running.lines)


def ask(server, question=QUESTION, **body):
    return httpx.post(f"{server.url}/v1/paraphrase", json={"question": question, **body}, timeout=60)


def error_of(response, status):
    assert response.status_code == status, response.text
    assert response.json()["error"]["message"].endswith(".")
    return response.json()["error"]


def in_progress(server):
    lines = httpx.get(f"{server.url}/metrics", timeout=30).text.splitlines()
    return next(float(line.split()[-1]) for line in lines if line.startswith("paraqd_paraphrasing_requests "))


def wait_for(server, count):
    for _ in range(600):
        if in_progress(server) == count:
            return
        time.sleep(0.02)
    raise AssertionError(in_progress(server))


class Endpoint:
    """An endpoint that answers with one paraphrase as soon as the test allows it."""

    def __init__(self):
        self.allowed, self.seen, self.status, self.retry_after = threading.Event(), [], 200, "0"
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                outer.seen.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                outer.allowed.wait(30)
                choice = {"message": {"content": json.dumps([REWRITTEN])}}
                content = json.dumps({"choices": [choice], "usage": {"total_tokens": 9}}).encode()
                self.send_response(outer.status)
                self.send_header("Content-Length", str(len(content)))
                self.send_header("Retry-After", outer.retry_after)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.server = QuietServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def endpoint():
    found = Endpoint()
    yield found
    found.allowed.set()
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture
def asking(start, endpoint, tmp_path):
    """Return a function that starts a server whose source is the endpoint."""

    def asking(*options):
        source = ("--paraphrase-source", endpoint.address, "--paraphrase-model", "tiny")
        return start(*source, *options, environment={"XDG_CACHE_HOME": str(tmp_path)})

    return asking


# --- answers --------------------------------------------------------------------------------------


def test_the_paraphrases_are_those_of_the_library(server, scorer):
    answer = ask(server, LONG, n=3, styles=["exam", "plain"], seed=5).json()
    limits = Limits(score=0.5)
    expected = paraqd.paraphrase(LONG, n=3, styles=["exam", "plain"], seed=5, limits=limits, scorer=scorer)
    found = answer["paraphrases"]
    assert [each["text"] for each in found] == [each.text for each in expected]
    assert len({each["text"] for each in found}) == 3
    for each in found:
        assert set(each) == {"text", "score", "valid", "evidence", "source", "style", "edits", "repaired"}
        assert each["valid"] and each["score"] > 0.5 and each["source"] == "rules" and each["edits"]
        assert each["style"] in ("exam", "plain")
    assert answer["reason"] == "" and answer["signature"] == scorer.signature
    assert ask(server, LONG, n=3, styles=["exam", "plain"], seed=6).json()["paraphrases"] != found


def test_too_few_paraphrases_have_a_reason(server):
    answer = ask(server, "Which is the largest?\n(A) 5\n(B) 7\n(C) 9\n(D) 11").json()
    assert answer["paraphrases"] == []
    assert "list of statements or options" in answer["reason"]


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"question": " "}, 422, "question is blank."),
        ({"question": "a" * 2001}, 422, "question is longer than 2,000 characters."),
        ({"n": 0}, 422, "n is not usable"),
        ({"n": "3"}, 422, "n is not usable"),
        ({"n": 13}, 413, "At most 12 paraphrases"),
        ({"styles": "exam"}, 422, "styles is not a list."),
        ({"styles": ["pirate"]}, 422, "choose among plain, exam, engaging"),
        ({"seed": -1}, 422, "seed is not usable"),
        ({"source": "rules"}, 422, "source is not known."),
    ],
)
def test_a_request_that_cannot_be_used(server, body, status, message):
    assert message in error_of(ask(server, **body), status)["message"]


def test_clients(server):
    with Client(server.url) as client:
        found = client.paraphrase(QUESTION, n=2)
        assert [each.rank for each in found] == [1, 2] and all(each.valid for each in found)
        assert isinstance(found[0], paraqd.Paraphrase) and found[0].signature == client.model().signature
        for wrong in ({"n": 0}, {"styles": "exam"}, {"question": " "}):
            with pytest.raises(ArgumentError):
                client.paraphrase(**{"question": QUESTION, **wrong})
        with pytest.raises(ClientError, match="choose among plain") as refused:
            client.paraphrase(QUESTION, styles=["pirate"])
        assert refused.value.status == 422

    async def again():
        async with AsyncClient(server.url) as client:
            return await client.paraphrase(QUESTION, n=2)

    assert asyncio.run(again()) == found


# --- load -----------------------------------------------------------------------------------------


def test_verdicts_do_not_wait_for_paraphrases(asking, endpoint):
    server = asking()
    with ThreadPoolExecutor() as pool:
        slow = pool.submit(ask, server, n=1)
        wait_for(server, 1)
        verdict = httpx.post(f"{server.url}/v1/score", json={"question": QUESTION, "paraphrases": [REWRITTEN]})
        assert verdict.is_success and not slow.done()
        endpoint.allowed.set()
        [found] = slow.result().json()["paraphrases"]
    assert found["score"] == verdict.json()["verdicts"][0]["score"]
    assert (found["text"], found["source"], found["edits"]) == (REWRITTEN, "tiny@127.0.0.1", [])


def test_verdicts_arrive_while_rules_write(server):
    with ThreadPoolExecutor() as pool:
        slow = [pool.submit(ask, server, LONG, n=12, seed=seed) for seed in range(2)]
        wait_for(server, 2)
        answered = 0
        while not all(each.done() for each in slow):
            pairs = {"question": QUESTION, "paraphrases": [f"{REWRITTEN} {answered}"]}
            assert httpx.post(f"{server.url}/v1/score", json=pairs, timeout=60).is_success
            answered += 1
        assert [each.result().status_code for each in slow] == [200, 200]
    assert answered > 10


def test_a_full_server_refuses(asking, endpoint):
    server = asking("--max-paraphrasing", "2")
    with ThreadPoolExecutor() as pool:
        accepted = [pool.submit(ask, server, n=1, seed=seed) for seed in range(2)]
        wait_for(server, 2)
        refused = ask(server, n=1)
        assert error_of(refused, 429)["code"] == "overloaded"
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        endpoint.allowed.set()
        assert [each.result().status_code for each in accepted] == [200, 200]
    assert ask(server, n=1).status_code == 200


def test_a_request_that_waits_too_long_is_given_up(asking, endpoint):
    server = asking("--deadline", "0.5", "--max-paraphrasing", "2")
    with ThreadPoolExecutor() as pool:
        late = [pool.submit(ask, server, n=1, seed=seed) for seed in range(2)]
        assert [error_of(each.result(), 504)["code"] for each in late] == ["deadline_exceeded"] * 2
    wait_for(server, 0)
    assert len(endpoint.seen) == 1  # the first was not sent again, and the second was never begun


def test_a_request_that_nobody_waits_for_does_not_wait_for_a_busy_endpoint(asking, endpoint):
    endpoint.status, endpoint.retry_after = 503, "50"
    endpoint.allowed.set()
    server = asking("--deadline", "1")
    assert error_of(ask(server, n=1), 504)["code"] == "deadline_exceeded"
    wait_for(server, 0)
    assert len(endpoint.seen) == 1
    endpoint.status = 200
    assert ask(server, n=1).status_code == 200


def test_the_rules_stop_when_the_client_goes_away(start):
    pytest.importorskip("spacy", reason="the extra augment is not installed")
    server = start("--max-paraphrases", "500", "--deadline", "300")
    ask(server, n=1)  # loads the rules
    body = json.dumps({"question": LONG * 4, "n": 500}).encode()  # minutes of work
    head = f"POST /v1/paraphrase HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(f"{head}\r\n\r\n".encode() + body)
        wait_for(server, 1)
        time.sleep(0.3)  # the thread is in the middle of it
    wait_for(server, 0)
    assert ask(server, n=1).status_code == 200


# --- closing --------------------------------------------------------------------------------------


class SlowSource:
    """A source that waits until the test lets it go on, and then asks whether anybody still waits."""

    name = identity = "slow"

    def __init__(self, queue):
        self.queue, self.asked, self.begun, self.allowed = queue, 0, threading.Event(), threading.Event()

    def candidates(self, questions, **_):
        self.asked += 1
        self.begun.set()
        assert self.allowed.wait(30)
        self.queue._check()
        return [Found(problem="nothing was written") for _ in questions]


def test_closing_ends_waiting_requests_and_the_one_in_progress(scorer):
    async def ended():
        queue = ParaphraseQueue(Batcher(scorer), Settings())
        source = queue._source = SlowSource(queue)
        asked = [asyncio.ensure_future(queue.paraphrase(QUESTION, n=1, styles=(), seed=seed)) for seed in range(4)]
        await asyncio.to_thread(source.begun.wait, 30)
        queue.close()
        source.allowed.set()
        return source.asked, await asyncio.gather(*asked, return_exceptions=True)

    count, errors = asyncio.run(ended())
    assert count == 1
    assert [type(error) for error in errors] == [ShuttingDown] * 4


def test_closing_stops_a_request_that_is_just_taken_from_the_queue(scorer):
    async def ended():
        queue = ParaphraseQueue(Batcher(scorer), Settings())
        source = queue._source = SlowSource(queue)
        source.allowed.set()
        taken = queue._jobs.get

        class ClosedMeanwhile:
            put = queue._jobs.put

            def get(self):
                job = taken()
                queue.close()
                return job

        queue._jobs = ClosedMeanwhile()
        with pytest.raises(ShuttingDown):
            await queue.paraphrase(QUESTION, n=1, styles=(), seed=0)
        return source.asked

    assert asyncio.run(ended()) == 0


# --- sources --------------------------------------------------------------------------------------


def test_paraphrases_can_be_turned_off(serving):
    web = serving(paraphrase_source="none")
    assert web.get("/v1/model").json()["max_paraphrases"] == 0
    assert "writes no paraphrases" in error_of(web.post("/v1/paraphrase", json={"question": QUESTION}), 404)["message"]


def test_a_missing_extra_is_named(serving, monkeypatch):
    monkeypatch.setattr("paraqd.paraphrasing.sources.rules.missing_packages", lambda: ["spacy"])
    web = serving()
    assert web.post("/v1/score", json={"question": QUESTION, "paraphrases": [REWRITTEN]}).is_success
    error = error_of(web.post("/v1/paraphrase", json={"question": QUESTION}), 501)
    assert error["code"] == "not_installed"
    assert "spacy" in error["message"] and "pip install 'paraqd[augment]'" in error["message"]
    assert "\n" not in error["message"]


def test_an_endpoint_that_refuses_is_not_described_to_clients(asking, endpoint):
    endpoint.allowed.set()
    endpoint.status = 401
    server = asking()
    error = error_of(ask(server), 502)
    assert error["code"] == "source_failed" and "127.0.0.1" not in error["message"]
    with Client(server.url) as client, pytest.raises(ClientError, match="log says why"):
        client.paraphrase(QUESTION)
    assert len(endpoint.seen) == 2  # nobody tried again
    server.process.terminate()
    server.ended()
    assert "the source of paraphrases failed" in "".join(server.lines)


def test_the_end_of_the_server_does_not_wait_for_an_endpoint(asking):
    server = asking("--deadline", "0.3")
    assert ask(server).status_code == 504
    begun = time.monotonic()
    server.process.terminate()
    assert server.ended() == 0
    assert time.monotonic() - begun < 20  # the endpoint would take 30 seconds


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--paraphrase-source", "https://key@host/v1"), "must not hold a key"),
        (("--paraphrase-model", "tiny"), "needs an endpoint"),
        (("--paraphrase-source", " "), "is empty"),
    ],
)
def test_a_source_that_cannot_be_used_is_named_at_the_start(capsys, options, message):
    assert run(["serve", "--port", "0", "--no-review", "--model", "reading", *options]) == 2
    line = capsys.readouterr().err.strip()
    assert message in line and "\n" not in line
