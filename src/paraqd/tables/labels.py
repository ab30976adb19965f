"""Convert the values of label columns to labels."""

from __future__ import annotations

from typing import Any

from paraqd.errors import ArgumentError

ALSO_READ = "true, false, 1.0 and 0.0 also work"  # used in messages about other values
# pandas writes 1.0 if a column has missing values; spreadsheets and JSON write true
_LABELS = {"1": 1, "0": 0, "1.0": 1, "0.0": 0, "true": 1, "false": 0}


def binary_label(value: Any) -> int | None:
    """Return 1 (valid), 0 (invalid), or None for a blank value; raise an ArgumentError for any other value.

    >>> binary_label("1.0"), binary_label("FALSE"), binary_label(" ")
    (1, 0, None)
    """
    text = "" if value is None else str(value).strip().lower()
    if not text:
        return None
    if text not in _LABELS:
        raise ArgumentError(f"{value!r} is not a label; use 1 (valid) or 0 (invalid)")
    return _LABELS[text]
