"""Define the errors of the server, and write every error in one JSON form.

The form is ``{"error": {"code": "too_large", "message": "…", "details": …}}``. ``code`` is for programs, ``message`` is
a sentence for people, and ``details`` depends on the code and is often null.
"""

from __future__ import annotations

import errno
import json
import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from paraqd.errors import ArgumentError, ParaqdError
from paraqd.plural import counted

_LOG = logging.getLogger("paraqd.server")
_MOST_PROBLEMS = 20  # problems that an answer lists
_LONGEST_NAME = 100
# plain words for the validator's terms; every other problem keeps the validator's message
_PROBLEMS = {
    "missing": "is missing",
    "string_type": "is not text",
    "string_unicode": "is not valid Unicode",
    "list_type": "is not a list",
    "extra_forbidden": "is not known",
    "model_attributes_type": "is not a JSON object",
    "model_type": "is not a JSON object",
    "dict_type": "is not a JSON object",
}
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)
_CODES = {404: "not_found", 405: "method_not_allowed", 400: "bad_request", 413: "too_large", 415: "unsupported_media"}


class ServerError(ParaqdError):
    """Raised to answer a request with an error. The message is a sentence for people.

    Parameters
    ----------
    message : str
        What is wrong, and what to do about it.
    status : int, optional
        The HTTP status (default: the status of the class).
    code : str, optional
        One word for programs (default: the code of the class).
    details : object, optional
        Anything that JSON can represent.
    headers : mapping, optional
        More headers of the answer.

    """

    status = 500
    code = "internal"

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str | None = None,
        details: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = self.status if status is None else status
        self.code = self.code if code is None else code
        self.details = details
        self.headers = dict(headers or {})


class InvalidInput(ServerError):
    """Raised when a request has the right form but cannot be used, such as one with a blank question."""

    status, code = 422, "invalid_request"


class InvalidJson(ServerError):
    """Raised when the body of a request is not JSON."""

    status, code = 400, "invalid_json"


class UnsupportedMedia(ServerError):
    """Raised when the body of a request has another content type than JSON."""

    status, code = 415, "unsupported_media"


class TooLarge(ServerError):
    """Raised when a request exceeds a limit. The details give the limit."""

    status, code = 413, "too_large"


class SlowClient(ServerError):
    """Raised when a client takes too long to send its request."""

    status, code = 408, "slow_client"


class Unauthorized(ServerError):
    """Raised when a request has no API key or a wrong one."""

    status, code = 401, "unauthorized"

    def __init__(self, message: str) -> None:
        super().__init__(message, headers={"WWW-Authenticate": "Bearer"})


class Overloaded(ServerError):
    """Raised when the server already holds as many pairs as it may. The header Retry-After says when to try again."""

    status, code = 429, "overloaded"

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message, details={"retry_after": retry_after}, headers={"Retry-After": str(retry_after)})


class ShuttingDown(ServerError):
    """Raised when the server stops and takes no new work."""

    status, code = 503, "stopping"

    def __init__(self, message: str = "The server is stopping. Send the request again in a moment.") -> None:
        super().__init__(message, headers={"Retry-After": "2"})


class StorageUnavailable(ServerError):
    """Raised when the database or the disk cannot be used. The log says why, which is no business of the client."""

    status, code = 503, "storage_unavailable"

    def __init__(self) -> None:
        super().__init__(
            "The server cannot store or read its data now. Its log says why. Try again in a moment.",
            headers={"Retry-After": "2"},
        )


class DeadlineExceeded(ServerError):
    """Raised when a request was not answered in time."""

    status, code = 504, "deadline_exceeded"


def error_body(code: str, message: str, details: Any = None) -> bytes:
    """Return an error in the one JSON form.

    >>> error_body("not_found", "There is no such page.")
    b'{"error": {"code": "not_found", "message": "There is no such page.", "details": null}}'
    """
    return json.dumps({"error": {"code": code, "message": message, "details": details}}).encode("ascii")


def error_response(error: ServerError) -> Response:
    """Return the answer for an error."""
    return Response(
        error_body(error.code, str(error), error.details),
        status_code=error.status,
        headers=error.headers,
        media_type="application/json",
    )


def internal_error() -> ServerError:
    """Return the error for a fault of the server itself, which the log explains."""
    return ServerError("The server failed to answer. Its log says why.")


def install_error_handlers(app: FastAPI) -> None:
    """Make an application answer every error in the one JSON form."""
    app.add_exception_handler(ServerError, _own)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(ArgumentError, _argument)
    app.add_exception_handler(ParaqdError, _other)
    app.add_exception_handler(OSError, _disk)


async def _own(request: Request, error: Exception) -> Response:
    assert isinstance(error, ServerError)
    return error_response(error)


async def _argument(request: Request, error: Exception) -> Response:
    return error_response(InvalidInput(f"{error}."))


async def _other(request: Request, error: Exception) -> Response:
    """Answer an error of another part of the server. It may name its own status, code and details."""
    status = getattr(error, "status", None)
    if not isinstance(status, int):
        raise error
    code, details = getattr(error, "code", "error"), getattr(error, "details", None)
    return error_response(ServerError(str(error), status=status, code=code, details=details))


async def _disk(request: Request, error: Exception) -> Response:
    """Answer an error of the disk on which temporary files are written."""
    if (found := disk_error(error)) is None:
        raise error
    _LOG.error("cannot write a temporary file: %s", found.strerror)
    return error_response(StorageUnavailable())


def disk_error(error: BaseException | None) -> OSError | None:
    """Return an error if it means that a disk is full, broken or read-only; else return None."""
    return error if isinstance(error, OSError) and error.errno in _DISK_ERRORS else None


async def _http(request: Request, error: Exception) -> Response:
    """Answer an error that the framework raised."""
    assert isinstance(error, HTTPException)
    if (cause := disk_error(error.__cause__)) is not None:  # while the body was saved
        return await _disk(request, cause)
    if error.status_code == HTTPStatus.NOT_FOUND and error.detail == HTTPStatus.NOT_FOUND.phrase:
        message = "There is nothing at this path. The page /docs lists what there is."
    elif error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        message = "This path does not accept this method. The page /docs lists those that it does."
    elif error.detail == "There was an error parsing the body":  # not UTF-8, too deeply nested, or a gigantic number
        return error_response(InvalidJson("The body cannot be read as JSON."))
    else:
        message = str(error.detail)
    code = _CODES.get(error.status_code, "error")
    return error_response(ServerError(message, status=error.status_code, code=code, headers=error.headers))


async def _invalid(request: Request, error: Exception) -> Response:
    """Answer a request that does not fit the schema. The message names the first item, the details name them all."""
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    if found and found[0].get("type") == "json_invalid":
        where = found[0]["loc"][-1]
        return error_response(InvalidJson(f"The body is not JSON: {found[0]['ctx']['error']} (character {where})."))
    problems = [{"where": place(each["loc"]), "problem": _problem(each)} for each in found[:_MOST_PROBLEMS]]
    first = problems[0]
    others = len(found) - 1
    more = f" There {'is' if others == 1 else 'are'} {counted(others, 'more problem')}." if others else ""
    return error_response(InvalidInput(f"{first['where']} {first['problem']}.{more}", details=problems))


def place(location: Sequence[str | int]) -> str:
    """Return the name of an item in a request.

    >>> place(("body", "pairs", 3, "question")), place(("body",)), place(("query", "limit"))
    ('pairs[3].question', 'the body', 'limit')
    """
    name = ""
    for part in location[1:]:
        name += f"[{part}]" if isinstance(part, int) else f".{part}" if name else str(part)
    return name.encode("ascii", "replace").decode("ascii")[:_LONGEST_NAME] if name else f"the {location[0]}"


def _problem(found: Mapping[str, Any]) -> str:
    """Return the words that follow the name of an item. They never repeat the value, which may be anything."""
    known = _PROBLEMS.get(found["type"])
    message = str(found["msg"]).removeprefix("Value error, ")
    return known or f"is not usable: {message[:1].lower()}{message[1:]}"
