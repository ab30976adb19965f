"""What can be wrong with a model."""

from __future__ import annotations


class ModelError(Exception):
    """A model folder cannot be used; the message says why and what to do."""
