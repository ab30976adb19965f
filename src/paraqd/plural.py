"""Format counts with the noun in the singular or the plural."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number followed by its noun in the singular or the plural.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "query", "queries")
    ('1 row', '1,200 rows', '2 queries')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
