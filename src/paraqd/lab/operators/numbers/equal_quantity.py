"""Express a quantity in an equivalent form."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from paraqd.reading import Kind, Problem, Quantity
from paraqd.reading.currencies import CURRENCIES
from paraqd.reading.units import dimension
from paraqd.rewriting.kept_quantities import Edit, keep_quantities
from paraqd.rewriting.number_words import fraction_words
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import match_case
from paraqd.rewriting.unit_names import full_name, uses_american_spelling

# units that people commonly convert into each other
_PARTNERS: dict[str, tuple[str, ...]] = {
    "hour": ("minute",),
    "minute": ("hour", "second"),
    "second": ("minute",),
    "day": ("week",),
    "week": ("day",),
    "fortnight": ("day", "week"),
    "year": ("month",),
    "month": ("year",),
    "decade": ("year",),
    "kilometre": ("metre",),
    "metre": ("centimetre", "kilometre"),
    "centimetre": ("metre", "millimetre"),
    "millimetre": ("centimetre",),
    "foot": ("inch",),
    "inch": ("foot",),
    "yard": ("foot",),
    "kilogram": ("gram",),
    "gram": ("kilogram",),
    "tonne": ("kilogram",),
    "litre": ("millilitre",),
    "millilitre": ("litre",),
}
for _currency in CURRENCIES:
    if _currency.coin_words and " " not in _currency.name:  # exclude pounds, which may be weights
        _PARTNERS |= {_currency.name: (_currency.coin,), _currency.coin: (_currency.name,)}
_AGES = re.compile(
    r"\b(?:old|older|age|ages|aged|ago|young|younger|born|birthday|interest|annum|compounded|annually)\b", re.I
)
# words that may follow a converted measure; a noun may not, because "a 180 minute journey" sounds wrong
_AFTER_MEASURE = re.compile(
    r"\s*(?:$|[.,;:?!)]|(?:and|or|in|at|to|from|of|for|with|on|by|is|was|are|were|if|then|when|while|before|after|more|"
    r"less|long|wide|deep|high|tall|away|apart|later|together|respectively|how|find|what|the|he|she|it|they|but|so|than|"
    r"longer|shorter|faster|slower|towards|through|as|upstream|downstream)\b)"
)
_LARGEST = 100_000
_MOST_QUANTITIES = 60  # limits the running time, because the whole text is searched for each quantity
_MOST_COINS = 1_000  # nobody writes 80 dollars as 8,000 cents
_PERCENT_PARTS = {10, 20, 25, 30, 40, 50, 60, 75, 80}


class EqualQuantity(Operator):
    """Express one quantity in an equivalent form: half an hour → 30 minutes, 25% of → one quarter of, 12 → a dozen."""

    name = "EqualQuantity"
    polarity = "valid"
    changes = frozenset({"numbers", "units"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Rewrite one quantity; return None if no quantity has an equivalent form."""
        del resources
        american = uses_american_spelling(problem.text)
        edits = [
            edit
            for q, neighbours in _with_neighbours(problem.quantities[:_MOST_QUANTITIES])
            for edit in _equal_forms(problem, q, neighbours, american=american)
        ]
        rng.shuffle(edits)
        for edit in edits[:6]:
            text = keep_quantities(problem, [edit])
            if text is not None:
                return text
        return None


def _with_neighbours(quantities: Sequence[Quantity]) -> Iterator[tuple[Quantity, list[Quantity]]]:
    """Yield each quantity with the quantities before and after it."""
    for i, q in enumerate(quantities):
        yield q, [*quantities[max(0, i - 1) : i], *quantities[i + 1 : i + 2]]


def _equal_forms(problem: Problem, q: Quantity, neighbours: list[Quantity], *, american: bool) -> list[Edit]:
    text = problem.text
    if q.kind is Kind.PERCENT:
        return _percent_as_fraction(problem, q)
    if q.kind is Kind.COUNT and q.unit is None:
        return _in_dozens(text, q)
    if q.kind is Kind.FRACTION and q.unit is None and not q.worded:
        return _fraction_as_decimal(text, q)
    if q.kind in {Kind.MEASURE, Kind.MONEY} and q.unit_span is not None and q.unit in _PARTNERS:
        return _in_other_units(problem, q, neighbours, american=american)
    return []


def _percent_as_fraction(problem: Problem, q: Quantity) -> list[Edit]:
    text = problem.text
    behind = text[q.end : q.end + 8].lower()
    if q.unit != "percent" or not behind.startswith((" of the", " of a ", " of his", " of her", " of its", " of thei")):
        return []
    words = fraction_words(q.value / 100) if q.value in _PERCENT_PARTS else None
    return [(q.start, q.end, match_case(words, problem, q.start))] if words else []


def _in_dozens(text: str, q: Quantity) -> list[Edit]:
    """Return the edit, if any, that writes 6, 12, 24 or 36 in dozens before a plural noun."""
    noun = re.match(r" ([a-z]{3,})\b", text[q.end : q.end + 30])
    if q.worded or q.value not in {12, 24, 36, 6} or noun is None or not noun.group(1).endswith("s") or q.start == 0:
        return []
    if noun.group(1) in {
        "times",
        "is",
        "was",
        "has",
        "less",
        "units",
        "numbers",
        "digits",
        "consecutives",
        "across",
        "sides",
    }:
        return []
    if (
        text[max(0, q.start - 16) : q.start]
        .rstrip()
        .lower()
        .endswith((" a", " an", " the", " by", "divided by", "class", "no."))
    ):
        return []
    words = {12: "a dozen", 24: "two dozen", 36: "three dozen", 6: "half a dozen"}[int(q.value)]
    return [(q.start, q.end, words)]


def _fraction_as_decimal(text: str, q: Quantity) -> list[Edit]:
    """Return the edit, if any, that writes a fraction as a short decimal: 3/4 → 0.75."""
    surface = text[q.start : q.end]
    if "/" not in surface or q.value.denominator not in {2, 4, 5, 8, 10, 20, 25}:
        return []
    around = text[max(0, q.start - 2) : q.start] + text[q.end : q.end + 2]
    if any(c in "+-*/^=()<>:" for c in around) or text[q.end : q.end + 3].strip()[:2] in {"th", "rd"}:
        return []
    return [(q.start, q.end, str(float(q.value)))]


def _in_other_units(problem: Problem, q: Quantity, neighbours: list[Quantity], *, american: bool) -> list[Edit]:
    text = problem.text
    if text[q.number_span[1] : q.number_span[1] + 1] == "-" or not _AFTER_MEASURE.match(text, q.end):
        return []
    if _part_of_compound(q, neighbours) or _unit_is_period(text, q):
        return []
    if dimension(q.unit)[0] == "calendar" and _AGES.search(text):
        return []
    if re.match(r"\s+(?:\d|and \d|a |an |per |each |every |old\b|ago\b)", text[q.end : q.end + 12]):
        return []  # the quantity is part of a compound (5 feet 6 inches) or of a rate
    if (
        q.unit_span is not None
        and q.unit_span[0] < q.number_span[0]
        and text[max(0, q.start - 16) : q.start].rstrip().lower().endswith((" a", " an"))
    ):
        return []  # such as "a $50 coupon"
    found: list[Edit] = []
    asked = problem.question.text.lower() if problem.question else ""
    for other in _PARTNERS[q.unit or ""]:
        if other in asked:  # "how many minutes are 2 hours" must not become "… are 120 minutes"
            continue
        value = q.value * dimension(q.unit)[1] / dimension(other)[1]
        number = _written(value)
        if number is not None and not (q.kind is Kind.MONEY and value > _MOST_COINS):
            many = value != 1
            if not many and text[max(0, q.start - 6) : q.start].endswith((" are ", " were ")):
                continue
            found.append((q.start, q.end, f"{number} {full_name(other, many=many, american=american)}"))
    return found


def _part_of_compound(q: Quantity, neighbours: list[Quantity]) -> bool:
    """Return True if the quantity is part of a compound quantity, such as 2 hours 35 minutes."""
    return any(
        other.unit != q.unit
        and dimension(other.unit)[0] == dimension(q.unit)[0]
        and (0 <= other.start - q.end <= 5 or 0 <= q.start - other.end <= 5)
        for other in neighbours
    )


def _unit_is_period(text: str, q: Quantity) -> bool:
    """Return True if the text elsewhere uses the unit in a rate, as in 8 hours a day or $5 per week."""
    found = re.finditer(rf"(?:\b(?:an?|per|each|every)\s+|/\s*){q.unit}\b", text, re.I)
    return any(not q.start <= match.start() < q.end for match in found)


def _written(value: Fraction) -> str | None:
    """Write a value as a whole number or a short decimal; return None if neither form is usual."""
    if value.denominator == 1 and 0 < value < _LARGEST:
        return str(int(value))
    if value.denominator in {2, 4, 5, 10} and Fraction(1, 2) <= value < 1000:
        return str(float(value))
    return None
