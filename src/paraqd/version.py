"""Define the version of the package, which packaging reads from here."""

from __future__ import annotations

__version__ = "0.2.0"
