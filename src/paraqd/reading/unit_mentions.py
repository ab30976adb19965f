"""Find all units in a text, with numbers (*5 km*) and without numbers (*how many hours*, *in km*, *per kg*)."""

from __future__ import annotations

from typing import NamedTuple

from paraqd.reading.signs import POSSESSIVES
from paraqd.reading.token_stream import Stream
from paraqd.reading.types import Problem, Quantity, computed_once
from paraqd.reading.unit_parsing import FoundUnit, rate, simple_unit
from paraqd.reading.units import PERCENT, SIGNS

# words that may precede a unit without a number
_BEFORE = frozenset({"many", "in", "per", "/", "each", "every", "(", "much", "number"})
_PRIMES = frozenset("'’′\"”″")
_LETTERS_BEFORE = frozenset({"/", "per"})


class UnitMention(NamedTuple):
    """A unit at ``text[start:end]``. ``quantity`` is the quantity to which the unit belongs, or None."""

    start: int
    end: int
    unit: str
    quantity: Quantity | None


@computed_once
def find_unit_mentions(problem: Problem) -> list[UnitMention]:
    """Return the mentions of units in a problem, in order. Percentages are skipped.

    >>> from paraqd.reading import read
    >>> [(m.unit, m.quantity is not None) for m in find_unit_mentions(read("He ran 5 km. How many hours, in total?"))]
    [('kilometre', True), ('hour', False)]
    """
    s = problem.stream
    covered = [(q.start, q.end) for q in problem.quantities]
    found = [
        UnitMention(q.unit_span[0], _without_possessive(problem.text, *q.unit_span), _written_unit(q), q)
        for q in problem.quantities
        if q.unit_span is not None and q.unit and not q.unit.startswith(PERCENT)
        if problem.text[q.unit_span[0]] not in _PRIMES
    ]
    position = done = 0
    for i, before in enumerate(s.low[: s.n], start=1):
        if before not in _BEFORE or i < done:
            continue
        while position < len(covered) and covered[position][1] <= s.start[i]:
            position += 1
        if position < len(covered) and covered[position][0] <= s.start[i] and before not in _LETTERS_BEFORE:
            continue
        unit = _unit_without_number(s, i)
        if unit is None:
            continue
        start, end = s.start[unit.first], s.end[unit.after - 1]
        found.append(UnitMention(start, _without_possessive(problem.text, start, end), unit.name, None))
        done = unit.after
    return _without_overlap(found)


def _without_possessive(text: str, start: int, end: int) -> int:
    return end - 2 if text[start:end].endswith(POSSESSIVES) else end


def _written_unit(q: Quantity) -> str:
    """Return the unit at the quantity's ``unit_span``. For *Rs. 9/kg*, this unit is only the rupee."""
    unit = q.unit or ""
    before_number = q.unit_span is not None and q.unit_span[0] < q.number_span[0]
    return unit.partition("/")[0] if before_number else unit


def _unit_without_number(s: Stream, i: int) -> FoundUnit | None:
    """Read a unit that has no number at token i. The preceding token is one of `_BEFORE`."""
    word, before = s.low[i], s.low[i - 1]
    if word in SIGNS or not word[:1].isalpha() or word in {"in", "second", "degree", "re", "pounds"}:
        return None
    if len(word) == 1 and before not in _LETTERS_BEFORE and not (before == "in" and s.text[i + 1] == "/"):
        return None
    if before == "/" and i > 1 and len(s.text[i - 2]) == 1 and s.text[i - 2].isalpha():
        return None  # the denominator in m/s if m was not read as a unit
    if word == "rs":
        return None
    unit = simple_unit(s, i)
    return rate(s, unit) if unit is not None and before not in _LETTERS_BEFORE else unit


def _without_overlap(found: list[UnitMention]) -> list[UnitMention]:
    result: list[UnitMention] = []
    for mention in sorted(found, key=lambda m: (m.start, m.quantity is None)):
        if not result or mention.start >= result[-1].end:
            result.append(mention)
    return result
