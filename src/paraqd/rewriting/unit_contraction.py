"""Abbreviate units."""

from __future__ import annotations

import random

from paraqd.reading import Problem
from paraqd.reading.unit_mentions import UnitMention, find_unit_mentions
from paraqd.rewriting.kept_quantities import Edit, keep_quantities
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.unit_names import is_abbreviated, is_sign, short_name


class UnitContraction(Operator):
    """Abbreviate units that follow digits: 5 kilometres → 5 km, 20 kilometres per hour → 20 km/hr."""

    name = "UnitContraction"
    polarity = "valid"
    changes = frozenset({"units"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Abbreviate every suitable unit; return None if nothing changes."""
        del rng, resources
        edits = [
            edit for mention in find_unit_mentions(problem) if (edit := _contract(mention, problem.text)) is not None
        ]
        return keep_quantities(problem, edits)


def _contract(mention: UnitMention, text: str) -> Edit | None:
    quantity = mention.quantity
    surface = text[mention.start : mention.end]
    if quantity is None or quantity.worded or is_sign(surface) or is_abbreviated(mention, text):
        return None
    if mention.start < quantity.number_span[1] or text[mention.start - 1 : mention.start] == "-":
        return None
    short = short_name(mention.unit)
    if short is None:
        return None
    if short.endswith(".") and text[mention.end : mention.end + 1] == ".":
        short = short[:-1]
    return (mention.start, mention.end, short)
