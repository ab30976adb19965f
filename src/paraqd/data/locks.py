"""Lock files, so that only one process at a time does a piece of work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from filelock import lock_descriptor

from paraqd.errors import ParaqdError


class HeldError(ParaqdError):
    """Another process holds the lock."""


def try_lock(file: IO[bytes], *, wait: bool = False) -> bool:
    """Lock an open file until it is closed; return False if another process holds the lock.

    A file system that has no locks never blocks anyone: the work goes on without protection.
    """
    try:
        return lock_descriptor(file.fileno(), blocking=wait, poll_interval=0.2)
    except OSError:
        return True


@contextmanager
def exclusive(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock of a file, which is created if necessary, while the block runs.

    Wait until the lock is free; without ``wait``, raise a `HeldError` if it is not.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        if not try_lock(file, wait=wait):
            raise HeldError(f"another process holds {path}")
        yield
