"""Lock files so that only one process at a time works on a task."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from paraqd.errors import ParaqdError


class HeldError(ParaqdError):
    """Raised when another process holds the lock."""


def try_lock(file: IO[bytes], *, wait: bool = False) -> bool:
    """Lock an open file until it is closed; return False if another process holds the lock.

    On a file system that does not support locks, return True without locking the file.
    """
    from filelock import lock_descriptor

    try:
        return lock_descriptor(file.fileno(), blocking=wait, poll_interval=0.2)
    except OSError:
        return True


@contextmanager
def exclusive(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock on a file while the block runs; create the file if it does not exist.

    If another process holds the lock, wait until the lock is free or, if ``wait`` is False, raise a `HeldError`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        if not try_lock(file, wait=wait):
            raise HeldError(f"another process holds the lock on {path}; wait until that process ends")
        yield
