"""Guard the server against bodies that are too large or too slow, and against requests that take too long."""

from __future__ import annotations

import asyncio
import logging
import re
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from paraqd.server.errors import (
    DeadlineExceeded,
    Overloaded,
    ServerError,
    SlowClient,
    TooLarge,
    error_response,
    internal_error,
)
from paraqd.server.security import add_security_headers, path_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from paraqd.server.metrics import Metrics
    from paraqd.server.settings import Settings

_LOG = logging.getLogger("paraqd.server")
_UPLOADS = re.compile("/v1/projects(/upload|/[^/]+/import)?")
_EXPORTS = re.compile("/v1/projects/[^/]+/export")
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
# A body that is too large is read and dropped up to these limits before the answer, because a client that is still
# sending would otherwise see a broken connection instead of the answer.
_DROPPED_BYTES, _DROPPED_SECONDS = 100_000_000, 5.0
_MOST_HELD = 256_000_000  # bytes of all bodies together
_FILE_PATIENCE = 10  # how many times as long an upload or an export may take
_SEND_SECONDS = 60.0  # for one piece of an answer, to a client that does not read
_REASONS = {401: "key", 408: "slow", 413: "too_large", 504: "deadline"}  # in the metric of refused requests


class Observer:
    """The outermost ASGI middleware: it adds security headers, counts requests, and answers unexpected errors.

    It also gives up requests that are not answered in time, whatever they wait for: the work is cancelled.
    """

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self.app = app
        self.settings = settings
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status, begun = 0, monotonic()
        seconds = self.settings.deadline * _patience(scope)

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                add_security_headers(message, scope)
            async with asyncio.timeout(_SEND_SECONDS):
                await send(message)

        async def begun_in_time(message: Message) -> None:
            if not limit.expired():
                limit.reschedule(None)
            await observed(message)

        try:
            async with asyncio.timeout(seconds) as limit:
                await self.app(scope, receive, begun_in_time)
        except Exception as error:
            if isinstance(error, TimeoutError) and status:
                _LOG.warning("a client did not read its answer; its connection is closed")
                raise
            if isinstance(error, TimeoutError) and limit.expired():
                await error_response(_late(seconds))(scope, receive, observed)
                return
            _LOG.error("unexpected error in %s %r", scope["method"], scope["path"], exc_info=error)
            if status:
                raise
            await error_response(internal_error())(scope, receive, observed)
        finally:
            self._count(scope, status, monotonic() - begun)

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request. The names of the routes are few, whatever paths clients invent."""
        route = getattr(scope.get("route"), "path", None) or "other"
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self.metrics.requests.labels(route, method, str(status or "cancelled")).inc()
        self.metrics.request_seconds.labels(route).observe(seconds)
        if reason := _REASONS.get(status):
            self.metrics.refused.labels(reason).inc()


def _is_upload(scope: Scope) -> bool:
    return scope["method"] == "POST" and _UPLOADS.fullmatch(path_of(scope)) is not None


def _patience(scope: Scope) -> int:
    """Return how many times as long as others a request may take."""
    is_export = scope["method"] == "GET" and _EXPORTS.fullmatch(path_of(scope)) is not None
    return _FILE_PATIENCE if is_export or _is_upload(scope) else 1


def _late(seconds: float) -> ServerError:
    message = f"The request was not answered within {seconds:g} seconds. Ask for less at a time, or try again later."
    return DeadlineExceeded(message, headers={"Connection": "close"})  # perhaps its body is still arriving


class BodyLimit:
    """An ASGI middleware that refuses bodies that are too large or arrive too slowly."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings
        self.held = 0  # bytes of the bodies of all requests in progress

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with a body that is counted and timed while it is read."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = _Body(self, scope, receive)
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            body.check_declared_size()
            await self.app(scope, body.receive, sending)
        except _BodyError as stop:
            if begun:
                raise RuntimeError("the answer began before the end of the body") from None
            if not (body.complete or isinstance(stop.error, SlowClient)):
                await _drop(receive)
            await error_response(stop.error)(scope, receive, send)
        finally:
            self.held -= body.size


class _BodyError(BaseException):
    """Raised while a body is read. It is no Exception, so that no code between catches it."""

    def __init__(self, error: ServerError) -> None:
        self.error = error
        error.headers["Connection"] = "close"


class _Body:
    """The body of a request, counted and timed."""

    def __init__(self, owner: BodyLimit, scope: Scope, receive: Receive) -> None:
        settings = owner.settings
        upload = _is_upload(scope)
        self._owner, self._receive = owner, receive
        self._declared = Headers(scope=scope).get("content-length", "")
        self._limit = settings.max_upload if upload else settings.max_body
        self._seconds = settings.client_seconds * _patience(scope)
        self._end = monotonic() + self._seconds
        self.complete = False
        self.size = 0

    def check_declared_size(self) -> None:
        """Refuse a body that will be too large, before anything of it is read."""
        if self._declared.isascii() and self._declared.isdecimal() and int(self._declared[:20]) > self._limit:
            self._refuse()

    async def receive(self) -> Message:
        """Return the next part of the body."""
        if self.complete:  # only the end of the connection can follow
            return await self._receive()
        try:
            async with asyncio.timeout(self._end - monotonic()):
                message = await self._receive()
        except TimeoutError:
            raise _BodyError(SlowClient(f"The body did not arrive within {self._seconds:g} seconds.")) from None
        part = len(message.get("body", b""))
        self.size += part
        self._owner.held += part
        self.complete = message["type"] != "http.request" or not message.get("more_body", False)
        if self.size > self._limit:
            self._refuse()
        if self._owner.held > _MOST_HELD:
            raise _BodyError(Overloaded("The server is receiving too many large requests.", retry_after=2))
        return message

    def _refuse(self) -> None:
        message = f"The body is larger than {self._limit:,} bytes. Send the pairs in several requests."
        raise _BodyError(TooLarge(message, details={"limit": self._limit}))


async def _drop(receive: Receive) -> None:
    """Read the rest of a body, up to some limits, and forget it."""
    dropped = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(_DROPPED_SECONDS):
            while dropped < _DROPPED_BYTES:
                message = await receive()
                dropped += len(message.get("body", b""))
                if message["type"] != "http.request" or not message.get("more_body"):
                    return
