"""Define groups of characters that mean the same thing, and patterns for characters that a reader cannot see."""

from __future__ import annotations

import re

from paraqd.text_check import INVISIBLE

MINUS_PATTERN = "[-−–]"  # hyphen, minus and en dash
MINUS = frozenset(MINUS_PATTERN.strip("[]"))
POSSESSIVES = ("'s", "’s")
HYPHENS = "\u2010\u2011"  # characters that look like "-": hyphen and non-breaking hyphen
ZERO_WIDTH = re.compile(f"[{INVISIBLE}]+")
UNUSUAL = re.compile(f"[{HYPHENS}{INVISIBLE}]")
