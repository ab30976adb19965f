"""Write numbers in words that can be read back as the same value."""

from __future__ import annotations

from fractions import Fraction

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()
_SCALES = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (1000, "thousand"))
_INDIAN_SCALES = ((10**7, "crore"), (10**5, "lakh"), (1000, "thousand"))
_IRREGULAR = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_LARGEST = 10**15
# names of denominators; the other denominators from 3 to 20 are written as ordinals
_DENOMINATORS = {2: "half", 4: "quarter", 100: "hundredth", 1000: "thousandth"}


def _below_thousand(n: int) -> str:
    if n < 20:
        return _ONES[n]
    if n < 100:
        return _TENS[n // 10] + (f"-{_ONES[n % 10]}" if n % 10 else "")
    rest = f" and {_below_thousand(n % 100)}" if n % 100 else ""
    return f"{_ONES[n // 100]} hundred{rest}"


def cardinal_words(n: int, *, indian: bool = False) -> str | None:
    """Write a whole number in words; return None if the number is too large.

    >>> cardinal_words(105), cardinal_words(1200), cardinal_words(-3)
    ('one hundred and five', 'one thousand two hundred', 'negative three')
    >>> cardinal_words(250000, indian=True)
    'two lakh fifty thousand'
    """
    if n < 0:
        words = cardinal_words(-n, indian=indian)
        return words and f"negative {words}"
    if n >= _LARGEST:
        return None
    parts: list[str] = []
    for scale, name in _INDIAN_SCALES if indian else _SCALES:
        if n >= scale:
            parts.append(f"{_below_thousand(n // scale)} {name}" if n // scale < 1000 else "")
            if not parts[-1]:
                return None
            n %= scale
    if n or not parts:
        parts.append(("and " if parts and n < 100 else "") + _below_thousand(n))
    return " ".join(parts)


def decimal_words(text: str) -> str | None:
    """Write a decimal number in words, digit by digit after the point; return None if the number is too long.

    >>> decimal_words("0.65"), decimal_words(".5")
    ('zero point six five', 'zero point five')
    """
    whole, _, decimals = text.replace(",", "").partition(".")
    words = cardinal_words(int(whole or "0"))
    if words is None or len(decimals) > 12:
        return None
    return f"{words} point " + " ".join(_ONES[int(digit)] for digit in decimals)


def ordinal_words(n: int) -> str | None:
    """Write an ordinal number from 1 to 100 in words; return None for other numbers.

    >>> ordinal_words(3), ordinal_words(21), ordinal_words(40), ordinal_words(100)
    ('third', 'twenty-first', 'fortieth', 'hundredth')
    """
    if n == 100:
        return "hundredth"
    words = cardinal_words(n)
    if words is None or not 0 < n < 100:
        return None
    head, hyphen, last = words.rpartition("-")
    if last in _IRREGULAR:
        last = _IRREGULAR[last]
    elif last.endswith("y"):
        last = last[:-1] + "ieth"
    else:
        last += "th"
    return head + hyphen + last


def fraction_words(value: Fraction) -> str | None:
    """Write a fraction or a mixed number in words; return None if there is no common form in words.

    >>> fraction_words(Fraction(3, 4)), fraction_words(Fraction(5, 2)), fraction_words(Fraction(2, 3))
    ('three quarters', 'two and a half', 'two thirds')
    """
    if value <= 0 or value.denominator == 1:
        return None
    whole, rest = divmod(value, 1)
    name = _DENOMINATORS.get(value.denominator)
    if name is None:
        name = ordinal_words(value.denominator) if 3 <= value.denominator <= 20 else None
    if name is None:
        return None
    top = _ONES[rest.numerator] if rest.numerator < 20 else None
    if top is None:
        return None
    plural = name if rest.numerator == 1 else ("halves" if name == "half" else name + "s")
    part = f"{top} {plural}"
    if not whole:
        return part
    whole_words = cardinal_words(int(whole))
    if rest == Fraction(1, 2) and whole_words:
        return f"{whole_words} and a half"
    return whole_words and f"{whole_words} and {part}"
