"""A file that one process at a time may write."""

from __future__ import annotations

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
