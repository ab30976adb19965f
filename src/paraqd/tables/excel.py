"""Read and write Excel workbooks (``.xlsx``).

A workbook cannot be read piece by piece, so its rows are copied to a temporary JSONL file, which is then read like any
other file. A written workbook has the rows on the first sheet and a summary on the second.
"""

from __future__ import annotations

import atexit
import datetime
import json
import math
import re
import shutil
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any

from paraqd.tables.formats import SOME_ROWS, EmptyError, TableError, check_names, clear_errors, reason
from paraqd.tables.formulas import BEGINNINGS

LARGEST = 1 << 29  # the size of an unpacked workbook in bytes; larger ones are refused
LONGEST_CELL = 32_767  # characters; Excel allows no more
MOST_ROWS = 1_048_576  # Excel allows no more, including the header
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # characters that XML cannot represent
OUR_SHEETS = ("pairs", "summary")  # the names of the sheets that paraqd writes
_SAMPLE = 200  # the number of rows that determine the widths of the columns
_NARROWEST, _WIDEST = 9, 60  # widths of columns, in characters
_EXACT = 10**15  # Excel keeps 15 digits of a number
_HIDDEN = ("evidence", "warnings", "signature")  # columns for programs
_COLOURS = {"valid": "C6EFCE", "invalid": "FFC7CE", "review": "FFEB9C", "error": "D9D9D9"}
# the counts in the summary: the key, the name that is shown, and the name of the colour
_VERDICTS = (
    ("valid", "valid", "valid"),
    ("invalid", "invalid", "invalid"),
    ("solvable", "solvable", "valid"),
    ("unsolvable", "unsolvable", "invalid"),
    ("review", "check by hand", "review"),
    ("errors", "not {done}", "error"),
)
_MORE = {"warned": "with warnings", "empty_cells": "empty cells skipped"}
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")
_MODIFIED = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")

_Cells = tuple[int, tuple[Any, ...]]  # the number and the values of a row


@dataclass(frozen=True)
class SheetCopy:
    """The copy of a sheet as JSONL.

    Each row is on the line that has the row's number in the sheet; the lines of the header and of blank rows are blank.
    ``others`` lists the sheets that were not read.
    """

    path: Path
    columns: tuple[str, ...]
    sheet: str
    others: tuple[str, ...]


def copy_sheet(path: Path, name: str, *, largest: int | None = None) -> SheetCopy:
    """Copy the first sheet that has a header and a row to a temporary file, which is removed when the process ends.

    The first row that is not blank contains the column names. A column without a name is named by its letter, such as
    ``C``. Blank rows are left out. If ``largest`` is given, the cells may have this many characters together.

    Raises
    ------
    TableError
        If the workbook is damaged, protected by a password, too large or empty, or if a formula has no saved value.

    """
    _check_archive(path, name)

    with _opened(path, name) as book:
        copy = _copied(book, name, largest)
        if _has_formulas(path):
            with _opened(path, name, formulas=True) as formulas:
                _check_formulas(book[copy.sheet], formulas[copy.sheet], copy.columns, name)
        return copy


@contextmanager
def _opened(path: Path, name: str, *, formulas: bool = False) -> Iterator[Any]:
    """Open a workbook, whose cells contain the values or, if ``formulas`` is True, the formulas."""
    from openpyxl import load_workbook

    try:
        with clear_errors(name), closing(load_workbook(path, read_only=True, data_only=not formulas)) as book:
            yield book
    except TableError:
        raise
    except Exception as error:  # a damaged workbook raises various exceptions
        raise TableError(f"{name} cannot be read as an Excel file ({reason(error)}); save it again") from None


def _copied(book: Any, name: str, largest: int | None) -> SheetCopy:
    sheet, (first, header), rows = _chosen(book.worksheets, name)
    titles = [_name(value) for value in header]
    width = max(place for place, each in enumerate(titles, start=1) if each)
    columns = check_names(tuple(each or _letter(place) for place, each in enumerate(titles[:width], start=1)), name)
    line, size = 1, 0
    with tempfile.NamedTemporaryFile("w", prefix="paraqd-", suffix=".jsonl", encoding="utf-8", delete=False) as file:
        atexit.register(Path(file.name).unlink, missing_ok=True)
        for number, values in rows:
            if any(value is not None for value in values[width:]):
                shown = ", ".join(each for each in titles if each)
                raise TableError(
                    f"{name}, row {number} has more cells than the header has names; row {first} ({shown}) must hold "
                    "the names of all columns"
                )
            size += sum(len(value) for value in values if isinstance(value, str))
            if largest is not None and size > largest:
                Path(file.name).unlink()
                raise TableError(
                    f"{name} needs more than {largest / 1e6:,.0f} MB unpacked; divide it into several files"
                )
            row = dict(zip(columns, chain(map(_value, values[:width]), [None] * width), strict=False))
            file.write("\n" * (number - line) + json.dumps(row, ensure_ascii=False) + "\n")
            line = number + 1
    others = tuple(each.title for each in book.worksheets if each is not sheet)
    return SheetCopy(Path(file.name), columns, sheet.title, others)


def _chosen(sheets: Sequence[Any], name: str) -> tuple[Any, _Cells, Iterator[_Cells]]:
    """Return the first sheet that has a header and a row, its header, and its rows."""
    headers = []
    for sheet in sheets:
        rows = _filled_rows(sheet)
        header, row = next(rows, None), next(rows, None)
        if header is not None and row is not None:
            return sheet, header, chain([row], rows)
        headers += [sheet.title] if header is not None else []
    if not headers:
        raise EmptyError(f"{name} is empty; {SOME_ROWS}")
    which = (
        f"{name} has no" if len(sheets) == 1 else f"no sheet of {name} ({', '.join(each.title for each in sheets)}) has"
    )
    raise EmptyError(f"{which} rows below the column names; {SOME_ROWS}")


def _has_formulas(path: Path) -> bool:
    """Return True if a sheet of a workbook contains a formula."""
    with zipfile.ZipFile(path) as archive:
        for each in archive.namelist():
            if each.startswith("xl/worksheets/"):
                with archive.open(each) as file:
                    before = b""
                    while piece := file.read(1 << 20):
                        if _FORMULA.search(before + piece):
                            return True
                        before = piece[-20:]
    return False


def _check_formulas(values: Any, formulas: Any, columns: Sequence[str], name: str) -> None:
    """Raise a TableError if a formula has no saved value, because the cell would be read as empty."""
    formulas.reset_dimensions()
    for number, (row, made) in enumerate(zip(values.iter_rows(), formulas.iter_rows(), strict=True), start=1):
        for column, cell, formula in zip(columns, row, made, strict=False):
            # a formula whose saved value is an empty text has the type "str"
            if formula.data_type == "f" and cell.value is None and cell.data_type != "str":
                raise TableError(
                    f"{name}, row {number}: {column} is a formula without a saved value; open the workbook in Excel "
                    "and save it"
                )


def _check_archive(path: Path, name: str) -> None:
    """Raise a TableError if a file is not a workbook, or if it is so large that reading it could exhaust the memory."""
    with clear_errors(name), open(path, "rb") as file:
        head = file.read(8)
        if not head:
            raise EmptyError(f"{name} is empty; {SOME_ROWS}")
        if head.startswith(b"\xd0\xcf\x11\xe0"):
            raise TableError(
                f"{name} is protected by a password or is an old .xls file; save it as .xlsx without a password"
            )
        try:
            with zipfile.ZipFile(file) as archive:
                size = sum(each.file_size for each in archive.infolist())
        except (zipfile.BadZipFile, ValueError) as error:
            raise TableError(f"{name} is not an Excel file ({reason(error)}); save it again as .xlsx") from None
    if size > LARGEST:
        raise TableError(
            f"{name} would need {size / 1e6:,.0f} MB unpacked, and the limit is {LARGEST / 1e6:,.0f} MB; save it as CSV"
        )


def _filled_rows(sheet: Any) -> Iterator[_Cells]:
    """Yield the number and the values of each row that is not blank."""
    sheet.reset_dimensions()  # some programs write wrong dimensions
    for number, values in enumerate(sheet.iter_rows(values_only=True), start=1):
        if number > MOST_ROWS:  # a damaged or hostile file can claim any number of rows
            raise TableError(f"the sheet {sheet.title!r} claims more than {MOST_ROWS:,} rows; save the workbook again")
        if any(value is not None and str(value).strip() for value in values):
            yield number, values


def _name(value: Any) -> str:
    return "" if value is None else str(_value(value)).strip()


def _letter(place: int) -> str:
    from openpyxl.utils import get_column_letter

    return str(get_column_letter(place))


def _value(value: Any) -> Any:
    """Return a cell's value as JSON can represent it."""
    if isinstance(value, str):
        from openpyxl.utils.escape import unescape

        return _ILLEGAL.sub("\ufffd", unescape(value)) if "_x" in value else value
    if isinstance(value, datetime.datetime | datetime.date | datetime.time | datetime.timedelta):
        return str(value).removesuffix(" 00:00:00")
    return int(value) if isinstance(value, float) and value.is_integer() else value


# --- writing --------------------------------------------------------------------------------------


class WorkbookRows:
    """A writer of rows to a sheet. It counts the verdicts and faults for the summary.

    The first rows are kept until the widths of the columns are known.
    """

    def __init__(self, book: Any, schema: Mapping[str, Any]) -> None:
        from openpyxl.styles import Alignment, Font, PatternFill

        self._columns = tuple(schema)
        self._hidden = _HIDDEN if {"valid", "signature"} & set(schema) else ()
        self._waiting: list[Mapping[str, Any]] | None = []
        self.counts: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.rows = 0
        self.sheet = book.create_sheet(OUR_SHEETS[0])
        self.sheet.freeze_panes = "A2"
        self._wrap, self._top = Alignment(wrap_text=True, vertical="top"), Alignment(vertical="top")
        self._bold = Font(bold=True)
        self._fills = {name: PatternFill("solid", fgColor=colour) for name, colour in _COLOURS.items()}

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write rows in order."""
        for row in rows:
            self.rows += 1
            if self.rows >= MOST_ROWS:
                raise TableError(f"an Excel sheet has at most {MOST_ROWS:,} rows; choose .csv or .parquet instead")
            self._count(row)
            cells = {name: self._value(name, row.get(name)) for name in self._columns}
            if self._waiting is None:
                self._append(cells)
            else:
                self._waiting.append(cells)
                if len(self._waiting) == _SAMPLE:
                    self._begin()

    def _count(self, row: Mapping[str, Any]) -> None:
        verdict = verdict_of(row)
        if verdict:
            self.counts[verdict] += 1
        if verdict == "invalid":
            self.faults.update(_kinds(row.get("evidence")))

    def _begin(self) -> None:
        """Write the header and the rows that were kept."""
        from openpyxl.utils import get_column_letter

        waiting, self._waiting = self._waiting or [], None
        for place, name in enumerate(self._columns, start=1):
            column = self.sheet.column_dimensions[get_column_letter(place)]
            longest = max((len(str(row[name])) for row in waiting if row[name] is not None), default=0)
            column.width = min(max(longest, len(name) + 4, _NARROWEST), _WIDEST)
            column.hidden = name in self._hidden
        self._append({name: _ILLEGAL.sub("\ufffd", name) for name in self._columns}, header=True)
        for row in waiting:
            self._append(row)

    def _append(self, row: Mapping[str, Any], *, header: bool = False) -> None:
        from openpyxl.cell import WriteOnlyCell

        cells = []
        verdict = "" if header else verdict_of(row)
        for name, value in row.items():
            cell = WriteOnlyCell(self.sheet, value)
            if isinstance(value, str):
                cell.data_type = "s"  # never a formula
                cell.quotePrefix = value.startswith(BEGINNINGS)
            cell.alignment = self._wrap if isinstance(value, str) and name not in self._hidden else self._top
            if header:
                cell.font = self._bold
            elif name in ("valid", "decision") and verdict:
                cell.fill = self._fills[verdict]
            elif name.endswith("_decision") and value in self._fills:
                cell.fill = self._fills[str(value)]
            cells.append(cell)
        self.sheet.append(cells)

    def _value(self, name: str, value: Any) -> Any:
        """Return a value that a cell can hold. Numbers that Excel would change become text."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float) and math.isfinite(value) and abs(value) < _EXACT:
            return value
        text = json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, list | dict) else str(value)
        text = _ILLEGAL.sub("\ufffd", text)
        if len(text) > LONGEST_CELL:
            raise TableError(
                f"row {self.rows + 1}: the column {name!r} has {len(text):,} characters, and an Excel cell holds "
                f"{LONGEST_CELL:,}; choose .csv or .jsonl instead"
            )
        return text

    def finish(self) -> None:
        """Write the rows that were kept, and add the filter, whose range depends on the number of rows."""
        from openpyxl.utils import get_column_letter

        if self._waiting is not None:
            self._begin()
        self.sheet.auto_filter.ref = f"A1:{get_column_letter(len(self._columns))}{self.rows + 1}"

    def summary(self) -> dict[str, Any]:
        """Return the counts of the rows, or an empty dictionary if the rows have no verdicts."""
        if not self.counts:
            return {}
        kinds = {"rows": self.rows, **self.counts, "errors": self.counts["error"]}
        return {**kinds, "faults": dict(sorted(self.faults.items(), key=lambda item: (-item[1], item[0])))}


def verdict_of(row: Mapping[str, Any]) -> str:
    """Return the verdict of a scored row: ``valid``, ``invalid``, ``review`` or ``error``; "" if it is not scored.

    >>> verdict_of({"valid": True}), verdict_of({"valid": True, "decision": "review"}), verdict_of({})
    ('valid', 'review', '')
    """
    if row.get("error"):
        return "error"
    if (decision := str(row.get("decision"))) in _COLOURS:
        return decision
    return {"true": "valid", "false": "invalid"}.get(str(row.get("valid")).lower(), "")


def _kinds(evidence: Any) -> set[str]:
    """Return the kinds of fault in a row's evidence, which is a list or JSON."""
    try:
        found = json.loads(evidence) if isinstance(evidence, str) else evidence
        return {str(piece["kind"]) for piece in found or ()}
    except (ValueError, TypeError, KeyError):  # a column of the same name that is not ours
        return set()


@contextmanager
def open_workbook(
    path: Path,
    schema: Mapping[str, Any],
    summary: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Iterator[WorkbookRows]:
    """Open a workbook for writing rows. The same rows produce the same bytes.

    ``summary`` contains the counts for the second sheet, as in `ScoreReport` or `SolvableReport` (default: counts of
    the verdicts).
    """
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    writer = WorkbookRows(book, schema)
    try:
        yield writer
    except BaseException:
        writer.sheet.close()  # otherwise, the library complains when the unfinished sheet is deleted
        raise
    writer.finish()
    if counts := summary or writer.summary():
        _add_summary(book, writer.rows, counts, metadata or {})
    with tempfile.TemporaryFile() as file:  # it has no name, so that nothing is left if the process is killed
        book.save(file)
        _without_times(file, path)


def _add_summary(book: Any, written: int, counts: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    """Add a sheet with the number of pairs or questions for each verdict and for each kind of fault."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font, PatternFill

    sheet = book.create_sheet(OUR_SHEETS[1])
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = 28, 12

    def add(name: str, *values: Any, colour: str = "", **font: Any) -> None:
        cells = [WriteOnlyCell(sheet, value) for value in (name, *values)]
        cells[0].font = Font(**font)
        if colour:
            cells[0].fill = PatternFill("solid", fgColor=colour)
        for cell, value in zip(cells, (name, *values), strict=True):
            if isinstance(value, str):
                cell.data_type = "s"
            elif isinstance(value, float):
                cell.number_format = "0.0%"
        sheet.append(cells)

    total = counts["rows"]
    add("paraqd", bold=True, size=14)
    single = "solvable" in counts  # the rows have single questions
    add("questions" if single else "pairs", total)
    for key, name, colour in _VERDICTS:
        if count := counts.get(key):
            shown = name.format(done="checked" if single else "scored")
            add(shown, count, count / total, colour=_COLOURS.get(colour, ""))
    for key, name in _MORE.items():
        if count := counts.get(key):
            add(name, count)
    if written != total:
        add("rows on the first sheet", written)
    if faults := counts.get("faults"):
        add("")
        add(f"faults of the {'unsolvable questions' if single else 'invalid pairs'}", bold=True)
        for kind, count in faults.items():
            add(str(kind).replace("_", " "), count)
    add("")
    for name, value in {**({"threshold": counts["threshold"]} if "threshold" in counts else {}), **metadata}.items():
        add(str(name), str(value) if isinstance(value, str | int | float) else json.dumps(value))


def _without_times(source: IO[bytes], target: Path) -> None:
    """Copy a workbook without the times that it contains, so that the same rows produce the same bytes."""
    with zipfile.ZipFile(source) as given, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        for each in given.infolist():
            entry = zipfile.ZipInfo(each.filename, _FIXED_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            if each.filename == "docProps/core.xml":
                made.writestr(entry, _MODIFIED.sub(rb"\g<1>1980-01-01T00:00:00Z", given.read(each)))
                continue
            entry.file_size = each.file_size  # a large file needs another header
            with given.open(each) as content, made.open(entry, "w") as copy:
                shutil.copyfileobj(content, copy)
