"""Read Excel workbooks (``.xlsx``).

A workbook cannot be read piece by piece, so its rows are copied to a temporary JSONL file, which is then read like any
other file.
"""

from __future__ import annotations

import datetime
import json
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from paraqd.tables.formats import SOME_ROWS, EmptyError, TableError, check_names, clear_errors, reason
from paraqd.tables.temporary import temporary_file

LARGEST = 1 << 29  # the size of an unpacked workbook in bytes; larger ones are refused
LONGEST_CELL = 32_767  # characters; Excel allows no more
MOST_ROWS = 1_048_576  # Excel allows no more, including the header
ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # characters that XML cannot represent
OUR_SHEETS = ("pairs", "summary")  # the names of the sheets that paraqd writes
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")

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
    path = temporary_file(".jsonl")
    with open(path, "w", encoding="utf-8") as file:
        for number, values in rows:
            if any(value is not None for value in values[width:]):
                shown = ", ".join(each for each in titles if each)
                raise TableError(
                    f"{name}, row {number} has more cells than the header has names; row {first} ({shown}) must hold "
                    "the names of all columns"
                )
            size += sum(len(value) for value in values if isinstance(value, str))
            if largest is not None and size > largest:
                path.unlink()
                raise TableError(
                    f"{name} needs more than {largest / 1e6:,.0f} MB unpacked; divide it into several files"
                )
            row = dict(zip(columns, chain(map(_value, values[:width]), [None] * width), strict=False))
            file.write("\n" * (number - line) + json.dumps(row, ensure_ascii=False) + "\n")
            line = number + 1
    others = tuple(each.title for each in book.worksheets if each is not sheet)
    return SheetCopy(path, columns, sheet.title, others)


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

        return ILLEGAL.sub("\ufffd", unescape(value)) if "_x" in value else value
    if isinstance(value, datetime.datetime | datetime.date | datetime.time | datetime.timedelta):
        return str(value).removesuffix(" 00:00:00")
    return int(value) if isinstance(value, float) and value.is_integer() else value
