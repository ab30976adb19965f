"""One reading of a label, whatever file it stands in."""

from __future__ import annotations

from typing import Any

ALSO_READ = "true, false, 1.0 and 0.0 are read too"  # for messages about what is not
# as a number, as pandas writes a column with gaps, as spreadsheets and JSON write truth
_LABELS = {"1": 1, "0": 0, "1.0": 1, "0.0": 0, "true": 1, "false": 0}


def binary_label(value: Any) -> int | None:
    """Return 1 (valid) or 0 (invalid), or None for a blank; ValueError for anything else.

    >>> binary_label("1.0"), binary_label("FALSE"), binary_label(" ")
    (1, 0, None)
    """
    text = "" if value is None else str(value).strip().lower()
    if not text:
        return None
    if text not in _LABELS:
        raise ValueError(f"{value!r} is not a label")
    return _LABELS[text]
