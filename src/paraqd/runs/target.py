"""The folder that a run writes: a part for each piece of the input, and what tells which parts belong to it.

``_manifest.json`` says what the run depends on and which rows each part holds. A part is written in one step and says
in its footer which run it belongs to and what was counted in it, so that it is whole or not there: working on a piece
twice does no harm. ``_SUCCESS`` is there once every part is.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraqd.data.formats import TableError, reason
from paraqd.data.locks import locked
from paraqd.data.writers import COMPRESSION, ParquetRows, Schema, arrow_schema
from paraqd.runs.pieces import AT_ONCE, Inputs
from paraqd.runs.stores import Store, is_uri
from paraqd.scoring.signature import difference

_MANIFEST, _SUCCESS, _LOCK = "_manifest.json", "_SUCCESS", ".lock"
_FORMAT = 1
_KEY = b"paraqd.part"
# what a run writes, what was being written when it was killed, and checksums that file systems put beside it
_OURS = r"(part-\d+\.parquet|_SUCCESS|_manifest\.json)"
_WRITING = re.compile(rf"\.{_OURS}\.[^/]+\.writing")
_REPLACEABLE = re.compile(rf"{_OURS}|\.{_OURS}\.crc|\.lock|{_WRITING.pattern}")
_NAMED = {
    "command": "was made by another command",
    "input": "has another input",
    "part_rows": "has parts of another size",
}

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Sink:
    """Writes parts; small, and sent to each worker."""

    store: Store
    run: str
    digits: int
    schema: Schema
    metadata: Mapping[str, Any]

    def name(self, index: int) -> str:
        """Return the name of a part; in the order of the names the rows are in theirs.

        >>> Sink(Store.at("out"), "", 5, {}, {}).name(7)
        'part-00007.parquet'
        """
        return f"part-{index:0{self.digits}d}.parquet"

    @contextmanager
    def part(self, index: int) -> Iterator[tuple[ParquetRows, dict[str, Any]]]:
        """Give a writer for the rows of a part and a place for what is counted in it.

        The file is made in memory and put where it belongs at the end, in one step.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        buffer = pa.BufferOutputStream()
        facts: dict[str, Any] = {}
        schema = arrow_schema(self.schema, self.metadata)
        with pq.ParquetWriter(buffer, schema, **COMPRESSION) as file:
            writer = ParquetRows(file, schema)
            yield writer, facts
            writer.flush()
            told = {"run": self.run, "part": index, "facts": facts}
            file.add_key_value_metadata({_KEY: json.dumps(told).encode()})
        self.store.put(self.name(index), buffer.getvalue())


class Target:
    """The folder of one run; `hold_target` gives it."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @property
    def finished(self) -> bool:
        """Whether a whole run lies here."""
        return self.store.read(_SUCCESS) is not None

    def begin(
        self, command: str, settings: Mapping[str, Any], inputs: Inputs, *, overwrite: bool, restart: bool = False
    ) -> str:
        """Begin a run, or go on with one of the same settings; return what its parts are told by.

        A TableError says why neither can be done. ``overwrite`` replaces what is there, but for an unfinished run of
        the same settings, which goes on; ``restart`` replaces that too.
        """
        manifest = made_manifest(command, settings, inputs)
        before = self._before()
        if before is None:
            self._clear(overwrite=overwrite)
        elif self.finished:
            if not overwrite:
                raise TableError(
                    f"{self.store.given} holds a finished run; give --overwrite to replace it, or choose another -o"
                )
            self._clear(overwrite=True)
        elif before == manifest and not restart:
            self._clean()
            return _digest(manifest)
        else:
            keys = [key for key in {**manifest, **before} if key != "parts"]
            differing = [key for key in keys if before.get(key) != manifest.get(key)]
            if "model" in differing:
                at = differing.index("model")
                differing[at : at + 1] = difference(str(before.get("model")), str(manifest.get("model")))
            if not (overwrite or restart):
                remedy = "--overwrite to start again"
                if differing != ["input"]:
                    remedy = f"the same options to go on with it, or {remedy}"
                differs = _difference(differing, _changed(before.get("input", ()), manifest["input"]))
                raise TableError(f"the unfinished run in {self.store.given} {differs}; give {remedy}")
            self._clear(overwrite=True)
        self.store.put(_MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=1).encode())
        return _digest(manifest)

    def done(self, sink: Sink, inputs: Inputs) -> Iterator[tuple[int, Facts]]:
        """Yield the parts that are there already, with what was counted in each.

        A file of that name which is not whole, or of another run, is not one of them: it will be written again.
        """
        there = {entry.name for entry in self.store.entries()}
        indices = [piece.index for piece in inputs.pieces if sink.name(piece.index) in there]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for index, facts in zip(indices, pool.map(lambda i: self._facts(sink, i), indices), strict=True):
                if facts is not None:
                    yield index, facts

    def succeed(self, facts: Facts) -> None:
        """Say that every part is there."""
        self.store.put(_SUCCESS, (json.dumps(facts, ensure_ascii=False, indent=1) + "\n").encode())

    def _facts(self, sink: Sink, index: int) -> Facts | None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with self.store.filesystem.open_input_file(self.store.path(sink.name(index))) as raw:
                told = json.loads((pq.read_metadata(raw).metadata or {}).get(_KEY, b"{}"))
        except (pa.ArrowException, OSError, ValueError):
            return None
        ours = told.get("run") == sink.run and told.get("part") == index
        return dict(told["facts"]) if ours else None

    def _before(self) -> dict[str, Any] | None:
        raw = self.store.read(_MANIFEST)
        try:
            found = None if raw is None else json.loads(raw)
        except ValueError:
            return None
        return found if isinstance(found, dict) and found.get("format") == _FORMAT else None

    def _clear(self, *, overwrite: bool) -> None:
        """Remove what is there; what no run can have written is never removed."""
        names = [entry.name for entry in self.store.entries() if entry.name != _LOCK]
        if not names:
            return
        self.refuse_strangers()
        if not overwrite:
            raise TableError(_occupied(self.store, names[0], "give --overwrite to replace it, or choose another -o"))
        for name in sorted(names, key=lambda name: (name != _SUCCESS, name != _MANIFEST, name)):
            self.store.remove(name)

    def refuse_strangers(self) -> None:
        """Raise a TableError where the folder holds what no run can have written."""
        for entry in self.store.entries():
            if not _replaceable(entry.name):
                raise TableError(_occupied(self.store, entry.name, "choose another -o"))

    def _clean(self) -> None:
        """Remove files that were being written when a run was killed."""
        for entry in self.store.entries():
            if _WRITING.fullmatch(entry.name):
                self.store.remove(entry.name)


def _replaceable(name: str) -> bool:
    """Whether ``--overwrite`` may remove a file: what a run writes, and checksums of that.

    >>> names = ("part-00001.parquet", ".part-00001.parquet.crc", "_SUCCESS", "_thesis.doc", ".env", "a/_SUCCESS")
    >>> [name for name in names if _replaceable(name)]
    ['part-00001.parquet', '.part-00001.parquet.crc', '_SUCCESS']
    """
    return _REPLACEABLE.fullmatch(name) is not None


def _occupied(store: Store, name: str, remedy: str) -> str:
    return f"{store.given} is there already and holds {name}, which is not of this run; {remedy}"


@contextmanager
def hold_target(store: Store, source: Store) -> Iterator[Target]:
    """Make the folder of an output and hold it, so that no second run on this machine writes it.

    The file that is locked stays: were it removed, one run could hold it and the next make and hold another.
    """
    _check_place(store, source)
    target = Target(store)
    folder = store.local
    if folder is None:
        yield target
        return
    if store.read(_MANIFEST) is None:  # a folder that is somebody else's is left as it is
        target.refuse_strangers()
    try:
        folder.mkdir(exist_ok=True)
        lock = open(folder / _LOCK, "ab")  # noqa: SIM115  # held, not read
    except OSError as error:
        raise TableError(f"cannot write {store.given}: {reason(error)}") from None
    with lock:
        if not locked(lock):
            raise TableError(f"another run is writing {store.given} just now; wait for it or stop it")
        yield target


def _check_place(store: Store, source: Store) -> None:
    if store.kind == "file":
        raise TableError(f"cannot write {store.given}: it is a file, and a folder is wanted; choose another -o")
    here, there = Path(store.root), Path(source.root)
    if store.filesystem.type_name == source.filesystem.type_name:
        if store.local is not None:
            here, there = here.resolve(), there.resolve()
        if here == there or here in there.parents or there in here.parents:
            raise TableError(f"{store.given} and the input {source.given} lie in each other; choose another -o")
    if store.local is not None and not store.local.parent.is_dir():
        raise TableError(f"cannot write {store.given}: there is no folder {Path(store.given).parent}; make it first")


def is_folder(place: str) -> bool:
    """Whether a place for an output is that of parts: by its slash, as a URI, or because a run has begun there.

    >>> is_folder("scored/"), is_folder("s3://bucket/scored"), is_folder("scored.csv")
    (True, True, False)
    """
    return place.endswith(("/", os.sep)) or is_uri(place) or (Path(place) / _MANIFEST).is_file()


def made_manifest(command: str, settings: Mapping[str, Any], inputs: Inputs) -> dict[str, Any]:
    """Return what a run depends on, and which rows each of its parts holds."""
    files = [[file.entry.name, file.entry.size, file.entry.changed, file.rows] for file in inputs.files]
    parts: Sequence[Any] = [[piece.file, piece.start, piece.rows] for piece in inputs.pieces]
    found = {
        "format": _FORMAT,
        "command": command,
        **settings,
        "part_rows": inputs.part_rows,
        "input": files,
        "parts": parts,
    }
    plain: dict[str, Any] = json.loads(json.dumps(found))  # as it will be when it is read again
    return plain


def _digest(manifest: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()[:16]


def _changed(before: Sequence[Sequence[Any]], now: Sequence[Sequence[Any]]) -> str:
    """Say which file is not as it was; ``input`` of two manifests.

    >>> _changed([["a.csv", 9, 1, 2], ["b.csv", 9, 1, 2]], [["a.csv", 9, 5, 2], ["b.csv", 9, 1, 2]])
    'a.csv was changed since'
    """
    here, there = ({name: rest for name, *rest in files} for files in (before, now))
    names = sorted(name for name in {**here, **there} if here.get(name) != there.get(name))
    if not names:
        return ""
    first = names[0]
    how = "was changed since" if first in here and first in there else "is new" if first in there else "is gone"
    more = f", and {len(names) - 1:,} files more" if len(names) > 1 else ""
    return f"{first or 'it'} {how}{more}"


def _difference(keys: Iterable[str], changed: str) -> str:
    """Say what differs, and of the input which file."""
    told = [
        _NAMED.get(key, f"has another {key.replace('_', ' ')}") + (f" ({changed})" if key == "input" else "")
        for key in keys
    ]
    return " and ".join(told) or "is another"
