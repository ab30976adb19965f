"""Refer to somebody or something that the text does not mention."""

from __future__ import annotations

import random
import re

from paraqd.reading import Problem
from paraqd.rewriting.operator import VARIES, Operator, Resources
from paraqd.rewriting.renaming import renameable, substitute, words_of
from paraqd.rewriting.text import splice

_THAN = re.compile(
    r"\b(?:than|as many as|as much as|as old as|as fast as|as long as) "
    r"((?:the |his |her |their |my )?[A-Za-z][a-z]+)(?=\s?[.,?])"
)
_UNKNOWN = (
    "that one|the other one|the one mentioned above|the third one|the one from before|that person|the next one|"
    "the one in the table|the neighbour|the previous one"
).split("|")
_MANY = frozenset("that those before now usual possible ever this it".split())


class UnknownReference(Operator):
    """Refer to an unknown person or thing: "How many caps has Tom?" → "How many caps has Max?"."""

    name = "UnknownReference"
    polarity = "invalid"
    fault = VARIES  # the question is about another person, or the text refers to nothing
    changes = frozenset({"names"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Change the last mention of a person or the object of a comparison; return None if there is neither."""
        del resources
        text = problem.text
        edits = []
        question = problem.question
        for name, spans in renameable(problem):
            start, end = spans[-1]
            if question is not None and start >= question.start and len(spans) > 1:
                new = substitute(name, "PERSON", words_of(text), rng)
                if new is not None:
                    edits.append((start, end, new))
        for match in _THAN.finditer(text):
            word = match[1].rpartition(" ")[2].lower()
            if word not in _MANY:
                edits.append((*match.span(1), rng.choice(_UNKNOWN)))
        return splice(text, [rng.choice(edits)]) if edits else None
