"""Check that values are usable texts."""

from __future__ import annotations

import re

LONGEST = 100_000  # characters; no word problem is longer, and scoring such a text would take minutes
SPREADSHEET_ERRORS = frozenset(
    ("#NAME?", "#REF!", "#VALUE!", "#DIV/0!", "#N/A", "#NULL!", "#NUM!", "#SPILL!", "#CALC!")
)
_DATE = re.compile(r"\s*[0-9]{4}-[0-9]{2}-[0-9]{2}(?: [0-9:.]+)?\s*")  # as dates of spreadsheets are read
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad"  # zero-width characters, byte-order mark, soft hyphen
_BLANK = re.compile(f"[\\s\0{INVISIBLE}]*")  # an incomplete file may be padded with NUL characters


def is_blank(text: str) -> bool:
    r"""Return True if a text contains only white space, zero-width characters and NUL characters.

    >>> is_blank(" \n\u200b\0"), is_blank("0")
    (True, False)
    """
    return _BLANK.fullmatch(text) is not None


def text_problem(
    value: object, role: str = "text", *, allow_blank: bool = False, longest: int | None = None, unicode: bool = False
) -> str:
    r"""Return the reason why a value is not a usable text, or an empty string if the value is usable.

    Parameters
    ----------
    value : object
        The value to check. None counts as blank unless ``allow_blank`` is True.
    role : str
        The name of the text in the message, such as ``question``.
    allow_blank : bool
        Accept a blank string, because a blank paraphrase can be scored. None is still rejected.
    longest : int, optional
        Reject a text with more characters than this. By default, the length is not limited.
    unicode : bool
        Reject a text that contains surrogates, which cannot be encoded in UTF-8.

    Examples
    --------
    >>> text_problem("How many?"), text_problem("  ", "question"), text_problem(5, "paraphrase")
    ('', 'blank question', 'paraphrase is not text')
    >>> text_problem(" #NAME? ", "question")
    'question is a spreadsheet error (#NAME?), not text'
    >>> text_problem("2024-01-02", "paraphrase")
    'paraphrase is a date (2024-01-02), not text'
    >>> text_problem("How many? " * 20_000, "paraphrase", longest=LONGEST)
    'paraphrase is longer than 100,000 characters'
    >>> text_problem("\ud83d", unicode=True)
    'text is not valid Unicode'

    """
    if not allow_blank and (value is None or (isinstance(value, str) and is_blank(value))):
        return f"blank {role}"
    if not isinstance(value, str):
        return f"{role} is not text"
    if "#" in value and value.strip().upper() in SPREADSHEET_ERRORS:
        return f"{role} is a spreadsheet error ({value.strip()}), not text"
    if _DATE.fullmatch(value):
        return f"{role} is a date ({value.strip()}), not text"
    if longest is not None and len(value) > longest:
        return f"{role} is longer than {longest:,} characters"
    if unicode:
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return f"{role} is not valid Unicode"
    return ""


def pair_problem(question: object, paraphrase: object, *, longest: int | None = LONGEST, unicode: bool = True) -> str:
    """Return the reason why a pair cannot be scored, or an empty string if it can. The paraphrase may be blank.

    >>> pair_problem("How many?", ""), pair_problem("", "How many?")
    ('', 'blank question')
    """
    return text_problem(question, "question", longest=longest, unicode=unicode) or text_problem(
        paraphrase, "paraphrase", allow_blank=True, longest=longest, unicode=unicode
    )
