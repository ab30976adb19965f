"""List things that can replace each other, and find them in texts."""

from __future__ import annotations

import random
import re

from paraqd.reading import Problem

# the singular and plural of each thing; every thing in the list can be counted, bought, shared and lost
_THINGS = (
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
FORMS = {form: number for number, line in enumerate(_THINGS) for form in line.split()}
_WORD = re.compile(r"[A-Za-z]+")
# words that do not make sense with every thing in the list
_RESTRICTING = re.compile(
    r"\b(?:fruits?|basket|eat|eats|ate|eaten|bak\w+|tree|trees|orchard|write|draw|juice|flavou?rs?)\b", re.I
)


def things_in(problem: Problem) -> dict[int, list[tuple[int, int]]]:
    """Find the listed things that a text mentions, and map the index of each thing to its spans.

    Return an empty dictionary if the text contains a word, such as *eat* or *juice*, that does not make sense with
    every listed thing.
    """
    if _RESTRICTING.search(problem.text):
        return {}
    found: dict[int, list[tuple[int, int]]] = {}
    for match in _WORD.finditer(problem.text):
        number = FORMS.get(match.group().lower())
        if number is not None:
            found.setdefault(number, []).append(match.span())
    return found


def draw_other_thing(problem: Problem, rng: random.Random) -> int | None:
    """Draw the index of a listed thing that the text does not mention; return None if there is no such thing."""
    found = things_in(problem)
    free = [number for number in range(len(_THINGS)) if number not in found]
    return rng.choice(free) if free else None


def in_form_of(word: str, thing: int) -> str:
    """Return the name of the thing with index ``thing`` in the same grammatical number and letter case as ``word``.

    >>> in_form_of("Apples", 4), in_form_of("apple", 4)
    ('Pens', 'pen')
    """
    singular, plural = _THINGS[thing].split()
    own = _THINGS[FORMS[word.lower()]].split()
    new = plural if word.lower() == own[1] else singular
    return new.capitalize() if word[0].isupper() else new
