"""Count the work of a function, which says more about its growth than its time does."""

from __future__ import annotations

import sys
from collections.abc import Callable


class TooMuchWork(BaseException):
    """Raised when a function calls too many others. It is no Exception, so that the function does not catch it."""


def calls(function: Callable[..., object], *arguments: object, most: int = 50_000_000) -> int:
    """Return how many Python and C functions a function calls. It is stopped after ``most`` calls."""
    count = 0

    def hook(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")
        if count > most:
            sys.setprofile(None)
            raise TooMuchWork(f"more than {most:,} calls")

    previous = sys.getprofile()
    sys.setprofile(hook)
    try:
        function(*arguments)
    finally:
        sys.setprofile(previous)
    return count
