"""Find names, and draw replacements of the same category."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from functools import cache

from paraqd.reading import Entity, Problem
from paraqd.reading.name_lists import not_names, organisations, people, places
from paraqd.reading.signs import POSSESSIVES
from paraqd.reading.units import SPELLINGS

_WORD = re.compile(r"[^\W\d_]+")


@cache
def _people_by_gender() -> dict[str, tuple[str, ...]]:
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name, gender in people().items():
        # exclude names that would be read as a unit or an ordinary word in a lower-case text
        if name.isascii() and "-" not in name and name.lower() not in SPELLINGS and name.lower() not in not_names():
            groups[gender].append(name)
    return {gender: tuple(sorted(names)) for gender, names in groups.items()}


@cache
def _places_by_type() -> dict[str, tuple[str, ...]]:
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name, place_type in places().items():
        groups[place_type].append(name)
    return {place_type: tuple(sorted(names)) for place_type, names in groups.items()}


def words_of(text: str) -> frozenset[str]:
    """Return the set of lower-case words in a text."""
    return frozenset(_WORD.findall(text.lower()))


def titled_gender(problem: Problem, entity: Entity) -> str | None:
    """Return the gender implied by a title before the name, such as Mr. or Mrs., or None if there is no such title."""
    before = problem.text[max(0, entity.start - 8) : entity.start].rstrip(" .").lower()
    if before.endswith(("mrs", "ms", "miss", "madam", "smt", "aunt")):
        return "f"
    return "m" if before.endswith(("mr", "sir", "shri", "uncle")) else None


def substitute(
    name: str, category: str, taken: frozenset[str], rng: random.Random, *, gender: str | None = None
) -> str | None:
    """Draw a new name of the same category and letter case that contains none of the ``taken`` words.

    A person's new name has the same gender, so pronouns still fit. A place is replaced with a place of the same type.
    Return None if no suitable name is found.
    """
    pool: tuple[str, ...]
    if category == "PERSON":
        gender = gender or people().get(name.split()[0].title())
        groups = _people_by_gender()
        pool = groups[gender] if gender else (*groups["f"], *groups["m"])
    elif category == "PLACE":
        pool = _places_by_type()[places().get(name.title(), "city")]
    elif category == "ORGANISATION":
        pool = organisations()
    else:
        return None
    for _ in range(50):
        new = rng.choice(pool)
        if not words_of(new) & taken:
            return new.lower() if name == name.lower() else new
    return None


def mentions_by_name(problem: Problem) -> dict[str, list[Entity]]:
    """Group a problem's entities by name, ignoring case."""
    groups: defaultdict[str, list[Entity]] = defaultdict(list)
    for entity in problem.entities:
        groups[entity.text.lower()].append(entity)
    return dict(groups)


def every_mention(problem: Problem, name: str) -> list[tuple[int, int]]:
    """Return the spans of all mentions of a one-word name, without possessive endings.

    The result includes mentions that were not recognised as entities.
    """
    low = name.lower()
    spans = []
    for token in problem.tokens:
        word = token.text.lower()
        if word == low or (word.startswith(low) and word[len(low) :] in POSSESSIVES):
            spans.append((token.start, token.start + len(name)))
    return spans


def renameable(problem: Problem) -> list[tuple[str, list[tuple[int, int]]]]:
    """Return the names of the people who can be renamed safely, each with the spans of its mentions.

    Such a name is a single word from the list of names, is always capitalised in the same way, and is neither a unit
    nor part of a longer name.
    """
    found = []
    for mentions in mentions_by_name(problem).values():
        first = mentions[0]
        # exclude names that are also units, such as Miles and Penny
        known = first.text.title() in people() and first.text.lower() not in SPELLINGS
        if first.category != "PERSON" or " " in first.text or not known or _is_part_of_longer_name(problem, first):
            continue
        spans = every_mention(problem, first.text)
        if len({problem.text[start:end] for start, end in spans}) == 1:
            found.append((first.text, spans))
    return found


def _is_part_of_longer_name(problem: Problem, name: Entity) -> bool:
    """Return True if the name is part of a longer name in the text, as Tom is part of Tom Sawyer."""
    low = name.text.lower()
    return any(low in e.text.lower().split() and " " in e.text for e in problem.entities)
