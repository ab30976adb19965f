"""Write the quantities of a paraphrase as they are written in the question.

This helps learned judges, which see tokens and not values. To a judge, *30 minutes* looks more like *50 minutes* than
like *half an hour*.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from paraqd.reading import Kind, Problem
from paraqd.reading.types import computed_once
from paraqd.reading.unit_mentions import find_unit_mentions
from paraqd.scoring.evidence.equal_quantities import counted_end
from paraqd.scoring.evidence.matching import Amount, Matching
from paraqd.scoring.verdict import Span

Edit = tuple[int, int, str]
# words before a list whose order does not matter, and words that indicate that the order matters
_UNORDERED = re.compile(
    r"\b(?:median|mean|average|mode|range|sum|product|lcm|hcf|gcd|common (?:multiple|factor|divisor)|"
    r"deviation|variance)\s+of\s+(?:the\s+)?"
    r"(?:(?:following|given|data|set|numbers|values|integers|list)\s*){0,3}[:{(\[]?\s*$",
    re.I,
)
_ORDERED = re.compile(r"\b(?:respectively|order|terms?|sequence|series|progression|first|last)\b", re.I)
_BEFORE = 60
_LISTED = re.compile(r"\s*(?:,\s*(?:and\s+)?|and\s+)", re.I)
_LEAST_LISTED = 3
_SINGLE = re.compile(r"\s+(?:single|individual|separate)\b", re.I)
# verbs after which *more* does not change the meaning: *buys 3* equals *buys 3 more*
_GETTING = {
    form: verb
    for verb, forms in {
        "add": "add adds added adding",
        "bake": "bake bakes baked baking",
        "buy": "buy buys bought buying purchase purchases purchased purchasing",
        "catch": "catch catches caught catching",
        "collect": "collect collects collected collecting",
        "find": "find finds found finding",
        "get": "get gets got getting receive receives received receiving",
        "pick": "pick picks picked picking",
        "plant": "plant plants planted planting",
        "win": "win wins won winning",
    }.items()
    for form in forms.split()
}
_BETWEEN = frozenset(("another", "only", "just", "exactly", "a", "up", "him", "her", "them", "me", "us"))
_WORD = re.compile(r"\w+")
_FURTHER = re.compile(r"\s+(?:extra|additional|further|other)\b", re.I)
_MORE = re.compile(r"\s+more\b(?![^.?!;]{0,500}\b(?:than|as)\b)", re.I)
_OUT_OF = re.compile(r"\s+(?:out of|in|of)(?: (?:every|each))?\s+", re.I)


class NormalisedText(NamedTuple):
    """A text with rewritten quantities, and a mapping from its positions to positions in the original text."""

    text: str
    starts: tuple[int, ...]  # the start of each piece in this text
    origins: tuple[Span, ...]  # the span of each piece in the text before the rewriting
    unchanged: tuple[bool, ...]  # True for each piece that was copied verbatim

    def original_span(self, start: int, end: int) -> Span:
        """Map a span of this text to a span of the text before the rewriting."""
        first, last = (bisect_right(self.starts, place) - 1 for place in (start, max(start, end - 1)))
        begin = self.origins[first][0] + (start - self.starts[first] if self.unchanged[first] else 0)
        stop = self.origins[last][0] + end - self.starts[last] if self.unchanged[last] else self.origins[last][1]
        return (begin, max(begin, stop))


def normalise_quantities(question: Problem, paraphrase: Problem, matching: Matching) -> NormalisedText:
    """Write each quantity of the paraphrase as the question writes it, if the question contains an equal quantity.

    >>> from paraqd.reading import read
    >>> from paraqd.scoring.evidence.quantities import match_quantities
    >>> q, p = read("It takes 30 minutes."), read("Half an hour is what it takes.")
    >>> normalised = normalise_quantities(q, p, match_quantities(q, p))
    >>> normalised.text, normalised.original_span(0, 2), normalised.original_span(11, 13)
    ('30 minutes is what it takes.', (0, 12), (13, 15))
    >>> q, p = read("Nine out of ten of us run. In how many km?"), read("90 % of us run. In how many kilometres?")
    >>> normalise_quantities(q, p, match_quantities(q, p)).text
    'Nine out of ten of us run. In how many km?'
    """
    lists = sorted(_lists(question, paraphrase, matching))
    starts = [start for start, _, _ in lists]
    edits = lists + [
        edit
        for edit in _quantities(question, paraphrase, matching)
        if not lists or (place := bisect_right(starts, edit[0])) == 0 or lists[place - 1][1] <= edit[0]
    ]
    edits += _units(question, paraphrase, edits)
    edits += _more(question, paraphrase, matching)
    pieces: list[tuple[str, Span, bool]] = []
    done = 0
    for start, end, replacement in sorted(edits):
        if start < done or replacement == paraphrase.text[start:end]:
            continue
        pieces.append((paraphrase.text[done:start], (done, start), True))
        pieces.append((replacement, (start, end), False))
        done = end
    pieces.append((paraphrase.text[done:], (done, len(paraphrase.text)), True))
    pieces = [piece for piece in pieces if piece[0]] or [("", (0, 0), True)]
    starts, place = [], 0
    for text, _, _ in pieces:
        starts.append(place)
        place += len(text)
    return NormalisedText(
        "".join(text for text, _, _ in pieces),
        tuple(starts),
        tuple(origin for _, origin, _ in pieces),
        tuple(kept for _, _, kept in pieces),
    )


def _more(question: Problem, paraphrase: Problem, matching: Matching) -> Iterator[Edit]:
    """Yield edits that insert or delete *more* after *buys 3* and similar phrases, as in the question."""
    for a, b in matching.same:
        here, there = _MORE.match(question.text, a.end), _MORE.match(paraphrase.text, b.end)
        if (here is None) == (there is None):
            continue
        verb = _getting_verb_before(question.text, a.start)
        if not verb or verb != _getting_verb_before(paraphrase.text, b.start) or _FURTHER.match(paraphrase.text, b.end):
            continue
        if (
            _getting_verbs(question if here else paraphrase)[verb] == 1
        ):  # in *he buys 5 and she buys 3 more*, *more* may mean *more than he*
            yield b.end, there.end() if there else b.end, here[0] if here else ""


@computed_once
def _getting_verbs(problem: Problem) -> Counter[str]:
    """Count the verbs that mean getting something, such as *buy* and *find*, in a text."""
    return Counter(_GETTING[word] for word in _WORD.findall(problem.text.lower()) if word in _GETTING)


def _getting_verb_before(text: str, end: int) -> str:
    """Return the verb before a number if the verb is in `_GETTING`, and an empty string otherwise."""
    words = _WORD.findall(text[max(0, end - _BEFORE) : end].lower())
    while words and words[-1] in _BETWEEN:
        words.pop()
    return _GETTING.get(words[-1], "") if words else ""


def _lists(question: Problem, paraphrase: Problem, matching: Matching) -> Iterator[Edit]:
    """Yield edits that put lists such as *the median of 7, 3 and 5* in the question's order."""
    if len(matching.same) < _LEAST_LISTED:
        return
    here = _runs(question.text, [a for a, _ in matching.same])
    there = _runs(paraphrase.text, [b for _, b in matching.same]) if here else []
    if not there or any(_ORDERED.search(problem.text) for problem in (question, paraphrase)):
        return
    partner = {b.start: a.start for a, b in matching.same}
    runs_here = {frozenset(item.start for item in run): run for run in here}
    for run in there:
        same = runs_here.get(frozenset(partner[item.start] for item in run))
        if same is not None:
            yield run[0].start, run[-1].end, question.text[same[0].start : same[-1].end]


def _runs(text: str, items: Sequence[Amount]) -> list[list[Amount]]:
    """Return the lists of at least three plain numbers whose sum, median or similar value is asked for."""
    runs: list[list[Amount]] = [[]]
    for item in sorted(items, key=lambda item: item.start):
        plain = item.first.unit is None and len(item.parts) == 1
        if not plain or (runs[-1] and not _LISTED.fullmatch(text[runs[-1][-1].end : item.start])):
            runs.append([])
        if plain:
            runs[-1].append(item)
    return [run for run in runs if len(run) >= _LEAST_LISTED and _UNORDERED.search(text[: run[0].start][-_BEFORE:])]


def _quantities(question: Problem, paraphrase: Problem, matching: Matching) -> Iterator[Edit]:
    """Yield edits that write equal quantities as in the question."""
    mine: dict[int, list[Amount]] = {}
    theirs: dict[int, list[Amount]] = {}
    for a, b in matching.same:
        mine.setdefault(b.start, []).append(a)
        theirs.setdefault(a.start, []).append(b)
    for a, b in matching.same:
        members, others = mine[b.start], theirs[a.start]
        if len(members) > 1 or len(others) > 1:  # one text writes a ratio, and the other writes two numbers
            mine_at, theirs_at = _expression(question.text, members), _expression(paraphrase.text, others)
            if a is members[0] and b is others[0] and mine_at is not None and theirs_at is not None:
                yield (*theirs_at, question.text[slice(*mine_at)])
        elif a.first.kind is Kind.EXPONENT or b.first.kind is Kind.EXPONENT:
            continue  # ^2 and ² belong to the letter before them
        elif a.signed == b.signed:
            yield b.start, b.end, a.surface(question.text)
        elif len(a.parts) == len(b.parts) == 1 and a.first.value == b.first.value and not a.first.terms:
            yield (*b.first.number_span, question.text[slice(*a.first.number_span)])
        elif (here := counted_end(question.text, a)) > a.end or counted_end(paraphrase.text, b) > b.end:
            end = counted_end(paraphrase.text, b)  # 8 pairs of shoes, 16 single shoes
            single = _SINGLE.match(paraphrase.text, end) if here > a.end else None
            yield b.start, single.end() if single else end, question.text[a.start : here]


def _expression(text: str, items: Sequence[Amount]) -> Span | None:
    """Return the span of a number, or of two numbers in an expression such as *nine out of every ten*.

    Return None if two numbers do not form such an expression with the smaller number first.
    """
    if len(items) == 1:
        return items[0].start, items[0].end
    first, last = min(items, key=lambda item: item.start), max(items, key=lambda item: item.start)
    if len(items) > 2 or first.first.value > last.first.value:
        return None
    return (first.start, last.end) if _OUT_OF.fullmatch(text[first.end : last.start]) else None


def _units(question: Problem, paraphrase: Problem, edits: Sequence[Edit]) -> Iterator[Edit]:
    """Yield edits that change units to their spelling in the question, except where another edit already applies."""
    written = _written_units(question)
    mentions = [mention for mention in find_unit_mentions(paraphrase) if mention.unit in written]
    if not mentions:
        return
    edited = sorted((start, end) for start, end, _ in edits)
    for mention in mentions:
        spelling = written[mention.unit]
        before = bisect_right(edited, (mention.end - 1, sys.maxsize)) - 1
        if before >= 0 and edited[before][1] > mention.start:
            continue
        if spelling.isalpha() or mention.quantity is None:  # a sign may have to precede its number
            yield mention.start, mention.end, spelling


@computed_once
def _written_units(problem: Problem) -> dict[str, str]:
    """Return the first spelling of each unit in a text, preferring mentions without a number."""
    written: dict[str, str] = {}
    for mention in sorted(find_unit_mentions(problem), key=lambda each: each.quantity is not None):
        written.setdefault(mention.unit, problem.text[mention.start : mention.end])
    return written
