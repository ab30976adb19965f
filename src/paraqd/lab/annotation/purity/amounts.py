"""Read quantities a second time for the purity check, independently of the reader.

This *second count* uses none of the code in `paraqd.reading`, so an error in the reader cannot hide a wrong label. Only
the tables of currencies and signs are shared. The second count is simpler than the reader: it ignores the context and
never applies one unit to several numbers. This is enough to compare a text with its rewording.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from paraqd.lab.annotation.purity.numerals import noun_follows, number_at, tokens_of
from paraqd.lab.annotation.purity.units import CURRENCIES_AFTER_SIGN, ONLY_AFTER_NUMBER, SIGNS, UNITS, WRITTEN_TOGETHER

_POWERS = {"sq": 2, "square": 2, "cu": 3, "cubic": 3}
_DEGREES = frozenset({"c", "f", "celsius", "fahrenheit", "centigrade"})
_RATE = frozenset({"/", "per", "a", "an", "every", "each"})
_AFTER_INCH = frozenset({"by", "long", "wide", "tall", "high", "thick", "deep", "x", "of", "and", "side", "in", "per"})
_SQUARED = frozenset({"m", "cm", "mm", "km", "ft"})
_BETWEEN: frozenset[tuple[str, ...]] = frozenset({(), ("and",), (",",)})


class _Unit(NamedTuple):
    """A unit with the name of its dimension and its factor relative to the dimension's base unit.

    For a rate, ``per`` is the factor of the denominator.
    """

    name: str
    factor: Fraction
    per: Fraction = Fraction(1)


class Amount(NamedTuple):
    """A number in the tokens from ``start`` to ``end``, with its unit if it has one.

    ``number`` is the number as written, and ``value`` is the number converted to the base unit of ``dimension``.
    """

    value: Fraction
    dimension: str
    start: int
    end: int
    number: Fraction
    factor: Fraction
    per: Fraction
    written: bool  # False if there is no number, as in "an hour"


@dataclass(frozen=True)
class Count:
    """The tokens of a text, as written and in lower case, and the amounts in the text."""

    tokens: tuple[str, ...]
    low: tuple[str, ...]
    amounts: tuple[Amount, ...]
    units: frozenset[int]  # the indices of tokens that belong to a unit

    def multiset(self) -> Counter[tuple[Fraction, str]]:
        """Count the occurrences of each amount; a compound such as 2 hours 30 minutes is one amount."""
        return Counter((value, dimension) for value, dimension, _ in self.summed())

    def summed(self) -> list[tuple[Fraction, str, int]]:
        """Return the value, dimension and end index of each amount, in order; a compound is one amount."""
        found: list[tuple[Fraction, str, int]] = []
        last: Amount | None = None
        for amount in self.amounts:
            value = amount.value
            if last is not None and _continues(last, amount, self.low):
                value += found.pop()[0] / (amount.per / last.per)
            found.append((value, amount.dimension, amount.end))
            last = amount
        return found

    def numbers(self) -> Counter[Fraction]:
        """Count the occurrences of each number, regardless of its unit."""
        return Counter(amount.number for amount in self.amounts if amount.written)

    def inside(self) -> frozenset[int]:
        """Return the indices of the tokens that belong to an amount."""
        return frozenset(k for amount in self.amounts for k in range(amount.start, amount.end))

    def lone_units(self) -> Counter[tuple[str, Fraction]]:
        """Count the units that have no number, as in "how many hours" and "in km"."""
        inside = self.inside()
        words = (self.low[k] for k in self.units if k not in inside and self.low[k] in UNITS)
        return Counter(UNITS[part] for word in words for part in WRITTEN_TOGETHER.get(word, (word,)))


@lru_cache(maxsize=256)
def count(text: str) -> Count:
    """Read the amounts in a text.

    >>> [(str(a.value), a.dimension) for a in count("Two and a half hours at $1.20, 3/4 of it.").amounts]
    [('9000', 'time'), ('6/5', 'dollar'), ('3/4', '')]
    """
    tokens = tuple(tokens_of(text))
    low = tuple(token.lower() for token in tokens)
    amounts: list[Amount] = []
    units: set[int] = set()
    i = 0
    while i < len(low):
        found = _amounts_at(low, i, units)
        if not found:
            i += 1
            continue
        amounts += found
        i = found[-1].end
    units |= {k for k in range(len(low)) if k not in units and _is_lone_unit(low, k)}
    return Count(tokens, low, tuple(amounts), frozenset(units))


def _amounts_at(low: Sequence[str], i: int, units: set[int]) -> list[Amount]:
    """Read the amounts at token i; a list such as 3,4,5 is one token with several amounts."""
    values, j = number_at(low, i)
    if not values:
        return _bare_unit(low, i, units)
    sign, start = _sign_before(low, i)
    if start in units:  # the sign belongs to another amount: "one lakh rupees one at a gain"
        sign, start = None, i
    if sign is not None:
        unit, end = _after_sign(low, j, sign)
        units.update(range(start, i), range(j, end))
    else:
        of = j + 2 if values[-1] < 1 and low[j : j + 2] in {("of", "a"), ("of", "an")} else j  # 3/4 of an hour
        found, end = _unit(low, of)
        units.update(range(of, end))
        unit, end = (found, end) if found else (_Unit("", Fraction(1)), j)
        if found and low[end : end + 3] == ("and", "a", "half"):  # two hours and a half
            values, end = (*values[:-1], values[-1] + Fraction(1, 2)), end + 3
    name = "" if unit.name == "share" else unit.name  # 25% is a quarter
    *firsts, last = values
    return [
        *(Amount(v, "", i, j, v, Fraction(1), Fraction(1), True) for v in firsts),
        Amount(last * unit.factor, name, start, end, last, unit.factor, unit.per, True),
    ]


def _after_sign(low: Sequence[str], j: int, sign: _Unit) -> tuple[_Unit, int]:
    """Read the words after an amount with a currency sign, as in "$5 dollars", "Rs. 9/kg" and "$5 an hour"."""
    _, after = _unit(low, j)
    end = after if after > j and low[j] in CURRENCIES_AFTER_SIGN else j
    return _with_rate(low, sign, end)


def _bare_unit(low: Sequence[str], i: int, units: set[int]) -> list[Amount]:
    """Read an article and a unit, such as "an hour" or "a week", as an amount with the number 1."""
    if low[i] not in {"a", "an"} or i + 1 >= len(low) or low[i + 1] in ONLY_AFTER_NUMBER | SIGNS:
        return []
    unit, end = _unit(low, i + 1)
    if unit is None:
        return []
    units.update(range(i + 1, end))
    return [Amount(unit.factor, unit.name, i, end, Fraction(1), unit.factor, unit.per, False)]


def _sign_before(low: Sequence[str], i: int) -> tuple[_Unit | None, int]:
    k = i - 1
    if k > 0 and low[k] == "." and low[k - 1] in {"rs", "re"}:
        k -= 1
    if k >= 0 and low[k] in SIGNS:
        return _Unit(*UNITS[low[k]]), k
    return None, i


def _unit(low: Sequence[str], j: int) -> tuple[_Unit | None, int]:
    """Read a unit after a number, such as km, sq. cm, cm^2, km/h, miles per hour or percent."""
    k = j + 1 if low[j : j + 1] == ("-",) else j
    if low[k : k + 2] == ("per", "cent"):
        return _with_rate(low, _Unit(*UNITS["%"]), k + 2)
    unit, k = _simple_unit(low, k)
    return (None, j) if unit is None else _with_rate(low, unit, k)


def _simple_unit(low: Sequence[str], j: int) -> tuple[_Unit | None, int]:
    """Read a unit that is not a rate, such as km, sq. cm, cm^2, cm2 or feet squared."""
    k = j
    power = _POWERS.get(low[k], 1) if k < len(low) else 1
    if power > 1:
        k += 2 if low[k + 1 : k + 2] == (".",) else 1
    if k >= len(low) or low[k] not in UNITS or not _is_unit_here(low, k):
        return None, j
    name, factor = UNITS[low[k]]
    k += 1
    if name == "degree" and k < len(low) and low[k] in _DEGREES:
        name, k = f"degree {low[k][0]}", k + 1
    if low[k : k + 1] in {("squared",), ("square",)}:
        power, k = 2, k + 1
    if low[k : k + 1] == ("^",) and low[k + 1 : k + 2] in {("2",), ("3",)}:
        power, k = int(low[k + 1]), k + 2
    elif power == 1 and low[k - 1] in _SQUARED and low[k : k + 1] in {("2",), ("3",)} and not _unit_at(low, k + 1):
        power, k = int(low[k]), k + 1
    return _Unit(f"{name}^{power}", factor**power) if power > 1 else _Unit(name, factor), k


def _unit_at(low: Sequence[str], k: int) -> bool:
    return k < len(low) and low[k] in UNITS and _is_unit_here(low, k)  # in "5 m 2 cm", the 2 is not a power


def _is_unit_here(low: Sequence[str], k: int) -> bool:
    following = low[k + 1] if k + 1 < len(low) else "."
    if low[k] in SIGNS:  # the sign may belong to the next amount: "the first $20", "5 at Rs. 20"
        after_sign = low[k + 2 : k + 3] if following == "." and low[k] in {"rs", "re"} else (following,)
        return not (after_sign and after_sign[0][0].isdecimal())
    if low[k] == "in":
        return not following[0].isalnum() or following in _AFTER_INCH
    return True


def _with_rate(low: Sequence[str], unit: _Unit, k: int) -> tuple[_Unit, int]:
    bottom, after = _denominator(low, k)
    if bottom is None:
        return unit, k
    return _Unit(f"{unit.name}/{bottom.name}", unit.factor / bottom.factor, bottom.factor), after


def _denominator(low: Sequence[str], k: int) -> tuple[_Unit | None, int]:
    """Read "/h", "per hour", "an hour" or "a day" after a unit."""
    if low[k : k + 1] == (".",) and low[k + 1 : k + 2] and low[k + 1] in {"/", "per"}:
        k += 1  # "10 hrs. per day"
    if k + 1 < len(low) and low[k] in _RATE and low[k + 1] != "in":
        unit, after = _simple_unit(low, k + 1)
        if unit is not None:
            return unit, after
    return None, k


def _is_lone_unit(low: Sequence[str], k: int) -> bool:
    """Return True if token k is a unit that has no number, as in "how many hours", "per kg" and "in km/h"."""
    word = low[k]
    before = low[k - 1] if k else ""
    if word in _POWERS:
        return k + 1 < len(low) and (low[k + 1] in UNITS or low[k + 1] == ".")
    if word not in ONLY_AFTER_NUMBER:
        return word in UNITS
    if word == "second":
        return before in {"/", "per", "each", "every"} or (
            before in {"a", "an", "one"} and not noun_follows(low, k + 1)
        )
    in_rate = before == "in" and low[k + 1 : k + 2] == ("/",)
    return word != "in" and (in_rate or before in {"/", "per", "sq", "square", "cubic", "."})


def _continues(a: Amount, b: Amount, low: Sequence[str]) -> bool:
    """Return True if a and b form a compound, as in "2 hours 30 minutes" and "two dollars and fifty cents"."""
    if low[a.end : b.start] not in _BETWEEN or not a.dimension or a.number.denominator != 1:
        return False
    # the second part may be a rate: nine rupees ten paise per kg
    same = b.dimension in {a.dimension, f"{a.dimension}/{b.dimension.partition('/')[2]}"}
    return same and b.factor * b.per < a.factor * a.per and b.value * b.per < a.factor * a.per
