"""Reverse a relation: more → fewer, before → after, bought → sold."""

from __future__ import annotations

import random
import re

from paraqd.reading import Problem
from paraqd.rewriting.operator import Operator, Resources

# (pattern, replacement); lookarounds in the patterns exclude fixed phrases, such as "more or less"
_TABLE: tuple[tuple[str, str], ...] = (
    (r"(?<!or )(?<!once )(?<!any )more than", "less than"),
    (r"(?<!or )less than\b(?! or)", "more than"),
    (r"fewer than", "more than"),
    (r"greater than", "smaller than"),
    (r"(?:smaller|lesser) than", "greater than"),
    (r"(?<=\d )more\b(?! than| or| and)", "fewer"),
    (r"(?<=how many )more", "fewer"),
    (r"(?<=how much )more", "less"),
    (r"(?<=\d )(?:less|fewer)\b(?! than)", "more"),
    (r"at least", "at most"),
    (r"at most", "at least"),
    (r"older", "younger"),
    (r"younger", "older"),
    (r"elder", "younger"),
    (r"taller than", "shorter than"),
    (r"shorter than", "taller than"),
    (r"longer than", "shorter than"),
    (r"heavier", "lighter"),
    (r"lighter", "heavier"),
    (r"faster", "slower"),
    (r"slower", "faster"),
    (r"increased", "decreased"),
    (r"increases", "decreases"),
    (r"decreased", "increased"),
    (r"decreases", "increases"),
    (r"reduced by", "increased by"),
    (r"bought", "sold"),
    (r"buys", "sells"),
    (r"sold", "bought"),
    (r"sells", "buys"),
    (r"before", "after"),
    (r"after\b(?! all)", "before"),
    (r"years ago", "years from now"),
    (r"years (?:from now|hence|later)", "years ago"),
    (r"(?:profit|gain) of", "loss of"),
    (r"loss of", "profit of"),
    (r"(?:gained|gains) (?=\d)", "lost "),
    (r"gave", "took"),
    (r"gives", "takes"),
    (r"received", "gave"),
    (r"downstream", "upstream"),
    (r"upstream", "downstream"),
    (r"(?<=the )same direction", "opposite direction"),
    (r"(?<=in )opposite directions?", "the same direction"),
    (r"(?:greatest|largest|maximum)", "smallest"),
    (r"smallest", "largest"),
    (r"minimum", "maximum"),
    (r"highest", "lowest"),
    (r"lowest", "highest"),
    (r"(?<=the )sum of", "difference of"),
    (r"(?<=the )difference (?:of|between)", "sum of"),
    (r"(?<=the )product of", "sum of"),
    (r"(?<=the )average of", "sum of"),
    (r"(?<!an )average (?=speed|age|weight|score|price|cost|marks|salary|income)", "total "),
    (r"multiplied by", "divided by"),
    (r"divided by", "multiplied by"),
    (r"added to(?! make| get| form| give)", "subtracted from"),
    (r"subtracted from", "added to"),
    (r"wins", "loses"),
    (r"earns", "spends"),
    (r"earned", "spent"),
    (r"spent", "earned"),
    (r"fills(?= (?:the|a) (?:tank|cistern|pool))", "empties"),
    (r"fill(?= (?:the|a) (?:tank|cistern|pool))", "empty"),
    (r"with replacement", "without replacement"),
    (r"without replacement", "with replacement"),
    (r"(?<=[a-z] )(?:in (?:all|total)|altogether)", "each"),
    (r"odd", "even"),
    (r"even (?=number|integer|digit)", "odd "),
    (r"positive\b(?! square)", "negative"),
    (r"negative", "positive"),
    (r"inside", "outside"),
    (r"above", "below"),
    (r"below", "above"),
)
_FLIPS = tuple(
    (re.compile(rf"\b(?:{pattern})" + ("" if new.endswith(" ") else r"(?!\w)"), re.I), new) for pattern, new in _TABLE
)
# phrases in which a listed word has no mathematical meaning
_GUARDS = re.compile(
    r"more or less|no longer|no sooner|least common|greatest common|common multiple|highest common|the following|"
    r"(?:given|shown|listed|figure|options) (?:below|above)|below:|above figure|day before yesterday|"
    r"day after tomorrow|one after (?:the )?(?:other|another)|even though|even if|odds|look(?:s|ed)? after",
    re.I,
)


class RelationFlip(Operator):
    """Reverse one relation: more → fewer, before → after, bought → sold, upstream → downstream."""

    name = "RelationFlip"
    polarity = "invalid"
    fault = "relation_changed"
    changes = frozenset({"relations"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Return the problem with one relation reversed, or None if no pattern matches."""
        del resources
        text = problem.text
        blocked = [match.span() for match in _GUARDS.finditer(text)]
        found = [
            (match.start(), match.end(), new)
            for pattern, new in _FLIPS
            for match in pattern.finditer(text)
            if not any(start < match.end() and match.start() < end for start, end in blocked)
        ]
        if not found:
            return None
        start, end, new = rng.choice(sorted(found))
        if text[start].isupper():
            new = new[0].upper() + new[1:]
        return text[:start] + new + text[end:]
