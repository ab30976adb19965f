"""Define the errors of the review part."""

from __future__ import annotations

from paraqd.errors import ParaqdError
from paraqd.server.errors import ServerError


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
    """Raised when a database cannot be opened or used. The one-line message says what to do."""


def sentence(message: str) -> str:
    """Return a one-line message of the command line as a sentence.

    >>> sentence("a.csv is empty; pass a file with at least one row")
    'a.csv is empty; pass a file with at least one row.'
    """
    return message if message.endswith((".", "?", "!")) else f"{message}."
