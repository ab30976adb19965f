"""Rename a thing throughout the text."""

from __future__ import annotations

import random
import re

from paraqd.lab.operators.entities.things import draw_other_thing, in_form_of, things_in
from paraqd.reading import Problem
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import splice

_ARTICLE = re.compile(r"\b[Aa]n?\s+$")


class ThingRenaming(Operator):
    """Rename a thing throughout the text: 20 apples … 5 apples → 20 hats … 5 hats."""

    name = "ThingRenaming"
    polarity = "valid"
    changes = frozenset({"things"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Rename one thing; return None if the text mentions no listed thing."""
        del resources
        found, new = things_in(problem), draw_other_thing(problem, rng)
        if not found or new is None:
            return None
        spans = found[rng.choice(sorted(found))]
        text = problem.text
        edits = []
        for start, end in spans:
            word = in_form_of(text[start:end], new)
            article = _ARTICLE.search(text[max(0, start - 4) : start])
            if article is not None:
                first = start - len(article.group())
                right = "an " if word[0].lower() in "aeiou" else "a "
                edits.append((first, end, (right.capitalize() if text[first].isupper() else right) + word))
            else:
                edits.append((start, end, word))
        return splice(text, edits)
