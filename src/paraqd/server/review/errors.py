"""Define the errors of the review part. Each one names the HTTP status and the code of its answer."""

from __future__ import annotations

from typing import Any, ClassVar

from paraqd.errors import ParaqdError


class ReviewError(ParaqdError):
    """The base class of errors that a client of the review interface can cause.

    Attributes
    ----------
    status : int
        The HTTP status of the answer.
    code : str
        A word for programs, such as ``not_found``.
    details : object
        More facts for programs, or None.

    """

    status: ClassVar[int] = 400
    code: ClassVar[str] = "bad_request"

    def __init__(self, message: str, *, details: Any = None) -> None:
        super().__init__(message)
        self.details = details


class BadRequestError(ReviewError):
    """Raised when a request cannot be understood, such as an upload that is not a table."""


class NotFoundError(ReviewError):
    """Raised when there is no such project or pair."""

    status = 404
    code = "not_found"


class ConflictError(ReviewError):
    """Raised when a request does not fit the current state, such as a bulk decision on an old count."""

    status = 409
    code = "conflict"


class TooLargeError(ReviewError):
    """Raised when a file or a list is larger than the server accepts."""

    status = 413
    code = "too_large"


class BadValueError(ReviewError):
    """Raised when a value is well-formed but not allowed."""

    status = 422
    code = "invalid"


class StorageError(ParaqdError):
    """Raised when a database cannot be opened or used. The one-line message says what to do."""
