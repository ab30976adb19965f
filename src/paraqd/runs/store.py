"""Store the finished parts of a run in a folder so that an interrupted run can be resumed.

The file ``_manifest.json`` records the settings and the input that the run depends on, and the rows that each part
contains. The file ``_SUCCESS`` is created when every part has been written. The file ``.lock`` is locked while a run
writes to the folder.

A folder output is such a folder, with Parquet parts. For a file output, the parts are JSON Lines files in the folder
``OUT.parts``. At the end of the run, the parts are joined into the output file and removed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from paraqd.parameters import named
from paraqd.runs.locations import Location
from paraqd.runs.parts import Facts, Parts
from paraqd.runs.survey import AT_ONCE, Inputs
from paraqd.scoring.signature import difference
from paraqd.tables.formats import TableError, clear_errors
from paraqd.tables.locks import try_lock

_MANIFEST, _SUCCESS, _LOCK = "_manifest.json", "_SUCCESS", ".lock"
_FORMAT = 1
# in a manifest, notes on which the results do not depend: the size and time of the output file that the run may replace
# because it was started with overwrite=True, and the name of the input
_MAY_REPLACE, _SOURCE = "overwrite", "source"
# the files that a run writes, incomplete files from a killed run, and the checksum files that some file systems add
_OURS = r"(part-\d+\.(parquet|jsonl)|_SUCCESS|_manifest\.json)"
_WRITING = rf"\.{_OURS}\.[^/]+\.writing"
_REPLACEABLE = re.compile(rf"{_OURS}|\.{_OURS}\.crc|\.lock|{_WRITING}")
# descriptions of the settings that can differ between two runs, for messages
_NAMES = {
    "command": "another command",
    "input": "another input",
    "part_rows": "parts of another size",
    "columns": "other columns",
    "set_of_columns": "another set of columns",
    "set_of_operators": "other operators",
    "set_of_models": "other models",
    "choice_of_stand-ins": "another choice of stand-ins",
    "choice_to_keep_going": "another choice of keep_going",
    "form_of_verdicts": "verdicts in an older form",
    "choice_to_skip_empty_cells": "another choice of wide or of several paraphrases",
    "choice_of_rows": "another choice of rows (only)",
    "version": "another version of paraqd",
}
_SHOWN = ("seed", "version", "entity_reader", "encoding", "threshold", "encoder")  # messages show both values

# --- the folder -----------------------------------------------------------------------------------


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
    """Return True if a run that was allowed to replace this file was interrupted, and the file is still the same."""
    found = _read_manifest(parts_place(out))
    return found is not None and found.get(_MAY_REPLACE) == _size_and_time(out)


def _size_and_time(file: Path) -> list[int]:
    found = file.stat()
    return [found.st_size, found.st_mtime_ns]


def _read_manifest(place: Location) -> dict[str, Any] | None:
    """Return the manifest in a run's folder, or None if the manifest is missing or this version cannot use it."""
    raw = place.read(_MANIFEST)
    try:
        found = None if raw is None else json.loads(raw)
    except ValueError:
        return None
    ours = isinstance(found, dict) and found.get("format") == _FORMAT and {"command", "input", "parts"} <= set(found)
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
        if before is not None:
            source_before = str(before.pop(_SOURCE, ""))
            before.pop(_MAY_REPLACE, None)
        if before is None:
            self._clear_without_manifest(allowed=overwrite)
        elif self.finished:
            if not overwrite:
                raise TableError(
                    f"{self.place.given} holds a finished run; pass {named('overwrite')} to replace it, or choose "
                    "another output"
                )
            self._clear()
        elif restart:
            self._clear()
        elif before != manifest:
            sources = (source_before, source)
            raise TableError(f"the unfinished run in {self.place.given} has {what_differs(before, manifest, sources)}")
        else:
            self._sweep()
            self.begun = True
            return run_name(manifest)
        kept = {**manifest, _SOURCE: source}
        if overwrite and self.file is not None and self.file.exists():
            kept[_MAY_REPLACE] = _size_and_time(self.file)
        self.begun = True
        self.place.put(_MANIFEST, json.dumps(kept, ensure_ascii=False, indent=1).encode())
        return run_name(manifest)

    def done(self, parts: Parts, inputs: Inputs) -> Iterator[tuple[int, Facts]]:
        """Yield the index and the counts of each finished part.

        Parts that are incomplete or belong to another run do not count as finished.
        """
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
                if not locked_before:
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


# --- settings -------------------------------------------------------------------------------------


def make_manifest(command: str, settings: Mapping[str, Any], inputs: Inputs) -> dict[str, Any]:
    """Return the manifest of a run: its settings, its input, and the rows that each part contains."""
    files = [[file.entry.name, file.entry.size, file.entry.state, file.rows] for file in inputs.files]
    parts = [[piece.file, piece.start, piece.rows] for piece in inputs.pieces]
    found = {
        "format": _FORMAT,
        "command": command,
        **settings,
        "part_rows": inputs.part_rows,
        "input": files,
        "parts": parts,
    }
    plain: dict[str, Any] = json.loads(json.dumps(found))  # equal to the manifest as read back from the file
    return plain


def run_name(manifest: Mapping[str, Any]) -> str:
    """Return the name of a run, which is a hash of the manifest. Each part contains the name of its run."""
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()[:16]


def what_differs(before: Mapping[str, Any], now: Mapping[str, Any], sources: tuple[str, str] = ("", "")) -> str:
    """Return a message that states which settings differ between two runs and how to proceed.

    ``sources`` contains the names of the two inputs, which are empty if unknown.

    >>> what_differs({"seed": 1, "input": []}, {"seed": 2, "input": []}).partition(";")[0]
    'another seed (1, now 2)'
    """
    keys = [key for key in {**now, **before} if key != "parts" and before.get(key) != now.get(key)]
    phrases = [phrase for key in keys for phrase in _phrases(key, before.get(key), now.get(key), sources)]
    remedy = f"pass {named('restart')} to discard it and start again"
    if keys != ["input"]:
        remedy = f"use the same options to continue it, or {remedy}"
    return f"{' and '.join(phrases) or 'another form'}; {remedy}"


def _phrases(key: str, before: Any, now: Any, sources: tuple[str, str]) -> list[str]:
    if key == "model":
        return [f"another {name}" for name in difference(str(before), str(now))]
    if key == "input" and all(sources) and sources[0] != sources[1]:
        return [f"another input ({sources[0]}, now {sources[1]})"]
    if key == "input":
        return [f"another input ({_changed(before or (), now or ())})"]
    if key not in _NAMES and isinstance(before, dict) and isinstance(now, dict):
        return _changes(before, now)
    shown = f" ({before}, now {now})" if key in _SHOWN else ""
    return [_NAMES.get(key, f"another {key.replace('_', ' ')}") + shown]


def _changes(before: Mapping[str, Any], now: Mapping[str, Any], of: str = "") -> list[str]:
    """Return a phrase for each of several settings that has changed.

    >>> _changes({"n": 2, "limits": {"others": 0.8}}, {"n": 3, "limits": {"others": 0.5}})
    ['n=2, not 3', 'limits.others=0.8, not 0.5']
    """
    found = []
    for name in {**before, **now}:
        old, new = before.get(name), now.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            found += _changes(old, new, f"{of}{name}.")
        elif old != new:
            found.append(f"{of}{name}={old}, not {new}")
    return found


def _changed(before: Sequence[Sequence[Any]], now: Sequence[Sequence[Any]]) -> str:
    """Return a phrase that names the first input file in which two manifests differ.

    >>> _changed([["a.csv", 9, 1, 2], ["b.csv", 9, 1, 2]], [["a.csv", 9, 5, 2], ["b.csv", 9, 1, 2]])
    'a.csv has changed'
    """
    old, new = ({name: rest for name, *rest in files} for files in (before, now))
    names = sorted(name for name in {**old, **new} if old.get(name) != new.get(name))
    first = names[0] if names else ""
    how = "has changed" if first in old and first in new else "is new" if first in new else "is gone"
    more = f", and {len(names) - 1:,} more files" if len(names) > 1 else ""
    return f"{first or 'the file'} {how}{more}"
