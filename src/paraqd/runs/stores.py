"""Folders of files, here or in an object store: listed, read, and written so that a file is whole or not there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

from paraqd.data.formats import TableError, reason
from paraqd.data.writers import sync_folder

_SCHEME = "://"
# a file that is put there in one request is there whole or not at all
_PUT_IS_ATOMIC = ("s3", "gcs", "abfs")


def is_uri(given: str) -> bool:
    """Whether a place is named by a URI.

    >>> is_uri("s3://bucket/pairs"), is_uri("pairs/")
    (True, False)
    """
    return _SCHEME in given


@dataclass(frozen=True)
class Entry:
    """A file in a store, by its name inside; ``changed`` is when it was last written, in nanoseconds."""

    name: str
    size: int
    changed: int


@contextmanager
def explained_as(what: str, verb: str = "read") -> Iterator[None]:
    """Turn what goes wrong with a store into a TableError of one line."""
    try:
        yield
    except FileNotFoundError:
        raise TableError(f"cannot {verb} {what}: it is not there") from None
    except OSError as error:
        raise TableError(f"cannot {verb} {what}: {reason(error)}") from None


@dataclass(frozen=True)
class Store:
    """A folder, or a single file: ``given`` as messages call it, ``place`` a full path or a URI.

    It is sent to other machines as these texts; what is needed to reach the files is made there.
    """

    given: str
    place: str

    @classmethod
    def at(cls, given: str) -> Store:
        """Return the store of a path or of a URI such as ``s3://bucket/pairs``.

        >>> Store.at("s3://key:secret@bucket/pairs/?region=eu-west-1").shown("part-00000.parquet")
        's3://bucket/pairs/part-00000.parquet'
        """
        if not is_uri(given):
            return cls(given, str(Path(given).absolute()))
        scheme, _, rest = given.partition("?")[0].partition(_SCHEME)
        bucket, slash, inside = rest.partition("/")
        # keys and endpoints are nothing for a message
        return cls(f"{scheme}{_SCHEME}{bucket.rpartition('@')[2]}{slash}{inside}", given)

    def __reduce__(self) -> tuple[type[Store], tuple[str, str]]:
        return Store, (self.given, self.place)

    @cached_property
    def _reached(self) -> tuple[Any, str]:
        from pyarrow import ArrowException, fs

        if not is_uri(self.place):
            return fs.LocalFileSystem(), self.place
        try:
            system, path = fs.FileSystem.from_uri(self.place)
        except (ArrowException, OSError, ImportError, ValueError) as error:
            raise TableError(f"cannot reach {self.given}: {reason(error)}") from None
        return system, path.rstrip("/")

    @property
    def filesystem(self) -> Any:
        """Pyarrow's file system."""
        return self._reached[0]

    @property
    def root(self) -> str:
        """The folder's path in the file system."""
        return self._reached[1]

    @property
    def local(self) -> Path | None:
        """The folder on this machine's disks; None where it lies elsewhere."""
        return Path(self.root) if self.filesystem.type_name == "local" else None

    def path(self, name: str) -> str:
        """Return a file's path in the file system; the empty name is the store itself."""
        return f"{self.root}/{name}" if name else self.root

    def shown(self, name: str) -> str:
        """Return what messages call a file."""
        return f"{self.given.rstrip('/')}/{name}" if name else self.given

    @property
    def kind(self) -> str:
        """``folder``, ``file`` or nothing where there is neither."""
        from pyarrow import fs

        with explained_as(self.given):
            found = self.filesystem.get_file_info(self.root).type
        return {fs.FileType.Directory: "folder", fs.FileType.File: "file"}.get(found, "")

    def entries(self) -> list[Entry]:
        """Return all files of the folder and of the folders in it, in the order of their names."""
        from pyarrow import fs

        if self.kind == "file":
            with explained_as(self.given):
                info = self.filesystem.get_file_info(self.root)
            return [Entry("", info.size, info.mtime_ns or 0)]
        with explained_as(self.given):
            selector = fs.FileSelector(self.root, recursive=True, allow_not_found=True)
            infos = self.filesystem.get_file_info(selector)
        cut = len(self.root) + 1
        files = [info for info in infos if info.type == fs.FileType.File]
        return sorted((Entry(i.path[cut:], i.size, i.mtime_ns or 0) for i in files), key=lambda entry: entry.name)

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a small file, or None where it is not there."""
        with explained_as(self.shown(name)):
            try:
                with self.filesystem.open_input_stream(self.path(name), compression=None) as file:
                    return bytes(file.read())
            except FileNotFoundError:
                return None

    def make(self) -> None:
        """Make the folder, and those it lies in."""
        with explained_as(self.given, "write"):
            self.filesystem.create_dir(self.root, recursive=True)

    def put(self, name: str, data: Any) -> None:
        """Write a file in one step: whoever looks finds it whole, or as it was before."""
        with explained_as(self.shown(name), "write"):
            if self.filesystem.type_name in _PUT_IS_ATOMIC:
                with self.filesystem.open_output_stream(self.path(name), compression=None) as file:
                    file.write(data)
                return
            temporary = self.path(f".{name}.{uuid4().hex}.writing")  # two machines may write the same part
            try:
                with self.filesystem.open_output_stream(temporary, compression=None) as file:
                    file.write(data)
                if self.local is None:
                    self.filesystem.move(temporary, self.path(name))
                    return
                with open(temporary, "rb+") as written:
                    os.fsync(written.fileno())
                os.replace(temporary, self.path(name))
                sync_folder(self.local)
            except BaseException:
                self._forget(temporary)
                raise

    def _forget(self, path: str) -> None:
        try:
            self.filesystem.delete_file(path)
        except OSError:  # it was never made, or is gone with what made it fail
            return

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        with explained_as(self.shown(name), "remove"):
            try:
                self.filesystem.delete_file(self.path(name))
            except FileNotFoundError:
                return
