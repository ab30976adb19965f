"""Define the errors of the review part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paraqd.errors import ParaqdError
from paraqd.server.errors import ServerError, StorageUnavailable, error_response

if TYPE_CHECKING:
    from fastapi import Request, Response


class BadRequest(ServerError):
    """Raised when a request cannot be used, such as an upload that is not a table."""

    status, code = 400, "bad_request"


class NotFound(ServerError):
    """Raised when there is no such project or pair."""

    status, code = 404, "not_found"


class Conflict(ServerError):
    """Raised when a request does not fit the current state, such as a bulk decision on an old count."""

    status, code = 409, "conflict"


class StorageError(ParaqdError):
    """Raised when a database cannot be opened or used. The one-line message says why."""


async def answer_storage_error(request: Request, error: Exception) -> Response:
    """Answer a request that needs a database that cannot be used now."""
    return error_response(StorageUnavailable())


def sentence(message: str) -> str:
    """Return a one-line message of the command line as a sentence.

    >>> sentence("a.csv is empty; pass a file with at least one row")
    'a.csv is empty; pass a file with at least one row.'
    """
    return message if message.endswith((".", "?", "!")) else f"{message}."
