"""Determine the location of a run's output, and record how the output was produced."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraqd.extras import MissingExtraError
from paraqd.files import check_regular
from paraqd.parameters import named
from paraqd.runs.locations import Location, is_uri
from paraqd.runs.store import may_replace, parts_place, remove_leftover
from paraqd.tables.formats import Format, TableError, clear_errors, kind_of
from paraqd.tables.table import check_writable, replacing


@dataclass(frozen=True)
class Output:
    """The location of an output: a ``file``, a ``folder`` of parts, or neither if nothing is written."""

    given: str = ""
    file: Path | None = None
    folder: Location | None = None
    earlier: tuple[Path, ...] = ()  # the files of an unfinished run of paraqd 0.1, which this run discards

    @property
    def parts(self) -> Location | None:
        """The folder that holds the finished parts of an unfinished run."""
        return self.folder if self.file is None else parts_place(self.file)

    @classmethod
    def at(
        cls, source: Location, out: str | Path | None, *, overwrite: bool = False, restart: bool = False, **other: Any
    ) -> Output:
        """Return the location of a run's output, or raise a TableError if nothing can be written there.

        The output is a folder of parts if ``out`` ends in ``/``, is a URI or names an existing folder, or if the input
        is a folder. Options that do not concern the output are ignored.
        """
        if out is None:
            return cls()
        if not (given := str(out)):
            raise TableError("the name of the output is empty; pass the name of a file or a folder")
        folder = given.endswith(("/", os.sep)) or is_uri(given) or Path(given).is_dir()
        if source.kind == "folder" and not folder:
            if Path(given).suffix:
                raise TableError(
                    f"{source.given} is a folder, and {given} is the name of a file: pass "
                    f"{named('out', Path(given).stem + '/')} for a folder of parts"
                )
            folder = True
        if folder:
            _check_pyarrow(given, source)
            place = Location.at(given)
            _check_folder(place, source)
            return cls(given, folder=place)
        file = Path(given)
        check_writable(file)
        if file.is_symlink() and not (target := Path(os.path.realpath(file))).parent.is_dir():
            raise TableError(f"cannot write {given}: it is a link to {target}, and there is no folder {target.parent}")
        if file.exists() and source.local is not None and source.local.exists() and file.samefile(source.local):
            raise TableError(f"{given} is the input itself; choose another output")
        earlier = _earlier_run(file)
        if earlier and not restart:
            where = earlier[0] if len(earlier) == 1 else earlier[0].parent
            raise TableError(
                f"{where} holds an unfinished run of paraqd 0.1, which this version cannot continue: pass "
                f"{named('restart')} to discard it and start again"
            )
        if file.exists() and not overwrite and (restart or not may_replace(file)):
            remove_leftover(file)
            raise TableError(
                f"{given} already exists; pass {named('overwrite')} to replace it, or choose another output"
            )
        return cls(given, file=file, earlier=earlier)

    def discard_earlier(self) -> None:
        """Remove the files that an unfinished run of paraqd 0.1 left, and then their folder if it is empty."""
        for path in self.earlier:
            path.unlink(missing_ok=True)
        if len(self.earlier) > 1:
            with suppress(OSError):
                self.earlier[0].parent.rmdir()


def _check_pyarrow(given: str, source: Location) -> None:
    """Raise a MissingExtraError if pyarrow is missing. The message first names an output that does not need pyarrow."""
    if importlib.util.find_spec("pyarrow") is not None:
        return
    plain = "a .csv, .tsv or .jsonl file"
    if source.kind == "folder":
        other = f"pass the files in {source.given} one at a time, and {plain} as the output of each"
    else:
        other = f"pass {plain} as the output instead"
    raise MissingExtraError(
        f"cannot write {given}: a folder output consists of Parquet files, which need pyarrow; {other}, or install "
        "pyarrow: pip install 'paraqd[parquet]'"
    )


def _check_folder(place: Location, source: Location) -> None:
    if place.kind not in ("folder", ""):
        raise TableError(f"cannot write {place.given}: it is a file, not a folder; choose another output")
    if source.is_standard_input:
        pass
    elif (place.local is None) == (source.local is None):
        here, there = Path(place.path("")), Path(source.path(""))
        if place.local is not None:
            here, there = here.resolve(), there.resolve()
        elif is_uri(source.place) and place.place.partition("://")[0] != source.place.partition("://")[0]:
            here = Path("another file system") / here
        if here == there or here in there.parents or there in here.parents:
            raise TableError(
                f"one of {place.given} and the input {source.given} is inside the other; choose another output"
            )
    if place.local is not None and not place.local.parent.is_dir():
        raise TableError(f"cannot write {place.given}: there is no folder {Path(place.given).parent}; create it first")


def _earlier_run(file: Path) -> tuple[Path, ...]:
    """Return the files that an unfinished run of paraqd 0.1 left next to the output.

    paraqd 0.1 kept its journal in the file ``OUT.unfinished``, or its parts in a folder with a ``manifest.json``. Files
    with these names but other contents do not belong to paraqd and are not touched.
    """
    journal, parts = file.with_name(f"{file.name}.unfinished"), file.with_name(f"{file.name}.parts")
    if (
        journal.is_file()
        and not journal.is_symlink()
        and {"input", "columns", "signature"} <= _keys(journal, lines=True)
    ):
        return (journal,)
    manifest = parts / "manifest.json"
    if parts.is_symlink() or not manifest.is_file() or not {"input", "steps", "models", "chunk"} <= _keys(manifest):
        return ()
    return (manifest, *parts.glob(f"part-{'[0-9]' * 7}.json"), *parts.glob(".*.writing"), parts / "lock")


def _keys(path: Path, *, lines: bool = False) -> set[str]:
    """Return the keys of the JSON object in a file or in the file's first line.

    If there is no such object, return an empty set.
    """
    try:
        with open(path, "rb") as file:
            return set(_object(file.readline(1 << 20) if lines else file.read()))
    except OSError:
        return set()


def _object(raw: bytes) -> dict[str, Any]:
    """Return the JSON object in the bytes, or an empty dictionary if the bytes do not contain an object."""
    try:
        found = json.loads(raw)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


# --- the record of how a file was produced --------------------------------------------------------


_OURS = {"complete", "pseudo_labels"}  # every record has at least one of these keys


def check_beside(out: Path) -> None:
    """Raise a TableError if `write_beside` would replace a file that paraqd did not write."""
    side = _record_path(out)
    with clear_errors(side, "write"):
        check_regular(side)  # reading a pipe could block forever
    if kind_of(out).format is not Format.PARQUET and side.exists() and not _OURS & _keys(side):
        raise TableError(
            f"{side} is in the way: paraqd did not write it, but would record there how {out.name} was produced; move "
            "it away, or choose another output"
        )


def write_beside(out: Path, metadata: Mapping[str, Any]) -> None:
    """Write the record of how a file was produced to ``OUT.meta.json``.

    Nothing is written for a Parquet file, because the file itself contains the record.
    """
    if check_writable(out).format is not Format.PARQUET:
        with replacing(_record_path(out)) as side:
            text = json.dumps(metadata, ensure_ascii=False, indent=2, sort_keys=True)
            side.write_text(text + "\n", encoding="utf-8")


def _record_path(out: Path) -> Path:
    return out.with_name(f"{out.name}.meta.json")


def read_metadata(path: str | Path) -> dict[str, Any]:
    """Return the record of how a file of pairs was produced, or an empty dictionary if there is no record.

    A file ``IN.meta.json`` that paraqd did not write is ignored.
    """
    path = Path(path)
    if kind_of(path).format is Format.PARQUET:
        import pyarrow.parquet

        with clear_errors(path):
            raw = (pyarrow.parquet.read_schema(path).metadata or {}).get(b"paraqd", b"{}")
    else:
        side = _record_path(path)
        with clear_errors(side):
            raw = side.read_bytes() if side.is_file() else b"{}"
    found = _object(raw)
    return found if _OURS & set(found) else {}
