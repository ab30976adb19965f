"""Provide paraqd's large model for single questions."""

from pathlib import Path


def folder() -> Path:
    """Return the model folder, which paraqd loads."""
    return Path(__file__).parent / "model"
