"""Match the quantities of a question and its paraphrase."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Sequence
from fractions import Fraction
from itertools import pairwise

from paraqd.reading import Kind, Problem
from paraqd.reading.types import computed_once
from paraqd.reading.units import SPELLINGS, dimension
from paraqd.scoring.evidence.comparisons import Comparisons
from paraqd.scoring.evidence.derived import follows
from paraqd.scoring.evidence.equal_quantities import Rule, equal_as_written, equal_rules, inverse_rules, single
from paraqd.scoring.evidence.in_place import replaced_in_place
from paraqd.scoring.evidence.matching import Amount, Amounts, Matching, amounts_of, split_compounds
from paraqd.scoring.evidence.ratios import match_ratios
from paraqd.scoring.evidence.roles import contexts, likeness

_CALENDAR_ONE = frozenset({"second", "minute", "hour", "day", "week", "month", "year", "weekend"})
_POINTED = re.compile(r"\b(?:these|those)\s+$", re.I)  # as in *of these two days*
_LOOK_BACK = 10  # characters; enough for *those*
_NOON = frozenset({"noon", "midday", "midnight"})
_EACH = frozenset({"each", "every", "per", "a", "an", "the", "one"})
_WHOLE = frozenset({"full", "whole", "single", "entire"})
_SMALL = 3
_MOST_RESTATED = 200
_WORK = 4  # the comparisons that take as long as the comparison of two numbers' surrounding words


def match_quantities(question: Problem, paraphrase: Problem) -> Matching:
    """Match the quantities of a question and its paraphrase.

    >>> from paraqd.reading import read
    >>> q, p = read("Ann has 7 pounds and 4 ounces of tea."), read("Ann has 7 pounds and ounces of tea.")
    >>> found = match_quantities(q, p)
    >>> [item.surface(q.text) for item in found.lost]
    ['4 ounces']
    """
    left, right = Amounts(amounts_of(question)), Amounts(amounts_of(paraphrase))
    same = _take_equal(left, right)
    if not left and not right:
        return Matching(tuple(same), (), (), (), (), (), ())
    comparisons = Comparisons()
    # an unmatched compound may have lost a part
    left, right = Amounts(split_compounds(left)), Amounts(split_compounds(right))
    same += _take_equal(left, right)
    for rule in equal_rules(question, paraphrase):
        same += _take(left, right, rule, comparisons)
    same += match_ratios(left, right, comparisons)
    for rule in inverse_rules(question, paraphrase, comparisons):
        same += _take(left, right, rule, comparisons)
    in_place = _take_replaced(left, right, replaced_in_place(question, paraphrase))
    runs = {part.value for item in amounts_of(question) for part in item.parts if part.unit is None}
    mine, theirs = _Matched([a for a, _ in same], comparisons), _Matched([b for _, b in same], comparisons)
    innocent = _drop(left, lambda item: theirs.has(item) or _in_run(item, runs))
    innocent += _drop(right, mine.has)
    other_unit = _take(left, right, _unit_differs, comparisons)
    other_value = _take(left, right, _other_exponent, comparisons)
    innocent += _drop(left, _negligible) + _drop(right, _negligible)
    if left or right:
        here, there = _units_without_number(question), _units_without_number(paraphrase)
        only_here, only_there = here - there, there - here
        innocent += _drop(left, lambda item: _one_of_unit(item, only_there))
        innocent += _drop(right, lambda item: _one_of_unit(item, only_here))
    other_value += _changed(left, right, question, paraphrase, comparisons)
    innocent += _drop(right, lambda item: _refers_back(item, paraphrase))
    derived = _drop(right, lambda item: follows(item, question))
    return Matching(
        tuple(same),
        tuple(other_unit),
        tuple(other_value),
        tuple(left),
        tuple(right),
        tuple(innocent),
        tuple(derived),
        tuple(in_place),
        comparisons.complete,
    )


def _take(left: Amounts, right: Amounts, rule: Rule, comparisons: Comparisons) -> list[tuple[Amount, Amount]]:
    """Remove pairs of amounts that satisfy a rule, as long as comparisons are left, and return the pairs."""
    found: list[tuple[Amount, Amount]] = []
    for item in list(left):
        if not right or not comparisons.take(len(right)):
            break
        other = next((candidate for candidate in right if rule(item, candidate)), None)
        if other is not None:
            left.remove(item)
            right.remove(other)
            found.append((item, other))
    return found


def _take_replaced(
    left: Amounts, right: Amounts, pairs: Sequence[tuple[Amount, Amount]]
) -> list[tuple[Amount, Amount]]:
    """Remove numbers that were replaced in place, and return the pairs.

    If a value occurs several times, the unmatched amount of this value may stand elsewhere in the text.
    """
    if not pairs:
        return []
    here, there = left.by_signature(), right.by_signature()
    found = []
    for a, b in pairs:
        if (mine := here.get(a.signed)) and (theirs := there.get(b.signed)):
            left.remove(mine.popleft())
            right.remove(theirs.popleft())
            found.append((a, b))
    return found


def _take_equal(left: Amounts, right: Amounts) -> list[tuple[Amount, Amount]]:
    """Remove equal amounts, and return the pairs of equal amounts."""
    there = right.by_signature()
    pairs = [(item, others.popleft()) for item in left if (others := there.get(item.signed))]
    for a, b in pairs:
        left.remove(a)
        right.remove(b)
    return pairs


def _drop(items: Amounts, rule: Callable[[Amount], bool]) -> list[Amount]:
    """Remove the amounts that satisfy a rule, and return them."""
    gone = [item for item in items if rule(item)]
    for item in gone:
        items.remove(item)
    return gone


@computed_once
def _units_without_number(problem: Problem) -> Counter[tuple[str, Fraction]]:
    """Count the units without a number that mean one unit, as in *every minute* or *a full day*."""
    low = problem.stream.low
    if not _WHOLE.isdisjoint(problem.stream.words):
        low = [word for word in low if word not in _WHOLE]
    named = (SPELLINGS.get(after) for word, after in pairwise(low) if word in _EACH)
    return Counter(dimension(unit) for unit in named if unit and "/" not in unit)


def _one_of_unit(item: Amount, units: Counter[tuple[str, Fraction]]) -> bool:
    """Return True if an amount equals one of ``units``. For example, *60 seconds* equals the unit in *every minute*."""
    one = single(item)
    if one is None or one.unit is None or "/" in one.unit:
        return False
    kind, factor = dimension(one.unit)
    return units[kind, one.value * factor] > 0


class _Matched:
    """The matched numbers of a text. An unmatched number that equals a matched number is a repetition."""

    def __init__(self, items: Sequence[Amount], comparisons: Comparisons) -> None:
        self._items = items if len(items) <= _MOST_RESTATED else ()
        self._comparisons = comparisons
        self._signed = {item.signed for item in items if item.first.kind is not Kind.EXPONENT}
        self._exponents = {item.signed for item in items if item.first.kind is Kind.EXPONENT}

    def has(self, item: Amount) -> bool:
        """Return True if an amount repeats a matched number. A small exponent can only repeat another exponent."""
        if item.first.kind is Kind.EXPONENT and item.first.value <= _SMALL:
            return item.signed in self._exponents
        if item.signed in self._signed or item.signed in self._exponents:
            return True
        if not self._comparisons.take(len(self._items)):
            return False
        return any(equal_as_written(item, other) for other in self._items)


def _refers_back(item: Amount, problem: Problem) -> bool:
    """Return True if a small number in words refers back to things already mentioned, as in *these two days*."""
    one = single(item)
    if one is None or not one.worded or one.value > _SMALL:
        return False
    return _POINTED.search(problem.text[max(0, item.start - _LOOK_BACK) : item.start]) is not None


def _in_run(item: Amount, values: Container[Fraction]) -> bool:
    """Return True if a number lies inside a sequence that may be shortened, such as 0, 1, 2, …, 6."""
    value = item.first.value
    return item.first.unit is None and value - 1 in values and value + 1 in values


def _negligible(item: Amount) -> bool:
    """Return True if a paraphrase may omit or add a number, such as *one*, *the two of them* or *an hour*."""
    one = single(item)
    if one is None:
        return False
    if one.kind is Kind.EXPONENT:
        return one.value in (2, 3)  # x² may become the square of x
    if one.kind is Kind.ORDINAL:
        return one.value <= _SMALL
    if one.value == 0 or (one.kind is Kind.TIME_OF_DAY and one.surface.lower() in _NOON):
        return True  # x > 0 may become *x is positive*, and *before noon* may become *in the morning*
    if one.unit is None and one.kind is Kind.COUNT:
        return one.value == 1 or (one.value <= _SMALL and one.worded)
    if one.kind is Kind.MULTIPLE:
        return False
    return one.value == 1 and one.unit in _CALENDAR_ONE


def _other_exponent(a: Amount, b: Amount) -> bool:
    """Return True if both amounts are exponents. They differ, because equal exponents have already been matched."""
    return a.first.kind is b.first.kind is Kind.EXPONENT


def _unit_differs(a: Amount, b: Amount) -> bool:
    """Return True if two amounts have the same value but different units."""
    one, other = single(a), single(b)
    if one is None or other is None or one.unit is None or other.unit is None:
        return False
    return one.value == other.value and one.unit != other.unit and not (_negligible(a) or _negligible(b))


def _changed(
    left: Amounts, right: Amounts, question: Problem, paraphrase: Problem, comparisons: Comparisons
) -> list[tuple[Amount, Amount]]:
    """Pair the remaining numbers whose surrounding words are similar. Each pair is probably a changed number."""
    if not left or not right or not comparisons.take(_WORK * len(left) * len(right)):
        return []
    here, there = contexts(question, amounts_of(question)), contexts(paraphrase, amounts_of(paraphrase))

    def alike(a: Amount, b: Amount) -> float:
        unit = a.first.unit is not None and dimension(a.first.unit)[0] == dimension(b.first.unit)[0]
        return likeness(here[a.place], there[b.place]) + 0.25 * unit

    ranked = sorted(
        ((alike(a, b), -abs(a.place - b.place), a, b) for a in left for b in right),
        key=lambda found: (-found[0], -found[1]),
    )
    pairs: list[tuple[Amount, Amount]] = []
    for likely, _, a, b in ranked:
        if b.first.value == 1 - a.first.value and a.first.unit == b.first.unit:
            continue  # complements may mean the same: *a third do* equals *two thirds do not*
        if a in left and b in right and (likely > 0 or len(left) == len(right) == 1):
            left.remove(a)
            right.remove(b)
            pairs.append((a, b))
    return pairs
