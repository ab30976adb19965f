"""Define the exceptions that experiments raise."""

from paraqd.errors import ParaqdError


class ExperimentError(ParaqdError, ValueError):
    """Raised when experiments cannot be run. The message states the reason and the remedy."""


class NotRunError(ParaqdError):
    """Raised when data or weights for one part of an experiment are missing. The other parts still run."""
