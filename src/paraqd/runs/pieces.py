"""The rows of many files cut into parts: always the same parts for the same files, each of rows of one file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from paraqd.data.formats import EmptyError, Format, TableError, check_names, explained, is_known, kind_of
from paraqd.data.parquet import batches, brief, group_problem, opened
from paraqd.data.rows import LostRow
from paraqd.data.tables import Row, Table
from paraqd.runs.column_types import types_in
from paraqd.runs.stores import Entry, Store
from paraqd.runs.text_files import has_more, offered, open_past_first_line, read_through

LEAST_ROWS, MOST_ROWS = 1024, 65_536
_PARTS = 4096  # aimed at: enough for many machines, few enough to be listed in a second or two
_REMEMBERED = 4096  # row groups that were looked through
AT_ONCE = 16  # files looked at at a time: in an object store each takes a while to answer


class UnreadableError(TableError):
    """Rows that cannot be read; the others can."""


@dataclass(frozen=True)
class Piece:
    """Some rows of one file; ``start`` counts from 0."""

    index: int
    file: str
    start: int
    rows: int


@dataclass(frozen=True)
class Surveyed:
    """A file that was looked at: how many rows its row groups have, what its columns hold, or why that is not known.

    ``table`` is how a text file is read. One that is ``empty`` has no columns either, and nothing is wrong with it.
    """

    entry: Entry
    groups: tuple[int, ...] = ()
    types: Mapping[str, Any] | None = None
    problem: str = ""
    table: Table | None = None
    empty: bool = False

    @property
    def rows(self) -> int:
        """How many rows the file has."""
        return sum(self.groups)


@dataclass(frozen=True)
class Inputs:
    """The files of a store, cut into pieces; ``types`` is what the columns of all of them hold together."""

    store: Store
    files: tuple[Surveyed, ...]
    pieces: tuple[Piece, ...]
    types: Mapping[str, Any]
    part_rows: int

    @property
    def rows(self) -> int:
        """How many rows all files have that can be read."""
        return sum(piece.rows for piece in self.pieces)

    @property
    def empty(self) -> tuple[str, ...]:
        """Files with nothing in them."""
        return tuple(self.store.shown(file.entry.name) for file in self.files if file.empty)

    @property
    def unreadable(self) -> tuple[tuple[str, str], ...]:
        """Files that cannot be read, or not to their end, each with the reason."""
        return tuple((self.store.shown(file.entry.name), file.problem) for file in self.files if file.problem)

    @property
    def reader(self) -> Reader:
        """What reads the pieces; small, and sent to each worker."""
        tables = {file.entry.name: file.table for file in self.files if file.table is not None}
        return Reader(self.store, tables)


def survey(
    store: Store,
    *,
    encoding: str | None = None,
    part_rows: int | None = None,
    keep_going: bool = False,
    offer: bool = False,
    check: Callable[[Table], None],
    progress: Callable[[str, int, int | None], None],
) -> Inputs:
    """Look at every file: its columns, which ``check`` may refuse, and its rows, which are cut into pieces.

    Of Parquet only the footers are read. A file that cannot be read is noted and does not hold up the others. With
    ``keep_going`` a line of a text file that cannot be read is a `LostRow`, of one that is cut off the rows before that
    count, and one that is refused is left out; ``offer`` says that the caller has such an option, which is then named.
    """
    entries = [entry for entry in store.entries() if _wanted(store, entry)]
    if not store.kind:
        raise TableError(f"there is no file or folder {store.given}")
    if not entries:
        known = ".parquet files" if store.local is None else ".parquet, .jsonl, .csv or .tsv files"
        raise TableError(f"{store.given} has no {known}")
    files: list[Surveyed] = []
    progress("looking", 0, len(entries))
    with ThreadPoolExecutor(min(AT_ONCE, len(entries))) as pool:
        for file in pool.map(partial(_look, store, encoding, keep_going, offer), entries):
            if file.types is not None:
                try:
                    check(_named(store, file))
                except TableError as error:
                    if not keep_going:
                        raise
                    file = Surveyed(file.entry, problem=str(error))
            files.append(file)
            progress("looking", len(files), len(entries))
    rows = sum(file.rows for file in files)
    if not rows:
        problems = [file.problem for file in files if file.problem]
        raise TableError(problems[0] if problems else f"{store.given} has no rows")
    size = part_rows or rows_of_a_part(rows)
    places = [(file.entry.name, *cut) for file in files for cut in cuts(file.groups, size)]
    pieces = tuple(Piece(index, *place) for index, place in enumerate(places))
    return Inputs(store, tuple(files), pieces, _together(files), size)


def rows_of_a_part(rows: int) -> int:
    """Return how many rows a part has at most; it depends on the number of all rows alone.

    >>> rows_of_a_part(5000), rows_of_a_part(100_000_000), rows_of_a_part(10**10)
    (1024, 24576, 65536)
    """
    wanted = -(-rows // _PARTS // LEAST_ROWS) * LEAST_ROWS
    return min(max(wanted, LEAST_ROWS), MOST_ROWS)


def cuts(groups: Iterable[int], size: int) -> list[tuple[int, int]]:
    """Cut a file into (start, rows): whole row groups together as long as they fit, large ones by themselves.

    Rows that cannot be read then spoil few others.

    >>> cuts([400, 500, 300, 2500], 1000)
    [(0, 900), (900, 300), (1200, 834), (2034, 833), (2867, 833)]
    """
    found: list[tuple[int, int]] = []
    start = waiting = 0
    for rows in groups:
        if waiting and waiting + rows > size:
            found.append((start, waiting))
            start, waiting = start + waiting, 0
        if rows > size:
            count = -(-rows // size)
            for number in range(count):
                share = rows // count + (number < rows % count)
                found.append((start, share))
                start += share
        else:
            waiting += rows
    return [*found, (start, waiting)] if waiting else found


def _wanted(store: Store, entry: Entry) -> bool:
    """Whether a file belongs to the data: not what programs put beside them, and on other machines Parquet alone."""
    if any(part.startswith(("_", ".")) for part in entry.name.split("/")):
        return False
    if entry.name and not is_known(entry.name):
        return False
    return store.local is not None or _is_parquet(store, entry.name)


def _is_parquet(store: Store, name: str) -> bool:
    return kind_of(store.path(name)).format is Format.PARQUET


def _named(store: Store, file: Surveyed) -> Table:
    """Return a file's columns as those of a table, for checks."""
    kind = kind_of(store.path(file.entry.name))
    name = store.shown(file.entry.name)
    return Table(name=name, path=Path(name), kind=kind, columns=tuple(file.types or ()))


def _look(store: Store, encoding: str | None, keep_going: bool, offer: bool, entry: Entry) -> Surveyed:
    try:
        if not _is_parquet(store, entry.name):
            return _look_at_text(store, encoding, keep_going, offer, entry)
        with _parquet(store, entry.name) as file:
            groups = tuple(file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups))
            check_names(tuple(file.schema_arrow.names), store.shown(entry.name))
            return Surveyed(entry, groups, types_in(file.schema_arrow))
    except TableError as error:
        return Surveyed(entry, problem=_shortly(error, store, entry))


def _shortly(error: Exception, store: Store, entry: Entry) -> str:
    """Return a message with the file's name as it is shown."""
    return str(error).replace(str(store.path(entry.name)), store.shown(entry.name))


def _look_at_text(store: Store, encoding: str | None, keep_going: bool, offer: bool, entry: Entry) -> Surveyed:
    """Read a text file once: its rows are counted, and what its columns hold is seen."""
    try:
        table = open_past_first_line(store.path(entry.name), encoding=encoding, lenient=keep_going)
    except EmptyError:
        if kind_of(store.path(entry.name)).packing and not entry.size:
            raise  # what was never compressed is no file without rows, but one that did not arrive
        return Surveyed(entry, empty=True)
    table = replace(table, name=store.shown(entry.name))
    read = read_through(table)
    problem = ""
    if keep_going and not read.sound and (read.damage or read.rows):
        raise read.damage or TableError(f"no line of {table.name} can be read")
    if read.damage is not None:
        if not keep_going:
            raise TableError(f"{offered(read)} and another -o") if offer and has_more(table, read) else read.damage
        problem = f"{_shortly(read.damage, store, entry)}; only {read.gained} are scored"
        table = replace(table, sound=read.rows)
    jsonl = table.kind.format is Format.JSONL
    types = {name: held.type if jsonl else str for name, held in read.held.items()}
    return Surveyed(entry, (read.rows,), types, problem, table)


def _together(files: Sequence[Surveyed]) -> dict[str, Any]:
    """Return the columns of all files and what they hold: text where they do not agree."""
    import pyarrow as pa

    from paraqd.data.writers import arrow_schema

    found: dict[str, Any] = {}
    for file in files:
        for name, held in (file.types or {}).items():
            if found.get(name, held) == held:
                found[name] = held
                continue
            try:
                both = [arrow_schema({name: each}) for each in (found[name], held)]
                wide = pa.unify_schemas(both, promote_options="permissive").field(name).type
                found[name] = str if pa.types.is_string(wide) or pa.types.is_large_string(wide) else wide
            except pa.ArrowException:
                found[name] = str
    return found


# --- reading ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reader:
    """Reads pieces of the files of a store."""

    store: Store
    tables: Mapping[str, Table]
    lenient: bool = False  # rows of a damaged row group are `LostRow`, and do not hold up the others
    # the text file that was read last, how far, and its other rows
    _last: list[tuple[str, int, Iterator[Row]]] = field(default_factory=list, compare=False, repr=False)
    _problems: dict[tuple[str, int], str] = field(default_factory=dict, compare=False, repr=False)

    def rows(self, piece: Piece, only: Sequence[str] | None = None) -> Iterator[Row]:
        """Yield the rows of a piece; `UnreadableError` says which cannot be read, and why."""
        count = 0
        try:
            for row in self._rows(piece, only):
                yield row
                count += 1
        except TableError as error:
            raise UnreadableError(f"{self._where(piece)} cannot be read: {error}") from None
        if count != piece.rows:
            raise UnreadableError(f"{self._where(piece)} are no longer there: the file was changed")

    def chunks(self, piece: Piece, size: int, only: Sequence[str] | None = None) -> Iterator[list[Row]]:
        """Yield the rows of a piece in lists."""
        rows = self.rows(piece, only)
        while chunk := list(islice(rows, size)):
            yield chunk

    def _where(self, piece: Piece) -> str:
        return f"rows {piece.start + 1:,}–{piece.start + piece.rows:,} of {self.store.shown(piece.file)}"

    def _rows(self, piece: Piece, only: Sequence[str] | None) -> Iterator[Row]:
        if (table := self.tables.get(piece.file)) is not None:
            return self._text_rows(table, piece)
        return self._parquet_rows(piece, only)

    def _parquet_rows(self, piece: Piece, only: Sequence[str] | None) -> Iterator[Row]:
        import pyarrow as pa

        with _parquet(self.store, piece.file) as file:
            columns = None if only is None else [name for name in only if name in file.schema_arrow.names]
            try:
                for group, start, rows in _shares(file.metadata, piece):
                    if problem := self._problem(file, piece.file, group):
                        yield from (LostRow(f"row group {group + 1} cannot be read", problem) for _ in range(rows))
                    else:
                        yield from _group_rows(batches(file, group, columns), start, rows)
            except (pa.ArrowException, OSError, ValueError) as error:
                raise TableError(brief(error)) from None

    def _problem(self, file: Any, name: str, group: int) -> str:
        """Say why a row group cannot be read.

        It is looked through as a whole, so that which rows are lost does not depend on how the file is cut into pieces,
        and once by each worker.
        """
        if not self.lenient or self.store.local is None:
            return ""
        if (name, group) not in self._problems:
            if len(self._problems) >= _REMEMBERED:
                self._problems.clear()
            self._problems[name, group] = group_problem(file, group)
        return self._problems[name, group]

    def _text_rows(self, table: Table, piece: Piece) -> Iterator[Row]:
        """Yield the rows of a piece; one that stands behind the last that was read is reached from there.

        Pieces are handed out in their order, so that a worker reads through a text file once, however many it has.
        """
        file, place, rows = self._last.pop() if self._last else ("", 0, iter(()))
        if file != piece.file or place > piece.start or not place:
            place, rows = 0, table.rows()
        yield from islice(rows, piece.start - place, piece.start - place + piece.rows)
        self._last.append((piece.file, piece.start + piece.rows, rows))


def _group_rows(held: Iterable[Any], start: int, rows: int) -> Iterator[Row]:
    """Yield so many rows of a row group's batches, from a place on."""
    for batch in held:
        if start >= batch.num_rows:
            start -= batch.num_rows
            continue
        taken = batch.slice(start, rows)
        start, rows = 0, rows - taken.num_rows
        taken.validate(full=True)  # bytes that are no UTF-8, offsets that lead nowhere
        yield from taken.to_pylist()
        if not rows:
            return


def _shares(metadata: Any, piece: Piece) -> Iterator[tuple[int, int, int]]:
    """Yield the row groups that hold a piece: where in each it begins, and how many rows of it are there."""
    first = 0
    for number in range(metadata.num_row_groups):
        last = first + metadata.row_group(number).num_rows
        start, end = max(first, piece.start), min(last, piece.start + piece.rows)
        if start < end:
            yield number, start - first, end - start
        first = last


@contextmanager
def _parquet(store: Store, name: str) -> Iterator[Any]:
    shown = store.shown(name)
    with explained(shown), store.filesystem.open_input_file(store.path(name)) as raw, opened(raw, shown) as file:
        yield file
