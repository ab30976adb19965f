"""Find the types of columns, and fit values to the file that takes them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

_INT64 = range(-(2**63), 2**63)
_EXACT = range(-(2**53), 2**53 + 1)  # integers that a floating-point number holds exactly


@dataclass
class ValueKinds:
    """The kinds of values in a column, gathered one value at a time."""

    kinds: int = 0

    _STR, _INT, _FLOAT, _BOOL, _WIDE, _OTHER = 1, 2, 4, 8, 16, 32

    def add(self, value: Any) -> None:
        """Add one value."""
        if value is None:
            return
        kind = type(value)
        if kind is int:
            self.kinds |= self._INT | (0 if value in _EXACT else self._WIDE) | (0 if value in _INT64 else self._OTHER)
        else:
            self.kinds |= {str: self._STR, float: self._FLOAT, bool: self._BOOL}.get(kind, self._OTHER)

    @property
    def type(self) -> type:
        """The type of the column; text if it holds several kinds."""
        if self.kinds in (self._INT, self._INT | self._WIDE):
            return int
        if self.kinds in (self._FLOAT, self._FLOAT | self._INT):
            return float
        return bool if self.kinds == self._BOOL else str


def types_in(schema: Any) -> dict[str, Any]:
    """Return the types of the columns of an Arrow schema; types that only some programs know become text."""
    import pyarrow as pa

    return {field.name: str if isinstance(field.type, pa.BaseExtensionType) else field.type for field in schema}


def typed(value: Any, kind: Any) -> Any:
    """Return a value as its Parquet column holds it; only columns of text need a conversion."""
    if kind is not str or value is None:
        return value
    if isinstance(value, bool | int | float | list | dict):
        return encodable(json.dumps(value, ensure_ascii=False, default=str))
    return encodable(str(value))


def jsonable(value: Any) -> Any:
    """Return a value that JSON can hold: dates and decimals become text, and NaN becomes null."""
    if isinstance(value, float) and value != value:
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    return json.loads(json.dumps(value, default=str)) if isinstance(value, list | dict) else str(value)


def plain_value(value: Any) -> Any:
    """Return a value for a file without types; lists and objects become JSON."""
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False, default=str)
    return encodable(value) if isinstance(value, str) else value


def encodable(text: str) -> str:
    r"""Return a text that UTF-8 can hold; half a surrogate pair, which only JSON can hold, becomes its escape.

    >>> encodable("five \ud83d")
    'five \\ud83d'
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text
