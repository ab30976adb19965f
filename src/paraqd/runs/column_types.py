"""Infer column types, and convert rows and values to fit the output file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paraqd.tables.formats import Format

_INT64 = range(-(2**63), 2**63)
_EXACT = range(-(2**53), 2**53 + 1)  # integers that a floating-point number represents exactly


@dataclass
class ValueKinds:
    """The kinds of values in a column, collected one value at a time."""

    kinds: int = 0

    _STR, _INT, _FLOAT, _BOOL, _WIDE, _OTHER = 1, 2, 4, 8, 16, 32

    def add(self, value: Any) -> None:
        """Record the kind of a value."""
        if value is None:
            return
        kind = type(value)
        if kind is int:
            self.kinds |= self._INT | (0 if value in _EXACT else self._WIDE) | (0 if value in _INT64 else self._OTHER)
        else:
            self.kinds |= {str: self._STR, float: self._FLOAT, bool: self._BOOL}.get(kind, self._OTHER)

    @property
    def type(self) -> type:
        """The column's type, or `str` if the values have no common type."""
        if self.kinds in (self._INT, self._INT | self._WIDE):
            return int
        if self.kinds in (self._FLOAT, self._FLOAT | self._INT):
            return float
        return bool if self.kinds == self._BOOL else str


def types_in(schema: Any) -> dict[str, Any]:
    """Return the column types in an Arrow schema. Extension types become text, because few programs read them."""
    import pyarrow as pa

    return {field.name: str if isinstance(field.type, pa.BaseExtensionType) else field.type for field in schema}


def fitted_schema(schema: Mapping[str, Any], added: Mapping[str, Any], target: Format | None) -> dict[str, Any]:
    """Return the schema of an output file. In text files, which have no types, only the ``added`` columns have types.

    ``target`` is the format of the file, or None for a folder of Parquet files.
    """
    if target in (None, Format.PARQUET):
        return dict(schema)
    return {name: added.get(name, str) for name in schema}


def fitted_row(
    row: dict[str, Any], schema: Mapping[str, Any], target: Format | None, *, convert: bool = False
) -> dict[str, Any]:
    """Return a row with values that an output file of the format ``target`` can hold.

    A row for JSONL keeps its own columns. Pass ``convert`` if it can hold values that JSON cannot represent.
    """
    if target is Format.PARQUET:
        return {name: typed(row.get(name), kind) for name, kind in schema.items()}
    if target is Format.JSONL:
        return {name: jsonable(value) for name, value in row.items()} if convert else row
    return {name: plain_value(row.get(name)) for name in schema}


def typed(value: Any, kind: Any) -> Any:
    """Return a value converted to the type of its Parquet column. Only the values of text columns are converted."""
    if kind is not str or value is None:
        return value
    if isinstance(value, bool | int | float | list | dict):
        return encodable(json.dumps(value, ensure_ascii=False, default=str))
    return encodable(str(value))


def jsonable(value: Any) -> Any:
    """Return a value that JSON can represent. Dates and decimals become text, and NaN becomes None."""
    if isinstance(value, float) and value != value:
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    return json.loads(json.dumps(value, default=str)) if isinstance(value, list | dict) else str(value)


def plain_value(value: Any) -> Any:
    """Return a value for a file without types, such as CSV. Lists and dictionaries become JSON text."""
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False, default=str)
    return encodable(value) if isinstance(value, str) else value


def encodable(text: str) -> str:
    r"""Return a string that can be encoded as UTF-8. Lone surrogates become escape sequences.

    >>> encodable("five \ud83d")
    'five \\ud83d'
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text
