"""Write numbers in digits."""

from __future__ import annotations

import random
from fractions import Fraction

from paraqd.reading import Kind, Problem, Quantity
from paraqd.reading.currencies import SIGNS
from paraqd.rewriting.kept_quantities import Edit, keep_quantities
from paraqd.rewriting.operator import Operator, Resources

_SUFFIX = {1: "st", 2: "nd", 3: "rd"}
_MULTIPLES = frozenset({"twice", "thrice"})
_DOUBLES = frozenset({"double", "triple", "treble", "quadruple"})
_BEHIND_DOUBLE = ("the ", "that ", "his ", "her ", "their ", "its ", "what ", "as ")
_LARGE = 10**6


class WordsToNumbers(Operator):
    """Write numbers in digits: twenty-five → 25, two-thirds → 2/3, a dozen → 12, twice → 2 times."""

    name = "WordsToNumbers"
    polarity = "valid"
    changes = frozenset({"numbers"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Replace every number in words with digits; return None if nothing changes."""
        del rng, resources
        text = problem.text
        edits = [edit for q in problem.quantities if q.worded and (edit := _to_digits(text, q)) is not None]
        return keep_quantities(problem, [edit for edit in edits if not _beside_number(text, edit, edits)])


def _to_digits(text: str, q: Quantity) -> Edit | None:
    start, end = q.number_span
    surface = text[start:end].lower()
    if text[:start][-2:].rstrip().endswith(("-", "–")) or surface == "dozen":
        return None  # such as "3 - fourth" and "every one dozen"
    if q.kind is Kind.FRACTION and q.value.denominator == 1:
        return None
    if q.kind is Kind.ORDINAL:
        return (start, end, ordinal_digits(int(q.value)))
    if q.kind is Kind.MULTIPLE:
        return _multiple(text, q, surface)
    if q.kind is Kind.TIME_OF_DAY:
        return None
    if surface in {"a", "an", "a couple"}:
        return None  # nobody writes the article in "an hour" as 1
    if text[:start].endswith((" and ", "ime and ")) and q.kind is Kind.FRACTION and q.unit is None:
        return None  # such as "time and a half"
    if q.unit_span is None and q.unit is None and end < q.end:
        return None
    digits = _digits(q.value)
    if digits is None:
        return None
    if q.end > end and q.unit_span is not None and q.unit_span[0] > end:
        between = text[end : q.unit_span[0]]
        if between.strip() in {"a", "an"}:  # half an hour → 1/2 hour
            return (start, q.unit_span[0], f"{digits} ")
    return (start, end, digits)


def _beside_number(text: str, edit: Edit, edits: list[Edit]) -> bool:
    """Return True if the edit would put digits next to another number, as in "3 5 kg bags"."""
    start, end, _ = edit
    left, right = text[:start][-3:].rstrip(), text[end : end + 3].lstrip()
    if left[-1:].isdigit() or right[:1].isdigit() or right[:1] in SIGNS:
        return True
    return any(0 <= start - e <= 1 or 0 <= s - end <= 1 for s, e, _ in edits if (s, e) != (start, end))


def ordinal_digits(n: int) -> str:
    """Write an ordinal number in digits.

    >>> ordinal_digits(3), ordinal_digits(12)
    ('3rd', '12th')
    """
    return f"{n}{'th' if 10 <= n % 100 <= 20 else _SUFFIX.get(n % 10, 'th')}"


def _multiple(text: str, q: Quantity, surface: str) -> Edit | None:
    start, end = q.number_span
    if surface in _MULTIPLES:
        return (start, end, f"{q.value} times")
    if surface in _DOUBLES:
        return (start, end, f"{q.value} times") if text[end:].lstrip().lower().startswith(_BEHIND_DOUBLE) else None
    if text[end:].lstrip(" -").startswith(("times", "fold")):
        return (start, end, _digits(q.value) or surface)
    return None


def _digits(value: Fraction) -> str | None:
    if value.denominator == 1:
        n = int(value)
        return f"{n // _LARGE} million" if n >= _LARGE and n % _LARGE == 0 else str(n)
    whole, rest = divmod(value, 1)
    if not whole:
        return f"{rest.numerator}/{rest.denominator}"
    if rest.denominator in {2, 4, 5, 10}:
        return str(float(value))
    return f"{whole} {rest.numerator}/{rest.denominator}"
