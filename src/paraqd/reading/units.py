"""List units with their spellings, categories and exact conversion factors, keyed by canonical name.

A factor converts a unit into its dimension's base unit. Months and years have their own dimension (`calendar`), because
a month is not a fixed number of days. Each currency has its own dimension, because currencies are never converted.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from paraqd.reading.currencies import COIN_SIGNS, CURRENCIES, ORDINARY_WORDS, Currency
from paraqd.reading.currencies import SIGNS as CURRENCY_SIGNS


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit with its canonical name, its full spellings (``names``) and its short spellings (``abbreviations``)."""

    name: str
    plural: str
    category: str
    dimension: str
    factor: Fraction
    abbreviations: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def _unit(
    name: str, plural: str, category: str, dimension: str, factor: str, abbreviations: str = "", names: str = ""
) -> Unit:
    short = tuple(abbreviations.split())
    full = (name, plural, *(part.strip() for part in names.split(",") if part.strip()))
    return Unit(name, plural, category, dimension, Fraction(factor), short, tuple(dict.fromkeys(full)))


def _money(currency: Currency) -> list[Unit]:
    """Return the units of a currency: the currency itself and, if it has a coin of its own, the coin."""
    dimension = f"currency:{currency.name.removesuffix(' sterling')}"
    names = tuple(dict.fromkeys((currency.name, currency.plural, *currency.spellings)))
    found = [Unit(currency.name, currency.plural, "currency", dimension, Fraction(1), currency.codes, names)]
    if currency.coin_words:
        coin = (currency.coin, currency.coin_plural)
        found.append(Unit(*coin, "currency", dimension, Fraction(1, 100), (), currency.coin_words))
    return found


_TABLE = (
    # length, in metres
    _unit("metre", "metres", "length", "length", "1", "m mtr mtrs mts mt", "meter, meters"),
    _unit("kilometre", "kilometres", "length", "length", "1000", "km kms", "kilometer, kilometers"),
    _unit("centimetre", "centimetres", "length", "length", "1/100", "cm cms", "centimeter, centimeters"),
    _unit("millimetre", "millimetres", "length", "length", "1/1000", "mm mms", "millimeter, millimeters"),
    _unit("decimetre", "decimetres", "length", "length", "1/10", "dm", "decimeter, decimeters"),
    _unit("mile", "miles", "length", "length", "1609.344", "mi"),
    _unit("yard", "yards", "length", "length", "0.9144", "yd yds"),
    _unit("foot", "feet", "length", "length", "0.3048", "ft"),
    _unit("inch", "inches", "length", "length", "0.0254", "in"),
    _unit("nautical mile", "nautical miles", "length", "length", "1852"),
    _unit("light year", "light years", "length", "light year", "1"),
    # time, in seconds; calendar units, in months
    _unit("second", "seconds", "time", "time", "1", "s sec secs"),
    _unit("millisecond", "milliseconds", "time", "time", "1/1000", "ms"),
    _unit("minute", "minutes", "time", "time", "60", "min mins", "minuts"),
    _unit("hour", "hours", "time", "time", "3600", "h hr hrs"),
    _unit("day", "days", "time", "time", "86400"),
    _unit("week", "weeks", "time", "time", "604800", "wk wks"),
    _unit("fortnight", "fortnights", "time", "time", "1209600"),
    _unit("month", "months", "time", "calendar", "1", "mo mos"),
    _unit("year", "years", "time", "calendar", "12", "yr yrs"),
    _unit("decade", "decades", "time", "calendar", "120"),
    _unit("century", "centuries", "time", "calendar", "1200"),
    # weight, in grams
    _unit("gram", "grams", "weight", "weight", "1", "g gm gms", "gramme, grammes"),
    _unit("kilogram", "kilograms", "weight", "weight", "1000", "kg kgs", "kilo, kilos, kilogramme, kilogrammes"),
    _unit("milligram", "milligrams", "weight", "weight", "1/1000", "mg", "milligramme, milligrammes"),
    _unit("tonne", "tonnes", "weight", "weight", "1000000", "", "metric ton, metric tons, metric tonnes"),
    _unit("quintal", "quintals", "weight", "weight", "100000"),
    _unit("pound", "pounds", "weight", "weight", "453.59237", "lb lbs"),
    _unit("ounce", "ounces", "weight", "weight", "28.349523125", "oz"),
    _unit("ton", "tons", "weight", "ton", "1"),  # never converted, because texts do not say which ton they mean
    _unit("stone", "stone", "weight", "weight", "6350.29318"),
    # speed; only the knot has its own name, because km/h and similar units are rates
    _unit("knot", "knots", "speed", "speed:knot", "1"),
    # areas other than squares of lengths, in square metres
    _unit("acre", "acres", "area", "length^2", "4046.8564224"),
    _unit("hectare", "hectares", "area", "length^2", "10000", "ha"),
    # volumes other than cubes of lengths, in cubic metres; customary measures, each in its own base unit
    _unit("litre", "litres", "volume", "length^3", "1/1000", "l ltr ltrs lt lts lit", "liter, liters"),
    _unit("millilitre", "millilitres", "volume", "length^3", "1/1000000", "ml mls", "milliliter, milliliters"),
    _unit("centilitre", "centilitres", "volume", "length^3", "1/100000", "cl", "centiliter, centiliters"),
    _unit("kilolitre", "kilolitres", "volume", "length^3", "1", "kl", "kiloliter, kiloliters"),
    _unit(
        "gallon", "gallons", "volume", "gallon", "1", "gal gals"
    ),  # not converted to litres, because texts do not say whether they mean US or imperial gallons
    _unit("quart", "quarts", "volume", "gallon", "1/4", "qt qts"),
    _unit("pint", "pints", "volume", "gallon", "1/8", "pt pts"),
    _unit("fluid ounce", "fluid ounces", "volume", "fluid ounce", "1"),
    _unit("cup", "cups", "volume", "cup", "1"),
    _unit("tablespoon", "tablespoons", "volume", "tablespoon", "1", "tbsp"),
    _unit("teaspoon", "teaspoons", "volume", "tablespoon", "1/3", "tsp"),
    # temperature; never converted, because °C and °F have different zero points
    _unit("degree celsius", "degrees celsius", "temperature", "celsius", "1", "", "degrees centigrade"),
    _unit("degree fahrenheit", "degrees fahrenheit", "temperature", "fahrenheit", "1"),
    # angle, in degrees
    _unit("degree", "degrees", "angle", "angle", "1", "deg"),
    _unit("radian", "radians", "angle", "radian", "1", "rad"),
    # data, in bytes
    _unit("byte", "bytes", "data", "data", "1"),
    _unit("kilobyte", "kilobytes", "data", "data", "1000", "kb"),
    _unit("megabyte", "megabytes", "data", "data", "1000000", "mb"),
    _unit("gigabyte", "gigabytes", "data", "data", "1000000000", "gb"),
    *(unit for currency in CURRENCIES for unit in _money(currency)),
)

UNITS: dict[str, Unit] = {unit.name: unit for unit in _TABLE}
PERCENT = "percent"

# rates and powers written as one word
ONE_WORD_RATES = {
    "kmph": "kilometre/hour",
    "kmh": "kilometre/hour",
    "kph": "kilometre/hour",
    "kmhr": "kilometre/hour",
    "mph": "mile/hour",
    "mps": "metre/second",
    "fps": "foot/second",
}
ONE_WORD_POWERS = {
    "sqm": "square metre",
    "sqft": "square foot",
    "sqcm": "square centimetre",
    "sqkm": "square kilometre",
    "cc": "cubic centimetre",
    "cum": "cubic metre",
}
SIGNS = {**CURRENCY_SIGNS, **COIN_SIGNS}
# spellings that are also ordinary words or variables, so that the context must decide
NEEDS_CONTEXT = ORDINARY_WORDS | {"in", "m", "g", "l", "s", "h", "mt", "mo", "mi", "lit", "lt", "cum", "stone"}


def _spellings() -> dict[str, str]:
    found: dict[str, str] = {}
    for unit in _TABLE:
        for name in (*unit.names, *unit.abbreviations):
            found[name] = unit.name
    found.update(ONE_WORD_RATES)
    found.update(ONE_WORD_POWERS)
    return found


SPELLINGS: dict[str, str] = _spellings()
# multi-word units, keyed by their first word
MULTI_WORD: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {}
for _name, _canonical in SPELLINGS.items():
    _words = tuple(_name.split())
    if len(_words) > 1:
        MULTI_WORD[_words[0]] = (*MULTI_WORD.get(_words[0], ()), (_words, _canonical))


@lru_cache(maxsize=4096)
def dimension(unit: str | None) -> tuple[str, Fraction]:
    """Return a unit's dimension and the factor that converts the unit into the dimension's base unit.

    >>> dimension("kilometre/hour")
    ('length/time', Fraction(5, 18))
    >>> dimension("square centimetre")
    ('length^2', Fraction(1, 10000))
    >>> dimension(None)
    ('', Fraction(1, 1))
    """
    if unit is None:
        return ("", Fraction(1))
    top, slash, bottom = unit.partition("/")
    if slash:
        top_dimension, top_factor = dimension(top)
        bottom_dimension, bottom_factor = dimension(bottom)
        return (f"{top_dimension}/{bottom_dimension}", top_factor / bottom_factor)
    if unit == PERCENT:
        return ("", Fraction(1, 100))
    for prefix, power in (("square ", 2), ("cubic ", 3)):
        if unit.startswith(prefix):
            base, factor = dimension(unit.removeprefix(prefix))
            return (f"{base}^{power}", factor**power)
    known = UNITS.get(unit)
    return (known.dimension, known.factor) if known else (unit, Fraction(1))


@lru_cache(maxsize=4096)
def category(unit: str | None) -> str | None:
    """Return a unit's category (length, time, speed, currency …), or None if the unit has no category.

    >>> category("mile/hour"), category("square metre"), category("rupee/kilogram"), category("percent")
    ('speed', 'area', 'currency', None)
    """
    if unit is None:
        return None
    top, slash, bottom = unit.partition("/")
    first = UNITS[top].category if top in UNITS else None
    if slash:
        first, second = category(top), category(bottom)
        return "speed" if (first, second) == ("length", "time") else first
    if unit.startswith("square "):
        return "area"
    if unit.startswith("cubic "):
        return "volume"
    return first


def plural(unit: str) -> str:
    """Return the plural of a unit's canonical name, in words.

    >>> plural("foot"), plural("square metre"), plural("kilometre/hour")
    ('feet', 'square metres', 'kilometres per hour')
    """
    top, slash, bottom = unit.partition("/")
    if slash:
        return f"{plural(top)} per {singular(bottom)}"
    for prefix in ("square ", "cubic "):
        if unit.startswith(prefix):
            return prefix + plural(unit.removeprefix(prefix))
    return UNITS[unit].plural if unit in UNITS else unit


def singular(unit: str) -> str:
    """Return the singular of a unit's canonical name, in words.

    >>> singular("kilometre/hour")
    'kilometre per hour'
    """
    top, slash, bottom = unit.partition("/")
    return f"{top} per {bottom}" if slash else unit
