"""Match ratios, fractions and percentages with separate numbers, such as *2/3* with *2 for every 3*."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from itertools import chain, islice

from paraqd.reading import Kind, Quantity
from paraqd.reading.units import dimension
from paraqd.scoring.evidence.comparisons import Comparisons
from paraqd.scoring.evidence.equal_quantities import single
from paraqd.scoring.evidence.matching import Amount, Amounts

_SHARES = frozenset({Kind.RATIO, Kind.FRACTION, Kind.PERCENT})
_MOST_DIVIDED = 40  # numbers; each is divided by the others
_WORK = 5  # the comparisons that take as long as a look for one number's partner


def match_ratios(left: Amounts, right: Amounts, comparisons: Comparisons) -> Iterator[tuple[Amount, Amount]]:
    """Yield each ratio of one text with each of the numbers of the other text that stand for it, and remove them."""
    for here, there, turned in ((left, right, False), (right, left, True)):
        divided = _Divided(there, comparisons)
        for item in list(here):
            one = single(item)
            if one is None or (one.kind not in _SHARES and not one.terms):
                continue
            if len(one.terms) > 2:
                found = _terms(one, there) if comparisons.take(len(there)) else []
            else:
                found = divided.quotient(one.value / 100 if one.kind is Kind.PERCENT else one.value)
            if len(found) > 1:
                here.remove(item)
                for other in found:
                    there.remove(other)
                    yield (other, item) if turned else (item, other)
                divided = _Divided(there, comparisons)


def _terms(ratio: Quantity, items: Amounts) -> list[Amount]:
    """Return the numbers that are a ratio's terms, or an empty list if a term is missing."""
    free: dict[Fraction, deque[Amount]] = {}
    for item in items:
        if item.first.unit is None:
            free.setdefault(item.first.value, deque()).append(item)
    found = [held.popleft() for term in ratio.terms if (held := free.get(term))]
    return found if len(found) == len(ratio.terms) else []


class _Divided:
    """The first numbers of a text, each of which may be divided by another one."""

    def __init__(self, items: Amounts, comparisons: Comparisons) -> None:
        self._items, self._comparisons = items, comparisons
        self._known: dict[Fraction, list[Amount]] = {}

    def quotient(self, value: Fraction) -> list[Amount]:
        """Return the first two numbers of the same dimension whose quotient is a value, or an empty list."""
        if value not in self._known:
            self._known[value] = self._found(value)
        return self._known[value]

    @cached_property
    def _plain(self) -> list[Amount]:
        plain = (item for item in self._items if single(item) is not None and not item.first.terms)
        return list(islice(plain, _MOST_DIVIDED))

    @cached_property
    def _places(self) -> dict[tuple[object, Fraction], list[int]]:
        places: dict[tuple[object, Fraction], list[int]] = {}
        for place, item in enumerate(self._plain):
            places.setdefault((dimension(item.first.unit), item.first.value), []).append(place)
        return places

    def _found(self, value: Fraction) -> list[Amount]:
        if not value or len(self._plain) < 2 or not self._comparisons.take(_WORK * len(self._plain)):
            return []
        for place, item in enumerate(self._plain):
            top, kind = item.first.value, dimension(item.first.unit)
            if top:
                others = chain.from_iterable(self._places.get((kind, each), ()) for each in (top / value, top * value))
                partner = min((other for other in others if other > place), default=None)
                if partner is not None:
                    return [item, self._plain[partner]]
        return []
