"""Run the application in this process until a signal stops it."""

from __future__ import annotations

import asyncio
import errno
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from paraqd.errors import ParaqdError
from paraqd.server.app import set_ready
from paraqd.server.errors import error_body
from paraqd.server.settings import Settings

if TYPE_CHECKING:
    from types import FrameType

    from fastapi import FastAPI

_KEEP_ALIVE = 75  # seconds; proxies close idle connections after 60, and should be the ones to do it
_BACKLOG = 256
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_server(app: FastAPI, listening: socket.socket, *, started: Callable[[], None], access_log: bool) -> None:
    """Serve until SIGINT or SIGTERM arrives, then finish the requests in progress.

    A second signal ends the server without waiting.

    Parameters
    ----------
    app : FastAPI
        The application, as `create_app` builds it.
    listening : socket
        A socket from `listen`.
    started : callable
        Called when the server takes requests.
    access_log : bool
        Log every request.

    Raises
    ------
    ParaqdError
        If a part of the application cannot start, such as the database.

    """
    settings: Settings = app.state.settings
    config = uvicorn.Config(
        app,
        http=TimedProtocol,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=access_log,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=settings.stop_seconds,  # type: ignore[arg-type]  # any number will do
    )
    server = _Server(config, app, started)
    # if a part cannot start, some versions of uvicorn end the program, and others return
    with _silence_until(lambda: server.started), suppress(SystemExit):
        server.run(sockets=[listening])
    if (error := getattr(app.state, "startup_error", None)) is not None:
        raise error
    if not server.started:
        raise ParaqdError("the server could not start")


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address, or raise `ParaqdError` if that is not possible."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        # asyncio sends small answers without delay only if the protocol is named
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    except OSError as error:
        raise ParaqdError(f"cannot listen on {host}: {error.strerror}") from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        advice = ": choose another --port, or stop the other program" if error.errno == errno.EADDRINUSE else ""
        raise ParaqdError(f"cannot listen on {host} port {port} ({error.strerror}){advice}") from None
    return listening


def address_of(listening: socket.socket) -> str:
    """Return the address of a listening socket, for a browser on this machine."""
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = "127.0.0.1" if listening.family == socket.AF_INET else "::1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Server(uvicorn.Server):
    """A server that becomes unready before it stops listening, and that ends with exit code 0 after a signal."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._app, self._on_start = app, on_start
        self._draining = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        await super().startup(sockets)
        if self.started:
            self._on_start()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on a signal. Unlike the parent class, do not raise the signal again afterwards."""
        before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop. A signal during the drain ends the drain, and a further one ends everything."""
        # a signal can arrive in the middle of anything, even while a metric is locked
        loop = asyncio.get_running_loop()
        loop.call_soon_threadsafe(set_ready, self._app, False)
        seconds = self._app.state.settings.drain_seconds
        if self.should_exit:
            self.force_exit = True
        elif self._draining or not seconds or not self.started:
            self.should_exit = True
        else:
            loop.call_soon_threadsafe(loop.call_later, seconds, self._stop)
        self._draining = True

    def _stop(self) -> None:
        self.should_exit = True


class TimedProtocol(H11Protocol):
    """HTTP that closes connections on which no complete headers arrive, and that limits their number."""

    _timer: asyncio.TimerHandle | None = None

    @property
    def _settings(self) -> Settings:
        settings: Settings = self.config.app.state.settings  # type: ignore[union-attr]
        return settings

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, or refuse it if there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self._settings.max_connections:
            self._reject(503, "too_many_connections", "The server has too many connections. Try again later.")
        else:
            self._watch()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._unwatch()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        self._reject(400, "bad_request", "This is not a valid HTTP request.")

    def _watch(self) -> None:
        """Run the timer exactly while headers are awaited."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._unwatch()
        elif self._timer is None and not self.transport.is_closing():
            self._timer = self.loop.call_later(self._settings.client_seconds, self._late)

    def _unwatch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
        if self.cycle is None or self.cycle.response_complete:
            self._reject(408, "slow_client", "The request did not arrive in time.")

    def _reject(self, status: int, code: str, message: str) -> None:
        """Answer without the application, and close the connection."""
        if self.cycle is None or self.cycle.response_complete:
            body = error_body(code, message)
            phrase = HTTPStatus(status).phrase
            head = (
                f"HTTP/1.1 {status} {phrase}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
                "Connection: close\r\n\r\n"
            )
            self.transport.write(head.encode("ascii") + body)
        self.transport.close()


@contextmanager
def _silence_until(is_started: Callable[[], Any]) -> Iterator[None]:
    """Drop uvicorn's report of a failed start, because the command explains it in one line."""
    logger = logging.getLogger("uvicorn.error")

    def after_start(record: logging.LogRecord) -> bool:
        return bool(is_started())

    logger.addFilter(after_start)
    try:
        yield
    finally:
        logger.removeFilter(after_start)
