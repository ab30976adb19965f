"""Store the finished parts of a run in a folder so that an interrupted run can be resumed.

The file ``_manifest.json`` records the settings and the input that the run depends on, and the rows that each part
contains. The file ``_SUCCESS`` is created when every part has been written. The file ``.lock`` is locked while a run
writes to the folder.

A folder output is such a folder, with Parquet parts. For a file output, the parts are JSON Lines files in the folder
``OUT.parts``. At the end of the run, the parts are joined into the output file and removed. Before the output file gets
its name, the manifest records the file and the counts of all parts. A run that was killed afterwards therefore
recognises its output, and only removes the folder.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from paraqd.parameters import named
from paraqd.runs.locations import Location
from paraqd.runs.manifest import FORMAT, run_name, what_differs
from paraqd.runs.parts import Facts, Parts, unpacked
from paraqd.runs.survey import AT_ONCE, Inputs
from paraqd.tables.formats import TableError, clear_errors
from paraqd.tables.locks import try_lock

_MANIFEST, _SUCCESS, _LOCK = "_manifest.json", "_SUCCESS", ".lock"
# in a manifest, notes on which the results do not depend: the size and time of the output file that the run may replace
# because it was started with overwrite=True, and the name of the input
_MAY_REPLACE, _SOURCE = "overwrite", "source"
_WRITTEN = "written"  # the size and time of the complete output file, and the packed counts of each part
# the files that a run writes, incomplete files from a killed run, and the checksum files that some file systems add
_OURS = r"(part-\d+\.(parquet|jsonl)|_SUCCESS|_manifest\.json)"
_WRITING = rf"\.{_OURS}\.[^/]+\.writing"
_REPLACEABLE = re.compile(rf"{_OURS}|\.{_OURS}\.crc|\.lock|{_WRITING}")


def parts_place(out: Path) -> Location:
    """Return the location of the folder that holds the parts of an output file.

    >>> parts_place(Path("scored.csv")).given
    'scored.csv.parts'
    """
    return Location.at(f"{out}.parts")


def is_unfinished(out: Path) -> bool:
    """Return True if a run that writes this file was interrupted."""
    return _read_manifest(parts_place(out)) is not None


def may_replace(out: Path) -> bool:
    """Return True if an interrupted run was allowed to replace this file or wrote it, and it is still the same."""
    found = _read_manifest(parts_place(out)) or {}
    return found.get(_MAY_REPLACE) == _size_and_time(out) or _written(found, out) is not None


def remove_leftover(out: Path) -> None:
    """Remove the folder of a run that was killed while it removed the folder, unless the folder contains anything."""
    place = parts_place(out)
    if place.local is not None and place.local.is_dir():
        with suppress(TableError), hold_store(place, out):
            pass


def _size_and_time(file: Path) -> list[int]:
    found = file.stat()
    return [found.st_size, found.st_mtime_ns]


def _written(manifest: Mapping[str, Any], out: Path | None) -> dict[str, str] | None:
    """Return the packed counts of each part if a run has written this file completely, otherwise None."""
    found = manifest.get(_WRITTEN)
    if not isinstance(found, dict) or out is None or not out.exists() or found.get("file") != _size_and_time(out):
        return None
    return dict(found["parts"])


def _read_manifest(place: Location) -> dict[str, Any] | None:
    """Return the manifest in a run's folder, or None if the manifest is missing or this version cannot use it."""
    raw = place.read(_MANIFEST)
    try:
        found = None if raw is None else json.loads(raw)
    except ValueError:
        return None
    ours = isinstance(found, dict) and found.get("format") == FORMAT and {"command", "input", "parts"} <= set(found)
    return found if ours else None


class Store:
    """The folder that contains the parts of a run. `hold_store` locks the folder and creates the `Store`.

    ``file`` is the output file into which the parts are joined, or None if the folder is the output.
    """

    def __init__(self, place: Location, file: Path | None = None) -> None:
        self.place = place
        self.file = file
        self.begun = False  # True if this process has begun or resumed the run in the folder
        self._cleared = False
        self._done: dict[str, str] | None = None  # the packed counts of each part if the output file is complete

    @property
    def finished(self) -> bool:
        """True if every part of the run has been written."""
        return self.place.read(_SUCCESS) is not None

    def begin(
        self, manifest: Mapping[str, Any], *, source: str = "", overwrite: bool = False, restart: bool = False
    ) -> str:
        """Begin a run, or resume an unfinished run with the same manifest; return the run's name.

        ``source`` is the name of the input. It is used only in messages, because an input that was renamed is still the
        same input. ``overwrite`` allows replacing a finished run, and ``restart`` allows discarding an
        unfinished run. Raise a TableError if the folder cannot be used.
        """
        before = _read_manifest(self.place)
        source_before = ""
        written = None
        if before is not None:
            written = _written(before, self.file)
            source_before = str(before.pop(_SOURCE, ""))
            for note in (_MAY_REPLACE, _WRITTEN):
                before.pop(note, None)
        if before is None:
            self._clear_without_manifest(allowed=overwrite)
        elif self.finished or (written is not None and before != manifest):
            if not overwrite:
                what = f"{self.place.given} holds a finished run" if written is None else f"{self.file} already exists"
                raise TableError(f"{what}; pass {named('overwrite')} to replace it, or choose another output")
            self._clear()
        elif restart:
            self._clear()
        elif before != manifest:
            sources = (source_before, source)
            raise TableError(f"the unfinished run in {self.place.given} has {what_differs(before, manifest, sources)}")
        else:
            self._sweep()
            self.begun = True
            self._done = written
            return run_name(manifest)
        kept = {**manifest, _SOURCE: source}
        if overwrite and self.file is not None and self.file.exists():
            kept[_MAY_REPLACE] = _size_and_time(self.file)
        self.begun = True
        self._put_manifest(kept)
        return run_name(manifest)

    @property
    def written(self) -> bool:
        """True if an earlier process wrote the output file completely and was then killed."""
        return self._done is not None

    def note_written(self, file: Path, facts: Mapping[int, str]) -> None:
        """Record that a file is the complete output, and the packed counts of each part, before it gets its name."""
        found = _read_manifest(self.place) or {}
        found[_WRITTEN] = {"file": _size_and_time(file), "parts": facts}
        self._put_manifest(found)

    def _put_manifest(self, manifest: Mapping[str, Any]) -> None:
        self.place.put(_MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=1).encode())

    def done(self, parts: Parts, inputs: Inputs) -> Iterator[tuple[int, Facts]]:
        """Yield the index and the counts of each finished part.

        Parts that are incomplete or belong to another run do not count as finished.
        """
        if self._done is not None:
            yield from ((int(index), unpacked(facts)) for index, facts in self._done.items())
            return
        there = set(self.place.names())
        indices = [piece.index for piece in inputs.pieces if parts.name(piece.index) in there]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for index, facts in zip(indices, pool.map(parts.facts, indices), strict=True):
                if facts is not None:
                    yield index, facts

    def succeed(self, facts: Facts) -> None:
        """Record that every part has been written."""
        self.place.put(_SUCCESS, (json.dumps(facts, ensure_ascii=False, indent=1) + "\n").encode())

    def clear(self) -> None:
        """Remove the parts of a file output and the lock, and then the folder if it is empty.

        A second call does nothing, because another run may already be using the folder.
        """
        if self._cleared:
            return
        self._clear()
        self.release()

    def release(self) -> None:
        """Remove the lock file. For a file output, also remove the folder if it is empty."""
        self._cleared = True
        if self.place.local is not None:
            with suppress(OSError):
                (self.place.local / _LOCK).unlink(missing_ok=True)
                if self.file is not None:
                    self.place.local.rmdir()

    def refuse_strangers(self) -> None:
        """Raise a TableError if the folder contains a file that no run has written."""
        for name in self.place.names():
            if not self._replaceable(name):
                raise TableError(self._occupied(name, "choose another output"))

    def _clear_without_manifest(self, *, allowed: bool) -> None:
        """Make a folder that does not contain a usable manifest ready for a new run.

        Parts in such a folder may belong to somebody else. The parts of a folder output are removed only if
        ``allowed`` is True. The parts of a file output are never removed, because the user has not named their folder.
        """
        self.refuse_strangers()
        self._sweep()
        names = [name for name in self.place.names() if name != _LOCK]
        if names and not (allowed and self.file is None):
            remedy = f"pass {named('overwrite')} to replace it, or choose another output"
            raise TableError(self._occupied(names[0], remedy))
        self._clear()

    def _clear(self) -> None:
        """Remove all files that runs have written, or raise a TableError if the folder contains other files.

        The manifest is removed last, because it identifies the remaining files if the removal is interrupted.
        """
        self.refuse_strangers()
        names = [name for name in self.place.names() if name != _LOCK]
        for name in sorted(names, key=lambda name: (name != _SUCCESS, name == _MANIFEST, name)):
            self.place.remove(name)

    def _sweep(self) -> None:
        """Remove the incomplete files of a killed run."""
        for name in self.place.names():
            if name.endswith(".writing") and self._replaceable(name):
                self.place.remove(name)

    def _occupied(self, name: str, remedy: str) -> str:
        if self.file is not None:
            return f"{self.place.given} is in the way: it holds {name}, which is not part of a run; move it away"
        return f"{self.place.given} already holds {name}, which is not part of this run; {remedy}"

    def _replaceable(self, name: str) -> bool:
        """Return True if a file may be removed because a run has written it.

        >>> names = ("part-00001.parquet", ".part-00001.parquet.crc", "_SUCCESS", "_thesis.doc", ".env", "a/_SUCCESS")
        >>> [name for name in names if Store(Location.at("out"))._replaceable(name)]
        ['part-00001.parquet', '.part-00001.parquet.crc', '_SUCCESS']
        """
        joined = self.file is not None and re.fullmatch(rf"\.{re.escape(self.file.name)}\.\d+\.writing", name)
        return bool(joined) or _REPLACEABLE.fullmatch(name) is not None


@contextmanager
def hold_store(place: Location, file: Path | None = None) -> Iterator[Store]:
    """Create and lock the folder of a run so that no other run on this machine writes to the folder.

    For a file output, the folder is removed at the end if it does not contain a finished part.
    """
    store = Store(place, file)
    folder = place.local
    if folder is None:
        yield store
        return
    if file is not None and folder.is_symlink():
        raise TableError(f"{place.given} is in the way: it is a symbolic link; move it away")
    if folder.exists() and not folder.is_dir():
        raise TableError(f"{place.given} is in the way: it is a file, not a folder; move it away")
    if folder.is_dir() and _read_manifest(place) is None:
        store.refuse_strangers()  # check this before writing anything to the folder
    locked_before = (folder / _LOCK).exists()
    with clear_errors(place.given, "write"):
        handle = _lock(folder)
    if handle is None:
        raise TableError(f"another run is writing {file or place.given}; wait for it, or stop it")
    with handle:
        try:
            yield store
        finally:
            if not store.begun:
                if not locked_before or (file is not None and place.names() == [_LOCK]):
                    store.release()
            elif file is not None and not any(name.startswith("part-") for name in place.names()):
                with suppress(TableError):
                    store.clear()
    if file is not None and os.name == "nt" and place.names() == [_LOCK]:  # Windows cannot remove an open lock file
        store.release()


def _lock(folder: Path) -> Any:
    """Open and lock the folder's lock file; return the open file, or None if another process holds the lock."""
    while True:
        folder.mkdir(exist_ok=True)
        path = folder / _LOCK
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        try:
            handle = open(os.open(path, flags, 0o666), "ab")  # noqa: SIM115  # the caller closes it
        except FileNotFoundError:  # another run has just removed the folder
            continue
        if not try_lock(handle):
            handle.close()
            return None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle.fileno()), os.stat(path)):
                return handle
        handle.close()  # another run has just removed this lock file, so try again
