"""Replace numbers with vague words."""

from __future__ import annotations

import random
import re

from paraqd.lab.operators.numbers.number_deletion import can_delete, is_in_product, made_vague
from paraqd.reading import Kind, Problem, Quantity
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import match_case, splice

_COUNTS = (
    "some|several|a few|many|a number of|a certain number of|various|a handful of|"
    "a large number of|plenty of|a good many|an unknown number of"
).split("|")
_PLAIN = "several|a few|many".split("|")  # these fit before "more" and "times", too
_NUMBERS = "a certain number|some number|an unknown number".split("|")
_PARTS = "some|a part|a certain share|a small part|a large part".split("|")
_MONEY = "some money|a certain amount|a fair price|a certain sum|a small sum|a good price|some amount".split("|")
_PERCENT = "a certain percentage|some percentage|a small percentage|a certain percent|a large share".split("|")
_NO_NOUN = (
    "a|about|after|also|an|approximately|and|are|as|at|be|because|been|before|between|both|but|by|can|could|did|do|does|each|"
    "find|for|from|gives?|had|has|have|he|her|his|how|if|in|inclusive|is|it|its|later|left|needs?|on|only|or|per|respectively|she|so|"
    "than|that|the|their|then|there|these|they|this|those|through|to|was|were|what|when|where|which|while|who|will|"
    "with|would"
)
_NOUN = re.compile(rf"\s*(?!(?:{_NO_NOUN})\b)[a-z]{{2,}}", re.I)
_MORE = re.compile(r"\s*more\b", re.I)
_COMPARED = re.compile(r"\s*(?:off|more|less|fewer|higher|lower|greater)\b", re.I)
_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|march|april|may|june|july|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|"
    "dec(?:ember)?)"
)
_SIGN = "[-+*/×÷^=<>≤≥@:]"
# no vague expression reads well next to these words, in a formula, in a ratio or in a date
_NEVER_BEFORE = re.compile(rf"\s*(?:as (?:many|much)|less|fewer|{_MONTH})\b|\s*{_SIGN}|\s*\)|[!…-]|\.\.", re.I)
_NEVER_BEHIND = re.compile(
    rf"(?:{_SIGN}|[(√])\s*$|\b(?:an?|no|any|another|all|both|entire|every|first|second|last|next|other|biggest|"
    rf"smallest|largest|digits?|the|these|those|his|her|its|their|my|our|your|{_MONTH})\s+$|"
    r"\bratios?\b(?: (?:of|is|as|was|were|are))?[\d\s,.:/]*(?:(?:and|to|is) )?$",
    re.I,
)
_STATED = re.compile(r"\b(?:is|are|was|be|becomes|by|of|than|to|from|between|equals|number)\s$", re.I)
_YEARS, _DATED = range(1900, 2100), ("in ", "In ", "of ", "since ", "Since ", "from ", "to ")
_TIMES = (
    (
        re.compile(r"\b(?:twice|thrice|double|triple|\w+ times) as (many|much)((?: \w+){0,2}?) as\b", re.I),
        r"more\2 than",
    ),
    (re.compile(r"\bhalf as many((?: \w+){0,2}?) as\b", re.I), r"fewer\1 than"),
    (re.compile(r"\bhalf as much((?: \w+){0,2}?) as\b", re.I), r"less\1 than"),
    (
        re.compile(r"\b(?:twice|thrice) (?=that of|the (?:length|width|age|speed|number|cost|price) of)", re.I),
        "more than ",
    ),
)
_RATIO = re.compile(r"\bin (?:the|a) ratio (?:of )?\d+(?: ?: ?\d+)+", re.I)
_TIMES_SHARE = 0.5  # of the texts that have such a comparison


class VagueNumber(Operator):
    """Replace a number with a vague expression: 6 bags → several bags, $5 → a certain amount, twice as many → more."""

    name = "VagueNumber"
    polarity = "invalid"
    fault = "number_lost"
    changes = frozenset({"numbers"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Replace one number or one comparison; return None if the text has no suitable number."""
        del resources
        compared = _without_comparison(problem.text)
        if compared is not None and rng.random() < _TIMES_SHARE:
            return compared
        numbers = [q for q in problem.quantities if can_delete(q) and not is_in_product(problem.text, q)]
        edits = [edit for q in numbers if (edit := _vague(problem, q, rng)) is not None]
        return splice(problem.text, [rng.choice(edits)]) if edits else compared


def _vague(problem: Problem, q: Quantity, rng: random.Random) -> tuple[int, int, str] | None:
    """Return an edit that makes a quantity vague, or None if the sentence would not read well."""
    before, after = problem.text[: q.start], problem.text[q.end :]
    if _NEVER_BEHIND.search(before) or _NEVER_BEFORE.match(after):
        return None
    has_noun = _NOUN.match(after) is not None and not after.lower().startswith(" of ")
    if q.kind is Kind.PERCENT:
        fits = (not has_noun or _COMPARED.match(after)) and not before.endswith("the ")
        return (*q.span, match_case(rng.choice(_PERCENT), problem, q.start)) if fits else None
    if q.kind is Kind.FRACTION:
        return made_vague(problem, q, rng.choice(_PARTS)) if after.startswith(" of ") else None
    if q.kind is Kind.MULTIPLE:
        return made_vague(problem, q, rng.choice(_PLAIN)) if after.startswith(" times ") else None
    if q.kind is Kind.MONEY:
        if "/" not in (q.unit or "") and not has_noun:
            return (*q.span, match_case(rng.choice(_MONEY), problem, q.start))
        return made_vague(problem, q, rng.choice(_COUNTS))
    if q.kind not in {Kind.COUNT, Kind.MEASURE} or q.value <= 1:
        return None
    if q.value in _YEARS and before.endswith(_DATED):
        return None
    if _MORE.match(after):
        return made_vague(problem, q, rng.choice(_PLAIN))
    if has_noun or after.startswith(" of ") or (q.unit_span is not None and q.unit_span[0] >= q.number_span[1]):
        return made_vague(problem, q, rng.choice(_COUNTS))
    if _STATED.search(before):
        return made_vague(problem, q, rng.choice(_NUMBERS))
    return None


def _without_comparison(text: str) -> str | None:
    """Return the text with a comparison that has lost its number, or None if there is no such comparison."""
    for pattern, new in _TIMES:
        made = pattern.sub(new, text, count=1)
        if made != text:
            return made
    made = _RATIO.sub("in a certain ratio", text, count=1)
    return made if made != text else None
