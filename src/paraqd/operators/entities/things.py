"""Things that may stand for each other, and where a text counts them."""

from __future__ import annotations

import random
import re

from paraqd.reading import Problem

# singular and plural of goods of one sort: any of them can be counted, bought, shared or lost
_GOODS = (
    "apple apples",
    "orange oranges",
    "mango mangoes",
    "pencil pencils",
    "pen pens",
    "eraser erasers",
    "marble marbles",
    "balloon balloons",
    "candy candies",
    "cookie cookies",
    "toy toys",
    "sticker stickers",
    "stamp stamps",
    "hat hats",
    "shell shells",
    "button buttons",
)
FORMS = {form: number for number, line in enumerate(_GOODS) for form in line.split()}
_WORD = re.compile(r"[A-Za-z]+")
# words beside which not every thing makes sense
_TIED = re.compile(
    r"\b(?:fruits?|basket|eat|eats|ate|eaten|bak\w+|tree|trees|orchard|write|draw|juice|flavou?rs?)\b", re.I
)


def goods(problem: Problem) -> dict[int, list[tuple[int, int]]]:
    """Return where each thing of the list is named; nothing where the text says more of it than its number."""
    if _TIED.search(problem.text):
        return {}
    found: dict[int, list[tuple[int, int]]] = {}
    for match in _WORD.finditer(problem.text):
        number = FORMS.get(match.group().lower())
        if number is not None:
            found.setdefault(number, []).append(match.span())
    return found


def another(problem: Problem, rng: random.Random) -> int | None:
    """Return a thing that the text does not name."""
    there = goods(problem)
    free = [number for number in range(len(_GOODS)) if number not in there]
    return rng.choice(free) if free else None


def renamed(word: str, thing: int) -> str:
    """Return another thing in the form of a word.

    >>> renamed("Apples", 4), renamed("apple", 4)
    ('Pens', 'pen')
    """
    singular, plural = _GOODS[thing].split()
    own = _GOODS[FORMS[word.lower()]].split()
    new = plural if word.lower() == own[1] else singular
    return new.capitalize() if word[0].isupper() else new
