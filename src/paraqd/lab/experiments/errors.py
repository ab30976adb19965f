"""Define the exceptions that experiments raise, and prepare their messages for files."""

from __future__ import annotations

import os
from pathlib import Path

from paraqd.errors import ParaqdError


class ExperimentError(ParaqdError, ValueError):
    """Raised when experiments cannot be run. The message states the reason and the remedy."""


class NotRunError(ParaqdError):
    """Raised when data or weights for one part of an experiment are missing. The other parts still run."""


def without_data_path(reason: str, data_dir: str | Path | None) -> str:
    """Replace the data folder's path with DATA so that a run can be published.

    >>> without_data_path("put it at /home/me/data/a.csv", "/home/me/data")
    'put it at DATA/a.csv'
    """
    folder = data_dir or os.environ.get("PARAQD_DATA_DIR")
    return reason.replace(str(Path(folder)), "DATA") if folder else reason
