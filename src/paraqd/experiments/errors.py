"""Define the errors of experiments."""

from paraqd.errors import ParaqdError


class ExperimentError(ParaqdError, ValueError):
    """An experiment cannot be run; the message gives the reason and the remedy."""


class NotRunError(ParaqdError):
    """A part of an experiment lacks data or weights; the other parts run without it."""
