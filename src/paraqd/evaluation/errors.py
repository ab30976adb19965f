"""Define the error for labels and scores that cannot be evaluated."""

from __future__ import annotations

from paraqd.errors import ParaqdError


class EvaluationError(ParaqdError, ValueError):
    """Labels or scores that cannot be evaluated; the message is one line that says why."""
