"""Read the clock, and write times as ISO 8601 in UTC."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def now() -> float:
    """Return the current time in seconds since 1970."""
    return time.time()


def iso(seconds: float) -> str:
    """Return a time as ISO 8601 in UTC.

    >>> iso(0)
    '1970-01-01T00:00:00.000000Z'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def seconds_of(text: str) -> float | None:
    """Return the time that an ISO 8601 text states in seconds since 1970, or None if the text states no time.

    >>> seconds_of("1970-01-01T00:01:00.500000Z"), seconds_of("yesterday")
    (60.5, None)
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
