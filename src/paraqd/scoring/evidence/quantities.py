"""Match the quantities of a question and its paraphrase."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise

from paraqd.reading import Kind, Problem, Quantity
from paraqd.reading.types import computed_once
from paraqd.reading.units import SPELLINGS, dimension
from paraqd.scoring.evidence.equal_quantities import Rule, equal_as_written, equal_rules, inverse_rules, single
from paraqd.scoring.evidence.in_place import replaced_in_place
from paraqd.scoring.evidence.matching import Amount, Matching, amounts_of, split_compounds
from paraqd.scoring.evidence.roles import contexts, likeness

_CALENDAR_ONE = frozenset({"second", "minute", "hour", "day", "week", "month", "year", "weekend"})
_PARTS = frozenset({Kind.PERCENT, Kind.FRACTION, Kind.MULTIPLE})
_POINTED = re.compile(r"\b(?:these|those)\s+$", re.I)  # as in *of these two days*
_LOOK_BACK = 10  # characters; enough for *those*
_NOON = frozenset({"noon", "midday", "midnight"})
_EACH = frozenset({"each", "every", "per", "a", "an", "the", "one"})
_WHOLE = frozenset({"full", "whole", "single", "entire"})
_SMALL = 3
_MOST_SUMMED = 40
_MOST_COMPARED = 10_000
_MOST_RESTATED = 200


def match_quantities(question: Problem, paraphrase: Problem) -> Matching:
    """Match the quantities of a question and its paraphrase.

    >>> from paraqd.reading import read
    >>> q, p = read("Ann has 7 pounds and 4 ounces of tea."), read("Ann has 7 pounds and ounces of tea.")
    >>> found = match_quantities(q, p)
    >>> [item.surface(q.text) for item in found.lost]
    ['4 ounces']
    """
    left, right = list(amounts_of(question)), list(amounts_of(paraphrase))
    same = _take_equal(left, right)
    if not left and not right:
        return Matching(tuple(same), (), (), (), (), (), ())
    left, right = split_compounds(left), split_compounds(right)  # an unmatched compound may have lost a part
    same += _take_equal(left, right)
    for rule in equal_rules(question, paraphrase):
        _take(left, right, rule, same)
    same = list(_match_ratios(same, left, right))
    for rule in inverse_rules(question, paraphrase):
        _take(left, right, rule, same)
    in_place = _take_replaced(left, right, replaced_in_place(question, paraphrase))
    runs = {part.value for item in amounts_of(question) for part in item.parts if part.unit is None}
    mine, theirs = _Matched([a for a, _ in same]), _Matched([b for _, b in same])
    innocent = _drop(left, lambda item: theirs.has(item) or _in_run(item, runs))
    innocent += _drop(right, mine.has)
    other_unit: list[tuple[Amount, Amount]] = []
    _take(left, right, _unit_differs, other_unit)
    other_value: list[tuple[Amount, Amount]] = []
    _take(left, right, _other_exponent, other_value)
    innocent += _drop(left, _negligible) + _drop(right, _negligible)
    if left or right:
        here, there = _units_without_number(question), _units_without_number(paraphrase)
        only_here, only_there = here - there, there - here
        innocent += _drop(left, lambda item: _one_of_unit(item, only_there))
        innocent += _drop(right, lambda item: _one_of_unit(item, only_here))
    other_value += _changed(left, right, question, paraphrase)
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
    )


def _take(left: list[Amount], right: list[Amount], rule: Rule, pairs: list[tuple[Amount, Amount]]) -> None:
    """Move pairs of amounts that satisfy a rule from ``left`` and ``right`` to ``pairs``.

    If the lists are very long, nothing is moved, because comparing every pair would take too long.
    """
    for item in list(left) if len(left) * len(right) <= _MOST_COMPARED else ():
        other = next((candidate for candidate in right if rule(item, candidate)), None)
        if other is not None:
            left.remove(item)
            right.remove(other)
            pairs.append((item, other))


def _take_replaced(
    left: list[Amount], right: list[Amount], pairs: Sequence[tuple[Amount, Amount]]
) -> list[tuple[Amount, Amount]]:
    """Remove numbers that were replaced in place from both lists, and return the pairs.

    If a value occurs several times, the unmatched amount of this value may stand elsewhere in the text.
    """
    found = []
    for a, b in pairs:
        mine = next((item for item in left if item.signed == a.signed), None)
        theirs = next((item for item in right if item.signed == b.signed), None)
        if mine is not None and theirs is not None:
            left.remove(mine)
            right.remove(theirs)
            found.append((a, b))
    return found


def _take_equal(left: list[Amount], right: list[Amount]) -> list[tuple[Amount, Amount]]:
    """Remove equal amounts from both lists, and return the pairs of equal amounts."""
    held: dict[Hashable, deque[Amount]] = {}
    for item in right:
        held.setdefault(item.signed, deque()).append(item)
    pairs = [(item, others.popleft()) for item in left if (others := held.get(item.signed))]
    for items, side in ((left, 0), (right, 1)):
        gone = {id(pair[side]) for pair in pairs}
        items[:] = [item for item in items if id(item) not in gone]
    return pairs


def _drop(items: list[Amount], rule: Callable[[Amount], bool]) -> list[Amount]:
    gone: list[Amount] = []
    kept: list[Amount] = []
    for item in items:
        (gone if rule(item) else kept).append(item)
    items[:] = kept
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


def _match_ratios(
    same: list[tuple[Amount, Amount]], left: list[Amount], right: list[Amount]
) -> Iterator[tuple[Amount, Amount]]:
    """Yield the pairs in ``same``, and pair ratios with separate numbers, such as *2/3* with *2 for every 3*."""
    yield from same
    for here, there, turned in ((left, right, False), (right, left, True)):
        for item in list(here):
            one = single(item)
            if one is None or (one.kind not in (Kind.RATIO, Kind.FRACTION, Kind.PERCENT) and not one.terms):
                continue
            found = _members(one, there)
            if len(found) > 1:
                here.remove(item)
                for other in found:
                    there.remove(other)
                    yield (other, item) if turned else (item, other)


def _members(whole: Quantity, items: Sequence[Amount]) -> list[Amount]:
    """Return the numbers that are a ratio's terms, or two numbers whose quotient equals the ratio."""
    if len(whole.terms) > 2:
        found: list[Amount] = []
        for term in whole.terms:
            found += [c for c in items if c not in found and c.first.value == term and c.first.unit is None][:1]
        return found if len(found) == len(whole.terms) else []
    value = whole.value / 100 if whole.kind is Kind.PERCENT else whole.value
    plain = [item for item in items if single(item) is not None and not item.first.terms][:_MOST_SUMMED]
    for a, b in combinations(plain, 2):
        top, bottom = a.first.value, b.first.value
        if (
            top
            and bottom
            and value in (top / bottom, bottom / top)
            and dimension(a.first.unit) == dimension(b.first.unit)
        ):
            return [a, b]
    return []


class _Matched:
    """The matched numbers of a text. An unmatched number that equals a matched number is a repetition."""

    def __init__(self, items: Sequence[Amount]) -> None:
        self._items = items if len(items) <= _MOST_RESTATED else ()
        self._signed = {item.signed for item in items if item.first.kind is not Kind.EXPONENT}
        self._exponents = {item.signed for item in items if item.first.kind is Kind.EXPONENT}

    def has(self, item: Amount) -> bool:
        """Return True if an amount repeats a matched number. A small exponent can only repeat another exponent."""
        if item.first.kind is Kind.EXPONENT and item.first.value <= _SMALL:
            return item.signed in self._exponents
        if item.signed in self._signed or item.signed in self._exponents:
            return True
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
    left: list[Amount], right: list[Amount], question: Problem, paraphrase: Problem
) -> list[tuple[Amount, Amount]]:
    """Pair the remaining numbers whose surrounding words are similar. Each pair is probably a changed number."""
    if not left or not right or len(left) * len(right) > _MOST_COMPARED:
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


def follows(item: Amount, question: Problem) -> bool:
    """Return True if a number follows from the question's numbers in one step.

    A step is a sum of up to five numbers, a difference, a product or a quotient of two numbers, the double or half of a
    number, or the complement of a share.
    """
    one = single(item)
    values = [quantity.value for quantity in question.quantities]
    if one is None or one.value in (0, 1) or len(values) > _MOST_SUMMED:
        return False
    near = (one.value * 2, one.value / 2, 1 - one.value, 100 - one.value)
    if any(value in near for value in values):
        return True
    mine = one.value / 100 if one.kind is Kind.PERCENT else one.value
    parts = [q.value / 100 if q.kind is Kind.PERCENT else q.value for q in question.quantities if q.kind in _PARTS]
    if any(mine in (1 + part, 1 - part, part - 1) for part in parts):
        return True  # 40 % more is 1.4 times as many
    if any(one.value == sum(values[i : i + size]) for size in (3, 4, 5) for i in range(len(values) - size + 1)):
        return True
    return any(
        one.value in (a + b, a - b, b - a, a * b) or (a and b and one.value in (a / b, b / a))
        for a, b in combinations(values, 2)
    )
