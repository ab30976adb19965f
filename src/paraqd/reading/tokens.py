"""Split texts into words, numbers and punctuation marks with a regular expression that does not backtrack."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import repeat

from paraqd.reading.currencies import SIGN_PATTERN
from paraqd.reading.types import Token

VULGAR = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞↉"
SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹"
SUBSCRIPT = "₀₁₂₃₄₅₆₇₈₉"

# Digits with commas are one token here and are split afterwards, because an expression that checked the groups would
# have to look ahead from each group.
_LETTER = rf"[^\W\d_{VULGAR}{SUPERSCRIPT}{SUBSCRIPT}]"
_TOKEN = re.compile(
    rf"{_LETTER}+(?:['’]{_LETTER}+)*|\d+(?:,\d+)*(?:\.\d+)?|(?<![\w.)])\.\d+|[{SUPERSCRIPT}]+|[{SUBSCRIPT}]+|\S"
)

_GROUP, _START, _END = re.Match.group, re.Match.start, re.Match.end


def is_grouped(run: str) -> bool:
    """Return True if the commas in a number group its digits, in Western (10,576) or Indian (1,20,000) style.

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


# a price with a decimal comma: 4,50
_PRICE = re.compile(r"\d{1,6},\d{2}")
_PIECE = re.compile("[^,]+|,")
_MONEY_BEFORE = re.compile(rf"{SIGN_PATTERN}\s?$")
_MONEY_AFTER = re.compile(r"\s?(?:€|euros?\b|EUR\b)")


def _is_price(text: str, word: str, start: int, end: int) -> bool:
    """Return True if the comma in a number is a decimal comma."""
    if _PRICE.fullmatch(word) is None:
        return False
    return bool(_MONEY_BEFORE.search(text[max(0, start - 2) : start]) or _MONEY_AFTER.match(text, end))


def _is_list(text: str, word: str, start: int, end: int) -> bool:
    """Return True if commas between digits separate numbers, as in 3,4,5."""
    return "," in word and end - start > 1 and not is_grouped(word) and not _is_price(text, word, start, end)


def token_lists(text: str) -> tuple[list[str], list[int], list[int]]:
    """Split a text into words, numbers and punctuation marks.

    Return three lists: the tokens, their start offsets, and their end offsets.
    """
    matches = list(_TOKEN.finditer(text))
    words, starts, ends = list(map(_GROUP, matches)), list(map(_START, matches)), list(map(_END, matches))
    if "," not in text or not any(map(_is_list, repeat(text), words, starts, ends)):
        return words, starts, ends
    found: list[tuple[str, int, int]] = []
    for word, start, end in zip(words, starts, ends, strict=True):
        if _is_list(text, word, start, end):
            for piece in _PIECE.finditer(text, start, end):
                found.append((piece.group(), *piece.span()))
        else:
            found.append((word, start, end))
    words, starts, ends = map(list, zip(*found, strict=True))
    return words, starts, ends


def tokens_of(words: Iterable[str], starts: Iterable[int], ends: Iterable[int]) -> tuple[Token, ...]:
    """Convert the lists that `token_lists` returns into tokens."""
    new = tuple.__new__  # faster than the constructor of a named tuple
    return tuple([new(Token, each) for each in zip(words, starts, ends, strict=False)])


def tokenize(text: str) -> tuple[Token, ...]:
    """Split a text into words, numbers and single punctuation marks.

    >>> [token.text for token in tokenize("Rs.40,000 at 5% for 1.5 years.")]
    ['Rs', '.', '40,000', 'at', '5', '%', 'for', '1.5', 'years', '.']
    >>> [token.text for token in tokenize("$4,50, 3,50")]
    ['$', '4,50', ',', '3', ',', '50']
    """
    return tokens_of(*token_lists(text))
