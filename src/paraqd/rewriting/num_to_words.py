"""Write numbers in words (f3)."""

from __future__ import annotations

import random
import re
from fractions import Fraction

from paraqd.reading import Kind, Problem, Quantity
from paraqd.reading.currencies import CURRENCIES
from paraqd.reading.numerals import CARDINAL_START, ORDINALS
from paraqd.reading.signs import MINUS
from paraqd.reading.units import UNITS
from paraqd.rewriting.kept_quantities import Edit, keep_quantities
from paraqd.rewriting.number_words import cardinal_words, decimal_words, fraction_words, ordinal_words
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import match_case

_OPERATORS = frozenset("+*/^=<>×÷·−|√_≤≥")
_SMALLER = {currency.name: currency.coin for currency in CURRENCIES if currency.coin}
_PLURALS = {"pound sterling": ("pound", "pounds")}  # short for pounds sterling
_CLOCK = {Fraction(1, 2): "half past", Fraction(1, 4): "quarter past"}
_MOST_DIGITS = 15
_DASHES = frozenset("-–")
_POUNDS = re.compile(r"\b(pounds?)\b(?! sterling)")
_NUMBER_FOLLOWS = re.compile(rf" (?:{'|'.join(sorted(CARDINAL_START | frozenset(ORDINALS)))})\b", re.I)
_DIGITS = re.compile(r"\d+")
_FACE_VALUES = re.compile(r" (?:coins?|notes?|bills?|stamps?|tickets?|coupons?|vouchers?|fine|fee|discount|deposit)\b")
_ARTICLE = re.compile(r"(?:^|\W)an? $", re.I)


class NumToWords(Operator):
    """Write numbers in words: 1,200 → one thousand two hundred, $1.30 → one dollar and thirty cents (f3)."""

    name = "NumToWords"
    paper_id = "f3"
    polarity = "valid"
    changes = frozenset({"numbers"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Write every suitable number in words; return None if nothing changes."""
        del rng, resources
        edits = [edit for q in problem.quantities if (edit := to_words(problem, q)) is not None]
        text = keep_quantities(problem, edits)
        if "£" not in (problem.text if text is None else text):
            return text
        # "pounds" without a sign may not be read as money; in that case, write "pounds sterling"
        named = [(start, end, _POUNDS.sub(r"\1 sterling", new)) for start, end, new in edits]
        return keep_quantities(problem, named) or text


def to_words(problem: Problem, q: Quantity) -> Edit | None:
    """Return the edit that writes a quantity in words, or None if that is impossible or unnecessary."""
    if q.worded or q.kind in {Kind.COEFFICIENT, Kind.EXPONENT, Kind.LABEL} or _in_expression(problem.text, q):
        return None
    start, end = q.number_span
    words: str | None
    if q.kind is Kind.MONEY and q.unit_span is not None and q.unit_span[0] < start:
        return _money(problem, q)
    if q.kind is Kind.ORDINAL:
        words = ordinal_words(int(q.value))
    elif q.kind is Kind.TIME_OF_DAY:
        return _time(problem, q)
    elif q.kind is Kind.RATIO:
        words = _ratio(q)
    else:
        words = _number(problem.text[start:end], q.value)
    if words is None:
        return None
    words = match_case(words, problem, start)
    after = problem.text[end : end + 1]
    if (after.isalpha() and q.unit is None) or _NUMBER_FOLLOWS.match(problem.text, end):
        return None  # such as "2kx" and "120 six-ounce cups"
    if after == "%":
        return (start, end + 1, f"{words} percent")
    if after in {"°", "º"}:
        return _degrees(problem, q, words)
    return (start, end, words + (" " if after.isalpha() else ""))


def _in_expression(text: str, q: Quantity) -> bool:
    """Return True if the number is part of a mathematical expression, where it must stay in digits."""
    before, after = text[max(0, q.start - 3) : q.start], text[q.end : q.end + 3]
    if before.strip()[-1:] in _OPERATORS or after.strip()[:1] in _OPERATORS or (before[-1:] + after[:1] == "()"):
        return True
    factor = text[q.end : q.end + 5].replace(" ", "")
    if (factor[:1] == "!" and (factor[1:2] in _OPERATORS or factor[1:2].isalnum())) or before[-1:].isalpha():
        return True  # 7!5!, 13! / 6!, or a number whose root sign was lost in conversion
    if q.unit is not None:
        return False  # "10-20 minutes" is a range
    if (before[-1:] in _DASHES and not before[-2:-1].isspace()) or (after[:1] in _DASHES and after[1:2].isdigit()):
        return True
    return before.endswith((" - ", " – ")) or after.startswith((" - ", " – "))


def _number(surface: str, value: Fraction) -> str | None:
    digits = surface.replace(",", "")
    bare = digits.lstrip("".join(MINUS)).strip()
    if len(digits) > _MOST_DIGITS or (len(bare) > 1 and bare[0] == "0" and bare[1].isdigit()):
        return None  # such as 007
    indian = surface.count(",") > 0 and len(surface.rsplit(",", 2)[-2]) == 2
    if bare.isdecimal():
        return cardinal_words(int(value), indian=indian)
    if "." in bare and bare.replace(".", "").isdecimal():
        words = decimal_words(bare)
        return words and (f"negative {words}" if value < 0 else words)
    if surface[-1:] in {"k", "K"} and surface[:-1].isdecimal():
        return cardinal_words(int(value))  # $10k
    head, _, scale = surface.rpartition(" ")
    if head and scale.isalpha() and head.replace(",", "").replace(".", "").isdecimal():
        words = _number(head, Fraction(head.replace(",", "")))
        return words and f"{words} {scale}"
    return fraction_words(value)


def _ratio(q: Quantity) -> str | None:
    if not q.terms or any(term.denominator != 1 for term in q.terms):
        return None
    words = [cardinal_words(int(term)) for term in q.terms]
    return " to ".join(word for word in words if word) if all(words) else None


def _degrees(problem: Problem, q: Quantity, words: str) -> Edit:
    scale = {"degree celsius": " Celsius", "degree fahrenheit": " Fahrenheit"}.get(q.unit or "", "")
    plural = "degree" if q.value == 1 else "degrees"
    return (q.number_span[0], q.end, f"{words} {plural}{scale}")


def _time(problem: Problem, q: Quantity) -> Edit | None:
    """Return the edit, if any, that writes a time of day in words: 10 a.m. → ten a.m., 3:30 → half past three."""
    start = q.start
    surface = problem.text[start : q.end]
    match = _DIGITS.match(surface)
    if match is None:
        return None
    digits = match.end()
    hour = int(surface[:digits])
    words = cardinal_words(hour)
    if ":" not in surface:
        return (start, start + digits, words + ("" if surface[digits : digits + 1] == " " else " ")) if words else None
    part = _CLOCK.get(q.value % 1)
    if part is None or len(surface) > digits + 3 or not 0 < hour <= 12:
        return None
    return (start, q.end, match_case(f"{part} {words}", problem, start))


def _currency_noun(name: str, count: int) -> str:
    one, many = _PLURALS.get(name, (name, UNITS[name].plural))
    return one if count == 1 else many


def _money(problem: Problem, q: Quantity) -> Edit | None:
    """Return the edit, if any, that writes an amount of money in words: Rs. 40 → forty rupees."""
    currency = (q.unit or "").partition("/")[0]
    text = problem.text
    number = text[q.number_span[0] : q.number_span[1]]
    value = abs(q.value)
    smaller = _SMALLER.get(currency)
    _, point, decimals = number.partition(".")
    if point and decimals.isdecimal() and len(decimals) == 2 and smaller:
        words = _money_words(currency, smaller, value)
    else:
        amount = _number(number, value)
        words = amount and f"{amount} {_currency_noun(currency, 1 if value == 1 else 2)}"
    if words is None:
        return None
    if q.value < 0:
        words = f"negative {words}"
    end = q.end if "/" not in (q.unit or "") else q.number_span[1]
    if text[end : end + 2] == "/-":
        end += 2
    adjective = _ARTICLE.search(text[max(0, q.start - 4) : q.start]) or _FACE_VALUES.match(text, end)
    if text[end : end + 1] == "-" or adjective:
        singular = _number(number, value)
        if singular is not None and text[end : end + 1] in {" ", "-"}:
            words = f"{singular}-{_currency_noun(currency, 1)}"  # a fifty-dollar coupon
    return (q.start, end, match_case(words, problem, q.start))


def _money_words(currency: str, smaller: str, value: Fraction) -> str | None:
    whole, coins = divmod(value, 1)
    cents = int(coins * 100)
    low = cardinal_words(cents)
    high = cardinal_words(int(whole))
    if high is None or low is None:
        return None
    small = f"{low} {_currency_noun(smaller, cents)}"
    if not whole:
        return small
    big = f"{high} {_currency_noun(currency, int(whole))}"
    return f"{big} and {small}" if cents else big
