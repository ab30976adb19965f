"""Undo an exchange of names. If two people swap their names everywhere, the problem stays the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from paraqd.reading.name_lists import not_names, people
from paraqd.scoring.markup import PlainText

Mention = tuple[int, int, str]  # the start and the end of a name, and the name in lower case
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER_OR_WORD = re.compile(r"[^\W_]+")
_GENDERED = re.compile(
    r"\b(?:he|she|him|her|hers|his|himself|herself|(?:step|grand)?(?:brother|sister|father|mother|son|daughter)|dad|mom|"
    r"mum|husband|wife|uncle|aunt|boy|girl|man|woman|nephew|niece|boyfriend|girlfriend|lady|gentleman)s?\b",
    re.I,
)
_ALIKE = 0.9  # the least similarity of all other words; only in such a close copy is it certain who became whom


def undo_name_exchange(question: str, paraphrase: PlainText) -> PlainText:
    """Return the paraphrase with the question's names if it is a close copy that exchanges names everywhere.

    >>> swapped = PlainText("Ben has 3 pens. Ann has 2 more than Ben. How many has Ann?")
    >>> undo_name_exchange("Ann has 3 pens. Ben has 2 more than Ann. How many has Ben?", swapped).text
    'Ann has 3 pens. Ben has 2 more than Ann. How many has Ben?'
    >>> mixed = PlainText("Ben has 3 pens. Ann has 2 more than Ben. How many has Ben?")
    >>> undo_name_exchange("Ann has 3 pens. Ben has 2 more than Ann. How many has Ben?", mixed).text == mixed.text
    True
    """
    here, there = name_mentions(question), name_mentions(paraphrase.text)
    names = [name for *_, name in here]
    others = [name for *_, name in there]
    if len(names) != len(others) or names == others or sorted(set(names)) != sorted(set(others)):
        return paraphrase
    back = dict(zip(others, names, strict=True))
    if [back[name] for name in others] != names or len(set(back.values())) < len(back):
        return paraphrase
    if _GENDERED.search(paraphrase.text) and any(_gender(one) != _gender(other) for one, other in back.items()):
        return paraphrase
    if _likeness_without_names(question, here, paraphrase.text, there) < _ALIKE:
        return paraphrase
    return paraphrase.replaced(
        [(start, end, _in_case(back[name], start, paraphrase.text)) for start, end, name in there]
    )


def name_mentions(text: str) -> list[Mention]:
    """Return the first names of people in a text, as (start, end, name in lower case).

    In a text with capitals, a name begins with a capital. In a text without capitals, names that are more common as
    ordinary words do not count.
    """
    cased, known, common_words = any(map(str.isupper, text)), _known(), not_names()
    found = []
    for match in _WORD.finditer(text):
        name = match[0].lower()
        if name in known and (match[0][0].isupper() if cased else name not in common_words):
            found.append((match.start(), match.end(), name))
    return found


@cache
def _known() -> frozenset[str]:
    return frozenset(name.lower() for name in people())


def _gender(name: str) -> str:
    return people().get(name.title(), "")


def _likeness_without_names(one: str, names: Sequence[Mention], other: str, other_names: Sequence[Mention]) -> float:
    """Return the similarity of the words of two texts, from 0 to 1, without the given names."""
    from rapidfuzz.distance import Indel  # where prepared tokens are trained, rapidfuzz may be missing

    return Indel.normalized_similarity(_other_words(one, names), _other_words(other, other_names))


def _other_words(text: str, mentions: Sequence[Mention]) -> list[str]:
    starts = {start for start, *_ in mentions}
    return [match[0].lower() for match in _NUMBER_OR_WORD.finditer(text) if match.start() not in starts]


def _in_case(name: str, start: int, text: str) -> str:
    return name.title() if text[start].isupper() else name
