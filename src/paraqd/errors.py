"""Define the base class of every exception that paraqd raises on purpose."""

from __future__ import annotations


class ParaqdError(Exception):
    """Something is wrong with the input or the installation; the message says what, in one line.

    >>> from paraqd.data.formats import TableError
    >>> issubclass(TableError, ParaqdError)
    True
    """


class ModelError(ParaqdError):
    """A model folder is unusable; the message gives the reason and the remedy."""
