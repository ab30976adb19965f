"""Define the base class of all exceptions that paraqd raises deliberately."""

from __future__ import annotations

from paraqd.terminal_text import one_line


class ParaqdError(Exception):
    """The base class of all exceptions that paraqd raises deliberately. The message is one line.

    >>> from paraqd.tables.formats import TableError
    >>> issubclass(TableError, ParaqdError)
    True
    """


class ModelError(ParaqdError):
    """Raised when a model is unusable. The message states the reason and the remedy.

    The message may quote the model's files, so it is made safe to print.
    """

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class ArgumentError(ParaqdError, ValueError):
    """Raised when an argument has an unusable value, such as a blank question or a threshold above 1."""


class OutputExistsError(ParaqdError, FileExistsError):
    """Raised when an output would replace a file or folder that the user has not asked to replace."""


def reason_of(error: BaseException) -> str:
    r"""Return the first line of an exception's message, or the exception's type if there is no message.

    >>> reason_of(ValueError("no weights\nin the file")), reason_of(MemoryError())
    ('no weights', 'MemoryError')
    """
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
