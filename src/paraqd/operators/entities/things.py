"""List things that can replace each other, and find them in texts."""

from __future__ import annotations

import random
import re

from paraqd.reading import Problem

# the singular and plural of each thing; every thing in the list can be counted, bought, shared and lost
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
# words that do not make sense with every thing in the list
_TIED = re.compile(
    r"\b(?:fruits?|basket|eat|eats|ate|eaten|bak\w+|tree|trees|orchard|write|draw|juice|flavou?rs?)\b", re.I
)


def things_in(problem: Problem) -> dict[int, list[tuple[int, int]]]:
    """Map the index of each listed thing in the text to its spans.

    Return an empty dictionary if the text contains a word, such as *eat* or *juice*, that does not make sense with
    every thing in the list.
    """
    if _TIED.search(problem.text):
        return {}
    found: dict[int, list[tuple[int, int]]] = {}
    for match in _WORD.finditer(problem.text):
        number = FORMS.get(match.group().lower())
        if number is not None:
            found.setdefault(number, []).append(match.span())
    return found


def draw_other_thing(problem: Problem, rng: random.Random) -> int | None:
    """Draw a listed thing that the text does not mention; return None if there is none."""
    there = things_in(problem)
    free = [number for number in range(len(_GOODS)) if number not in there]
    return rng.choice(free) if free else None


def in_form_of(word: str, thing: int) -> str:
    """Return the name of another thing in the grammatical number and letter case of the given word.

    >>> in_form_of("Apples", 4), in_form_of("apple", 4)
    ('Pens', 'pen')
    """
    singular, plural = _GOODS[thing].split()
    own = _GOODS[FORMS[word.lower()]].split()
    new = plural if word.lower() == own[1] else singular
    return new.capitalize() if word[0].isupper() else new
