"""Define the package version, which the build reads from this module."""

from __future__ import annotations

__version__ = "0.2.0"
