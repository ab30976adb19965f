"""Define the base class of all exceptions that paraqd raises deliberately."""

from __future__ import annotations


class ParaqdError(Exception):
    """Raised when the input or the installation is faulty. The message explains the problem in one line.

    >>> from paraqd.data.formats import TableError
    >>> issubclass(TableError, ParaqdError)
    True
    """


class ModelError(ParaqdError):
    """Raised when a model is unusable. The message states the reason and the remedy."""
