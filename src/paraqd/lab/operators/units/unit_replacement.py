"""Replace units with other units of the same category (f10)."""

from __future__ import annotations

import random

from paraqd.reading import Problem
from paraqd.reading.currencies import BY_NAME
from paraqd.reading.unit_mentions import UnitMention, find_unit_mentions
from paraqd.reading.units import category, dimension
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import fix_article, splice
from paraqd.rewriting.unit_names import (
    full_name,
    is_abbreviated,
    short_name,
    takes_plural,
    uses_american_spelling,
)

# common units; units of the same category may replace each other
ALTERNATIVES: dict[str, tuple[str, ...]] = {
    "currency": ("dollar", "rupee", "euro", "cent", "paisa", "yen"),
    "length": ("kilometre", "metre", "centimetre", "millimetre", "mile", "foot", "inch", "yard"),
    "time": ("second", "minute", "hour", "day", "week", "month", "year"),
    "weight": ("gram", "kilogram", "milligram", "pound", "ounce", "tonne"),
    "speed": ("kilometre/hour", "metre/second", "mile/hour", "metre/minute", "kilometre/minute"),
    "area": ("square metre", "square centimetre", "square kilometre", "square foot", "square inch", "acre", "hectare"),
    "volume": ("litre", "millilitre", "gallon", "pint", "cubic metre", "cubic centimetre", "quart"),
    "temperature": ("degree celsius", "degree fahrenheit"),
    "angle": ("degree", "radian"),
    "data": ("kilobyte", "megabyte", "gigabyte"),
}
# the currencies whose signs may replace each other; adding a currency would change every generated corpus
_SIGN_OF = {name: BY_NAME[name].signs[0] for name in ("dollar", "rupee", "euro", "pound sterling", "yen")}


class UnitReplacement(Operator):
    """Replace units with other units of the same category: 100 km → 100 m, hours → minutes, $5 → €5 (f10).

    ``most`` is the largest number of units to replace (default: no limit).
    """

    name = "UnitReplacement"
    paper_id = "f10"
    polarity = "invalid"
    fault = "unit_changed"
    changes = frozenset({"units"})

    def __init__(self, *, most: int | None = None) -> None:
        self.most = most

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Replace some of the units; return None if the text has no replaceable unit."""
        del resources
        mentions = [m for m in find_unit_mentions(problem) if _can_replace(m)]
        if not mentions:
            return None
        chosen = rng.sample(mentions, rng.randint(1, min(len(mentions), self.most or len(mentions))))
        american = uses_american_spelling(problem.text)
        edits = [_replace(mention, problem, rng, american=american) for mention in chosen]
        text = splice(problem.text, edits)
        return text if text != problem.text else None


def _can_replace(mention: UnitMention) -> bool:
    # zero usually has the same meaning in every unit of a category
    return category(mention.unit) in ALTERNATIVES and (mention.quantity is None or mention.quantity.value != 0)


def _replace(mention: UnitMention, problem: Problem, rng: random.Random, *, american: bool) -> tuple[int, int, str]:
    text = problem.text
    before_number = mention.quantity is not None and mention.start < mention.quantity.number_span[0]
    top, slash, bottom = mention.unit.partition("/")
    group = category(mention.unit) or ""
    if slash and group != "speed":
        other = _other(top, category(top) or "", rng) + slash + bottom
    else:
        other = _other(mention.unit, group, rng)
    if before_number:
        number = mention.quantity.number_span[0] if mention.quantity else mention.end
        return (mention.start, number, _other_sign(other.partition("/")[0], rng, mention.unit))
    short = short_name(other) if is_abbreviated(mention, text) else None
    name = short or full_name(other, many=takes_plural(mention, problem), american=american)
    if name.endswith(".") and text[mention.end : mention.end + 1] == ".":
        name = name[:-1]
    space = " " if text[mention.start - 1 : mention.start].isdigit() and len(name) > 3 else ""
    start, name = fix_article(text, mention.start, name)
    return (start, mention.end, space + name)


def _other(unit: str, group: str, rng: random.Random) -> str:
    # exclude units of the same size, such as the cubic centimetre and the millilitre
    return rng.choice([name for name in ALTERNATIVES.get(group, (unit,)) if dimension(name) != dimension(unit)])


def _other_sign(other: str, rng: random.Random, unit: str) -> str:
    """Return the sign of the currency ``other`` or, if it has no sign, a random sign other than that of ``unit``."""
    signs = [sign for name, sign in _SIGN_OF.items() if name != unit.partition("/")[0]]
    if other not in _SIGN_OF:
        return rng.choice(signs)
    return _SIGN_OF[other]
