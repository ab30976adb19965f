"""Delete a sentence that introduces what a later sentence refers to."""

from __future__ import annotations

import random
import re

from paraqd.reading import Problem, Sentence
from paraqd.rewriting.operator import Operator, Resources

_WORD = re.compile(r"[^\W\d_]+")
_PRONOUN = re.compile(
    r"(?:then |later |next |now |after that,? )?(he|she|they|his|her|their|it|its|these|those|them)\b", re.I
)
_DEFINITE = re.compile(r"\b(?:the|this|that|these|those|each|both|such) ([a-z]{3,})\b", re.I)
# nouns that need no introduction
_KNOWN = frozenset(
    "total number sum amount rest price cost time day week month year hour minute end same following other others one "
    "first second third last next average difference answer value question world sun money percentage area "
    "length".split()
)
_LEAST = 20  # characters that must remain


class IntroductionDeletion(Operator):
    """Delete the sentence that introduces a person or thing: Tom has 5 caps. He buys 2. → He buys 2."""

    name = "IntroductionDeletion"
    polarity = "invalid"
    fault = "content_lost"
    changes = frozenset({"sentences"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Delete a first sentence; return None if the rest does not refer to anything in it."""
        del rng, resources
        if len(problem.sentences) < 2 or problem.question is None:
            return None
        first, second = problem.sentences[:2]
        rest = problem.text[second.start :].strip()
        if problem.question.start < second.start or len(rest) < _LEAST:
            return None
        return rest if _refers(first, second, rest) else None


def _refers(first: Sentence, second: Sentence, rest: str) -> bool:
    """Return True if a sentence begins with a pronoun, or names a thing as known that only the first one introduces."""
    if _PRONOUN.match(second.text):
        return True
    introduced = {word.lower() for word in _WORD.findall(first.text)}
    noun = _DEFINITE.search(second.text)
    if noun is None:
        return False
    name = noun[1].lower()
    known = name in _KNOWN or name not in introduced
    return not known and not re.search(
        rf"\b(?:an?|\d+|some|two|three|four|five) (?:\w+ )?{re.escape(name)}\b", rest, re.I
    )
