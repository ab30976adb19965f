"""Keep spreadsheet programs from running texts in CSV files as formulas.

A text that a spreadsheet program would take for a formula is written with an apostrophe in front, which is how these
programs mark a cell as text themselves. When paraqd reads the file, it removes the apostrophe again. In a file that is
made for a spreadsheet program, this concerns every text that begins like a formula. In other files, a text that begins
with a plus or minus sign is left alone unless it calls a function or a program, because "-3x + 5 = 2" is a question.
Numbers such as -5 are never changed.
"""

from __future__ import annotations

import re

# white space and invisible characters before the sign, which some programs remove, and the sign itself
_BEGINNING = re.compile(r"[\s\x00-\x1f\u200b-\u200f\u2060\ufeff]*(?P<formula>[=+\-@＝＋－＠].*)|[\t\r]", re.DOTALL)
_MARK = "'"
_NUMBER = re.compile(r"[+-]\s?[0-9.,\s]*[0-9][.,]*(?:[eE][+-]?[0-9]+)?\s?%?")
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


def begins_like_formula(text: str) -> bool:
    r"""Return True if a spreadsheet program could take a text for a formula because of its beginning.

    >>> [begins_like_formula(text) for text in ("=1+1", "\n =1+1", "-5", "How?", "\nHow?")]
    [True, True, True, False, False]
    """
    return _BEGINNING.match(text) is not None


def _is_formula(text: str, for_spreadsheet: bool) -> bool:
    """Return True if a text, without apostrophes at its beginning, could be taken for a formula."""
    if text[:1] == _MARK:
        text = text.lstrip(_MARK)
    found = _BEGINNING.match(text)
    if found is None or (formula := found["formula"]) is None or text[0] in "\t\r":
        return found is not None
    if _NUMBER.fullmatch(formula):
        return False
    return for_spreadsheet or formula[0] in "=@＝＠" or _CALL.search(formula) is not None
