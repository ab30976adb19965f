"""List things that can replace each other, and find them in a text."""

from __future__ import annotations

import random
import re

from paraqd.reading import Problem

# singular and plural of each thing; all of them can be counted, bought, shared and lost
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
# words that do not make sense with every thing
_TIED = re.compile(
    r"\b(?:fruits?|basket|eat|eats|ate|eaten|bak\w+|tree|trees|orchard|write|draw|juice|flavou?rs?)\b", re.I
)


def things_in(problem: Problem) -> dict[int, list[tuple[int, int]]]:
    """Return the spans of each thing in the list; empty if the text says more about things than their number."""
    if _TIED.search(problem.text):
        return {}
    found: dict[int, list[tuple[int, int]]] = {}
    for match in _WORD.finditer(problem.text):
        number = FORMS.get(match.group().lower())
        if number is not None:
            found.setdefault(number, []).append(match.span())
    return found


def draw_other_thing(problem: Problem, rng: random.Random) -> int | None:
    """Draw a thing that the text does not mention, or return None."""
    there = things_in(problem)
    free = [number for number in range(len(_GOODS)) if number not in there]
    return rng.choice(free) if free else None


def in_form_of(word: str, thing: int) -> str:
    """Return the name of another thing in the form of a given word.

    >>> in_form_of("Apples", 4), in_form_of("apple", 4)
    ('Pens', 'pen')
    """
    singular, plural = _GOODS[thing].split()
    own = _GOODS[FORMS[word.lower()]].split()
    new = plural if word.lower() == own[1] else singular
    return new.capitalize() if word[0].isupper() else new
