"""Swap two numbers."""

from __future__ import annotations

import random
import re

from paraqd.reading import Kind, Problem, Quantity, equal
from paraqd.reading.numerals import CARDINAL_START
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import splice

_KINDS = frozenset({Kind.COUNT, Kind.MEASURE, Kind.MONEY, Kind.PERCENT, Kind.FRACTION})
_NOUN = re.compile(r"[\s-]*([A-Za-z]+)(?:\s+([A-Za-z]+))?")
_NO_NOUN = frozenset(
    (
        "and or of to in on at by is are was were the a an for from if then than with more less times each other "
        "respectively out no through inclusive exclusive but only also as what how find has have had can will "
        "would that which"
    ).split()
)
_MOST_PAIRS = 12


class NumberSwap(Operator):
    """Swap two numbers that count or measure different things: 7 boys and 9 girls → 9 boys and 7 girls."""

    name = "NumberSwap"
    polarity = "invalid"
    fault = "number_changed"
    changes = frozenset({"order"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Swap two numbers; return None if no two numbers are known to count or measure different things."""
        del resources
        pairs = _pairs(problem)
        if not pairs:
            return None
        a, b = rng.choice(pairs)
        text = problem.text
        return splice(
            text,
            [
                (*a.number_span, text[slice(*b.number_span)]),
                (*b.number_span, text[slice(*a.number_span)]),
            ],
        )


def _pairs(problem: Problem) -> list[tuple[Quantity, Quantity]]:
    """Return the pairs of numbers that have different values and different units or nouns.

    Numbers with the same unit or noun are not swapped because the answer may stay the same, as in "A takes 5 days and B
    takes 7 days; how long do they take together?".
    """
    numbers = [q for q in problem.quantities if q.kind in _KINDS and not q.worded and q.value > 0]
    numbers = [q for q in numbers if not _in_expression(problem.text, q)]
    found = []
    for i, a in enumerate(numbers[:_MOST_PAIRS]):
        for b in numbers[i + 1 : _MOST_PAIRS]:
            if equal(a, b) or a.value == b.value or _may_count_same_thing(problem.text, a, b):
                continue
            if problem.text[slice(*a.number_span)] == problem.text[slice(*b.number_span)]:
                continue
            found.append((a, b))
    return found


def _in_expression(text: str, q: Quantity) -> bool:
    around = text[max(0, q.start - 2) : q.start].strip()[-1:] + text[q.end : q.end + 2].strip()[:1]
    return any(c in "+-*/^=<>×÷()" for c in around)


def _may_count_same_thing(text: str, a: Quantity, b: Quantity) -> bool:
    if a.unit != b.unit:
        pounds = (a.unit or "").startswith("pound") and (b.unit or "").startswith("pound")
        return a.unit is None or b.unit is None or pounds
    first, second = _counted_noun(text, a), _counted_noun(text, b)
    return first is None or second is None or first == second


def _counted_noun(text: str, q: Quantity) -> str | None:
    """Return the noun that a number counts, or None if the number has a unit or no noun follows."""
    if q.unit is not None:
        return None
    match = _NOUN.match(text, q.end)
    if match is None:
        return None
    words = [word.lower() for word in match.groups() if word]
    if words[0] in _NO_NOUN or words[0] in CARDINAL_START:
        return None  # such as "13 ten-dollar bills"
    return words[0].rstrip("s")
