"""Compare the exact values of quantities, however they are written. Currencies are never converted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise

from paraqd.reading.types import Kind, Quantity
from paraqd.reading.units import category, dimension

_WITH_CENTS = frozenset({"currency:euro"})
_NEVER_CONVERTED = frozenset({Kind.ORDINAL, Kind.TIME_OF_DAY, Kind.LABEL})


def signature(quantity: Quantity) -> Hashable:
    """Return a key that two quantities share if and only if they are equal.

    >>> from paraqd.reading import read
    >>> (a,), (b,) = read("60 minutes").quantities, read("takes an hour").quantities
    >>> signature(a) == signature(b)
    True
    """
    if quantity.kind is Kind.LABEL:
        return (Kind.LABEL, quantity.surface)
    if quantity.kind in _NEVER_CONVERTED:
        return (quantity.kind, quantity.value)
    if len(quantity.terms) > 2:
        total = sum(quantity.terms)
        return (Kind.RATIO, tuple(term / total for term in quantity.terms) if total else quantity.terms)
    if quantity.unit is None:
        return ("", quantity.value)
    name, factor = dimension(quantity.unit)
    return (name, quantity.value * factor)


def equal(a: Quantity, b: Quantity) -> bool:
    """Return True if two quantities have exactly the same magnitude and the same dimension.

    >>> from paraqd.reading import read
    >>> hour, minutes, half = read("It takes an hour, 60 minutes, or half.").quantities
    >>> equal(hour, minutes), equal(hour, half)
    (True, False)
    """
    return signature(a) == signature(b)


def grouped(quantities: Sequence[Quantity]) -> list[tuple[Hashable, tuple[Quantity, ...]]]:
    """Return each signature with its quantities. A compound such as *2 hours 30 minutes* has one signature.

    >>> from paraqd.reading import read
    >>> [(s, [q.surface for q in parts]) for s, parts in grouped(read("It took 1 hour 30 minutes.").quantities)]
    [(('time', Fraction(5400, 1)), ['1 hour', '30 minutes'])]
    """
    found: list[tuple[Hashable, tuple[Quantity, ...]]] = []
    carried = Fraction(0)
    parts: list[Quantity] = []
    for this, following in pairwise([*quantities, None]):
        if this is None:
            break
        parts.append(this)
        if following is not None and _compound(this, following):
            carried += this.value * dimension(this.unit)[1]
            continue
        if carried:
            top, slash, bottom = (this.unit or "").partition("/")
            name, factor = _dimension_inside(top, parts[0])
            total = (carried + this.value * factor) / (dimension(bottom)[1] if bottom else 1)
            found.append(((name + slash + (dimension(bottom)[0] if bottom else ""), total), tuple(parts)))
            carried = Fraction(0)
        else:
            found.append((signature(this), (this,)))
        parts = []
    return found


def _compound(this: Quantity, following: Quantity) -> bool:
    """Return True if two neighbouring quantities form a compound, such as *2 hours 30 minutes*."""
    if this.unit is None or following.unit is None or "/" in this.unit or this.unit_span is None:
        return False
    if this.kind not in {Kind.MEASURE, Kind.MONEY} or this.unit == following.unit or this.value < 0:
        return False
    # the parts are separated by " ", ", " or " and "; "2 m by 40 cm" and "2 m or 40 cm" are not compounds
    if following.start - this.end not in {1, 2, 5} or this.value.denominator != 1:
        return False
    # a rate after the smaller part applies to the whole compound: one dollar and thirty cents an hour
    top, bottom = dimension(this.unit), _dimension_inside(following.unit.partition("/")[0], this)
    return top[0] == bottom[0] and top[1] > following.value * bottom[1] and category(this.unit) != "temperature"


def _dimension_inside(unit: str, whole: Quantity) -> tuple[str, Fraction]:
    """Return the dimension and factor of a unit inside a compound. A cent after euros is a euro cent."""
    name, factor = dimension(whole.unit)
    if unit == "cent" and name in _WITH_CENTS and factor == 1:
        return name, Fraction(1, 100)
    return dimension(unit)


def multiset(quantities: Iterable[Quantity]) -> Counter[Hashable]:
    """Count how often each signature occurs among the quantities."""
    return Counter(signed for signed, _ in grouped(tuple(quantities)))


def same_quantities(a: Iterable[Quantity], b: Iterable[Quantity]) -> bool:
    """Return True if two collections contain the same quantities equally often, in any order and notation.

    >>> from paraqd.reading import read
    >>> q = read("It takes 2 hours 30 minutes to pack a dozen boxes.").quantities
    >>> p = read("Packing 12 boxes takes two and a half hours.").quantities
    >>> same_quantities(q, p)
    True
    """
    return multiset(a) == multiset(b)
