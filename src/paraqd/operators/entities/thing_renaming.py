"""Rename a thing everywhere."""

from __future__ import annotations

import random
import re

from paraqd.operators.base import Operator, Resources
from paraqd.operators.entities.things import draw_other_thing, in_form_of, things_in
from paraqd.operators.text import splice
from paraqd.reading import Problem

_VOWEL_TROUBLE = re.compile(r"\b[Aa]n?\s+$")


class ThingRenaming(Operator):
    """Rename a thing everywhere: apples → hats."""

    name = "ThingRenaming"
    polarity = "valid"
    changes = frozenset({"things"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Rename one thing; return None if the text contains no thing from the list."""
        del resources
        there, new = things_in(problem), draw_other_thing(problem, rng)
        if not there or new is None:
            return None
        spans = there[rng.choice(sorted(there))]
        text = problem.text
        edits = []
        for start, end in spans:
            word = in_form_of(text[start:end], new)
            article = _VOWEL_TROUBLE.search(text[max(0, start - 4) : start])
            if article is not None:
                first = start - len(article.group())
                right = "an " if word[0].lower() in "aeiou" else "a "
                edits.append((first, end, (right.capitalize() if text[first].isupper() else right) + word))
            else:
                edits.append((start, end, word))
        return splice(text, edits)
