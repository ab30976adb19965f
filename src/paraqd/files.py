"""Hash files, and replace files atomically."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def sha256_of(path: str | Path) -> str:
    """Return a file's SHA-256 hash as 64 hex digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_regular(path: str | Path) -> None:
    """Raise a FileExistsError if a path, or the target of a link, is something other than a file or a folder."""
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise FileExistsError(errno.EEXIST, "it is a pipe or a device; choose another name", str(path))


@contextmanager
def atomic_write(path: Path, temporary: Path) -> Iterator[Path]:
    """Yield the path of a temporary file, and rename the temporary file to ``path`` when the block ends.

    Both paths must be on the same disk. The content is flushed to disk before the file is renamed. If the block raises
    an exception, ``path`` is unchanged, and the temporary file is removed. Only a regular file is ever replaced.
    """
    check_regular(path)
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
        sync_folder(path.parent)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to disk so that a rename survives a crash."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
