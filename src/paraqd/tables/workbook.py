"""Write Excel workbooks (``.xlsx``), which have the rows on the first sheet and a summary on the second."""

from __future__ import annotations

import json
import math
import re
import shutil
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from paraqd.tables.excel import ILLEGAL, LONGEST_CELL, MOST_ROWS, OUR_SHEETS
from paraqd.tables.formats import TableError
from paraqd.tables.formulas import begins_like_formula
from paraqd.tables.temporary import temporary_file

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
_MODIFIED = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")


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
        _begin_sheet(self.sheet)
        self._append({name: ILLEGAL.sub("\ufffd", name) for name in self._columns}, header=True)
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
                cell.quotePrefix = begins_like_formula(value)
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
        text = ILLEGAL.sub("\ufffd", text)
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


def _begin_sheet(sheet: Any) -> None:
    """Let a sheet keep its rows in our temporary folder. The library's own file would stay if the process is killed."""
    from openpyxl.worksheet import _writer as sheets

    path = str(temporary_file(".xml"))
    sheets.ALL_TEMP_FILES.append(path)  # the library removes it when the workbook has been written
    sheet._writer = sheets.WorksheetWriter(sheet, out=path)
    sheet._writer.write_top()


def _add_summary(book: Any, written: int, counts: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    """Add a sheet with the number of pairs or questions for each verdict and for each kind of fault."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font, PatternFill

    sheet = book.create_sheet(OUR_SHEETS[1])
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = 28, 12
    _begin_sheet(sheet)

    def add(name: str, *values: Any, colour: str = "", **font: Any) -> None:
        cells = [WriteOnlyCell(sheet, value) for value in (name, *values)]
        cells[0].font = Font(**font)
        if colour:
            cells[0].fill = PatternFill("solid", fgColor=colour)
        for cell, value in zip(cells, (name, *values), strict=True):
            if isinstance(value, str):
                cell.data_type, cell.quotePrefix = "s", begins_like_formula(value)
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
