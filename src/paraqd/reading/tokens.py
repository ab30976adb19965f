"""Words, numbers and punctuation marks, in one pass of one regular expression without backtracking."""

from __future__ import annotations

import re

from paraqd.reading.types import Token

VULGAR = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞↉"
SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹"
SUBSCRIPT = "₀₁₂₃₄₅₆₇₈₉"

# A run of digits with commas is taken whole and split afterwards: deciding about the grouping inside the
# expression would make it look ahead from every group again.
_LETTER = rf"[^\W\d_{VULGAR}{SUPERSCRIPT}{SUBSCRIPT}]"
_TOKEN = re.compile(
    rf"\d+(?:,\d+)*(?:\.\d+)?|(?<![\w.)])\.\d+|{_LETTER}+(?:['’]{_LETTER}+)*|[{SUPERSCRIPT}]+|[{SUBSCRIPT}]+|\S"
)


def is_grouped(run: str) -> bool:
    """Tell whether commas in a run of digits group it: Western (10,576) or Indian (1,20,000).

    >>> is_grouped("10,576"), is_grouped("1,20,000"), is_grouped("3,4,5")
    (True, True, False)
    """
    groups = run.partition(".")[0].split(",")
    first, middle, last = groups[0], groups[1:-1], groups[-1]
    if len(last) != 3 or (len(first) > 1 and first[0] == "0"):
        return False
    western = len(first) <= 3 and all(len(group) == 3 for group in middle)
    indian = len(first) <= 2 and all(len(group) == 2 for group in middle)
    return (western or indian) and first != "0"


# 4,50 as a price: the comma of a decimal
_PRICE = re.compile(r"\d{1,6},\d{2}")
_MONEY_BEFORE = re.compile(r"[$€£₹¥]\s?$")
_MONEY_AFTER = re.compile(r"\s?(?:€|euros?\b|EUR\b)")


def _is_price(text: str, word: str, start: int, end: int) -> bool:
    """Tell whether the comma of a run of digits stands for a decimal point."""
    if _PRICE.fullmatch(word) is None:
        return False
    return bool(_MONEY_BEFORE.search(text[max(0, start - 2) : start]) or _MONEY_AFTER.match(text, end))


def tokenize(text: str) -> tuple[Token, ...]:
    """Split a text into words, numbers and single punctuation marks.

    >>> [token.text for token in tokenize("Rs.40,000 at 5% for 1.5 years.")]
    ['Rs', '.', '40,000', 'at', '5', '%', 'for', '1.5', 'years', '.']
    >>> [token.text for token in tokenize("$4,50, 3,50")]
    ['$', '4,50', ',', '3', ',', '50']
    """
    tokens: list[Token] = []
    add, new = tokens.append, tuple.__new__  # a named tuple's own constructor is a slow detour
    for match in _TOKEN.finditer(text):
        word = match.group()
        start, end = match.span()
        if "," in word and end - start > 1 and not is_grouped(word) and not _is_price(text, word, start, end):
            for i, part in enumerate(word.split(",")):
                if i:
                    add(Token(",", start - 1, start))
                add(Token(part, start, start + len(part)))
                start += len(part) + 1
        else:
            add(new(Token, (word, start, end)))
    return tuple(tokens)
