"""Replace numbers with vague words."""

from __future__ import annotations

import random
import re

from paraqd.operators.base import Operator, Resources
from paraqd.operators.numbers.number_deletion import can_delete, is_in_product, made_vague
from paraqd.operators.text import splice
from paraqd.reading import Kind, Problem, Quantity

_COUNTS = (
    "some|several|a few|many|a number of|a certain number of|quite a few|various|a handful of|"
    "a large number of|plenty of|a good many|an unknown number of"
).split("|")
_MONEY = "some money|a certain amount|a fair price|a certain sum|a small sum|a good price|some amount".split("|")
_PERCENT = "a certain percentage|some percentage|a small percentage|a certain percent|a large share".split("|")
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
_RATIO = re.compile(r"\bin (?:the|a) ratio (?:of )?\d+ ?(?:: ?\d+ ?)+", re.I)
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
        if not numbers:
            return compared
        text = splice(problem.text, [_vague(problem, rng.choice(numbers), rng)])
        return text if text != problem.text else None


def _vague(problem: Problem, q: Quantity, rng: random.Random) -> tuple[int, int, str]:
    """Return an edit that makes a quantity vague."""
    text = problem.text
    alone = not re.match(r"\s*[a-z]", text[q.end :]) or re.match(
        r"\s*(?:and|for|in|at|on|to|if|of|from)\b", text[q.end :]
    )
    if (
        q.kind is Kind.MONEY
        and "/" not in (q.unit or "")
        and alone
        and not text[: q.start].endswith(("a ", "an ", "-"))
    ):
        return (q.start, q.end, rng.choice(_MONEY))
    if text[q.end - 1 : q.end] == "%" and not re.search(r"\b(?:an?|the)\s$", text[: q.start]):
        return (q.start, q.end, rng.choice(_PERCENT))
    return made_vague(problem, q, rng.choice(_COUNTS))


def _without_comparison(text: str) -> str | None:
    """Return the text with a comparison that has lost its number, or None if there is no such comparison."""
    for pattern, new in _TIMES:
        made = pattern.sub(new, text, count=1)
        if made != text:
            return made
    made = _RATIO.sub("in a certain ratio ", text, count=1)
    return made if made != text else None
