"""Share a server that plays an endpoint."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler

import pytest
from quiet_server import QuietServer

GOOD = (200, {}, {"choices": [{"message": {"content": '["Two pens are Ann\'s."]'}}], "usage": {"total_tokens": 50}})


class Endpoint:
    """A server that gives the planned answers in order, and the last one again and again."""

    def __init__(self):
        self.plan, self.seen, self.slow = [GOOD], [], 0.0
        self.models = (200, {}, {"data": [{"id": "tiny"}]})
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self._answer(*outer.models)

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.seen.append((time.monotonic(), self.path, self.headers.get("Authorization"), body))
                time.sleep(outer.slow)
                self._answer(*(outer.plan.pop(0) if len(outer.plan) > 1 else outer.plan[0]))

            def _answer(self, status, headers, body):
                content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
                try:
                    self.send_response(status)
                    for name, value in {**headers, "Content-Length": str(len(content))}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(content)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # the client did not wait

            def log_message(self, *arguments):
                pass

        self.server = QuietServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def endpoint():
    found = Endpoint()
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture
def source(endpoint, tmp_path, monkeypatch):
    monkeypatch.delenv("PARAQD_ENDPOINT_KEY", raising=False)

    def make(**given):
        from paraqd.paraphrasing.sources.endpoint import EndpointSource

        settings = {"model": "tiny", "cache": tmp_path / "cache", "first_wait": 0.01, "at_once": 1, **given}
        return EndpointSource(endpoint.address, **settings)

    return make
