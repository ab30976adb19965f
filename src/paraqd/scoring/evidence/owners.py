"""Find numbers that swapped owners, for example if *Ann has 5 and Bob has 7* becomes *Ann has 7 and Bob has 5*."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from paraqd.reading import Problem
from paraqd.reading.types import computed_once
from paraqd.reading.units import dimension
from paraqd.scoring.evidence.content_words import bare_name
from paraqd.scoring.evidence.finding import Finding, quote
from paraqd.scoring.evidence.matching import Amount, Matching
from paraqd.scoring.verdict import EvidenceKind, Span

_LETTER = re.compile(r"[A-Z](?<![\w'’.$\\=+*/^-].)(?![\w'’.=+*/^-]| ?[=+*/^<>])")
_OBJECT = re.compile(
    r"\b(?:to|for|by|than|from|with|as|at|behind|before|after|towards?|past|near|gives?|gave)\s+(?:\w+ )?$", re.I
)
_OTHER_SUBJECT = re.compile(r"\b(?:he|she|it|they|each|both|who|which|other|others|total|together)\b", re.I)
_CUT = re.compile(r"[,;.?!:]|\b(?:and|but|while|whereas)\b", re.I)
_MOST_COMPARED = 60


class Name(NamedTuple):
    """A name in a text, with its span."""

    text: str
    span: Span


def owner_findings(question: Problem, paraphrase: Problem, matching: Matching) -> Iterator[Finding]:
    """Find two numbers of the same dimension that swapped owners."""
    if not 2 <= len(matching.same) <= _MOST_COMPARED:
        return
    here, there = _names(question), _names(paraphrase)
    if len({name.text for name in here} & {name.text for name in there}) < 2:
        return
    owned = [
        (a, b, mine, theirs)
        for a, b in matching.same
        if (mine := _owner(question, a, here)) and (theirs := _owner(paraphrase, b, there))
    ]
    for (a, b, mine, theirs), (c, d, other, others) in combinations(owned, 2):
        if a.signed == c.signed or _dimension(a) != _dimension(c):
            continue
        if mine.text == others.text != other.text == theirs.text:
            first, second = (quote(item.surface(question.text)) for item in (a, c))
            message = (
                f"The numbers {first} and {second} changed places: {first} goes with {quote(mine.text)} in the "
                f"original, but with {quote(theirs.text)} in the paraphrase."
            )
            yield Finding(
                "things_exchanged",
                EvidenceKind.ENTITY_CHANGED,
                (*a.spans, mine.span, *c.spans, other.span),
                (*b.spans, theirs.span, *d.spans, others.span),
                message,
            )
            return


def _dimension(item: Amount) -> str:
    """Return an amount's dimension without the denominator of a rate. For example, *$15 an hour* is money."""
    return dimension((item.first.unit or "").partition("/")[0] or None)[0]


@computed_once
def _names(problem: Problem) -> list[Name]:
    """Return a text's names in order, including single letters such as A in *pump A*."""
    found = [Name(bare_name(e.text), (e.start, e.end)) for e in problem.entities]
    begins, opens = [e.start for e in problem.entities], problem.sentence_starts
    for match in _LETTER.finditer(problem.text):
        before = bisect_right(begins, match.start()) - 1
        inside = before >= 0 and match.start() < problem.entities[before].end
        if not inside and (match.group() not in "AI" or match.start() not in opens):
            found.append(Name(match.group(), match.span()))
    return sorted(found, key=_start)


def _start(name: Name) -> int:
    return name.span[0]


def _owner(problem: Problem, item: Amount, names: Sequence[Name]) -> Name | None:
    """Return the name to which a number belongs, or None if the owner is not clear."""
    text = problem.text
    sentence = problem.sentence_at(item.start)
    if sentence is None:
        return None
    after = bisect_left(names, item.start, key=_start)
    if not after or names[after - 1].span[0] < sentence.start:
        return None
    owner = names[after - 1]
    led_by = text[max(sentence.start, owner.span[0] - 24) : owner.span[0]]
    between = text[owner.span[1] : item.start]
    if _OBJECT.search(led_by) or _OTHER_SUBJECT.search(between):
        return None
    cut = _CUT.search(text, item.end, sentence.end)
    end = cut.start() if cut else sentence.end
    behind = names[bisect_left(names, item.end, key=_start) : bisect_left(names, end, key=_start)]
    if any(name.text != owner.text for name in behind):
        return None  # the number may belong to the name after it, as in *5 km for Ann*
    return owner
