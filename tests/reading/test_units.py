"""Units: spellings, canonical names, categories, exact factors, and their places in a text."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

from paraqd.reading import read
from paraqd.reading.unit_mentions import find_unit_mentions
from paraqd.reading.units import SIGNS, SPELLINGS, UNITS, category, dimension, plural, singular


def unit_of(text: str) -> str | None:
    (quantity,) = read(text).quantities
    return quantity.unit


SPELLED = {
    "metre": "m metre metres meter meters",
    "kilometre": "km kms kilometre kilometres kilometer kilometers",
    "centimetre": "cm cms centimetre centimeters",
    "millimetre": "mm millimetres millimeter",
    "mile": "mile miles",
    "yard": "yd yds yard yards",
    "foot": "ft foot feet",
    "inch": "inch inches",
    "second": "s sec secs second seconds",
    "minute": "min mins minute minutes",
    "hour": "h hr hrs hour hours",
    "day": "day days",
    "week": "week weeks",
    "fortnight": "fortnight fortnights",
    "month": "month months",
    "year": "yr yrs year years",
    "decade": "decade decades",
    "century": "century centuries",
    "gram": "g gm gms gram grams gramme grammes",
    "kilogram": "kg kgs kilo kilos kilogram kilograms kilogramme",
    "milligram": "mg milligram milligrams",
    "tonne": "tonne tonnes",
    "quintal": "quintal quintals",
    "pound": "lb lbs",
    "ounce": "oz ounce ounces",
    "ton": "ton tons",
    "litre": "l L litre litres liter liters",
    "millilitre": "ml millilitre milliliters",
    "gallon": "gallon gallons",
    "quart": "quart quarts",
    "pint": "pint pints",
    "cup": "cup cups",
    "acre": "acre acres",
    "hectare": "hectare hectares ha",
    "degree": "degree degrees °",
    "dollar": "dollar dollars USD",
    "cent": "cent cents",
    "rupee": "rupee rupees Rs INR",
    "paisa": "paisa paise",
    "euro": "euro euros",
    "yen": "yen",
    "knot": "knot knots",
    "kilometre/hour": "kmph km/h km/hr kph",
    "mile/hour": "mph miles/hour",
    "metre/second": "m/s mps",
    "percent": "% percent",
}


@pytest.mark.parametrize(
    ("spelling", "unit"), [(spelling, unit) for unit, row in SPELLED.items() for spelling in row.split()]
)
def test_spelling(spelling: str, unit: str):
    assert unit_of(f"It needs 7 {spelling} of it.") == unit


@pytest.mark.parametrize(
    ("written", "unit"),
    [
        ("7 square metres", "square metre"),
        ("7 square meters", "square metre"),
        ("7 sq. m", "square metre"),
        ("7 sq m", "square metre"),
        ("7 m^2", "square metre"),
        ("7 m²", "square metre"),
        ("7 m2", "square metre"),
        ("7 square feet", "square foot"),
        ("7 sq. ft.", "square foot"),
        ("7 square inches", "square inch"),
        ("7 cubic centimetres", "cubic centimetre"),
        ("7 cm³", "cubic centimetre"),
        ("7 cm^3", "cubic centimetre"),
        ("7 cu. ft.", "cubic foot"),
        ("7 degrees Celsius", "degree celsius"),
        ("7 °C", "degree celsius"),
        ("7°F", "degree fahrenheit"),
        ("7 degrees Fahrenheit", "degree fahrenheit"),
        ("7 kilometres per hour", "kilometre/hour"),
        ("7 metres per second", "metre/second"),
        ("7 miles per gallon", "mile/gallon"),
        ("7 litres a minute", "litre/minute"),
        ("7 hours each day", "hour/day"),
        ("Rs. 7 per litre", "rupee/litre"),
        ("7 rupees a kilo", "rupee/kilogram"),
        ("$7/hour", "dollar/hour"),
        ("$7 per square foot", "dollar/square foot"),
        ("7 apples", None),
        ("7 feathers", None),
        ("7 minor errors", None),
    ],
)
def test_compound(written: str, unit: str | None):
    assert unit_of(f"It is {written} then") == unit


@pytest.mark.parametrize("spelling", ["KM", "Km", "KG", "Hours", "MINUTES", "CM"])
def test_case_does_not_matter(spelling: str):
    assert unit_of(f"It needs 7 {spelling} of it.") == unit_of(f"It needs 7 {spelling.lower()} of it.")


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("metre", "length"),
        ("mile", "length"),
        ("hour", "time"),
        ("year", "time"),
        ("kilogram", "weight"),
        ("pound", "weight"),
        ("kilometre/hour", "speed"),
        ("mile/hour", "speed"),
        ("knot", "speed"),
        ("rupee", "currency"),
        ("cent", "currency"),
        ("rupee/kilogram", "currency"),
        ("square metre", "area"),
        ("acre", "area"),
        ("cubic metre", "volume"),
        ("litre", "volume"),
        ("degree celsius", "temperature"),
        ("degree", "angle"),
        ("percent", None),
        (None, None),
    ],
)
def test_category(unit: str | None, expected: str | None):
    assert category(unit) == expected


@pytest.mark.parametrize(
    ("big", "small", "factor"),
    [
        ("kilometre", "metre", 1000),
        ("metre", "centimetre", 100),
        ("centimetre", "millimetre", 10),
        ("mile", "yard", 1760),
        ("yard", "foot", 3),
        ("foot", "inch", 12),
        ("inch", "centimetre", Fraction("2.54")),
        ("hour", "minute", 60),
        ("minute", "second", 60),
        ("day", "hour", 24),
        ("week", "day", 7),
        ("fortnight", "week", 2),
        ("year", "month", 12),
        ("decade", "year", 10),
        ("century", "decade", 10),
        ("kilogram", "gram", 1000),
        ("gram", "milligram", 1000),
        ("quintal", "kilogram", 100),
        ("tonne", "kilogram", 1000),
        ("pound", "ounce", 16),
        ("stone", "pound", 14),
        ("litre", "millilitre", 1000),
        ("litre", "cubic centimetre", 1000),
        ("cubic metre", "litre", 1000),
        ("gallon", "quart", 4),
        ("quart", "pint", 2),
        ("tablespoon", "teaspoon", 3),
        ("hectare", "square metre", 10_000),
        ("square metre", "square centimetre", 10_000),
        ("acre", "square yard", 4840),
        ("dollar", "cent", 100),
        ("rupee", "paisa", 100),
        ("pound sterling", "penny", 100),
        ("metre/second", "kilometre/hour", Fraction(18, 5)),
    ],
)
def test_factor(big: str, small: str, factor: Fraction):
    big_dimension, big_factor = dimension(big)
    small_dimension, small_factor = dimension(small)
    assert big_dimension == small_dimension
    assert big_factor / small_factor == factor


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("dollar", "rupee"),
        ("dollar", "euro"),
        ("pound", "pound sterling"),
        ("month", "day"),
        ("year", "week"),
        ("degree celsius", "degree fahrenheit"),
        ("degree", "degree celsius"),
        ("metre", "square metre"),
        ("metre", "second"),
        ("metre", None),
        ("ton", "tonne"),
    ],
)
def test_not_convertible(one: str, other: str | None):
    assert dimension(one)[0] != dimension(other)[0]


def test_every_spelling_leads_to_a_known_unit():
    for spelling, name in SPELLINGS.items():
        assert category(name) is not None, spelling
        assert dimension(name)[1] > 0, spelling
    assert set(SIGNS.values()) <= set(UNITS)


def test_spellings_are_not_claimed_twice():
    claimed: dict[str, str] = {}
    for unit in UNITS.values():
        for spelling in (*unit.names, *unit.abbreviations):
            assert claimed.setdefault(spelling, unit.name) == unit.name


@pytest.mark.parametrize(
    ("unit", "one", "many"),
    [
        ("foot", "foot", "feet"),
        ("inch", "inch", "inches"),
        ("century", "century", "centuries"),
        ("penny", "penny", "pence"),
        ("paisa", "paisa", "paise"),
        ("yen", "yen", "yen"),
        ("square foot", "square foot", "square feet"),
        ("kilometre/hour", "kilometre per hour", "kilometres per hour"),
        ("rupee/square metre", "rupee per square metre", "rupees per square metre"),
        ("degree celsius", "degree celsius", "degrees celsius"),
        ("pound sterling", "pound sterling", "pounds sterling"),
    ],
)
def test_number_of_a_unit(unit: str, one: str, many: str):
    assert (singular(unit), plural(unit)) == (one, many)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He ran 5 km. How many hours did it take?", [("km", "kilometre"), ("hours", "hour")]),
        ("Find its length in centimetres.", [("centimetres", "centimetre")]),
        ("Find its speed in km/h.", [("km/h", "kilometre/hour")]),
        ("Rice costs Rs. 9/kg.", [("Rs.", "rupee"), ("kg", "kilogram")]),
        ("It costs 20% more.", []),
        ("He came in second.", []),
        ("Nothing is measured.", []),
    ],
)
def test_unit_mentions(text: str, expected: list[tuple[str, str]]):
    assert [(text[m.start : m.end], m.unit) for m in find_unit_mentions(read(text))] == expected


def test_unit_mentions_do_not_overlap():
    text = "At 60 km/h or Rs. 9/kg, how many litres per hour of 5 sq. m, in cm, each day, are 3, 4 and 12 days?"
    mentions = find_unit_mentions(read(text))
    assert len(mentions) > 5
    for left, right in pairwise(mentions):
        assert 0 <= left.start < left.end <= right.start < right.end <= len(text)
