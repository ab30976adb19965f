"""What one process at a time may do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows: two runs at once are not noticed there
    fcntl = None  # type: ignore[assignment]


def locked(file: IO[bytes]) -> bool:
    """Lock an open file until it is closed; False where another process holds it.

    A system or file system without locks counts as held by nobody: better to work there than not at all.
    """
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


class HeldError(Exception):
    """Another process is at it."""


@contextmanager
def alone(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Wait until no other process holds the file, and hold it.

    Without waiting, a file that is held raises `HeldError`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        while not locked(file):
            if not wait:
                raise HeldError(f"another process holds {path}")
            time.sleep(0.2)
        yield
