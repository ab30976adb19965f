"""Read digits, fractions, number words and ordinals for the second count.

The rules ignore the wider context, so a text and its rewording are read alike. Tokens must be in lower case.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction

from paraqd.lab.annotation.purity.units import SIGNS, UNITS
from paraqd.reading.signs import MINUS

_TOKEN = re.compile(r"\d+(?:,\d+)*(?:\.\d+)?|(?<![^\W\d_])\.\d+|[^\W\d_]+(?:'[^\W\d_]+)*|[^\w\s]|_")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?")
_MOST_DIGITS = 1000  # Python refuses to convert much longer numbers
_MOST = 10**30  # limits sequences such as "million million million …"
_PLAIN = str.maketrans({"²": "^2", "³": "^3", "’": "'", "⁄": "/", "º": "°", **dict.fromkeys(MINUS | {"—"}, "-")})

_ONES = {
    word: i
    for i, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
_TENS = {
    word: 10 * i for i, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
} | {"fourty": 40}
_SCALES = {"dozen": 12, "hundred": 100, "thousand": 1000, "lakh": 10**5, "lac": 10**5, "million": 10**6}
_SCALES |= {"crore": 10**7, "billion": 10**9, "trillion": 10**12}
_SCALES |= {f"{word}s": value for word, value in _SCALES.items()}
_ORDINAL = {
    word: i
    for i, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
        "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split(),
        start=1,
    )
} | {"thirtieth": 30, "fortieth": 40, "fiftieth": 50, "sixtieth": 60, "seventieth": 70, "eightieth": 80}
_ORDINAL |= {"ninetieth": 90, "hundredth": 100, "thousandth": 1000, "millionth": 10**6}
_PARTS = {word: value for word, value in _ORDINAL.items() if value > 2} | {"half": 2, "quarter": 4}
_PARTS |= {f"{word}s": value for word, value in _PARTS.items()} | {"halves": 2}
_MULTIPLES: dict[str, int | Fraction] = {"half": Fraction(1, 2), "halves": Fraction(1, 2), "couple": 2, "twice": 2}
_MULTIPLES |= {"quarter": Fraction(1, 4), "quarters": Fraction(1, 4), "thrice": 3, "doubling": 2, "tripling": 3}
_MULTIPLES |= {
    f"{stem}{ending}": value
    for stem, value in {"double": 2, "triple": 3, "treble": 3, "quadruple": 4}.items()
    for ending in ("", "s", "d")
}
_MULTIPLES |= {f"{word}fold": value for word, value in _ONES.items() if value > 1}
NUMBER_WORDS = frozenset({*_ONES, *_TENS, *_SCALES, *_ORDINAL, *_PARTS, *_MULTIPLES, "point"})
_NOT_ORDINAL_AFTER = frozenset({"per", "a", "an", "/", "each", "one", "every", "in", "number"})
_AFTER_FRACTION = frozenset(
    "of the as more less that this than is are was were to and or his her their its in by for from if then what".split()
)
_SUFFIXES = frozenset({"st", "nd", "rd", "th", "rds", "ths"})


def plain(text: str) -> str:
    """Replace typographic fractions, powers and marks with plain characters."""
    if text.isascii():
        return text
    return "".join(_fraction(c) for c in text.translate(_PLAIN))


def _fraction(c: str) -> str:
    if not unicodedata.decomposition(c).startswith("<fraction>"):
        return c
    value = Fraction(unicodedata.numeric(c)).limit_denominator(100)
    return f" {value.numerator}/{value.denominator} "


def tokens_of(text: str) -> list[str]:
    """Split a text into numbers, words and marks; adjacent digits and letters become separate tokens.

    >>> tokens_of("5km at $1,200.50 each.")
    ['5', 'km', 'at', '$', '1,200.50', 'each', '.']
    """
    return _TOKEN.findall(plain(text))


def number_at(low: Sequence[str], i: int) -> tuple[tuple[Fraction, ...], int]:
    """Read the number at token i, and return its values and the index of the next token.

    A list such as 3,4,5 has several values. If token i does not start a number, there are no values.
    """
    word = low[i]
    if word[0].isdecimal() or (word[0] == "." and len(word) > 1):
        values = _digits(word)
        if len(values) > 1:
            return values, i + 1
        value, j = _after_digits(low, values[0], i + 1)
        if j < len(low) and low[j] in _SUFFIXES:
            return (value,), j + 1
        return _tail(low, value, j)
    if word in {"a", "an"} and i + 1 < len(low):
        return _article(low, i)
    if word in _ONES or word in _TENS or word in _SCALES:
        value, j = _cardinal(low, i)
        return _tail(low, value, j)
    if word in _MULTIPLES:
        return _multiple(low, i)
    if word in _ORDINAL and not (word == "second" and i and _is_time(low, i)):
        return (Fraction(_ORDINAL[word]),), i + 1
    return (), i


def _is_time(low: Sequence[str], i: int) -> bool:
    """Return True if *second* at token i is a unit, as in "per second" and "a second" but not in "a second pipe"."""
    before = low[i - 1]
    return before in {"per", "/", "each", "every"} or (before in _NOT_ORDINAL_AFTER and not noun_follows(low, i + 1))


def _digits(token: str) -> tuple[Fraction, ...]:
    if "," not in token or _GROUPED.fullmatch(token):
        return (_exact(token),)
    return tuple(_exact(piece) for piece in token.split(","))


def _exact(digits: str) -> Fraction:
    return Fraction(digits.replace(",", "")[:_MOST_DIGITS])


def _after_digits(low: Sequence[str], value: Fraction, j: int) -> tuple[Fraction, int]:
    """Read the rest of a number whose first token consists of digits, such as 3/4, 1 1/2, 1-1/2, 6:00 or $10k."""
    if low[j : j + 1] == ("/",) and _is_digits(low, j + 1) and _exact(low[j + 1]):
        return value / _exact(low[j + 1]), j + 2
    k = j + 1 if low[j : j + 1] == ("-",) else j
    if value.denominator == 1 and _is_digits(low, k) and low[k + 1 : k + 2] == ("/",) and _is_digits(low, k + 2):
        top, bottom = _exact(low[k]), _exact(low[k + 2])
        if 0 < top < bottom:
            return value + top / bottom, k + 3
    if low[j : j + 2] in {(":", "00"), ("/", "-")}:  # 6:00, Rs. 500/-
        return value, j + 2
    if low[j : j + 1] == ("k",) and j >= 2 and low[j - 2] in SIGNS:
        return value * 1000, j + 1
    return value, j


def _is_digits(low: Sequence[str], k: int) -> bool:
    return k < len(low) and low[k][0].isdecimal() and "," not in low[k]


def _article(low: Sequence[str], i: int) -> tuple[tuple[Fraction, ...], int]:
    """Read a number that begins with an article, such as "a hundred", "a dozen", "a half" or "a third"."""
    word = low[i + 1]
    if word in _SCALES:
        value, j = _cardinal(low, i + 1)
        return _tail(low, value, j)
    if word in {"half", "quarter"} or (word in _PARTS and not noun_follows(low, i + 2)):
        return (Fraction(1, _PARTS[word]),), i + 2
    return (), i


def noun_follows(low: Sequence[str], k: int) -> bool:
    """Return True if token k looks like a noun, such as *pipe* in "a third pipe" but not *of* in "a third of"."""
    return k < len(low) and (low[k] == "-" or (low[k][0].isalpha() and low[k] not in _AFTER_FRACTION))


def _cardinal(low: Sequence[str], i: int) -> tuple[Fraction, int]:
    """Read a number in words, such as "seven hundred and fifty-two thousand", "three point zero" or "twenty-first"."""
    total = current = 0
    limit = 10**15  # the next word's value must be below this limit, because "three thirty" is two numbers
    j = i
    while j < len(low):
        k = _joined(low, j) if j > i else j
        word = low[k] if k < len(low) else ""
        if word in _SCALES:
            scale = _SCALES[word]
            if scale >= 1000:
                total, current, limit = total + (current or 1) * scale, 0, 1000
            else:
                current, limit = (current or 1) * scale, min(scale, 100)
        elif (value := _ONES.get(word, _TENS.get(word))) is not None and value < limit and (value or j == i):
            current += value
            limit = 10 if word in _TENS else 1
        elif j > i and limit > 1 and (value := _ORDINAL.get(word)) is not None and value < limit and value < 100:
            if low[k - 1] != "-" and current < 20 and not total:  # "five sixth" is a fraction
                break
            return Fraction(total + current + value), k + 1
        else:
            break
        j = k + 1
    return _point(low, Fraction(total + current), j)


def _joined(low: Sequence[str], j: int) -> int:
    """Return the index after a hyphen or *and* that continues a number in words; otherwise return j unchanged."""
    if low[j] == "-" and j + 1 < len(low) and low[j + 1] in NUMBER_WORDS:
        return j + 1
    if low[j] == "and" and low[j - 1] in _SCALES and j + 1 < len(low) and low[j + 1] in {*_ONES, *_TENS, *_ORDINAL}:
        k = j + 1
        if low[k] in _TENS:
            k += 1 + (low[k + 1 : k + 2] == ("-",))
        k += k < len(low) and low[k] in _ONES
        # "one hundred and two hundred" is two numbers, but "one hundred and two thousand" is one number
        return j if k < len(low) and _SCALES.get(low[k], 10**15) <= _SCALES[low[j - 1]] else j + 1
    return j


def _point(low: Sequence[str], value: Fraction, j: int) -> tuple[Fraction, int]:
    if low[j : j + 1] != ("point",):
        return value, j
    k, digits = j + 1, ""
    while k < len(low) and low[k] in _ONES and _ONES[low[k]] < 10:
        digits += str(_ONES[low[k]])
        k += 1
    return (value + Fraction(int(digits), 10 ** len(digits)), k) if digits else (value, j)


def _multiple(low: Sequence[str], i: int) -> tuple[tuple[Fraction, ...], int]:
    value = Fraction(_MULTIPLES[low[i]])
    if value < 1 and low[i + 1 : i + 2] in {("past",), ("to",)} and i + 2 < len(low) and low[i + 2] in _ONES:
        hour, minutes = _ONES[low[i + 2]], 60 * value  # half past three: 3:30
        return ((Fraction(hour), minutes) if low[i + 1] == "past" else (Fraction(hour - 1), 60 - minutes)), i + 3
    if value < 1 and low[i + 1 : i + 3] == ("of", "a") and i + 3 < len(low) and low[i + 3] in _SCALES:
        return (value * _SCALES[low[i + 3]],), i + 4  # half of a dozen
    if value < 1 and low[i + 1 : i + 2] in {("a",), ("an",)} and i + 2 < len(low):
        if low[i + 2] in _SCALES:  # half a dozen
            return (value * _SCALES[low[i + 2]],), i + 3
        if low[i + 2] in UNITS:  # half an hour
            return (value,), i + 2
    return (value,), i + 1


def _tail(low: Sequence[str], value: Fraction, j: int) -> tuple[tuple[Fraction, ...], int]:
    """Read words that continue a cardinal number, such as "million", "dozen", "thirds", "and a half" or "times"."""
    while j < len(low) and low[j] in _SCALES and value < _MOST:
        value, j = value * _SCALES[low[j]], j + 1
    k = j + 1 if low[j : j + 1] == ("-",) else j
    if k < len(low) and low[k] in _PARTS and value.denominator == 1 and (value < 4 or low[k][:7] != "quarter"):
        return (value / _PARTS[low[k]],), k + 1
    if low[j : j + 1] == ("and",) and j + 2 < len(low) and value.denominator == 1:
        part, after = _part(low, j + 1, in_digits=low[j - 1][0].isdecimal())
        if part is not None:
            value, j = value + part, after
            while j < len(low) and low[j] in _SCALES and value < _MOST:
                value, j = value * _SCALES[low[j]], j + 1
    if low[j : j + 1] in {("times",), ("fold",)}:
        j += 1
    return (value,), j


def _part(low: Sequence[str], i: int, *, in_digits: bool) -> tuple[Fraction | None, int]:
    """Read the fraction in a mixed number, such as "three fifths".

    After digits, read only fractions such as 1/3 and "a half".
    """
    if in_digits and _is_digits(low, i) and low[i + 1 : i + 2] == ("/",) and _is_digits(low, i + 2):
        top, bottom = _exact(low[i]), _exact(low[i + 2])
        return (top / bottom, i + 3) if 0 < top < bottom else (None, i)
    words = 0 if in_digits else _ONES.get(low[i], _TENS.get(low[i], 0))
    numerator = 1 if low[i] == "a" else words
    k = i + 2 if low[i + 1 : i + 2] == ("-",) else i + 1
    denominator = _PARTS.get(low[k], 0) if k < len(low) else 0
    return (Fraction(numerator, denominator), k + 1) if 0 < numerator < denominator else (None, i)
