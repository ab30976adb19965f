"""Delete numbers or make them vague (f8)."""

from __future__ import annotations

import random
import re
from typing import ClassVar

from paraqd.reading import Kind, Problem, Quantity
from paraqd.reading.units import UNITS
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import delete, match_case, splice

VAGUE = ("some", "a few", "many", "a lot of", "")
_MOST = 2
_SIGNS_BEHIND = {"%": "percent", "°": "degrees"}
_DETERMINER = re.compile(r"(?:^|\W)((?:an?|the|its|his|her|their|my|our|these|those) )$", re.I)
_ARTICLE = re.compile(r"(?:^|\W)(an? )$", re.I)


class NumberDeletion(Operator):
    """Delete one or two numbers, or replace them with "some", "a few", "many" or "a lot of" (f8)."""

    name = "NumberDeletion"
    paper_id: ClassVar[str | None] = "f8"
    polarity = "invalid"
    fault = "number_lost"
    changes = frozenset({"numbers"})
    vague: ClassVar[tuple[str, ...]] = VAGUE

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Delete or replace one or two numbers; return None if the text has no suitable number."""
        del resources
        numbers = [q for q in problem.quantities if can_delete(q) and not is_in_product(problem.text, q)]
        if not numbers:
            return None
        chosen = rng.sample(numbers, rng.randint(1, min(_MOST, len(numbers))))
        vague = rng.choice(self.vague)
        if not vague:
            text = delete(problem, [_deleted_span(problem, q) for q in chosen]).strip()
        else:
            text = splice(problem.text, [made_vague(problem, q, vague) for q in chosen])
        return text if text and text != problem.text else None


def can_delete(q: Quantity) -> bool:
    """Return False if a quantity is a label, an ordinal or a time of day in words, or an article, as in "an hour"."""
    article = q.worded and q.number_span[1] - q.number_span[0] <= 2 and q.value == 1
    named = q.worded and q.kind in {Kind.ORDINAL, Kind.TIME_OF_DAY}  # such as "the third" or "noon"
    return not article and not named and q.kind is not Kind.LABEL


def is_in_product(text: str, q: Quantity) -> bool:
    """Return True if a letter and a digit follow the number, as in 6x6x6."""
    return text[q.end : q.end + 1].isalpha() and text[q.end + 1 : q.end + 2].isdigit()


def _has_sign_before(q: Quantity) -> bool:
    return q.unit_span is not None and q.unit_span[0] < q.number_span[0]


def made_vague(problem: Problem, q: Quantity, vague: str) -> tuple[int, int, str]:
    """Return an edit (start, end, new text) that replaces a quantity's number with a vague word."""
    text = problem.text
    start, end = q.number_span
    name = ""
    if _has_sign_before(q):  # $5 → some dollars
        currency = (q.unit or "").partition("/")[0]
        name = "pounds" if currency == "pound sterling" else UNITS[currency].plural
        start = q.start
    elif q.kind is Kind.TIME_OF_DAY:
        start, end = q.span
    elif text[end : end + 1] in _SIGNS_BEHIND:  # 5% → some percent, 45° → some degrees
        name = _SIGNS_BEHIND[text[end]]
        end += 1
    if vague.endswith(" of") and text[end : end + 4] == " of ":
        vague = vague.removesuffix(" of")  # half of the pie → a lot of the pie
    determiner = (_DETERMINER if vague.startswith(("a ", "an ")) else _ARTICLE).search(text[max(0, start - 8) : start])
    if determiner is not None:
        start -= len(determiner.group(1))  # a $5 note → some dollars note; its 25 shops → a few shops
    new = match_case(f"{vague} {name}".rstrip(), problem, start)
    return (start, end, new + (" " if text[end : end + 1].isalpha() else ""))


def _deleted_span(problem: Problem, q: Quantity) -> tuple[int, int]:
    start, end = q.number_span
    if _has_sign_before(q):
        start = q.start
    text = problem.text
    if text[end : end + 1] == "-" and text[end + 1 : end + 2].isalpha():
        end += 1  # "a 7-inch pipe" becomes "a inch pipe", not "a -inch pipe"
    elif text[end : end + 1] in _SIGNS_BEHIND:
        end += 1
    return (start, end)
