"""Provide the language-model judge of paraqd."""

from pathlib import Path


def folder() -> Path:
    """Return the judge's model folder, which paraqd loads."""
    return Path(__file__).parent / "model"
