"""Read and write Excel workbooks (``.xlsx``).

A workbook cannot be read piece by piece, so its rows are copied to a temporary JSONL file, which is then read like any
other file. A written workbook has the rows on the first sheet and a summary on the second.
"""

from __future__ import annotations

import atexit
import datetime
import json
import re
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from paraqd.data.formats import SOME_ROWS, EmptyError, TableError, check_names, clear_errors, reason

LARGEST = 1 << 29  # the size of an unpacked workbook in bytes; larger ones are refused
LONGEST_CELL = 32_767  # characters; Excel allows no more
MOST_ROWS = 1_048_576  # Excel allows no more, including the header
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # characters that XML cannot represent
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet program could take a text that begins so for a formula
_WIDTHS = {"score": 9, "valid": 9, "decision": 11, "why": 60, "error": 30}
_TEXT_WIDTH, _OTHER_WIDTH = 60, 16
_HIDDEN = ("evidence", "warnings", "signature")  # columns for programs
_COLOURS = {"valid": "C6EFCE", "invalid": "FFC7CE", "review": "FFEB9C", "error": "D9D9D9"}
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)
_MODIFIED = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")


@dataclass(frozen=True)
class SheetCopy:
    """The copy of a sheet as JSONL.

    ``numbers`` holds the sheet's row number of each copied row where it is not the row before plus one: pairs of the
    row's index in the copy and its number in the sheet. ``others`` lists the sheets that were not read.
    """

    path: Path
    columns: tuple[str, ...]
    sheet: str
    others: tuple[str, ...]
    numbers: tuple[tuple[int, int], ...]


def copy_sheet(path: Path, name: str) -> SheetCopy:
    """Copy the first sheet that has content to a temporary file, which is removed when the process ends.

    The first row that is not blank contains the column names. Blank rows are left out.

    Raises
    ------
    TableError
        If the workbook is damaged, protected by a password, too large or empty.

    """
    _check_archive(path, name)
    from openpyxl import load_workbook

    with clear_errors(name):
        try:
            book = load_workbook(path, read_only=True, data_only=True)
        except OSError:
            raise
        except Exception as error:  # a damaged workbook raises various exceptions
            raise TableError(f"{name} cannot be read as an Excel file ({reason(error)}); save it again") from None
    with closing(book):
        try:
            return _copied(book, name)
        except (TableError, OSError):
            raise
        except Exception as error:
            raise TableError(f"{name} cannot be read as an Excel file ({reason(error)}); save it again") from None


def _copied(book: Any, name: str) -> SheetCopy:
    sheets = book.worksheets
    for sheet in sheets:
        rows = _filled_rows(sheet)
        header = next(rows, None)
        if header is not None:
            break
    else:
        raise EmptyError(f"{name} is empty; {SOME_ROWS}")
    names = [_name(value) for value in header[1]]
    width = max(place for place, each in enumerate(names, start=1) if each)
    columns = check_names(tuple(names[:width]), name)
    numbers: list[tuple[int, int]] = []
    with tempfile.NamedTemporaryFile("w", prefix="paraqd-", suffix=".jsonl", encoding="utf-8", delete=False) as file:
        atexit.register(Path(file.name).unlink, missing_ok=True)
        expected = 0
        for index, (number, values) in enumerate(rows):
            if any(value is not None for value in values[width:]):
                raise TableError(f"{name}, row {number} has more cells than the header has names; name every column")
            row = dict(zip(columns, chain(map(_value, values[:width]), [None] * width), strict=False))
            if number != expected:
                numbers.append((index, number))
            expected = number + 1
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    if not numbers:
        raise EmptyError(f"{name} has no rows; {SOME_ROWS}")
    others = tuple(each.title for each in sheets if each is not sheet)
    return SheetCopy(Path(file.name), columns, sheet.title, others, tuple(numbers))


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


def _filled_rows(sheet: Any) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield the number and the values of each row that is not blank."""
    sheet.reset_dimensions()  # some programs write wrong dimensions
    for number, values in enumerate(sheet.iter_rows(values_only=True), start=1):
        if any(value is not None and value != "" for value in values):
            yield number, values


def _name(value: Any) -> str:
    return "" if value is None else str(_value(value)).strip()


def _value(value: Any) -> Any:
    """Return a cell's value as JSON can represent it."""
    if isinstance(value, datetime.datetime | datetime.date | datetime.time | datetime.timedelta):
        return str(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


# --- writing --------------------------------------------------------------------------------------


class WorkbookRows:
    """A writer of rows to a sheet. It counts the verdicts for the summary."""

    def __init__(self, book: Any, schema: Mapping[str, Any]) -> None:
        from openpyxl.styles import Alignment, Font, PatternFill
        from openpyxl.utils import get_column_letter

        self._columns = tuple(schema)
        self.counts: Counter[str] = Counter()
        self.rows = 0
        self.sheet = book.create_sheet("pairs")
        self.sheet.freeze_panes = "A2"
        self._wrap, self._top = Alignment(wrap_text=True, vertical="top"), Alignment(vertical="top")
        self._bold = Font(bold=True)
        self._fills = {name: PatternFill("solid", fgColor=colour) for name, colour in _COLOURS.items()}
        self._kinds = {name: kind is str for name, kind in schema.items()}
        for place, name in enumerate(self._columns, start=1):
            column = self.sheet.column_dimensions[get_column_letter(place)]
            column.width = _WIDTHS.get(name, _TEXT_WIDTH if _is_text(name) else _OTHER_WIDTH)
            column.hidden = name in _HIDDEN
        self._append(dict(zip(self._columns, self._columns, strict=True)), header=True)

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write rows in order."""
        for row in rows:
            self.rows += 1
            if self.rows >= MOST_ROWS:
                raise TableError(f"an Excel sheet has at most {MOST_ROWS:,} rows; choose .csv or .parquet instead")
            self._append(row)

    def _append(self, row: Mapping[str, Any], *, header: bool = False) -> None:
        from openpyxl.cell import WriteOnlyCell

        cells = []
        verdict = "" if header else verdict_of(row)
        if verdict:
            self.counts[verdict] += 1
        for name in self._columns:
            value = row.get(name)
            cell = WriteOnlyCell(self.sheet, self._cell(name, value))
            if isinstance(cell.value, str):
                cell.data_type = "s"  # never a formula
                cell.quotePrefix = cell.value.startswith(_FORMULA)
            cell.alignment = self._wrap if isinstance(value, str) and name not in _HIDDEN else self._top
            if header:
                cell.font = self._bold
            elif name in ("valid", "decision") and verdict:
                cell.fill = self._fills[verdict]
            cells.append(cell)
        self.sheet.append(cells)

    def _cell(self, name: str, value: Any) -> Any:
        if isinstance(value, str) or value is None or isinstance(value, bool | int | float):
            text = value
        else:
            text = json.dumps(value, ensure_ascii=False, default=str)
        if not isinstance(text, str):
            return text
        text = _ILLEGAL.sub("\ufffd", text)
        if len(text) > LONGEST_CELL:
            raise TableError(
                f"row {self.rows + 1}: the column {name!r} has {len(text):,} characters, and an Excel cell holds "
                f"{LONGEST_CELL:,}; choose .csv or .jsonl instead"
            )
        return text

    def finish(self) -> None:
        """Add the filter, whose range depends on the number of rows."""
        from openpyxl.utils import get_column_letter

        self.sheet.auto_filter.ref = f"A1:{get_column_letter(len(self._columns))}{self.rows + 1}"


def _is_text(name: str) -> bool:
    return any(part in name.casefold() for part in ("question", "paraphrase", "text", "problem"))


def verdict_of(row: Mapping[str, Any]) -> str:
    """Return the verdict of a scored row: ``valid``, ``invalid``, ``review`` or ``error``; "" if it is not scored.

    >>> verdict_of({"valid": True}), verdict_of({"valid": True, "decision": "review"}), verdict_of({})
    ('valid', 'review', '')
    """
    if row.get("error"):
        return "error"
    if row.get("decision") in _COLOURS:
        return str(row["decision"])
    return {True: "valid", False: "invalid", "true": "valid", "false": "invalid"}.get(row.get("valid", ""), "")


@contextmanager
def open_workbook(path: Path, schema: Mapping[str, Any], metadata: Mapping[str, Any] | None) -> Iterator[WorkbookRows]:
    """Open a workbook for writing rows. The same rows produce the same bytes."""
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    writer = WorkbookRows(book, schema)
    try:
        yield writer
    except BaseException:
        writer.sheet.close()  # otherwise, the library complains when the unfinished sheet is deleted
        raise
    writer.finish()
    if writer.counts:
        _add_summary(book, writer, metadata or {})
    with tempfile.NamedTemporaryFile(suffix=".xlsx", dir=path.parent) as file:
        book.save(file.name)
        _without_times(Path(file.name), path)


def _add_summary(book: Any, writer: WorkbookRows, metadata: Mapping[str, Any]) -> None:
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font, PatternFill

    sheet = book.create_sheet("summary")
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = 24, 60
    title = WriteOnlyCell(sheet, "paraqd")
    title.font = Font(bold=True, size=14)
    sheet.append([title])
    sheet.append(["pairs", writer.rows])
    for name, colour in _COLOURS.items():
        if count := writer.counts[name]:
            cell = WriteOnlyCell(sheet, {"review": "check by hand", "error": "not scored"}.get(name, name))
            cell.fill = PatternFill("solid", fgColor=colour)
            sheet.append([cell, count, count / writer.rows])
    for name, value in metadata.items():
        sheet.append([str(name), value if isinstance(value, str | int | float) else json.dumps(value)])


def _without_times(source: Path, target: Path) -> None:
    """Copy a workbook without the times that it contains, so that the same rows produce the same bytes."""
    with zipfile.ZipFile(source) as given, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        for each in given.infolist():
            content = given.read(each)
            if each.filename == "docProps/core.xml":
                content = _MODIFIED.sub(rb"\g<1>1980-01-01T00:00:00Z", content)
            entry = zipfile.ZipInfo(each.filename, _FIXED_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            made.writestr(entry, content)
