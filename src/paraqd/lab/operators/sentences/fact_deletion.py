"""Delete a short phrase that states a fact without which the problem has no answer."""

from __future__ import annotations

import random
import re

from paraqd.reading import Problem
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import delete

# each phrase decides how the quantities are related; the question alone does not tell it
_FACTS = re.compile(
    r"(?:,\s)?(?<=\s)(?:towards? each other|in (?:the )?(?:same|opposite) directions?(?! (?:in|as|to)\b)|"
    r"with(?:out)? replacement|"
    r"(?<!are )(?<!is )(?<!be )(?<!was )(?<!were )in the ratio(?: of)? \d+ ?: ?\d+(?: ?: ?\d+)*|"
    r"at the same (?:speed|rate|pace)(?! (?:of|as|that)\b)|"
    r"(?:one after the other )?without repetition)(?=\s|[.,?])|"
    r"\b(?:arithmetic|geometric)\s(?=(?:progression|sequence|series)\b)|"
    r"\b(?:equilateral|isosceles|right[- ]angled|right)\s(?=triangle\b)",
    re.I,
)
_SHAPE = re.compile(r"(?:equilateral|isosceles|right)", re.I)
# these words tell the shape of a triangle once more; and three numbers can be its three sides
_TELLS_SHAPE = re.compile(r"\b(?:legs?|hypotenuse|right angles?|perpendicular|equal|same length|90)\b", re.I)
_SIDES = 3


class FactDeletion(Operator):
    """Delete a phrase that states a needed fact: Two trains run towards each other → Two trains run."""

    name = "FactDeletion"
    polarity = "invalid"
    fault = "content_lost"
    changes = frozenset({"wording"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Delete all copies of one phrase; return None if the text has no such phrase."""
        del resources
        found = list(_FACTS.finditer(problem.text))
        if _TELLS_SHAPE.search(problem.text) or len(problem.quantities) >= _SIDES:
            found = [match for match in found if not _SHAPE.match(match[0])]
        if not found:
            return None
        phrase = rng.choice(found)[0].strip(" ,").lower()
        text = delete(problem, [match.span() for match in found if match[0].strip(" ,").lower() == phrase])
        text = re.sub(r"\b(a)n(?= (?:triangle|progression|sequence|series)\b)", r"\1", text, flags=re.I)
        text = re.sub(r"  +", " ", text).strip()
        return text if text and text != problem.text else None
