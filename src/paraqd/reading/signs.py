"""List characters that mean the same, and characters that nobody sees."""

from __future__ import annotations

import re

from paraqd.text_check import INVISIBLE

MINUS_PATTERN = "[-−–]"  # hyphen, minus and en dash
MINUS = frozenset(MINUS_PATTERN.strip("[]"))
POSSESSIVES = ("'s", "’s")
HYPHENS = "\u2010\u2011"  # look like "-"; the second one does not break
ZERO_WIDTH = re.compile(f"[{INVISIBLE}]+")
UNUSUAL = re.compile(f"[{HYPHENS}{INVISIBLE}]")
