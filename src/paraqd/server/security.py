"""Protect the server: the API key, sessions of the page, host names and security headers."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import time
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser

from paraqd.server.errors import ServerError, Unauthorized, error_response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from paraqd.server.settings import Settings

COOKIE = "paraqd_session"
SESSION_SECONDS = 7 * 24 * 3600
# everything else needs the key: the page must load before its user can log in
PUBLIC = frozenset(("/", "/healthz", "/readyz", "/v1/login", "/docs", "/openapi.json", "/favicon.ico"))
PUBLIC_FOLDERS = ("/static/", "/docs/")
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data:; style-src 'self'; script-src 'self'; object-src 'none'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def path_of(scope: Scope) -> str:
    """Return the path of a request, without the prefix under which a proxy serves the application.

    >>> path_of({"path": "/tools/paraqd/v1/model", "root_path": "/tools/paraqd"})
    '/v1/model'
    """
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def same_key(given: str, key: str) -> bool:
    """Compare two keys in a time that does not tell where they differ.

    >>> same_key("a" * 20, "a" * 20), same_key("ä", "a" * 20)
    (True, False)
    """
    return hmac.compare_digest(given.encode("utf-8", "replace"), key.encode("utf-8"))


def new_session(key: str, *, now: float | None = None) -> str:
    """Return the value of a session cookie. It proves knowledge of the key, and does not contain it."""
    expires = int((time.time() if now is None else now) + SESSION_SECONDS)
    return f"{expires}.{_seal(key, expires)}"


def is_session(value: str, key: str, *, now: float | None = None) -> bool:
    """Return True if a cookie is a session that has not expired.

    >>> cookie = new_session("k" * 20, now=0)
    >>> is_session(cookie, "k" * 20, now=60), is_session(cookie, "l" * 20, now=60), is_session(cookie, "k" * 20)
    (True, False, False)
    """
    expires, _, seal = value.partition(".")
    if not (expires.isascii() and expires.isdecimal() and len(expires) < 15):
        return False
    if not same_key(seal, _seal(key, int(expires))):
        return False
    return int(expires) > (time.time() if now is None else now)


def _seal(key: str, expires: int) -> str:
    return hmac.new(key.encode("utf-8"), f"paraqd session {expires}".encode(), hashlib.sha256).hexdigest()


class KeyCheck:
    """An ASGI middleware that asks for the API key everywhere except at public paths."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.key = settings.api_key
        self.hosts = frozenset(host.lower() for host in settings.allowed_hosts)
        self.checks_hosts = settings.api_key is None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http" and (error := self._refusal(scope)) is not None:
            await error_response(error)(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _refusal(self, scope: Scope) -> ServerError | None:
        headers = Headers(scope=scope)
        if self.checks_hosts and not is_known_host(headers.get("host", ""), self.hosts):
            return ServerError(
                "The server does not answer under this name. Start it with --allow-host NAME to change this.",
                status=421,
                code="unknown_host",
            )
        path = path_of(scope)
        if self.key is None or path in PUBLIC or path.startswith(PUBLIC_FOLDERS):
            return None
        if _has_key(headers, self.key):
            return None
        return Unauthorized("An API key is needed: send the header 'Authorization: Bearer KEY'.")


def _has_key(headers: Headers, key: str) -> bool:
    scheme, _, credentials = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and same_key(credentials.strip(), key):
        return True
    if same_key(headers.get("x-api-key", ""), key):
        return True
    return is_session(cookie_parser(headers.get("cookie", "")).get(COOKIE, ""), key)


def is_known_host(host: str, allowed: frozenset[str]) -> bool:
    """Return True if a Host header is an IP address, has no dot, or is allowed.

    A web site can give its own name the address of this machine, and could then read the answers of a server that
    needs no key. Such a name has a dot.

    >>> [is_known_host(host, frozenset()) for host in ("127.0.0.1:8080", "[::1]:80", "localhost", "evil.example:8080")]
    [True, True, True, False]
    """
    name = host.lower()
    name = name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]
    if "." not in name or name in allowed or name.endswith(".localhost"):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def add_security_headers(message: Message, scope: Scope) -> None:
    """Add the security headers to the beginning of an answer, unless the answer has set its own."""
    headers = MutableHeaders(scope=message)
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    if path_of(scope).startswith("/v1/"):
        headers.setdefault("Cache-Control", "no-store")


def login_answer(key: str, *, secure: bool) -> tuple[bytes, str]:
    """Return the body and the cookie of the answer to a successful login."""
    flags = f"Path=/; HttpOnly; SameSite=Strict; Max-Age={SESSION_SECONDS}" + ("; Secure" if secure else "")
    return json.dumps({"expires_in": SESSION_SECONDS}).encode(), f"{COOKIE}={new_session(key)}; {flags}"
