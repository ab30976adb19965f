"""Inspect every input file before the work begins: find its columns, count its rows, and detect damage."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from paraqd.files import sha256_of
from paraqd.parameters import named
from paraqd.plural import counted
from paraqd.progress import Progress, silent
from paraqd.runs.column_types import ValueKinds, plain_value, types_in
from paraqd.runs.locations import Entry, Location
from paraqd.runs.pieces import LEAST_ROWS, Piece, Reader, cuts, even_cuts, opened_parquet, rows_of_a_part
from paraqd.tables.excel import LONGEST_CELL
from paraqd.tables.formats import (
    DamagedError,
    EmptyError,
    Format,
    TableError,
    check_names,
    clear_errors,
    is_known,
    kind_of,
    not_regular,
)
from paraqd.tables.rows import LostRow, numbered
from paraqd.tables.table import Table, open_table

AT_ONCE = 16  # the number of files inspected in parallel, because object stores respond slowly
_EVERY = 4096  # rows between two progress reports
# raises a TableError if the columns of a file cannot be used
Check = Callable[[Table], None]


@dataclass(frozen=True)
class InputFile:
    """An input file after inspection.

    ``groups`` holds the sizes of the file's row groups, ``types`` the types of its columns, and ``table`` the settings
    for reading a text file. ``problem`` is the reason why the file, or the end of the file, cannot be read. ``refused``
    is the reason why the file's columns cannot be used. ``empty`` is True if the file has neither columns nor rows,
    which is not an error.
    """

    entry: Entry
    groups: tuple[int, ...] = ()
    types: Mapping[str, Any] | None = None
    problem: str = ""
    refused: str = ""
    table: Table | None = None
    empty: bool = False
    seen: int = 0  # the modification time at inspection, in nanoseconds

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(self.groups)


@dataclass(frozen=True)
class Inputs:
    """The input files and their pieces. ``types`` maps every column that occurs in a file to its type."""

    source: Location
    files: tuple[InputFile, ...]
    pieces: tuple[Piece, ...]
    types: Mapping[str, Any]
    part_rows: int
    notes: tuple[str, ...] = ()
    hashed: bool = False  # True if the input is a single file whose entry holds a hash of its bytes

    @property
    def rows(self) -> int:
        """The number of rows in all pieces."""
        return sum(piece.rows for piece in self.pieces)

    @property
    def empty(self) -> tuple[str, ...]:
        """The names of the empty files."""
        return tuple(self.source.shown(file.entry.name) for file in self.files if file.empty)

    @property
    def problems(self) -> tuple[str, ...]:
        """One line for each file that cannot be read to its end."""
        found = ((self.source.shown(file.entry.name), file.problem) for file in self.files if file.problem)
        return tuple(why if name in why else f"{name}: {why}" for name, why in found)

    @property
    def reader(self) -> Reader:
        """A reader for the pieces."""
        return Reader(self.source, {file.entry.name: file.table for file in self.files if file.table is not None})

    @property
    def table(self) -> Table | None:
        """The settings for reading the input if the input is a single text file, otherwise None."""
        return self.files[0].table if len(self.files) == 1 else None

    def changed(self) -> str:
        """Return the name of the first input file that has changed since the survey, or an empty string if none has.

        Only local files are checked: a single file by its content, and the files in a folder by size and time.
        """
        if self.source.local is None:
            return ""
        if not self.hashed:
            names = (file.entry.name for file in self.files if not self._is_same(file.entry))
            return next((self.source.shown(name) for name in names), "")
        [file] = self.files
        place = _path_of(self.source, file)
        with clear_errors(place):
            same = place.stat().st_mtime_ns == file.seen or sha256_of(place) == file.entry.state
        return "" if same else self.source.shown("")

    def _is_same(self, entry: Entry) -> bool:
        try:
            now = os.stat(self.source.path(entry.name))
        except OSError:
            return False
        return (now.st_size, now.st_mtime_ns) == (entry.size, entry.state)


def survey(
    source: Location,
    *,
    check: Check,
    progress: Progress,
    encoding: str | None = None,
    keep_going: bool = False,
    offer: bool = False,
    part_rows: int | None = None,
    for_file: int | None = None,
) -> Inputs:
    """Inspect every input file, and split the rows into pieces.

    Parameters
    ----------
    source : Location
        A file or a folder. Text files are read completely. For Parquet files, only the footers are read.
    check : callable
        A function that raises a TableError if a file's columns cannot be used.
    progress : Progress
        A progress callback for the stage ``reading``.
    encoding : str, optional
        The encoding of all text files that are read (default: UTF-8).
    keep_going : bool
        Use the readable rows of damaged text files. An unreadable line becomes a `LostRow`, and a truncated file ends
        at the point of truncation. Files that ``check`` rejects are skipped.
    offer : bool
        Mention ``keep_going`` in messages about damage.
    part_rows : int, optional
        The maximum number of rows in a piece. The default depends on the total number of rows.
    for_file : int, optional
        The minimum number of rows in a piece if the output is a file. If None, the output is a folder.

    """
    kind = source.kind
    alone = kind != "folder"
    if not kind and not Path(source.given).suffix:
        raise TableError(f"there is no file or folder {source.given}")
    if alone and not source.is_standard_input:
        kind_of(source.given)  # raises an error if the extension is unknown
    if not kind:
        raise TableError(f"there is no file {source.given}")
    if kind == "other":
        raise not_regular(source.given)
    entries, links = source.entries(lambda name: _is_input(source, name))
    if not entries:
        known = ".parquet files" if source.local is None else ".parquet, .jsonl, .csv or .tsv files"
        only_links = f", only links that point outside the folder ({links[0]})" if links else ""
        raise TableError(f"{source.given} has no {known}{only_links}")
    inspect = _Inspector(source, check, progress if alone else silent, encoding, keep_going, offer, alone)
    files: list[InputFile] = []
    progress("reading", 0, None if alone else len(entries))
    with ThreadPoolExecutor(min(AT_ONCE, len(entries))) as pool:
        for file in map(inspect, entries) if alone else pool.map(inspect, entries):
            if file.refused and not keep_going:
                raise TableError(file.refused)
            files.append(InputFile(file.entry, problem=file.refused) if file.refused else file)
            if not alone:
                progress("reading", len(files), len(entries))
    rows = sum(file.rows for file in files)
    if not rows:
        problems = [file.problem for file in files if file.problem]
        empty = alone and files[0].empty
        raise TableError(problems[0] if problems else f"{source.given} {'is empty' if empty else 'has no rows'}")
    size = part_rows or rows_of_a_part(rows, for_file or LEAST_ROWS)
    places = [
        (file.entry.name, *cut)
        for file in files
        for cut in (even_cuts(file.rows, size) if for_file else cuts(file.groups, size))
    ]
    pieces = tuple(Piece(index, *place) for index, place in enumerate(places))
    notes: tuple[str, ...] = ()
    if links:
        notes = (of_files(f"{source.shown(links[0])} points outside the folder and is not followed", len(links)),)
    remarks = [note for file in files if file.table is not None for note in file.table.notes]
    if remarks:
        notes += (of_files(remarks[0], len(remarks)),)
    hashed = alone and isinstance(files[0].entry.state, str)
    return Inputs(source, tuple(files), pieces, _common_types(files), size, notes, hashed)


def check_cells(inputs: Inputs) -> None:
    """Raise a TableError if a text is too long for an Excel file, so that the work is not done in vain."""
    reader = replace(inputs.reader, lenient=True)
    for piece in inputs.pieces:
        for number, row in numbered(reader.rows(piece), piece.start + 1):
            for name, value in row.items():
                text = plain_value(value)
                if isinstance(text, str) and len(text) > LONGEST_CELL:
                    raise TableError(
                        f"{inputs.source.shown(piece.file)}, row {number}: the column {name!r} has {len(text):,} "
                        f"characters, and an Excel cell holds {LONGEST_CELL:,}; choose .csv or .jsonl for the output"
                    )


def of_files(line: str, count: int) -> str:
    """Return a message about a file, followed by the number of files to which the message applies.

    >>> of_files("in/a.csv is empty", 1), of_files("in/a.csv is empty", 3000)
    ('in/a.csv is empty', 'in/a.csv is empty (the same in 3,000 files)')
    """
    return f"{line} (the same in {count:,} files)" if count > 1 else line


def _is_input(source: Location, name: str) -> bool:
    """Return True if a file in a folder belongs to the input.

    Files are ignored if their name, or the name of a folder that contains them, begins with ``_`` or ``.``. In object
    stores, only Parquet files are read.
    """
    if any(part.startswith(("_", ".")) for part in name.split("/")):
        return False
    if name and not is_known(name):
        return False
    return source.local is not None or kind_of(name or source.path("")).format is Format.PARQUET


def _path_of(source: Location, file: InputFile) -> Path:
    if file.table is None:
        return Path(source.path(file.entry.name))
    return file.table.origin or file.table.path


@dataclass(frozen=True)
class _Inspector:
    """A callable that inspects a file and returns an `InputFile`."""

    source: Location
    check: Check
    progress: Progress
    encoding: str | None
    keep_going: bool
    offer: bool
    alone: bool

    def __call__(self, entry: Entry) -> InputFile:
        try:
            if not self.alone and self.source.local is not None and not os.path.isfile(self.source.path(entry.name)):
                raise TableError(f"{self.source.shown(entry.name)} is not a regular file but a pipe or a device")
            file = self._text(entry) if self._is_text(entry) else self._parquet(entry)
        except TableError as error:
            problem = str(error)
            if not self.source.is_standard_input:
                problem = problem.replace(self.source.path(entry.name), self.source.shown(entry.name))
            return InputFile(entry, problem=problem)
        if file.refused or file.empty or not self.alone or self.source.local is None:
            return file
        return self._with_hash(file)

    def _with_hash(self, file: InputFile) -> InputFile:
        """Return the file with its hash, or raise a TableError if the file has changed since it was listed."""
        place, entry = _path_of(self.source, file), file.entry
        with clear_errors(place):
            digest, now = sha256_of(place), place.stat()
        if not self.source.is_standard_input and (now.st_size, now.st_mtime_ns) != (entry.size, entry.state):
            raise TableError(f"{self.source.given} was changed while it was read; run the same command again")
        return replace(file, entry=Entry(entry.name, now.st_size, digest), seen=now.st_mtime_ns)

    def _is_text(self, entry: Entry) -> bool:
        return kind_of(self.source.path(entry.name)).format is not Format.PARQUET

    def _refused(self, table: Table) -> str:
        """Return the reason why a file's columns cannot be used, or an empty string if the columns can be used."""
        try:
            self.check(table)
        except TableError as error:
            return str(error)
        return ""

    def _parquet(self, entry: Entry) -> InputFile:
        shown = self.source.shown(entry.name)
        if self.source.local is not None and not entry.size:
            raise TableError(f"{shown} is empty")
        with opened_parquet(self.source, entry.name) as file:
            groups = tuple(file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups))
            names = check_names(tuple(file.schema_arrow.names), shown)
            types = types_in(file.schema_arrow)
        table = Table(name=shown, path=Path(shown), kind=kind_of(self.source.path(entry.name)), columns=names)
        return InputFile(entry, groups, types, refused=self._refused(table))

    def _text(self, entry: Entry) -> InputFile:
        """Read a text file once to count its rows and infer its column types."""
        path = self.source.path(entry.name)
        try:
            table = open_past_first_line(path, encoding=self.encoding, lenient=self.keep_going)
        except EmptyError:
            if kind_of(path).packing and not entry.size:
                raise  # even compressed empty content has some bytes, so a file of size 0 is incomplete
            return InputFile(entry, empty=True)
        table = replace(table, name=self.source.shown(entry.name))
        jsonl = table.kind.format is Format.JSONL
        if not jsonl and (refused := self._refused(table)):  # a header can be checked before the rows are read
            return InputFile(entry, refused=refused)
        read = read_through(table, self.progress)
        problem = self._damage(table, read)
        if problem:
            table = replace(table, sound=read.rows)
        if jsonl:
            table = replace(table, columns=tuple(read.columns))
        types = {name: kinds.type if jsonl else str for name, kinds in read.columns.items()}
        refused = self._refused(table) if jsonl and read.rows else ""
        return InputFile(entry, (read.rows,), types, problem, refused, table)

    def _damage(self, table: Table, read: TextRead) -> str:
        """Return a description of a file's damage, or an empty string if the file is not damaged.

        Raise a TableError if the file cannot be used.
        """
        if not self.keep_going:
            if read.damage is None:
                return ""
            if self.offer and _has_more(table, read):
                other = "" if self.alone else " and choose another output"
                raise TableError(f"{with_remedy(read)}{other}")
            raise read.damage
        if not read.sound and (read.damage or read.rows):
            raise read.damage or TableError(f"no line of {table.name} can be read")
        return "" if read.damage is None else f"{read.damage}; only {read.usable} are used"


def _common_types(files: Sequence[InputFile]) -> dict[str, Any]:
    """Return a mapping from every column that occurs in a file to the column's type.

    If a column has different types, the result is the widest common type, or text if there is no common type.
    """
    found: dict[str, Any] = {}
    for file in files:
        for name, kind in (file.types or {}).items():
            found[name] = kind if found.get(name, kind) == kind else _widest(name, found[name], kind)
    return found


def _widest(name: str, one: Any, other: Any) -> Any:
    import pyarrow as pa

    from paraqd.tables.writers import arrow_schema

    try:
        both = [arrow_schema({name: each}) for each in (one, other)]
        wide = pa.unify_schemas(both, promote_options="permissive").field(name).type
    except pa.ArrowException:
        return str
    return str if pa.types.is_string(wide) or pa.types.is_large_string(wide) else wide


# --- text files ---------------------------------------------------------------------------------


@dataclass
class TextRead:
    """The result of reading a text file to its end.

    ``rows`` is the number of rows, and ``sound`` is the number of readable rows. ``columns`` holds the kinds of values
    in each column of a JSONL file. ``damage`` is the error at which reading stopped, or None.
    """

    rows: int = 0
    sound: int = 0
    columns: dict[str, ValueKinds] = field(default_factory=dict)
    damage: DamagedError | None = None

    @property
    def usable(self) -> str:
        """A phrase that names the rows that can be used despite the damage."""
        if self.damage is not None and self.damage.row:
            return "the other rows"
        return f"the {counted(self.rows, 'row')} before that"


def read_through(table: Table, progress: Progress) -> TextRead:
    """Read the rows of a text file up to its end, or up to damage that cannot be skipped."""
    read = TextRead(columns={name: ValueKinds() for name in table.columns})
    jsonl = table.kind.format is Format.JSONL
    try:
        for row in table.rows():
            read.rows += 1
            read.sound += not isinstance(row, LostRow)
            if jsonl:
                for name, value in row.items():
                    read.columns.setdefault(name, ValueKinds()).add(value)
            if read.rows % _EVERY == 0:
                progress("reading", read.rows, None)
    except DamagedError as error:
        read.damage = error
    return read


def with_remedy(read: TextRead) -> str:
    """Return a message that describes a file's damage and explains how to score the other rows.

    >>> with_remedy(TextRead(rows=5, damage=DamagedError("in.csv is cut off")))
    'in.csv is cut off; to score the 5 rows before that, pass keep_going=True'
    """
    return f"{read.damage}; to score {read.usable}, pass {named('keep_going')}"


def _has_more(table: Table, read: TextRead) -> bool:
    """Return True if a damaged file has readable rows, either before the damage or after a broken line."""
    if read.rows:
        return True
    broken_line = read.damage is not None and read.damage.row
    return bool(broken_line) and read_through(replace(table, lenient=True), silent).sound > 0


def open_past_first_line(source: str | Path, *, encoding: str | None, lenient: bool) -> Table:
    """Open a text file without checking its first line. The line is checked later, when the rows are read."""
    return replace(open_table(source, encoding=encoding, lenient=True), lenient=lenient)
