"""What stops an experiment, in one line."""

from paraqd.errors import ParaqdError


class ExperimentError(ParaqdError, ValueError):
    """An experiment cannot be run as asked; the message says why and what to do."""


class NotRunError(ParaqdError):
    """A part cannot run for want of data or weights; the others go on without it."""
