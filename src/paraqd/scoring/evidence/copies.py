"""Compare the numbers of two texts that differ only in numbers, one by one.

Lists, ratios and formulas have too few words to tell their numbers apart, but in a copy, the position of a number does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator
from fractions import Fraction

from paraqd.reading import Problem
from paraqd.reading.numerals import MAX_DIGITS
from paraqd.scoring.evidence.finding import Finding, as_sentence, original_and_paraphrase, quote, quote_context
from paraqd.scoring.verdict import EvidenceKind, Span

_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:,\d{2,3})*(?:\.\d+)?(?:\s?[/:]\s?\d+(?:\.\d+)?)*")  # 3/4 or 3 : 4 is one number
_SIGN = re.compile(r"[/:]")
_MOST_NAMED = 3
_JOINING = frozenset("and or to by plus times".split())  # numbers that these words join may change places


def copied_numbers(question: Problem, paraphrase: Problem) -> Iterator[Finding]:
    """Find a number that was replaced, or two numbers that changed places, in a copy of the question.

    >>> from paraqd.reading import read
    >>> [found.feature for found in copied_numbers(read("Find 2 : 3 of 3 x."), read("Find 2 : 2 of 3 x."))]
    ['number_replaced']
    """
    if _without_numbers(question.text) != _without_numbers(paraphrase.text):
        return
    here, there = (list(_NUMBER.finditer(text)) for text in (question.text, paraphrase.text))
    mine, theirs = ([_value(match[0]) for match in found] for found in (here, there))
    if len(mine) != len(theirs):
        return
    changed = [place for place, (one, other) in enumerate(zip(mine, theirs, strict=True)) if one != other]
    if not changed:
        return
    spans = tuple(here[place].span() for place in changed), tuple(there[place].span() for place in changed)
    if Counter(mine) != Counter(theirs):
        first = changed[0]
        message = as_sentence(f"A number changed: {quote(here[first][0])} became {quote(there[first][0])}")
        yield Finding("number_replaced", EvidenceKind.NUMBER_CHANGED, *spans, message)
    elif _words_between(question.text, spans[0][0], spans[0][-1]):
        where = original_and_paraphrase(quote_context(question, *spans[0][0]), quote_context(paraphrase, *spans[1][0]))
        numbers = " and ".join(quote(here[place][0]) for place in changed[:_MOST_NAMED])
        message = as_sentence(f"The numbers {numbers} changed places: {where}")
        yield Finding("numbers_swapped", EvidenceKind.NUMBER_CHANGED, *spans, message)


def _value(text: str) -> tuple[Hashable, ...]:
    """Return the value of a number, or each term of a fraction or ratio as a share of the sum of its terms.

    A number of more than 400 digits is not converted, because that would take more than linear time.

    >>> _value("2 : 4") == _value("1:2"), _value("1,500") == _value("1500.0"), _value("3") == _value("3/1")
    (True, True, False)
    """
    written = [term.strip().replace(",", "") for term in _SIGN.split(text)]
    if max(map(len, written)) > MAX_DIGITS:
        return tuple(written)
    terms = [Fraction(term) for term in written]
    whole = sum(map(abs, terms)) if len(terms) > 1 else 1
    return tuple(term / (whole or 1) for term in terms)


def _without_numbers(text: str) -> str:
    return "".join(_NUMBER.sub("0", text).lower().split())


def _words_between(text: str, first: Span, last: Span) -> bool:
    """Return True if words tell two numbers apart, unlike in a list such as *5 cm and 7 cm*."""
    after = _WORD.search(text.lower(), last[1])
    return bool(set(_WORD.findall(text[first[1] : last[0]].lower())) - _JOINING - {after[0] if after else ""})
