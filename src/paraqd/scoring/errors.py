"""What can be wrong with a model."""

from __future__ import annotations

from paraqd.errors import ParaqdError


class ModelError(ParaqdError):
    """A model folder cannot be used; the message says why and what to do."""
