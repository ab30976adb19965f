"""Guard the server against bodies that are too large or too slow, count requests, and answer unexpected errors."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from paraqd.server.errors import SlowClient, TooLarge, error_response, internal_error
from paraqd.server.security import add_security_headers, path_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from paraqd.server.metrics import Metrics
    from paraqd.server.settings import Settings

_LOG = logging.getLogger("paraqd.server")
_UPLOADS = "/v1/projects"
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
# A body that is too large is read and dropped up to these limits before the answer, because a client that is still
# sending would otherwise see a broken connection instead of the answer.
_DROPPED_BYTES, _DROPPED_SECONDS = 100_000_000, 5.0
_SEND_SECONDS = 60.0  # for one piece of an answer, to a client that does not read


class Observer:
    """The outermost ASGI middleware: it adds security headers, counts requests, and answers unexpected errors."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status, begun = 0, monotonic()

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                add_security_headers(message, scope)
            async with asyncio.timeout(_SEND_SECONDS):
                await send(message)

        try:
            await self.app(scope, receive, observed)
        except Exception as error:
            if isinstance(error, TimeoutError) and status:
                _LOG.warning("a client did not read its answer; its connection is closed")
                raise
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
        if status in (401, 408, 413):
            reason = {401: "key", 408: "slow", 413: "too_large"}[status]
            self.metrics.refused.labels(reason).inc()


class BodyLimit:
    """An ASGI middleware that refuses bodies that are too large or arrive too slowly."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with a body that is counted and timed while it is read."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self.settings.max_upload if path_of(scope).startswith(_UPLOADS) else self.settings.max_body
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isascii() and declared.isdecimal() and int(declared[:20]) > limit:
            await self._refuse(scope, receive, send, limit)
            return
        body = _Body(receive, limit, self.settings.client_seconds)
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, body.receive, sending)
        except _BodyError as error:
            if begun:
                raise
            if error.slow:
                seconds = f"{self.settings.client_seconds:g}"
                slow = SlowClient(f"The body did not arrive within {seconds} seconds.", headers={"Connection": "close"})
                await error_response(slow)(scope, receive, send)
            else:
                await self._refuse(scope, receive, send, limit)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, limit: int) -> None:
        """Drop the rest of a body, and answer that it is too large."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_DROPPED_SECONDS):
                dropped = 0
                while dropped < _DROPPED_BYTES:
                    message = await receive()
                    dropped += len(message.get("body", b""))
                    if message["type"] != "http.request" or not message.get("more_body"):
                        break
        error = TooLarge(
            f"The body is larger than {limit:,} bytes. Send the pairs in several requests.",
            details={"limit": limit},
            headers={"Connection": "close"},
        )
        await error_response(error)(scope, receive, send)


class _BodyError(BaseException):
    """Raised while a body is read. It is no Exception, so that no code between catches it."""

    def __init__(self, *, slow: bool) -> None:
        self.slow = slow


class _Body:
    """The body of a request, counted and timed."""

    def __init__(self, receive: Receive, limit: int, seconds: float) -> None:
        self._receive, self._limit = receive, limit
        self._end = monotonic() + seconds
        self._size = 0
        self._complete = False

    async def receive(self) -> Message:
        """Return the next part of the body."""
        if self._complete:  # only the end of the connection can follow
            return await self._receive()
        try:
            async with asyncio.timeout(self._end - monotonic()):
                message = await self._receive()
        except TimeoutError:
            raise _BodyError(slow=True) from None
        self._size += len(message.get("body", b""))
        self._complete = message["type"] != "http.request" or not message.get("more_body", False)
        if self._size > self._limit:
            raise _BodyError(slow=False)
        return message
