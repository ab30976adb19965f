"""Find ratios, coordinates and divisions whose two numbers changed places."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from paraqd.reading import Problem
from paraqd.scoring.evidence.content_words import Word, content_words
from paraqd.scoring.evidence.finding import Finding, as_sentence, original_and_paraphrase, quote, quote_context
from paraqd.scoring.verdict import EvidenceKind, Span

_NUMBER = r"-?\d+(?:\.\d+)?"
_POINT = re.compile(rf"\(\s*({_NUMBER})\s*,\s*({_NUMBER})\s*\)")
_DIVIDED = re.compile(rf"\b({_NUMBER})\s*(?:(?:is|was|gets|be|being)\s+)?(?:divided\s+by|÷)\s*({_NUMBER})\b")
_DIVIDE = re.compile(rf"\bdivid(?:e|es|ing)\s+({_NUMBER})\s+by\s+({_NUMBER})\b", re.I)
_JOINING = frozenset({"to", "and", ":", "to the", "and the", "to that of", "is to"})
_STEMS = frozenset({"ratio", "proportion", "respectiveli", "respectively"})
_REACH = 60  # characters before a ratio in which its sides may be named


def order_findings(question: Problem, paraphrase: Problem) -> Iterator[Finding]:
    """Find ratios, coordinates and divisions whose order changed.

    >>> from paraqd.reading import read
    >>> q, p = read("The ratio of cats to dogs is 2 : 5."), read("Cats and dogs are in the ratio 5 : 2.")
    >>> [finding.message.partition(":")[0] for finding in order_findings(q, p)]
    ['The two sides of a ratio changed places']
    """
    yield from _ratios(question, paraphrase)
    if "(" in question.text and "(" in paraphrase.text:
        yield from _turned(_pairs(_POINT, question), _pairs(_POINT, paraphrase), question, paraphrase)
    if _divides(question) and _divides(paraphrase):
        here = _pairs(_DIVIDED, question) | _pairs(_DIVIDE, question)
        there = _pairs(_DIVIDED, paraphrase) | _pairs(_DIVIDE, paraphrase)
        yield from _turned(here, there, question, paraphrase)


def _divides(problem: Problem) -> bool:
    return "divid" in problem.low or "÷" in problem.low


def _pairs(pattern: re.Pattern[str], problem: Problem) -> dict[tuple[str, str], Span]:
    return {(match[1], match[2]): match.span() for match in pattern.finditer(problem.text)}


def _turned(
    here: dict[tuple[str, str], Span], there: dict[tuple[str, str], Span], question: Problem, paraphrase: Problem
) -> Iterator[Finding]:
    for (first, second), span in here.items():
        turned = (second, first)
        if first != second and turned in there and turned not in here and (first, second) not in there:
            other = there[turned]
            quotes = quote(question.text[slice(*span)]), quote(paraphrase.text[slice(*other)])
            message = as_sentence(f"Two numbers changed places: {original_and_paraphrase(*quotes)}")
            yield Finding("order_turned", EvidenceKind.NUMBER_CHANGED, (span,), (other,), message)


def _ratios(question: Problem, paraphrase: Problem) -> Iterator[Finding]:
    mine = _sides(question)
    theirs = _sides(paraphrase) if mine else {}
    if not theirs:
        return
    both_ways = _both_ways(question) | _both_ways(paraphrase)
    compared = _Compared(mine)
    for (names, terms), span in mine.items():
        if terms in both_ways and not compared.other_things(names, terms[::-1]):
            continue  # a text has both 2 : 1 and 1 : 2, and the names do not determine which ratio is meant
        for other in (theirs.get((names, terms[::-1])), theirs.get((names[::-1], terms))):
            if other is not None:
                quotes = (_with_names(question, span), _with_names(paraphrase, other))
                message = as_sentence(f"The two sides of a ratio changed places: {original_and_paraphrase(*quotes)}")
                spans = ((span,), (other,))
                yield Finding("order_turned", EvidenceKind.NUMBER_CHANGED, *spans, message)


def _with_names(problem: Problem, span: Span) -> str:
    """Quote a ratio and the words before it, which name the two sides."""
    return quote_context(problem, *span, before=_REACH, after=0)


def _both_ways(problem: Problem) -> set[tuple[object, ...]]:
    """Return the ratios that a text contains in both orders."""
    terms = {tuple(quantity.terms) for quantity in problem.quantities if len(quantity.terms) == 2}
    return {each for each in terms if each[::-1] in terms and each[0] != each[1]}


class _Compared:
    """The things that a text's ratios compare, counted by the terms of the ratio."""

    def __init__(self, sides: Iterable[tuple[tuple[str, ...], tuple[object, ...]]]) -> None:
        self._ratios: Counter[tuple[object, ...]] = Counter()
        self._named: Counter[tuple[tuple[object, ...], frozenset[str]]] = Counter()
        for names, terms in sides:
            self._ratios[terms] += 1
            self._named.update((terms, frozenset(some)) for some in (names, names[:1], names[1:]))

    def other_things(self, names: tuple[str, ...], terms: tuple[object, ...]) -> bool:
        """Return True if one of the ratios has the given terms and compares two things that are not in ``names``."""
        one, other, both = (self._named[terms, frozenset(some)] for some in (names[:1], names[1:], names))
        return self._ratios[terms] > one + other - both


def _sides(problem: Problem) -> dict[tuple[tuple[str, ...], tuple[object, ...]], Span]:
    """Return the spans of two-term ratios, keyed by the names of the two sides and the two terms."""
    found: dict[tuple[tuple[str, ...], tuple[object, ...]], Span] = {}
    for quantity in problem.quantities:
        if len(quantity.terms) != 2 or quantity.terms[0] == quantity.terms[1]:
            continue
        names = _side_names(content_words(problem), problem, quantity.start)
        if len(names) == 2:
            found[tuple(names), tuple(quantity.terms)] = (quantity.start, quantity.end)
    return found


def _side_names(words: list[Word], problem: Problem, start: int) -> list[str]:
    """Return the stems of the two words that name a ratio's sides, as in *cats to dogs*, or an empty list."""
    begin, end = (bisect_left(words, place, key=lambda word: word.start) for place in (start - _REACH, start))
    near = [word for word in words[begin:end] if word.stem not in _STEMS]
    for first, second in reversed(list(pairwise(near))):
        between = problem.text[first.end : second.start].strip().lower()
        if between in _JOINING and first.stem != second.stem:
            return [first.stem, second.stem]
    return []
