"""Ask a different question about the same facts."""

from __future__ import annotations

import random
import re

from paraqd.reading import Problem, Question
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.renaming import mentions_by_name
from paraqd.rewriting.text import splice

# words for the quantity that the question asks for, and their replacements
_TARGETS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"speed", ("distance", "time taken")),
    (r"distance(?! (?:covered|travel))", ("speed", "time taken")),
    (r"(?:total )?time(?= (?:taken|required|needed))", ("distance", "average speed")),
    (r"area", ("perimeter", "length of the longest side")),
    (r"perimeter", ("area",)),
    (r"circumference", ("area",)),
    (r"volume", ("surface area",)),
    (r"surface area", ("volume",)),
    (r"length", ("area", "perimeter")),
    (r"(?:width|breadth)", ("area", "perimeter")),
    (r"radius", ("area",)),
    (r"cost price", ("selling price", "profit")),
    (r"selling price", ("cost price", "profit")),
    (r"(?:profit|gain|loss) (?:percentage|percent|%)", ("selling price",)),
    (r"profit", ("cost price",)),
    (r"simple interest", ("principal",)),
    (r"principal", ("rate of interest",)),
    (r"rate of interest", ("principal",)),
    (r"rate", ("total",)),
    (r"sum", ("product", "average")),
    (r"product", ("sum",)),
    (r"difference", ("sum",)),
    (r"(?<!an )average", ("total",)),
    (r"mean", ("median",)),
    (r"median", ("mean",)),
    (r"(?:largest|greatest|highest|maximum)", ("smallest",)),
    (r"(?:smallest|least|lowest|minimum)(?! common)", ("largest",)),
    (r"ratio", ("difference", "product")),
    (r"probability", ("number of ways",)),
    (r"remainder", ("quotient",)),
    (r"total (?:cost|price|amount|number)", ("average",)),
    (r"how many days", ("how many hours",)),
    (r"how many hours", ("how many minutes",)),
    (r"how many minutes", ("how many seconds",)),
    (r"how long", ("how often",)),
    (r"how far", ("how fast",)),
    (r"how fast", ("how far",)),
    (r"how old", ("how tall",)),
    (r"what percent(?:age)?", ("what number",)),
    (r"what fraction", ("what number",)),
    (r"present age", ("age twenty years from now",)),
    (r"left(?=\?| over)", ("used up",)),
    (r"remaining", ("used up",)),
    (r"value of x", ("value of 2x - 1",)),
    (r"value of y", ("value of 3y + 1",)),
    (r"value of n", ("value of n + 4",)),
)
_COMPILED = tuple(
    (re.compile(rf"\b(?:{pattern})" + (r"\b" if pattern[-1].isalpha() else ""), re.I), new) for pattern, new in _TARGETS
)
_HOW_MANY = re.compile(r"\bhow many ([a-z]+s)\b", re.I)
_COUNTED = re.compile(r"^[\s-]*([a-z]{3,}s)\b")
_NOT_COUNTED = frozenset(
    ("times is was has less years days hours minutes seconds weeks months plus across pieces others does").split()
)


class QuestionReplacement(Operator):
    """Ask a different question about the same facts: Find the speed. → Find the distance."""

    name = "QuestionReplacement"
    polarity = "invalid"
    fault = "question_changed"
    changes = frozenset({"question"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Replace the question; return None if no other question can be formed."""
        del resources
        question = problem.question
        if question is None:
            return None
        edits = [*_by_target(question, rng), *_by_name(problem, question, rng), *_by_noun(problem, question, rng)]
        if not edits:
            return None
        start, end, new = rng.choice(edits)
        if problem.text[start].isupper():
            new = new[0].upper() + new[1:]
        text = splice(problem.text, [(start, end, new)])
        return text if text != problem.text else None


def _by_target(question: Question, rng: random.Random) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    for pattern, others in _COMPILED:
        match = pattern.search(question.text)
        if match is not None:
            start, end = question.start + match.start(), question.start + match.end()
            if not any(start < e and s < end for s, e, _ in found):
                found.append((start, end, rng.choice(others)))
    return found


def _by_name(problem: Problem, question: Question, rng: random.Random) -> list[tuple[int, int, str]]:
    """Return the edit, if any, that asks about a different person in the text."""
    asked = [e for e in problem.entities if question.start <= e.start < question.end and e.category == "PERSON"]
    if len({e.text for e in asked}) != 1:
        return []
    name = asked[0].text
    others = [
        mentions[0].text
        for mentions in mentions_by_name(problem).values()
        if mentions[0].category == "PERSON" and not _share_word(mentions[0].text, name)
    ]
    return [(asked[0].start, asked[0].end, rng.choice(others))] if others and len(asked) == 1 else []


def _share_word(a: str, b: str) -> bool:
    return bool(set(a.lower().split()) & set(b.lower().split()))


def _by_noun(problem: Problem, question: Question, rng: random.Random) -> list[tuple[int, int, str]]:
    """Return the edit, if any, that asks for the number of a different thing that the text counts."""
    match = _HOW_MANY.search(question.text)
    if match is None:
        return []
    asked = match.group(1).lower()
    counted = []
    for q in problem.quantities:
        noun = _COUNTED.match(problem.text[q.end : q.end + 25])
        if q.unit is None and noun is not None and noun.group(1) not in _NOT_COUNTED and noun.group(1) != asked:
            counted.append(noun.group(1))
    if not counted:
        return []
    return [(question.start + match.start(1), question.start + match.end(1), rng.choice(counted))]
