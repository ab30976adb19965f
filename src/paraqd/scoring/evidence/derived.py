"""Decide whether a number of the paraphrase follows from the question's numbers."""

from __future__ import annotations

from collections.abc import Set
from fractions import Fraction
from itertools import combinations

from paraqd.reading import Kind, Problem
from paraqd.reading.types import computed_once
from paraqd.scoring.evidence.equal_quantities import single
from paraqd.scoring.evidence.matching import Amount

_PARTS = frozenset({Kind.PERCENT, Kind.FRACTION, Kind.MULTIPLE})
_MOST_NUMBERS = 40
_SUMMED = (3, 4, 5)  # neighbouring numbers


def follows(item: Amount, question: Problem) -> bool:
    """Return True if a number follows from the question's numbers in one step.

    A step is a sum of up to five numbers, a difference, a product or a quotient of two numbers, the double or half of a
    number, or the complement of a share.
    """
    one = single(item)
    if one is None or one.value in (0, 1) or len(question.quantities) > _MOST_NUMBERS:
        return False
    mine = one.value / 100 if one.kind is Kind.PERCENT else one.value
    return one.value in _steps(question) or mine in _increases(question)


@computed_once
def _steps(question: Problem) -> Set[Fraction]:
    """Return the values that follow from the question's numbers in one step."""
    values = [quantity.value for quantity in question.quantities]
    found: set[Fraction] = set()
    for value in values:
        found.update((value / 2, value * 2, 1 - value, 100 - value))
    for a, b in combinations(values, 2):
        found.update((a + b, a - b, b - a, a * b))
        if a and b:
            found.update((a / b, b / a))
    for size in _SUMMED:
        found.update(sum(values[i : i + size], Fraction(0)) for i in range(len(values) - size + 1))
    return found


@computed_once
def _increases(question: Problem) -> Set[Fraction]:
    """Return what the question's shares add up to with a whole: 40 % more is 1.4 times as many."""
    parts = [q.value / 100 if q.kind is Kind.PERCENT else q.value for q in question.quantities if q.kind in _PARTS]
    return {change for part in parts for change in (1 + part, 1 - part, part - 1)}
