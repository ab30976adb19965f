"""Define the spellings, dimensions and factors of units for the second count, independently of the reader's units."""

from __future__ import annotations

from fractions import Fraction

from paraqd.reading.currencies import CURRENCIES, ORDINARY_WORDS, WORDS_BEFORE
from paraqd.reading.currencies import SIGNS as CURRENCY_SIGNS

_F = Fraction
# maps each spelling to its dimension and its factor
UNITS: dict[str, tuple[str, Fraction]] = {}
for _dimension, _factor, _names in (
    ("length", _F(1), "m metre metres meter meters mtr mtrs mt mts"),
    ("length", _F(1000), "km kms kilometre kilometres kilometer kilometers"),
    ("length", _F(1, 100), "cm cms centimetre centimetres centimeter centimeters"),
    ("length", _F(1, 1000), "mm mms millimetre millimetres millimeter millimeters"),
    ("length", _F(1, 10), "dm decimetre decimetres decimeter decimeters"),
    ("length", _F("1609.344"), "mile miles mi"),
    ("length", _F("0.9144"), "yard yards yd yds"),
    ("length", _F("0.3048"), "foot feet ft"),
    ("length", _F("0.0254"), "inch inches in"),
    ("time", _F(1), "s sec secs second seconds"),
    ("time", _F(1, 1000), "millisecond milliseconds"),
    ("time", _F(60), "min mins minute minutes minuts"),
    ("time", _F(3600), "h hr hrs hour hours"),
    ("time", _F(86400), "day days"),
    ("time", _F(604800), "week weeks wk wks"),
    ("time", _F(1209600), "fortnight fortnights"),
    ("calendar", _F(1), "month months mo mos"),
    ("calendar", _F(12), "year years yr yrs annum"),
    ("calendar", _F(120), "decade decades"),
    ("calendar", _F(1200), "century centuries"),
    ("weight", _F(1), "g gm gms gram grams gramme grammes"),
    ("weight", _F(1000), "kg kgs kilogram kilograms kilo kilos kilogramme kilogrammes"),
    ("weight", _F(1, 1000), "mg milligram milligrams"),
    ("weight", _F(1000000), "tonne tonnes"),
    ("weight", _F(100000), "quintal quintals"),
    ("ton", _F(1), "ton tons"),
    ("pound", _F(1), "lb lbs pound pounds"),  # the second count does not distinguish money from weight
    ("pound", _F(1, 16), "oz ounce ounces"),
    ("pound", _F(1, 100), "p"),
    ("length^3", _F(1, 1000), "l litre litres liter liters ltr ltrs lt lts lit"),
    ("length^3", _F(1, 10**6), "ml mls millilitre millilitres milliliter milliliters cc"),
    ("length^3", _F(1), "kl kilolitre kilolitres kiloliter kiloliters"),
    ("gallon", _F(1), "gal gals gallon gallons"),
    ("gallon", _F(1, 4), "qt qts quart quarts"),
    ("gallon", _F(1, 8), "pt pts pint pints"),
    ("cup", _F(1), "cup cups"),
    ("spoon", _F(1), "tbsp tablespoon tablespoons"),
    ("spoon", _F(1, 3), "tsp teaspoon teaspoons"),
    ("area", _F(1), "acre acres"),
    ("hectare", _F(1), "ha hectare hectares"),
    ("degree", _F(1), "° degree degrees deg"),
    ("radian", _F(1), "radian radians rad"),
    ("celsius", _F(1), "celsius centigrade"),
    ("fahrenheit", _F(1), "fahrenheit"),
    ("data", _F(1), "kb kilobyte kilobytes"),
    ("data", _F(1000), "mb megabyte megabytes"),
    ("data", _F(1000000), "gb gigabyte gigabytes"),
    ("share", _F(1, 100), "% percent pct percents"),
    ("length/time", _F(1000, 3600), "kmph kmh kph kmhr"),
    ("length/time", _F("1609.344") / 3600, "mph"),
    ("length/time", _F(1), "mps"),
    ("length/time", _F("0.3048"), "fps"),
    ("length^2", _F(1), "sqm"),
    ("length^2", _F("0.3048") ** 2, "sqft"),
    ("length^2", _F(1, 10000), "sqcm"),
):
    UNITS |= dict.fromkeys(_names.split(), (_dimension, _factor))
for _currency in CURRENCIES:
    _dimension = _currency.name.removesuffix(" sterling")
    UNITS |= dict.fromkeys((*_currency.signs, *_currency.words), (_dimension, _F(1)))
    if _currency.coin_words:
        UNITS |= dict.fromkeys((*_currency.coin_sign, *_currency.coin_words), (_dimension, _F(1, 100)))
for _word in ORDINARY_WORDS - {"re"}:
    del UNITS[_word]
# letters and words that are units only after a number
ONLY_AFTER_NUMBER = frozenset("p m g s h l in mt re mo mi lt lit pt second".split())
SIGNS = frozenset({*CURRENCY_SIGNS, *WORDS_BEFORE})
# currencies that may follow an amount that already has a sign: "$5 dollars", "Rs. 500 rupees"
CURRENCIES_AFTER_SIGN = SIGNS | {"pounds"} | {word for currency in CURRENCIES for word in currency.words}
# the parts of units that are written as one word
WRITTEN_TOGETHER = {
    "kmph": ("km", "h"),
    "kmh": ("km", "h"),
    "kph": ("km", "h"),
    "kmhr": ("km", "h"),
    "mph": ("mile", "h"),
    "mps": ("m", "s"),
    "fps": ("ft", "s"),
    "sqm": ("m",),
    "sqft": ("ft",),
    "sqcm": ("cm",),
}
