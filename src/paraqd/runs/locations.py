"""Locate files and folders, on this machine or in an object store, and read and write their contents.

All writes are atomic. Only locations given as a URI need pyarrow.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

from paraqd.extras import optional_imports
from paraqd.files import atomic_write
from paraqd.tables.formats import STANDARD_INPUT, TableError, clear_errors, reason

_SCHEME = "://"
# file systems in which uploads are atomic
_ATOMIC_UPLOADS = ("s3", "gcs", "abfs")


def is_uri(given: str) -> bool:
    """Return True if a location is given as a URI.

    >>> is_uri("s3://bucket/pairs"), is_uri("pairs/")
    (True, False)
    """
    return _SCHEME in given


@dataclass(frozen=True)
class Entry:
    """A file in a location. ``name`` is the file's path relative to the location.

    ``state`` is the modification time in nanoseconds or a hash of the bytes. It changes whenever the file changes.
    """

    name: str
    size: int
    state: int | str


@dataclass(frozen=True)
class Location:
    """A folder or a single file.

    ``given`` is the location's name in messages, and ``place`` is an absolute path, a URI, or ``-``. Other processes
    receive only these two strings and connect to the file system themselves.
    """

    given: str
    place: str

    @classmethod
    def at(cls, given: str | Path) -> Location:
        """Return the location for a path, a URI such as ``s3://bucket/pairs``, or standard input (``-``).

        Credentials and query parameters in a URI do not appear in messages:

        >>> Location.at("s3://key:secret@bucket/pairs/?region=eu-west-1").shown("part-00000.parquet")
        's3://bucket/pairs/part-00000.parquet'
        """
        if not (given := str(given)):
            raise TableError("the name of the input is empty; pass the name of a file or a folder")
        if given == STANDARD_INPUT:
            return cls("standard input", STANDARD_INPUT)
        if not is_uri(given):
            return cls(given, str(Path(given).absolute()))
        scheme, _, rest = given.partition("?")[0].partition(_SCHEME)
        bucket, slash, inside = rest.partition("/")
        return cls(f"{scheme}{_SCHEME}{bucket.rpartition('@')[2]}{slash}{inside}", given)

    def __reduce__(self) -> tuple[type[Location], tuple[str, str]]:
        return Location, (self.given, self.place)

    @property
    def is_standard_input(self) -> bool:
        """True if the location is the standard input of this process."""
        return self.place == STANDARD_INPUT

    @cached_property
    def remote(self) -> tuple[Any, str] | None:
        """The pyarrow file system and the location's path in it, or None if the location is not a URI."""
        if not is_uri(self.place):
            return None
        with optional_imports(f"{self.place.partition(_SCHEME)[0]}{_SCHEME} locations"):
            from pyarrow import ArrowException, fs

        try:
            system, path = fs.FileSystem.from_uri(self.place)
        except (ArrowException, OSError, ImportError, ValueError) as error:
            raise TableError(f"cannot reach {self.given}: {reason(error)}") from None
        return system, path.rstrip("/")

    @property
    def local(self) -> Path | None:
        """The path on this machine's file system, or None if the location is elsewhere."""
        if self.remote is None:
            return Path(self.place)
        system, path = self.remote
        return Path(path) if system.type_name == "local" else None

    def path(self, name: str) -> str:
        """Return the path of a file in its file system. An empty name stands for the location itself."""
        root = self.place if self.remote is None else self.remote[1]
        return f"{root}/{name}" if name else root

    def shown(self, name: str) -> str:
        """Return a file's name for use in messages."""
        return f"{self.given.rstrip('/')}/{name}" if name else self.given

    @property
    def kind(self) -> str:
        """``folder``, ``file`` or ``other`` (such as a pipe), or an empty string if the location does not exist."""
        if self.is_standard_input:
            return "file"
        with clear_errors(self.given):
            if self.local is not None:
                if self.local.is_dir():
                    return "folder"
                return "file" if self.local.is_file() else "other" if self.local.exists() else ""
            from pyarrow import fs

            system, root = self._connected
            found = system.get_file_info(root).type
            return {fs.FileType.Directory: "folder", fs.FileType.File: "file"}.get(found, "")

    @property
    def _connected(self) -> tuple[Any, str]:
        assert self.remote is not None
        return self.remote

    def entries(self, wanted: Callable[[str], bool] = lambda name: True) -> tuple[list[Entry], list[str]]:
        """Return the files whose names ``wanted`` accepts, sorted by name, and the links that were not followed.

        Each file is listed once, regardless of how many symbolic or hard links point to it. Links that point outside
        the folder are not followed. Pipes and devices in a folder are listed, too.
        """
        if self.is_standard_input:
            return [Entry("", 0, 0)], []
        with clear_errors(self.given):
            if self.local is not None:
                return _local_entries(self.local, wanted)
            from pyarrow import fs

            system, root = self._connected
            infos = system.get_file_info(fs.FileSelector(root, recursive=True, allow_not_found=True))
            if not infos and self.kind == "file":
                infos = [system.get_file_info(root)]
        cut = len(root) + 1
        files = [info for info in infos if info.type == fs.FileType.File and wanted(info.path[cut:])]
        found = [Entry(info.path[cut:], info.size, info.mtime_ns or 0) for info in files]
        return sorted(found, key=lambda entry: entry.name), []

    def names(self) -> list[str]:
        """Return the names of all files and links in the folder and its subfolders."""
        if self.local is None:
            return [entry.name for entry in self.entries()[0]]
        root = self.local
        return sorted(
            (Path(folder) / name).relative_to(root).as_posix()
            for folder, folders, files in os.walk(root)
            for name in [*files, *(each for each in folders if (Path(folder) / each).is_symlink())]
        )

    def open(self, name: str) -> Any:
        """Return a source that pyarrow can read: a path for a local file, otherwise an open file."""
        if self.local is not None:
            return self.path(name)
        return self._connected[0].open_input_file(self.path(name))

    def read(self, name: str) -> bytes | None:
        """Return a small file's bytes, or None if the file does not exist."""
        with clear_errors(self.shown(name)):
            try:
                if self.local is not None:
                    return Path(self.path(name)).read_bytes()
                with self._connected[0].open_input_stream(self.path(name), compression=None) as file:
                    return bytes(file.read())
            except (FileNotFoundError, NotADirectoryError):
                return None

    def put(self, name: str, data: Any) -> None:
        """Write a file atomically: readers see either the complete new file or the previous file."""
        with clear_errors(self.shown(name), "write"):
            temporary = f".{name}.{uuid4().hex}.writing"  # unique, because two machines may write the same part
            if self.local is None:
                self._upload(name, temporary, data)
                return
            with (
                atomic_write(self.local / name, self.local / temporary) as path,
                open(path, "xb") as file,
            ):
                file.write(data)

    def _upload(self, name: str, temporary: str, data: Any) -> None:
        system = self._connected[0]
        atomic = system.type_name in _ATOMIC_UPLOADS
        target = self.path(name if atomic else temporary)
        try:
            with system.open_output_stream(target, compression=None) as file:
                file.write(data)
            if not atomic:
                system.move(target, self.path(name))
        except BaseException:
            if not atomic:
                with suppress(OSError):
                    system.delete_file(target)
            raise

    def remove(self, name: str) -> None:
        """Remove a file if it exists."""
        with clear_errors(self.shown(name), "remove"), suppress(FileNotFoundError):
            if self.local is not None:
                (self.local / name).unlink()
            else:
                self._connected[0].delete_file(self.path(name))


def _local_entries(root: Path, wanted: Callable[[str], bool]) -> tuple[list[Entry], list[str]]:
    if not root.is_dir():
        return ([_entry(root, "")] if root.is_file() else []), []
    inside = Path(os.path.realpath(root))
    plain: list[tuple[str, Path]] = []
    links: list[tuple[str, Path]] = []
    outside: list[str] = []
    for folder, folders, names in os.walk(inside, onerror=_raise):
        below = Path(folder)
        for name in sorted([*names, *folders]):
            path = below / name
            shown = path.relative_to(inside).as_posix()
            if path.is_symlink():
                target = Path(os.path.realpath(path))
                if not target.is_relative_to(inside):
                    outside += [shown] if target.is_dir() or (target.is_file() and wanted(shown)) else []
                elif target.exists() and not target.is_dir() and wanted(shown):
                    links.append((shown, target))
            elif not path.is_dir() and wanted(shown):
                plain.append((shown, path))
    files: dict[tuple[int, int] | Path, Entry] = {}
    for shown, path in [*sorted(plain), *sorted(links)]:
        found = path.stat()
        identity = (found.st_dev, found.st_ino) if found.st_ino else path  # some file systems do not number files
        files.setdefault(identity, _entry(path, shown))
    return sorted(files.values(), key=lambda entry: entry.name), outside


def _entry(path: Path, name: str) -> Entry:
    found = path.stat()
    return Entry(name, found.st_size, found.st_mtime_ns)


def _raise(error: OSError) -> None:
    raise TableError(f"cannot read {error.filename}: {reason(error)}") from None
