"""Undo an exchange of names. If people's names are exchanged everywhere, the problem stays the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from paraqd.reading.name_lists import common_names, not_names, people
from paraqd.scoring.markup import PlainText

Mention = tuple[int, int, str]  # the start and the end of a name, and the name in lower case
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER_OR_WORD = re.compile(r"[^\W_]+")
_MONTHS = frozenset("january february march april may june july august september october november december".split())
_STARTS = re.compile(r"(?:^|[.?!:][\"'”’)]*)\s*$")  # how the text before a new sentence ends
_BEFORE = 8  # the number of characters before a name that are searched for the end of a sentence
_GENDERED = re.compile(
    r"\b(?:he|she|him|her|hers|his|himself|herself|(?:step|grand)?(?:brother|sister|father|mother|son|daughter)|dad|mom|"
    r"mum|husband|wife|uncle|aunt|boy|girl|man|woman|nephew|niece|boyfriend|girlfriend|lady|gentleman)s?\b",
    re.I,
)


def undo_name_exchange(question: str, paraphrase: PlainText) -> PlainText:
    """Restore the question's names if the paraphrase is a copy in which names are exchanged everywhere.

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
    # if other words differ too, the order of the names may be correct: Ann is older than Eva, Eva is younger than Ann
    if _other_words(question, here) != _other_words(paraphrase.text, there):
        return paraphrase
    written = [question[start:end] for start, end, _ in here]
    return paraphrase.replaced([(start, end, name) for (start, end, _), name in zip(there, written, strict=True)])


def name_mentions(text: str) -> list[Mention]:
    """Return the first names of people in a text, as (start, end, name in lower case).

    In a text with capitals, a name begins with a capital. Names that are more common as ordinary words do not count in
    a text without capitals or if they occur only at the beginning of sentences. Names that are also months never count.
    """
    cased, known = any(map(str.isupper, text)), _known()
    found = [(match.start(), match.end(), match[0].lower()) for match in _WORD.finditer(text)]
    found = [each for each in found if each[2] in known and (not cased or text[each[0]].isupper())]
    doubtful = {name for *_, name in found} & _ordinary_words()
    if cased and doubtful:
        doubtful -= {name for start, _, name in found if not _STARTS.search(text[max(0, start - _BEFORE) : start])}
    return [each for each in found if each[2] not in doubtful]


@cache
def _known() -> frozenset[str]:
    return frozenset(name.lower() for name in people()) - _MONTHS


@cache
def _ordinary_words() -> frozenset[str]:
    """Return names that are more common as ordinary words, except those of very many people, such as *bob*."""
    return not_names() - common_names()


def _gender(name: str) -> str:
    return people().get(name.title(), "")


def _other_words(text: str, mentions: Sequence[Mention]) -> list[str]:
    starts = {start for start, *_ in mentions}
    return [match[0].lower() for match in _NUMBER_OR_WORD.finditer(text) if match.start() not in starts]
