"""Delete a quantity together with the words that belong to it, so that the sentence still reads well."""

from __future__ import annotations

import random
import re

from paraqd.lab.operators.numbers.number_deletion import can_delete, is_in_product
from paraqd.reading import Problem, Quantity, read
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import delete

_BEFORE = re.compile(
    r"(?:,\s*)?\s(?:for|in|at|of|by|after|within|every|worth|costing|measuring|weighing|lasting|over|during|with)\s"
    r"(?:an?\s|the\s|about\s|only\s|exactly\s)?"
    r"(?:(?:speed|rate|cost|price|length|width|distance|height|total|period|weight|depth|radius|age)\sof\s)?$",
    re.I,
)
_CLAUSE_END = re.compile(
    r"\s*(?:$|[.,;?!]|(?:and|but|then|while|if|how|what|on|from|to|for|at|in|by|when|which|who|after|before|find)\b)",
    re.I,
)
_NOUN = re.compile(r"\s[a-z]+s\b")
_DIMENSION = re.compile(r"\s(?:long|wide|tall|high|deep|thick|old|away|heavy)\b")
_STATED = re.compile(r"\b(?:is|are|was|were|be|measures|than)\s*$", re.I)
_VERB = re.compile(
    r"\b(?:has|had|have|buys|bought|sells|sold|bakes|baked|makes|made|picks|picked|reads|read|eats|ate|gets|"
    r"got|gives|gave|finds|found|uses|used|needs|packs|packed|collects|collected|orders|ordered|owns|took|"
    r"takes|drinks|drank|earns|earned|writes|wrote|plants|planted|are|were|contains|holds|of)\s$",
    re.I,
)


class AmountDeletion(Operator):
    """Delete a quantity with the words that belong to it: sells them in bags of 6. → sells them in bags."""

    name = "AmountDeletion"
    polarity = "invalid"
    fault = "number_lost"
    changes = frozenset({"numbers"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Delete one quantity; return None if no quantity can be deleted without breaking the sentence."""
        del resources
        numbers = [q for q in problem.quantities if can_delete(q) and not is_in_product(problem.text, q)]
        spans = [span for q in numbers if (span := _span(problem.text, q)) is not None]
        if not spans:
            return None
        text = delete(problem, [rng.choice(spans)]).strip()
        text = re.sub(r"  +", " ", text)
        return text if text and len(read(text).quantities) < len(problem.quantities) else None


def _span(text: str, q: Quantity) -> tuple[int, int] | None:
    """Return the span of a quantity and the words that belong to it, or None if the rest would not read well."""
    end = q.end
    if text[end : end + 1] == "-":
        return None
    dimension = _DIMENSION.match(text, end)
    if dimension is not None:
        return None if _STATED.search(text[: q.start]) else (q.start, dimension.end())
    noun = _NOUN.match(text, end)
    if noun is not None and q.unit is None and not _CLAUSE_END.match(text, noun.end()):
        noun = None
    before = _BEFORE.search(text[: q.start])
    if before is not None and before.start() > 0:
        end = noun.end() if noun is not None else end
        if _CLAUSE_END.match(text, end):
            return (before.start(), end)
    if q.unit is None and _NOUN.match(text, q.end) and _VERB.search(text[: q.start]):
        return (q.start, q.end)
    return None
