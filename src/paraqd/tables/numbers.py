"""Read numbers that are written with a decimal point or a decimal comma."""

from __future__ import annotations

import re

_WITH_COMMA = re.compile(r"\s*[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?\s*")


def read_number(value: object, decimal: str = ".") -> float:
    """Return a value as a number, or raise a ValueError if it is not a number.

    ``decimal`` is the decimal sign of the table, as in `Dialect`. A number with a decimal point is always read.

    >>> read_number("0,93", ","), read_number("0.93", ","), read_number(1)
    (0.93, 0.93, 1.0)
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{value!r} is not a number")
    if decimal == "," and isinstance(value, str) and _WITH_COMMA.fullmatch(value):
        value = value.replace(",", ".")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{value!r} is too large") from None
