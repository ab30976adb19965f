"""f8: numbers lost, or made vague."""

from __future__ import annotations

import random

from paraqd.operators.base import Operator, Resources
from paraqd.operators.text import delete, match_case, splice
from paraqd.reading import Kind, Problem, Quantity
from paraqd.reading.units import UNITS

VAGUE = ("some", "a few", "many", "a lot of", "")
_MOST = 2


class NumberDeletion(Operator):
    """Replaces one or two numbers by "some", "a few", "many", "a lot of" or nothing (f8)."""

    name = "NumberDeletion"
    paper_id = "f8"
    polarity = "invalid"

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Lose at most two numbers; None where the text has none."""
        del resources
        numbers = [q for q in problem.quantities if _is_number(q)]
        if not numbers:
            return None
        chosen = rng.sample(numbers, rng.randint(1, min(_MOST, len(numbers))))
        vague = rng.choice(VAGUE)
        if not vague:
            text = delete(problem.text, [_deleted_span(problem, q) for q in chosen]).strip()
        else:
            text = splice(problem.text, [_made_vague(problem, q, vague) for q in chosen])
        return text if text and text != problem.text else None


def _is_number(q: Quantity) -> bool:
    """Leave ordinals in words alone: they order, they do not count."""
    return not (q.kind is Kind.ORDINAL and q.worded)


def _sign_before(q: Quantity) -> bool:
    return q.unit_span is not None and q.unit_span[0] < q.number_span[0]


def _made_vague(problem: Problem, q: Quantity, vague: str) -> tuple[int, int, str]:
    start, end = q.number_span
    if _sign_before(q):  # $5 → some dollars
        currency = (q.unit or "").partition("/")[0]
        name = UNITS[currency].plural if currency in UNITS else currency
        return (q.start, end, match_case(f"{vague} {name}", problem, q.start))
    if q.kind in {Kind.TIME_OF_DAY, Kind.MEASURE} and q.unit_span is None and q.kind is Kind.TIME_OF_DAY:
        start, end = q.span
    after = problem.text[end : end + 1]
    return (start, end, match_case(vague, problem, start) + (" " if after.isalpha() else ""))


def _deleted_span(problem: Problem, q: Quantity) -> tuple[int, int]:
    start, end = q.number_span
    if _sign_before(q):
        start = q.start
    text = problem.text
    if text[end : end + 1] == "-" and text[end + 1 : end + 2].isalpha():
        end += 1  # a 7-inch pipe → a inch pipe, not "a -inch pipe"
    return (start, end)
