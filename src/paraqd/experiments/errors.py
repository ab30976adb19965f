"""Define the exceptions that experiments raise."""

from paraqd.errors import ParaqdError


class ExperimentError(ParaqdError, ValueError):
    """Raised when an experiment cannot be run; the message states the reason and the remedy."""


class NotRunError(ParaqdError):
    """Raised when data or weights for one part of an experiment are missing; the other parts still run."""
