"""The error of this room."""

from __future__ import annotations


class EvaluationError(ValueError):
    """Labels or scores that cannot be evaluated; the message is one line that says why."""
