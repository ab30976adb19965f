"""Write abbreviated units in full (f4)."""

from __future__ import annotations

import random
import re

from paraqd.reading import Problem
from paraqd.reading.unit_mentions import UnitMention, find_unit_mentions
from paraqd.rewriting.kept_quantities import Edit, keep_quantities
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.unit_names import full_name, is_abbreviated, takes_plural, uses_american_spelling

_POWER_BEHIND = re.compile(r" [23]\b(?![./]\d)")  # in "per m 2", the 2 may or may not be a power
# words that can continue the sentence after an abbreviation's full stop: "9 kgs. of sugar"
_GOES_ON = frozenset("of and or to in at per long wide high deep for from by with each more less apart away".split())


class UnitExpansion(Operator):
    """Write abbreviated units in full: 5 km → 5 kilometres, 20 kmph → 20 kilometres per hour (f4)."""

    name = "UnitExpansion"
    paper_id = "f4"
    polarity = "valid"
    changes = frozenset({"units"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Write every abbreviated unit in full; return None if nothing changes."""
        del rng, resources
        american = uses_american_spelling(problem.text)
        edits = [
            _expand(mention, problem, american=american)
            for mention in find_unit_mentions(problem)
            if is_abbreviated(mention, problem.text) and not _POWER_BEHIND.match(problem.text, mention.end)
        ]
        return keep_quantities(problem, edits)


def _expand(mention: UnitMention, problem: Problem, *, american: bool) -> Edit:
    many = takes_plural(mention, problem)
    name = full_name(mention.unit, many=many, american=american)
    text = problem.text
    quantity = mention.quantity
    if quantity is not None and mention.start < quantity.number_span[0]:  # Rs. 40 → 40 rupees
        after = quantity.number_span[1]
        if text[after : after + 2] == "/-":
            after += 2
        number = text[quantity.number_span[0] : quantity.number_span[1]]
        return (mention.start, after, f"{number} {name}")
    end = mention.end
    if text[end : end + 1] == "." and _is_part_of_abbreviation(problem, end):
        end += 1
    if text[end : end + 1].isalnum():
        name += " "
    start, before = mention.start, text[: mention.start][-3:]
    if before.rstrip().endswith("/"):  # Rs. 9/kg → 9 rupees per kilogram
        start = mention.start - len(before) + before.rindex("/")
        while start > 0 and text[start - 1] == " ":
            start -= 1
        return (start, end, f" per {name}")
    space = " " if before[-1:].isalnum() or before[-1:] in {"½", "¼", "¾"} else ""
    return (start, end, space + name)


def _is_part_of_abbreviation(problem: Problem, at: int) -> bool:
    """Return True if the full stop at ``at`` is part of an abbreviation and does not end the sentence."""
    text = problem.text
    if any(sentence.end == at + 1 for sentence in problem.sentences):
        return False
    following = text[at + 1 : at + 30].split()
    return text[at + 1 : at + 2] == " " and bool(following) and following[0] in _GOES_ON
