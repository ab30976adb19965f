"""Read the rows of CSV, TSV and JSONL files, and detect the dialect of CSV files.

A file is never loaded into memory as a whole.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from io import TextIOWrapper
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO

from paraqd.tables.column_names import USUAL_NAMES
from paraqd.tables.formats import (
    NOT_UTF8,
    STANDARD_INPUT_NAME,
    UTF8,
    DamagedError,
    Format,
    TableError,
    open_bytes,
    undecodable,
)
from paraqd.tables.formulas import unmarked
from paraqd.tables.rows import LostRow, NumberedRow, Row
from paraqd.tables.writers import Dialect

if TYPE_CHECKING:
    from paraqd.tables.table import Table

# the maximum length of a line and of a CSV field; the limit prevents a stray quotation mark or a file without line
# breaks from filling the memory
_LIMIT = 1 << 26
_HEADER_LIMIT = 1 << 17
_ESCAPED = re.compile("[\udc80-\udcff]")
_SEPARATORS = (",", ";", "\t", "|")
_SAMPLE = 1000  # the number of rows in which numbers are sought
# 1,234 is not counted, because the comma may separate thousands
_COMMA = re.compile(r"\s*[+-]?(?:0,[0-9]+|[0-9]+,(?![0-9]{3}\s*$)[0-9]+)(?:[eE][+-]?[0-9]+)?\s*%?\s*")
_POINT = re.compile(r"\s*[+-]?(?:0?\.[0-9]+|[0-9]+\.(?![0-9]{3}\s*$)[0-9]+)(?:[eE][+-]?[0-9]+)?\s*%?\s*")


def _lines(file: TextIOWrapper, table: Table) -> Iterator[str]:
    number = 0
    while line := file.readline(_LIMIT + 1):
        number += 1
        if len(line) > _LIMIT:
            raise DamagedError(f"{table.name}, line {number} is longer than {_LIMIT:,} characters")
        yield line


def _decoded(raw: BinaryIO, table: Table, newline: str) -> TextIOWrapper:
    """Return a stream that decodes the file.

    In a lenient table, bytes that are not UTF-8 become surrogates, so only the rows with such bytes are lost.
    """
    errors = "surrogateescape" if table.lenient and table.encoding in UTF8 else "strict"
    return TextIOWrapper(raw, encoding=table.encoding, errors=errors, newline=newline)


def has_undecodable_bytes(table: Table, *texts: str) -> bool:
    """Return True if the table is lenient and a text contains surrogates for bytes that are not UTF-8."""
    return table.lenient and any(not text.isascii() and _ESCAPED.search(text) for text in texts)


def _lost_row(table: Table, number: int, error: DamagedError) -> LostRow:
    """Return a `LostRow` if the table is lenient and later rows can still be read; otherwise raise the error."""
    if not table.lenient or not error.row:
        raise error
    return LostRow(error.row, number=number)


# --- CSV and TSV --------------------------------------------------------------------------------


def csv_records(table: Table) -> Iterator[tuple[int, int, list[str]]]:
    """Yield the row number, the line number and the fields of the header and of every row that is not blank.

    Rows are numbered as a spreadsheet program numbers them: blank lines count, and a text with line breaks is one row.

    Stray quotation marks are errors, because guessing their meaning could silently change a text.
    """
    csv.field_size_limit(_LIMIT)
    with open_bytes(table.path, table.kind.packing, table.name) as raw:
        file = _decoded(raw, table, newline="")
        skipped = 1 if table.dialect.hinted else 0
        reader = csv.reader(_lines(file, table), delimiter=_own_dialect(table).delimiter, strict=True)
        line = skipped
        try:
            if skipped:
                file.readline()
            for number, record in enumerate(reader, start=1):
                line = reader.line_num + skipped
                if record:
                    yield number, line, record
        except UnicodeError as error:
            raise undecodable(table.path, table.name, table.kind, table.encoding, error) from None
        except csv.Error as error:
            if "end of data" in str(error):
                problem = f"is cut off: a quotation mark in the row of line {line + 1} is never closed; close it"
            else:
                problem = (
                    f"has a stray quotation mark in the row of line {line + 1} ({error}); "
                    "write it twice inside a quoted text"
                )
            raise DamagedError(f"{table.name} {problem}") from None


def _own_dialect(table: Table) -> Dialect:
    """Return the dialect of the file itself. The dialect of a TSV table has the separator of a CSV output instead."""
    plain_tsv = table.kind.format is Format.TSV and not table.dialect.hinted
    return replace(table.dialect, delimiter="\t") if plain_tsv else table.dialect


def csv_columns(table: Table) -> tuple[str, ...] | None:
    """Return the column names in the header of a CSV file, or None if the file has no header."""
    for _, _, header in csv_records(table):
        return tuple(_unmarked(table, [name.strip() for name in header]))
    return None


def csv_rows(table: Table) -> Iterator[Row]:
    """Yield the rows of a CSV file after the header."""
    width, columns = len(table.columns), table.columns
    for number, line, record in islice(csv_records(table), 1, None):
        if has_undecodable_bytes(table, *record):
            yield LostRow(NOT_UTF8, number=number)
            continue
        if len(record) > width:
            if any(record[width:]):
                problem = (
                    f"{table.name}, line {line} has {len(record)} fields, but the header has {width}; "
                    "put texts that contain the separator in quotation marks"
                )
                yield _lost_row(table, number, DamagedError(problem, row="more fields than the header has"))
                continue
            record = record[:width]
        row = NumberedRow(zip(columns, _unmarked(table, record), strict=False), number, short=len(record) < width)
        for name in columns[len(record) :]:
            row[name] = None
        yield row


def _unmarked(table: Table, record: list[str]) -> list[str]:
    """Return the fields without the apostrophes that mark formulas as text."""
    if not any(text.startswith("'") for text in record):
        return record
    for_spreadsheet = _own_dialect(table).for_spreadsheet
    return [unmarked(text, for_spreadsheet=for_spreadsheet) for text in record]


def detected_dialect(table: Table) -> Dialect:
    """Detect the dialect from the header, or from a hint for Excel, such as ``sep=;``, in the first line."""
    bom = table.encoding in ("utf-8-sig", "utf-16")
    with open_bytes(table.path, table.kind.packing, table.name) as raw:
        file = _decoded(raw, table, newline="")
        try:
            first = file.readline(_HEADER_LIMIT + 1)
        except UnicodeError as error:
            raise undecodable(table.path, table.name, table.kind, table.encoding, error) from None
    if len(first) > _HEADER_LIMIT:
        raise TableError(
            f"the first line of {table.name} is longer than {_HEADER_LIMIT:,} characters; it must be a header with the "
            "column names"
        )
    hint = first.strip().lower()
    if hint.startswith("sep=") and len(hint) == 5:
        dialect = Dialect(delimiter=first.strip()[4], bom=bom, hinted=True)
    elif table.kind.format is Format.TSV:
        dialect = Dialect(bom=bom)  # a CSV output uses commas
    else:
        csv.field_size_limit(_LIMIT)  # the limit applies to the whole process, so other code may have lowered it

        def merit(separator: str) -> tuple[int, int]:
            names = next(csv.reader([first], delimiter=separator), [])
            return sum(name.strip().casefold() in USUAL_NAMES for name in names), len(names)

        dialect = Dialect(delimiter=max(_SEPARATORS, key=merit), bom=bom)
    if _has_decimal_commas(replace(table, dialect=dialect)):
        return replace(dialect, decimal=",", delimiter=";" if dialect.delimiter == "," else dialect.delimiter)
    return dialect


def _has_decimal_commas(table: Table) -> bool:
    """Return True if the numbers of a file that is not separated by commas have decimal commas.

    In a file separated by semicolons, one column whose numbers all have commas is enough. If a file has no such
    numbers, its form decides: Excel separates columns by semicolons where people write decimal commas.
    """
    dialect = table.dialect
    if dialect.delimiter == "," and table.kind.format is not Format.TSV:
        return False
    commas: set[int] = set()  # the columns with such numbers
    points: set[int] = set()
    try:
        for _, _, record in islice(csv_records(table), 1, _SAMPLE):
            for place, text in enumerate(record):
                if len(text) < 25 and not text.isalpha():
                    commas |= {place} if _COMMA.fullmatch(text) else set()
                    points |= {place} if _POINT.fullmatch(text) else set()
    except TableError:  # reading the rows will report the damage
        pass
    if commas or points:
        return bool(commas - points) if dialect.delimiter == ";" else not points
    from_excel = dialect.bom or dialect.hinted or table.encoding not in UTF8
    return from_excel and dialect.delimiter == ";"


# --- JSONL --------------------------------------------------------------------------------------


def jsonl_rows(table: Table) -> Iterator[Row]:
    """Yield the rows of a JSONL file."""
    with open_bytes(table.path, table.kind.packing, table.name) as raw:
        file = _decoded(raw, table, newline="\n")
        try:
            for number, line in enumerate(_lines(file, table), start=1):
                if has_undecodable_bytes(table, line):
                    yield LostRow(NOT_UTF8, number=number)
                elif not line.isspace():
                    yield _json_object(table, number, line)
        except UnicodeError as error:
            raise undecodable(table.path, table.name, table.kind, table.encoding, error) from None


def _json_object(table: Table, number: int, line: str) -> Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:  # a number with thousands of digits raises a plain ValueError
        cut = "" if line.endswith("\n") else "; the file may be cut off there"
        what = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply, or a number is too long"
        if table.name == STANDARD_INPUT_NAME and not line.lstrip().startswith("{"):
            cut += "; standard input must be JSON lines; use a file for other formats"
        problem = f"{table.name}, line {number} is not valid JSON ({what}){cut}"
        return _lost_row(table, number, DamagedError(problem, row="not valid JSON"))
    if not isinstance(row, dict):
        problem = f'{table.name}, line {number} is not a JSON object like {{"question": "…"}}'
        return _lost_row(table, number, DamagedError(problem, row="not a JSON object"))
    try:
        "".join(row).encode("utf-8")
    except UnicodeEncodeError:  # half of a surrogate pair, which no output can hold
        problem = f"{table.name}, line {number} has a column whose name is not valid Unicode; rename the column"
        return _lost_row(table, number, DamagedError(problem, row="the name of a column is not valid Unicode"))
    return NumberedRow(row, number)
