"""An HTTP server for tests that says nothing if a client is gone before its answer."""

from __future__ import annotations

from http.server import ThreadingHTTPServer


class QuietServer(ThreadingHTTPServer):
    """A server whose broken connections leave no trace on stderr, which other tests may read."""

    def handle_error(self, *_):
        pass
