"""Keep spreadsheet programs from running texts in CSV files as formulas.

A text that a spreadsheet program would take for a formula is written with an apostrophe in front, which is how these
programs mark a cell as text themselves. When paraqd reads the file, it removes the apostrophe again. In a file that is
made for a spreadsheet program, this concerns every text that begins like a formula. In other files, a text that begins
with a plus or minus sign is left alone unless it calls a function or a program, because "-3x + 5 = 2" is a question.
Numbers such as -5 are never changed.
"""

from __future__ import annotations

import re

BEGINNINGS = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet program could take a text that begins so for a formula
_MARK = "'"
_NUMBER = re.compile(r"[+-]\s?[0-9.,\s]*[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)?\s?%?")
_CALL = re.compile(r"[A-Za-z0-9_.]\(|\|")  # a function, or a program that is started with DDE


def marked(text: str, *, for_spreadsheet: bool) -> str:
    """Return the text as it is written to a CSV file.

    >>> marked("=1+1", for_spreadsheet=False), marked("-3x = 6", for_spreadsheet=False), marked("How?", \
for_spreadsheet=True)
    ("'=1+1", '-3x = 6', 'How?')
    >>> marked("-3x = 6", for_spreadsheet=True), marked("-5", for_spreadsheet=True)
    ("'-3x = 6", '-5')
    """
    return _MARK + text if _is_formula(text, for_spreadsheet) else text


def unmarked(text: str, *, for_spreadsheet: bool) -> str:
    """Return a text from a CSV file as it was before `marked`.

    >>> unmarked("'=1+1", for_spreadsheet=False), unmarked("'Tis 5 o'clock", for_spreadsheet=False)
    ('=1+1', "'Tis 5 o'clock")
    """
    return text[1:] if text[:1] == _MARK and _is_formula(text, for_spreadsheet) else text


def _is_formula(text: str, for_spreadsheet: bool) -> bool:
    """Return True if a text, without apostrophes at its beginning, could be taken for a formula."""
    if text[:1] == _MARK:
        text = text.lstrip(_MARK)
    if not text.startswith(BEGINNINGS) or _NUMBER.fullmatch(text):
        return False
    return for_spreadsheet or text[0] not in "+-" or _CALL.search(text) is not None
