"""Define the base class of all exceptions that paraqd raises deliberately."""

from __future__ import annotations


class ParaqdError(Exception):
    """The base class of all exceptions that paraqd raises deliberately. The message is one line.

    >>> from paraqd.tables.formats import TableError
    >>> issubclass(TableError, ParaqdError)
    True
    """


class ModelError(ParaqdError):
    """Raised when a model is unusable. The message states the reason and the remedy."""


class ArgumentError(ParaqdError, ValueError):
    """Raised when an argument has an unusable value, such as a blank question or a threshold above 1."""


class OutputExistsError(ParaqdError, FileExistsError):
    """Raised when an output would replace a file or folder that the user has not asked to replace."""
