"""Keep the temporary files of this process in one folder, so that nothing stays if the process is killed.

A process holds a lock in its folder as long as it lives. A process that is killed cannot remove its folder, so the next
process that needs such a folder does.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO
from uuid import uuid4

_PREFIX, _LOCK = "paraqd-temporary-", ".paraqd-temporary"


def temporary_folder() -> Path:
    """Return the folder for this process's temporary files, which is removed when the process ends."""
    place = tempfile.gettempdir()
    if not _folder_in(place).is_dir():  # the system tidied up
        _folder_in.cache_clear()
    return _folder_in(place)


@cache
def _folder_in(place: str) -> Path:
    from filelock import lock_descriptor

    remove_leftovers()
    folder = Path(tempfile.mkdtemp(prefix=f".{_PREFIX}", dir=place))
    lock = open(folder / _LOCK, "wb")  # noqa: SIM115  # open as long as the process lives
    with suppress(OSError):  # a file system without locks; Windows cannot rename the folder of an open file
        lock_descriptor(lock.fileno(), blocking=False)
        folder = folder.rename(folder.with_name(folder.name[1:]))  # others look at it only now that it is locked
    atexit.register(_remove, folder, lock, os.getpid())
    return folder


def temporary_file(ending: str) -> Path:
    """Return a path for a temporary file with the given ending."""
    return temporary_folder() / f"{uuid4().hex}{ending}"


def remove_leftovers() -> None:
    """Remove the folders of processes of the same user that were killed."""
    from filelock import lock_descriptor

    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.is_symlink() or (hasattr(os, "getuid") and folder.stat().st_uid != os.getuid()):
                continue
            with open(os.open(folder / _LOCK, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)), "rb") as lock:
                if lock_descriptor(lock.fileno(), blocking=False):
                    shutil.rmtree(folder, ignore_errors=True)


def _remove(folder: Path, lock: IO[bytes], process: int) -> None:
    if os.getpid() == process:  # not a process that was forked off
        lock.close()
        shutil.rmtree(folder, ignore_errors=True)
