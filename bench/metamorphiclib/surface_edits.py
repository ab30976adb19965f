"""Change white space, punctuation and capitals in ways that no reader minds."""

from __future__ import annotations

import re

_UNITS = r"(?:km/hr?|km|cm|mm|kg|kmph|kmh|mph|ml|hrs?|min|mins|sec|secs|ft|lbs?|oz|m/s|m|g|l)"
_JOINED = re.compile(rf"(?<![\w.,/^-])(\d+(?:\.\d+)?)({_UNITS})(?![\w^²³/-])(?!\s?\d)")
_APART = re.compile(rf"(?<![\w.,/^-])(\d+(?:\.\d+)?)[ ]({_UNITS})(?![\w^²³/-])(?!\s?[\d^])")
_PERCENT = re.compile(r"(\d)( ?)%")
# neither a time (8:00) nor a mixed number (2 1/2), where spaces can mislead
_OPERATOR = re.compile(r"(?<=\d)(?<!\d \d)( ?)([+*/=×÷]|:(?! ?\d\d\b))( ?)(?=\d)")
_CURLY = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})


def double_spaces(text: str) -> str | None:
    """Double every space."""
    return text.replace(" ", "  ") if " " in text.strip() else None


def outer_spaces(text: str) -> str:
    """Put spaces before and after the text."""
    return f"  {text} "


def question_mark_space(text: str) -> str | None:
    """Put a space before the last question mark, or take it away."""
    before, mark, after = text.rpartition("?")
    if not mark or not before.strip():
        return None
    return f"{before.rstrip()}?{after}" if before.endswith(" ") else f"{before} ?{after}"


def comma_space_added(text: str) -> str | None:
    """Put a space before each comma after a letter."""
    return _changed(text, re.sub(r"(?<=[A-Za-z]),(?=\s)", " ,", text))


def comma_space_removed(text: str) -> str | None:
    """Take away the space after each comma between letters."""
    return _changed(text, re.sub(r"(?<=[A-Za-z]), (?=[A-Za-z])", ",", text))


def bracket_spaces(text: str) -> str | None:
    """Put a space on the inner side of each round bracket, or take it away."""
    if re.search(r"\( | \)", text):
        return re.sub(r"(?<=\() | (?=\))", "", text)
    return _changed(text, re.sub(r"\((?=\S)", "( ", re.sub(r"(?<=\S)\)", " )", text)))


def operator_spaces(text: str) -> str | None:
    """Put spaces around each sign of arithmetic or of a ratio between digits, or take them away."""
    found = _OPERATOR.search(text)
    if found is None or "^" in text:  # in 14 ^ 2*15 ^ 8, spaces would mislead
        return None
    space = "" if found[1] or found[3] else " "
    return _changed(text, _OPERATOR.sub(rf"{space}\2{space}", text))


def unit_space(text: str) -> str | None:
    """Write each number and its unit together (5km), or apart (5 km) if they are together."""
    if _JOINED.search(text):
        return _JOINED.sub(r"\1 \2", text)
    return _changed(text, _APART.sub(r"\1\2", text))


def percent_space(text: str) -> str | None:
    """Put a space before each percent sign, or take it away."""
    found = _PERCENT.search(text)
    return None if found is None else _changed(text, _PERCENT.sub(r"\1%" if found[2] else r"\1 %", text))


def other_quotes(text: str) -> str | None:
    """Write straight quotation marks and apostrophes as curly ones, or curly ones as straight ones."""
    if re.search(r"[’‘“”]", text):
        return text.translate(_CURLY)
    if re.search(r"\d\s?['\"]|[A-Z]'(?!s\b)", text) or text.count('"') % 2:  # feet, inches, the image of a point
        return None
    opened = re.sub(r"(?:(?<=\s)|(?<=\()|^)\"", "“", text).replace('"', "”")
    return _changed(text, re.sub(r"(?:(?<=\s)|(?<=\()|^)'(?=\w)", "‘", opened).replace("'", "’"))


def first_letter(text: str) -> str | None:
    """Change the case of the first letter, if the first word has at least two letters and is not a symbol."""
    found = re.match(r"\s*(?:[A-Z]?[a-z]{2,}|[A-Z][a-z]|[a-z]{2})(?=[\s,'’])", text)
    if found is None:
        return None
    at = len(text) - len(text.lstrip())
    return text[:at] + text[at].swapcase() + text[at + 1 :]


def final_stop(text: str) -> str | None:
    """Take away the final full stop, or add one after a last word or number."""
    text = text.rstrip()
    if text.endswith("."):
        return text[:-1] if not text.endswith("..") else None
    return f"{text}." if re.search(r"[A-Za-z0-9)]$", text) else None


def _changed(before: str, after: str) -> str | None:
    return after if after != before else None
