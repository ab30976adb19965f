"""Complete a number with the scale, currency, unit, rate and sign around it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from paraqd.reading.currencies import COIN_SIGNS, WORDS_BEFORE
from paraqd.reading.numerals import SCALES, cardinal
from paraqd.reading.signs import MINUS
from paraqd.reading.token_stream import Stream
from paraqd.reading.types import Kind, Quantity, Span
from paraqd.reading.unit_parsing import FoundUnit, denominator, money_letter, rate, simple_unit
from paraqd.reading.units import PERCENT, SIGNS, category

_SIGNS_AFTER = frozenset("€₹£")  # these signs may also follow the number without a space
_SHORT_SCALES = {"k": 1000, "m": 1_000_000, "mn": 1_000_000, "bn": 1_000_000_000, "b": 1_000_000_000}
_BLOCKS_SIGN = frozenset(")]%°'’\"”")
_MOST_SCALES = 2  # as in *five hundred thousand*
_NOT_LETTERS = frozenset({"a", "i"})
_ALGEBRA = MINUS | frozenset("+*=<>≤≥^/()×÷·²³")


@dataclass(slots=True)
class Draft:
    """A quantity that is still being read. So far, it covers the tokens [first, after)."""

    value: Fraction
    kind: Kind
    first: int
    after: int
    worded: bool = False
    unit: str | None = None
    unit_span: Span | None = None
    terms: tuple[Fraction, ...] = ()
    number_first: int = -1
    number_after: int = -1

    def __post_init__(self) -> None:
        self.number_first = self.first
        self.number_after = self.after

    def freeze(self, s: Stream) -> Quantity:
        """Return the finished quantity."""
        start, end = s.start[self.first], s.end[self.after - 1]
        number_span = (s.start[self.number_first], s.end[self.number_after - 1])
        return Quantity(
            self.value,
            self.unit,
            self.kind,
            start,
            end,
            s.source[start:end],
            number_span,
            self.unit_span,
            self.terms,
            self.worded,
        )

    def take_unit(self, s: Stream, unit: FoundUnit) -> None:
        """Attach a unit that follows the number."""
        self.unit = unit.name
        self.unit_span = (s.start[unit.first], s.end[unit.after - 1])
        self.after = unit.after
        self.kind = Kind.MONEY if category(unit.name) == "currency" else Kind.MEASURE


def complete(s: Stream, d: Draft, floor: int) -> Draft:
    """Attach the sign, scale and unit to a number, and return the draft.

    Tokens before ``floor`` belong to an earlier quantity and are not used.
    """
    currency = _currency_before(s, d, floor)
    _scale(s, d, money=currency is not None)
    if currency is None:
        _sign(s, d, floor)
    if _percent(s, d):
        return d
    if currency is not None:
        _take_currency(s, d, floor, *currency)
        return d
    if _unit_after(s, d) or _unit_of_fraction(s, d):
        _and_a_half(s, d)
        return d
    if _times(s, d):
        return d
    _coefficient(s, d)
    return d


def _currency_before(s: Stream, d: Draft, floor: int) -> tuple[str, int] | None:
    """Find a currency before the number, such as $, Rs. or INR.

    Return the currency and the index of its first token, or None.
    """
    i = d.first - 1
    if i < floor:
        return None
    word = s.text[i]
    if word in MINUS and s.glued(d.first) and i - 1 >= floor and s.text[i - 1] in SIGNS:
        d.value, d.number_first = -d.value, i  # $-40
        return SIGNS[s.text[i - 1]], i - 1
    if word in SIGNS and word not in COIN_SIGNS:
        first = i
        if i - 1 >= floor and s.glued(i) and s.low[i - 1] in {"us", "u", "s"}:
            first = i - 1
        return SIGNS[word], first
    if word == "." and i - 1 >= floor and s.low[i - 1] in {"rs", "re"}:
        return "rupee", i - 1
    name = WORDS_BEFORE.get(s.low[i])
    if name and not (s.low[i] == "re" and s.text[i] == "re"):
        return name, i
    return None


def _take_currency(s: Stream, d: Draft, floor: int, name: str, first: int) -> None:
    d.kind, d.unit = Kind.MONEY, name
    d.unit_span = (s.start[first], s.end[d.number_first - 1])
    d.first = first
    if first - 1 >= floor and s.text[first - 1] in MINUS and s.glued(first) and not s.glued(first - 1):
        if _is_sign(s, first - 1):
            d.value, d.first = -d.value, first - 1
    if s.text[d.after] == "/" and s.text[d.after + 1] == "-" and s.glued(d.after):
        d.after += 2  # Rs. 500/-
    spelled = simple_unit(s, d.after)
    if spelled is not None and spelled.name == name:
        d.after = spelled.after  # "$5 dollars" names the currency twice
    under = denominator(s, d.after)
    if under is not None:
        d.unit = f"{name}/{under.name}"
        d.after = under.after


def _scale(s: Stream, d: Draft, *, money: bool) -> None:
    for _ in range(_MOST_SCALES):
        i = d.after
        word = s.low[i]
        hyphen = (
            s.text[i] == "-" and s.glued(i) and s.glued(i + 1) and (s.low[i + 1] in SCALES or s.low[i + 1] == "dozen")
        )
        if hyphen:
            i, word = i + 1, s.low[i + 1]
        if word in SCALES and (d.worded is False or word != "hundred"):
            d.value *= SCALES[word]
        elif word == "dozen" or (word == "dozens" and d.value != 1):
            d.value *= 12
            if s.low[i + 1 : i + 4] == ["and", "a", "half"]:
                d.value, i = d.value + 6, i + 3
        elif money and s.glued(i) and word in _SHORT_SCALES and not (s.glued(i + 1) and s.text[i + 1][0].isalnum()):
            d.value *= _SHORT_SCALES[word]
        else:
            break
        if d.kind is Kind.FRACTION:
            d.kind = Kind.COUNT
        d.after = d.number_after = i + 1
        _rest_in_words(s, d, SCALES.get(word, 0))


def _rest_in_words(s: Stream, d: Draft, scale: int) -> None:
    """Add the rest of a number to the draft, such as *fifty* in *3 hundred and fifty*."""
    i = d.after + 1 if s.low[d.after] == "and" else d.after
    rest = None if d.worded else cardinal(s, i)
    if rest is not None and 1 < rest[0] < scale:
        d.value += rest[0]
        d.after = d.number_after = rest[1]


def _is_sign(s: Stream, i: int) -> bool:
    """Return True if the minus at token i is a sign rather than a subtraction."""
    if i == 0:
        return True
    before = s.text[i - 1]
    if s.glued(i):
        return before in "(=[{,<>≤≥|^"
    return not (
        s.number_at(i - 1)
        or before in _BLOCKS_SIGN
        or (len(before) == 1 and (before.isalpha() or before in "²³"))
        or before in MINUS
    )


def _sign(s: Stream, d: Draft, floor: int) -> None:
    i = d.first - 1
    if i < floor:
        return
    if s.text[i] in MINUS and s.glued(d.first) and _is_sign(s, i):
        d.value, d.first = -d.value, i
        d.number_first = i
    elif s.low[i] in {"negative", "minus"} and (i == 0 or _is_sign(s, i)):
        if not (s.low[i] == "minus" and i and s.text[i - 1] in "²³)"):
            d.value, d.first = -d.value, i
            d.number_first = i


def _percent(s: Stream, d: Draft) -> bool:
    i = d.after
    j = i + 1 if s.text[i] == "-" and s.glued(i) else i
    word = s.low[j]
    if word in {"%", "percent", "percentage", "pct", "percents"}:
        after = j + 1
    elif word == "per" and s.low[j + 1] == "cent":
        after = j + 2
    elif word == "p" and s.low[j + 1 : j + 3] == [".", "c"]:
        after = j + (4 if s.text[j + 3] == "." else 3)
    else:
        return False
    d.kind, d.unit = Kind.PERCENT, PERCENT
    d.unit_span = (s.start[j], s.end[after - 1])
    d.after = after
    under = denominator(s, after)
    if under is not None and category(under.name) == "time":
        d.unit, d.after = f"{PERCENT}/{under.name}", under.after
    return True


def _unit_after(s: Stream, d: Draft) -> bool:
    i = d.after
    if s.text[i] == "-" and s.glued(i) and s.glued(i + 1):
        unit = simple_unit(s, i + 1)
        if unit is not None and len(s.text[i + 1]) == 1 and s.text[i + 1] not in "mgL":
            unit = None  # "5-s" does not mean seconds
    elif s.text[i] in SIGNS and ((s.text[i] in _SIGNS_AFTER and s.glued(i)) or s.text[i] in COIN_SIGNS):
        unit = FoundUnit(SIGNS[s.text[i]], i, i + 1)
    else:
        unit = simple_unit(s, i) or money_letter(s, i)
    if unit is None:
        return False
    d.take_unit(s, rate(s, unit))
    return True


def _unit_of_fraction(s: Stream, d: Draft) -> bool:
    """Attach the unit of a fraction, as in *1/4 of an hour*, *half a mile* or *half of one kilometre*.

    Return True if there is such a unit.
    """
    if d.kind is not Kind.FRACTION:
        return False
    i = d.after
    if s.low[i] == "of":
        i += 1
    elif s.low[i] not in {"a", "an"} or d.value >= 1:
        return False
    if s.low[i] not in {"a", "an", "one"}:
        return False
    scale = 12 if s.low[i + 1] == "dozen" else SCALES.get(s.low[i + 1], 0)
    if scale > 0 and scale != 100:
        d.value, d.kind, d.after = d.value * scale, Kind.COUNT, i + 2
        d.number_after = d.after
        _unit_after(s, d)  # half a million dollars
        return True
    unit = simple_unit(s, i + 1)
    if unit is None or len(s.low[i + 1]) == 1:
        return False
    d.take_unit(s, rate(s, unit))
    return True


def _and_a_half(s: Stream, d: Draft) -> None:
    """Add a half to the draft if *and a half* follows the unit, as in *an hour and a half*."""
    i = d.after
    if s.low[i : i + 3] == ["and", "a", "half"] and d.value.denominator == 1:
        d.value += Fraction(1, 2)
        d.after = i + 3


def _times(s: Stream, d: Draft) -> bool:
    i = d.after
    if s.low[i] == "times" or s.low[i] == "fold" or (s.text[i] == "-" and s.low[i + 1] in {"fold", "times"}):
        d.kind = Kind.MULTIPLE
        return True
    return False


def _coefficient(s: Stream, d: Draft) -> None:
    """Mark the draft as a coefficient in expressions such as 2y, 3(x + 1) or 2 n + 3."""
    if d.worded or d.kind not in {Kind.COUNT, Kind.FRACTION}:
        return
    i = d.after
    word = s.text[i]
    if word == "(" and s.glued(i):
        inner = s.text[i + 1]
        if (len(inner) == 1 and inner.isalpha()) or (s.text[i + 2] in _ALGEBRA and s.text[i + 2] != ")"):
            d.kind = Kind.COEFFICIENT
        return
    if not word or not word[0].isalpha() or _names_decade(s, i):
        return
    if s.glued(i):
        if (
            (len(word) == 1 and not _hyphenated(s, i))
            or word.lower() in {"pi", "π"}
            or (len(word) <= 3 and set(word) <= s.variables)
        ):
            d.kind = Kind.COEFFICIENT
    elif len(word) == 1 and s.text[i + 1] not in {"'", "’"} and not _hyphenated(s, i):
        algebra = (s.text[i + 1] and s.text[i + 1] in _ALGEBRA) or (d.first and s.text[d.first - 1] in "+*=<>^")
        times_sign = word == "x" and s.number_at(i + 1)
        if not times_sign and (algebra or (word in s.variables and word.lower() not in _NOT_LETTERS)):
            if algebra or word.islower():
                d.kind = Kind.COEFFICIENT


def _names_decade(s: Stream, i: int) -> bool:
    """Return True if the letter at token i is the s in a decade such as the 1990s."""
    return s.text[i] == "s" and s.glued(i) and s.text[i - 1].endswith("0") and s.text[i + 1] not in _ALGEBRA


def _hyphenated(s: Stream, i: int) -> bool:
    """Return True if the letter at token i begins a compound such as T-shirt."""
    return s.text[i + 1] == "-" and s.glued(i + 1) and s.glued(i + 2) and len(s.text[i + 2]) > 2
