"""Split texts into sentences.

The splitter handles abbreviations (Rs., Mr., a.m., No. 7, U.S.), decimals, missing spaces and line breaks.
"""

from __future__ import annotations

import re

from paraqd.reading.currencies import SIGNS
from paraqd.reading.types import Sentence

# A full stop after one of these abbreviations does not necessarily end a sentence.
_ABBREVIATIONS = frozenset(
    (
        "rs re mr mrs ms dr st prof sr jr messrs mt ft no nos fig figs vol ch pp eq eqs art sec approx ca cf vs "
        "viz etc e.g i.e eg ie al inc ltd co corp dept est ave blvd rd hon gen col capt lt sgt rev gov sen rep jan "
        "feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun km kms cm cms mm kg kgs gm gms "
        "mg ml lb lbs oz yd yds hr hrs min mins sq cu pt qt gal max avg p.m a.m u.s u.k"
    ).split()
)
# abbreviations that may end a sentence, depending on the next word
_MAY_END = frozenset(
    (
        "etc km kms cm cms mm kg kgs gm gms mg ml lb lbs oz yd yds hr hrs min mins ft sec pt qt gal max avg a.m "
        "p.m u.s u.k no inc ltd co rd st art mar sun sat est"
    ).split()
)
_NEVER_END = _ABBREVIATIONS - _MAY_END - {"al"}
# the pattern begins with a character set, because searching for a set is much faster than for alternatives
_BREAK = re.compile(r"[.?!。！？\n…](?:(?<=[.?!。！？])[.?!。！？]*[\"'”’)\]]*|(?<=\n)\n*)?")
_ITEM = re.compile(r"\d{1,2}[.)] ")
_WORD_BEFORE = 24  # characters before a full stop in which an abbreviation is sought


def _word_before(text: str, end: int) -> str:
    """Return the word that ends at ``end``, including its internal full stops (a.m, e.g, U.S)."""
    start = end
    while start > 0 and end - start < _WORD_BEFORE and (text[start - 1].isalnum() or text[start - 1] == "."):
        start -= 1
    return text[start:end]


def _stop_ends(text: str, start: int, end: int, *, cased: bool) -> bool:
    """Return True if the full stop at text[start:end] ends a sentence."""
    following = text[end : end + 1]
    rest = text[end : end + 40]
    after = rest.lstrip()
    spaced = after != rest
    word = _word_before(text, start)
    low = word.lower()
    if not after:
        return True
    head = after[0]
    if not word and spaced:
        return True  # after a percent sign, a bracket or a quotation mark
    if not spaced:
        return _glued_stop_ends(text, start, word, following, after)
    if low in _ABBREVIATIONS or low.rpartition(".")[2] in _NEVER_END:
        if low not in _MAY_END:
            return False
        if low == "no":  # "No. 7" and "the no. of pens", but "She said no. Then"
            return head.isupper()
        if low == "st":
            return False
        if head.islower():  # a lower-case word begins a sentence only in a text without capitals
            return not cased and low not in {"a.m", "p.m"} and _starts_clause(after)
        return head.isupper() or (head.isdigit() and low not in {"sec", "ft", "art", "est"})
    if len(word) == 1 and word.isalpha():
        return _letter_stop_ends(text, start, word, after, cased=cased)
    if word.isdigit() and _opens_line(text, start - len(word)):
        return False  # a list item's number
    if head.islower() and low[-2:] in {".m", ".g", ".e"}:
        return False
    return not head.islower() or len(word) > 1 or word.isdigit()


def _letter_stop_ends(text: str, start: int, word: str, after: str, *, cased: bool) -> bool:
    """Return True if the full stop after a single letter (an initial, a unit or a variable) ends a sentence."""
    head = after[0]
    if word.islower() and after[1:2] == ".":
        return False  # a. m.
    if word.islower() and text[max(0, start - 4) : start - 1].rstrip().endswith("."):
        return head.isupper() or (not cased and _starts_clause(after))
    if word in "mglsh" and head.islower():
        return not cased and _starts_clause(after)
    return word.islower() or not head.isupper() or _starts_clause(after)


def _opens_line(text: str, at: int) -> bool:
    """Return True if only white space precedes a position in its line."""
    before = text[max(0, at - 12) : at].rstrip(" \t")
    return before.endswith("\n") or (not before and at <= 12)


def _glued_stop_ends(text: str, start: int, word: str, following: str, after: str) -> bool:
    """Return True if a full stop with no space after it ends a sentence.

    The full stop in ``total.How`` ends a sentence. The full stops in 3.5 and a.m do not.
    """
    if not word or not word[-1].isalnum():
        return following.isupper()
    low = word.lower()
    if word[-1].isdigit():
        return following.isalpha() and (following.isupper() or len(_leading_word(after)) > 2)
    if low in _ABBREVIATIONS or len(word) == 1 or "." in word:
        return low in _MAY_END and following.isupper() and len(_leading_word(after)) > 2
    if following.isdigit():
        return len(word) > 3 and low not in _ABBREVIATIONS
    if following.isalpha():
        lead = _leading_word(after)
        return (
            len(lead) > 1
            and after[len(lead) : len(lead) + 1] != "."
            and lead.lower() not in {"com", "org", "net", "in"}
        )
    return following in "\"'“‘(["


def _leading_word(text: str) -> str:
    i = 0
    while i < len(text) and text[i].isalpha():
        i += 1
    return text[:i]


_CLAUSE_STARTS = frozenset(
    "the if how what find in a an it they he she then when each this these there which who where at another two one "
    "three both some given calculate determine assume suppose after before from on by all for its his her their total "
    "together also now later next".split()
)
_WRAPS = frozenset("in and or of to from the a an by with at for between than is are was were that".split())


def _starts_clause(after: str) -> bool:
    return _leading_word(after).lower() in _CLAUSE_STARTS


def _mark_ends(text: str, mark: str, start: int, end: int, *, cased: bool) -> bool:
    rest = text[end : end + 40]
    after = rest.lstrip()
    if not after:
        return True
    if mark[0] in "?!？！":
        # "How many?" he asked.
        return not (mark[-1] in "\"'”’" and after[0].islower()) and (after[0] not in ",;)" or rest != after)
    if mark[0] == "…" or (mark[0] == "." and mark.count(".") >= 3):
        return rest != after and after[0].isupper()
    if mark[-1] in "\"'”’)]" and after[0].islower():
        return False
    return _stop_ends(text, start, end, cased=cased)


def _line_ends(text: str, mark: str, start: int, end: int) -> bool:
    """Return True if line breaks end a sentence.

    A blank line always ends a sentence. A single line break does not if the sentence continues on the next line.
    """
    if len(mark) > 1:
        return True
    before = text[max(0, start - _WORD_BEFORE) : start].rstrip()
    if before.endswith(",") or (before and before.split()[-1].lower() in _WRAPS):
        return False
    rest = text[end : end + 40].lstrip()
    head = rest[:1]
    if _ITEM.match(rest):
        return True
    return bool(head) and (head.isupper() or not (head.isalnum() or head in SIGNS or head in "(\"'"))


def split_sentences(text: str) -> tuple[Sentence, ...]:
    """Split a text into sentences without surrounding white space.

    >>> [s.text for s in split_sentences("Mr. Rao paid Rs. 3.5 at 10 a.m. for No. 7.He left. How much is left?")]
    ['Mr. Rao paid Rs. 3.5 at 10 a.m. for No. 7.', 'He left.', 'How much is left?']
    """
    spans: list[list[int]] = []
    begin = 0
    cased = next((c.isupper() for c in text if c.isalpha()), False)
    for match in _BREAK.finditer(text):
        mark, start, end = match.group(), match.start(), match.end()
        if mark[0] == "\n":
            ends = _line_ends(text, mark, start, end)
        else:
            ends = _mark_ends(text, mark, start, end, cased=cased)
        if ends:
            _add(spans, text, begin, end)
            begin = end
    _add(spans, text, begin, len(text))
    return tuple(Sentence(text[start:end], start, end) for start, end in spans)


def _add(spans: list[list[int]], text: str, begin: int, end: int) -> None:
    piece = text[begin:end]
    start = begin + len(piece) - len(piece.lstrip())
    stop = start + len(piece.strip())
    if start == stop:
        return
    if spans and not any(c.isalnum() for c in piece):
        spans[-1][1] = stop  # stray marks belong to the preceding sentence
    else:
        spans.append([start, stop])
