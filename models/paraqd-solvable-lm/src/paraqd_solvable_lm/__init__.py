"""Provide the large model for single questions of paraqd."""

from pathlib import Path


def folder() -> Path:
    """Return the model folder, which paraqd loads."""
    return Path(__file__).parent / "model"
