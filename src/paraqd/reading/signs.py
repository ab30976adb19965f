"""List characters that stand for the same sign."""

from __future__ import annotations

MINUS = frozenset("-−–")  # hyphen, minus and en dash
POSSESSIVES = ("'s", "’s")
