"""A real server stops gracefully, survives hostile clients, and forgets clients that went away."""

import asyncio
import json
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx
import pytest
import uvicorn
from server_process import QUESTION

from paraqd.server.app import create_app
from paraqd.server.process import _Server, listen
from paraqd.server.settings import Settings

JSON = {"content-type": "application/json"}


def pairs(count):
    """Return pairs that differ, so that each is really scored."""
    texts = [f"Tom has {n} red and {n + 3} blue pens. How many pens has he in all?" for n in range(count)]
    return [
        {"question": text, "paraphrase": text.replace("in all", f"together on day {n}")} for n, text in enumerate(texts)
    ]


def body(count):
    return json.dumps({"pairs": pairs(count)}).encode()


def raw(server, data, *, wait=30):
    """Send bytes, and return everything that the server sends until it closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=wait) as connection:
        connection.sendall(data)
        received = b""
        with suppress(ConnectionResetError):  # the server need not read a request that it refuses
            while part := connection.recv(65536):
                received += part
        return received


def metric(server, name):
    lines = httpx.get(f"{server.url}/metrics").text.splitlines()
    return next(float(line.split()[-1]) for line in lines if line.startswith(f"{name} "))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_requests_finish(start, number):
    server = start("--max-pairs", "1000")
    with ThreadPoolExecutor() as pool, httpx.Client(base_url=server.url, timeout=60) as http:
        http.get("/healthz")
        answer = pool.submit(httpx.post, f"{server.url}/v1/score/batch", content=body(1000), headers=JSON, timeout=60)
        while not metric(server, "paraqd_waiting_pairs"):
            time.sleep(0.005)
        server.stop(number)
        assert len(answer.result().json()["verdicts"]) == 1000
    assert server.ended() == 0
    assert "Traceback" not in "".join(server.lines)


def test_readyz_turns_503_before_the_server_stops_listening(start):
    server = start("--drain-seconds", "30")
    assert httpx.get(f"{server.url}/readyz").status_code == 200
    server.stop(signal.SIGTERM)
    while (state := httpx.get(f"{server.url}/readyz").status_code) == 200:
        time.sleep(0.01)
    assert state == 503
    answer = httpx.post(f"{server.url}/v1/score", json={"question": QUESTION, "paraphrases": ["a"]})
    assert answer.status_code == 200  # what still arrives is answered
    server.stop(signal.SIGTERM)  # a second signal ends the wait
    assert server.ended() == 0


def test_a_client_that_goes_away_frees_its_place(start):
    server = start("--max-pairs", "1000")
    head = "POST /v1/score/batch HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: "
    content = body(1000)
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(f"{head}{len(content)}\r\n\r\n".encode() + content)
        while not metric(server, "paraqd_waiting_pairs"):
            time.sleep(0.005)
    while metric(server, "paraqd_waiting_pairs"):
        time.sleep(0.005)
    assert httpx.post(f"{server.url}/v1/score/batch", content=body(100), headers=JSON, timeout=60).is_success
    assert metric(server, "paraqd_skipped_pairs_total") > 0


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("path", ["/v1/score", "/nothing"])
def test_a_body_of_50_megabytes_is_refused_and_the_server_goes_on(start, chunked, path):
    server = start()
    before = metric(server, "process_resident_memory_bytes")
    content = b"[" + b'"x",' * 12_500_000
    data = (content[at : at + 65536] for at in range(0, len(content), 65536)) if chunked else content
    answer = httpx.post(f"{server.url}{path}", content=data, headers=JSON, timeout=60)
    assert answer.status_code in ((404, 413) if path == "/nothing" else (413,))
    assert answer.json()["error"]["code"] in ("too_large", "not_found")
    assert httpx.get(f"{server.url}/healthz").is_success
    assert metric(server, "process_resident_memory_bytes") < before + 45_000_000


def test_the_deadline_includes_the_time_that_the_body_takes(start):
    server = start("--deadline", "0.5")
    answer = raw(
        server, b"POST /v1/score HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
    )
    assert b" 504 " in answer and b'"deadline_exceeded"' in answer
    assert httpx.get(f"{server.url}/healthz").is_success


def test_answers_are_sent_without_delay():
    """A system that waits for more to send would add 40 milliseconds to every answer."""

    async def run():
        accepted = asyncio.get_running_loop().create_future()
        with listen("127.0.0.1", 0) as listening:
            async with await asyncio.start_server(lambda _, writer: accepted.set_result(writer), sock=listening):
                _, there = await asyncio.open_connection(*listening.getsockname())
                here = await accepted
                assert here.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
                for writer in (here, there):
                    writer.close()

    asyncio.run(run())


def test_slow_clients_are_cut_off(start):
    server = start(environment={"PARAQD_SERVE_CLIENT_SECONDS": "0.5"})
    assert b" 408 " in raw(server, b"")
    assert b" 408 " in raw(server, b"GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: ")
    answer = raw(
        server, b"POST /v1/score HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
    )
    assert b" 408 " in answer and b'"slow_client"' in answer
    assert httpx.get(f"{server.url}/healthz").is_success


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00", 400),
        (b"NONSENSE\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", None),
        (b"GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"POST /v1/score HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n", 400),
        (b"POST /v1/score HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", None),
        (b"GET /docs/../metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 404),
        (b"GET /docs/..%2f..%2fapp.py HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 404),
        (b"GET //v1/model HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 404),
        (b"GET /v1/model%00 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 404),
        (b"GET /%F0%9F HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 404),
        (b"GET http://evil.example/v1/model HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 404),
        (b"BREW /v1/model HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 405),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_strange_requests(shared, data, status):
    answer = raw(shared, data)
    head, _, content = answer.partition(b"\r\n\r\n")
    if status is not None:
        assert head.startswith(f"HTTP/1.1 {status} ".encode()), answer
        assert json.loads(content)["error"]["message"]
    assert httpx.get(f"{shared.url}/healthz").is_success


@pytest.fixture(scope="module")
def shared():
    from server_process import Server

    server = Server(environment={"PARAQD_SERVE_CLIENT_SECONDS": "2"})
    yield server
    server.stop(signal.SIGTERM)
    assert server.ended() == 0
    assert "Traceback" not in "".join(server.lines), server.lines


def test_connections_are_limited(start):
    server = start(environment={"PARAQD_SERVE_MAX_CONNECTIONS": "5"})
    held = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(5)]
    time.sleep(0.2)
    assert b" 503 " in raw(server, b"")
    for each in held:
        each.close()
    while True:
        with httpx.Client() as http:
            try:
                if http.get(f"{server.url}/healthz").is_success:
                    break
            except httpx.TransportError:
                pass
        time.sleep(0.05)


def test_a_signal_that_interrupts_a_metric_does_not_wait_for_its_lock(scorer):
    async def run():
        app = create_app(Settings(review=False), scorer=scorer)
        app.state.ready = True
        server = _Server(uvicorn.Config(app), app, lambda: None)
        server.handle_exit(signal.SIGTERM, None)
        assert app.state.ready  # nothing that may wait happens in the handler
        await asyncio.sleep(0)
        assert not app.state.ready and server.should_exit

    asyncio.run(run())
