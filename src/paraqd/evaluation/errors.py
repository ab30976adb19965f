"""Define the exception that evaluation raises."""

from __future__ import annotations

from paraqd.errors import ParaqdError


class EvaluationError(ParaqdError, ValueError):
    """Raised when labels or scores cannot be evaluated; the one-line message says what is wrong."""
