"""Write units in full or abbreviated, in the singular or plural, and in British or American spelling."""

from __future__ import annotations

import re
from fractions import Fraction

from paraqd.reading import Problem
from paraqd.reading.token_stream import VULGAR_SET
from paraqd.reading.unit_mentions import UnitMention
from paraqd.reading.units import SIGNS, UNITS, plural, singular

_SIZES = r"(?:kilo|centi|milli|deci)?"
_AMERICAN = re.compile(rf"\b(?:{_SIZES}(?:meter|liter)|color|neighbor|traveled|traveling|favorite|center)s?\b", re.I)
_BRITISH = re.compile(
    rf"\b(?:{_SIZES}(?:metre|litre)|colour|neighbour|travelled|travelling|favourite|centre)s?\b", re.I
)
_ARTICLE = re.compile(r"(?:^|\W)an? $", re.I)
_TO_AMERICAN = (("metre", "meter"), ("litre", "liter"))
# the units that have a common abbreviation
SHORT = {
    "metre": "m",
    "kilometre": "km",
    "centimetre": "cm",
    "millimetre": "mm",
    "decimetre": "dm",
    "foot": "ft",
    "inch": "in.",
    "yard": "yd",
    "second": "sec",
    "minute": "min",
    "hour": "hr",
    "year": "yr",
    "gram": "g",
    "kilogram": "kg",
    "milligram": "mg",
    "pound": "lb",
    "ounce": "oz",
    "litre": "L",
    "millilitre": "ml",
    "gallon": "gal",
    "quart": "qt",
    "pint": "pt",
    "hectare": "ha",
    "kilobyte": "kB",
    "megabyte": "MB",
    "gigabyte": "GB",
}


def uses_american_spelling(text: str) -> bool:
    """Return True if a text contains American spellings and no British spellings."""
    return bool(_AMERICAN.search(text)) and not _BRITISH.search(text)


def full_name(unit: str, *, many: bool, american: bool) -> str:
    """Write the name of a canonical unit in full.

    >>> full_name("kilometre/hour", many=True, american=False), full_name("metre", many=False, american=True)
    ('kilometres per hour', 'meter')
    """
    name = plural(unit) if many else singular(unit)
    if american:
        for british, us in _TO_AMERICAN:
            name = name.replace(british, us)
    return name.replace("degrees celsius", "degrees Celsius").replace("degrees fahrenheit", "degrees Fahrenheit")


def short_name(unit: str) -> str | None:
    """Return the abbreviation of a canonical unit, or None if the unit has no common abbreviation.

    >>> short_name("kilometre/hour"), short_name("square metre"), short_name("day")
    ('km/hr', 'sq. m', None)
    """
    top, slash, bottom = unit.partition("/")
    if slash:
        first, second = short_name(top), short_name(bottom)
        return f"{first}/{second}" if first and second else None
    for prefix, short in (("square ", "sq. "), ("cubic ", "cu. ")):
        if unit.startswith(prefix):
            base = SHORT.get(unit.removeprefix(prefix))
            return short + base if base else None
    return SHORT.get(unit)


def is_sign(surface: str) -> bool:
    """Return True if a unit is written as a currency sign."""
    return surface.strip("USu ") in SIGNS


def is_abbreviated(mention: UnitMention, text: str) -> bool:
    """Return True if the text contains the unit in an abbreviated form, such as km, kmph, sq. m or Rs."""
    surface = text[mention.start : mention.end]
    if is_sign(surface) or surface in {"°", "º", "°C", "°F", "˚"} or "°" in surface:
        return False
    words = [word for word in re.split(r"[\s/.²³^\d-]+", surface.lower()) if word]
    return any(word not in _FULL_WORDS for word in words) or "/" in surface


_FULL_WORDS = {word for unit in UNITS.values() for name in unit.names for word in name.lower().split()}
_FULL_WORDS |= {"per", "square", "cubic", "squared", "cubed", "a", "an", "each", "every", "annum", "cube"}


def takes_plural(mention: UnitMention, problem: Problem) -> bool:
    """Return True if the unit must be plural (5 kilometres), not singular (1 kilometre, a 7-inch pipe)."""
    text = problem.text
    before = text[: mention.start].rstrip()
    quantity = mention.quantity
    if quantity is None:
        last = before.lower().rsplit(None, 1)[-1] if before else ""
        return last.lstrip("(") in {
            "many",
            "in",
            "of",
            "few",
            "several",
            "number",
            "these",
            "those",
            "more",
            "additional",
            "",
        }
    behind_article = _ARTICLE.search(text[max(0, quantity.start - 4) : quantity.start]) is not None
    if text[mention.start - 1 : mention.start] == "-" or (behind_article and not quantity.worded):
        return False  # such as "a 10 metre long wall"
    if "/" in quantity.surface or quantity.worded or not VULGAR_SET.isdisjoint(quantity.surface):
        return abs(quantity.value) > 1
    return quantity.value not in {Fraction(1), Fraction(-1)}
