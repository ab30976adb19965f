"""Relations turned round: a word gone and its opposite in its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from paraqd.reading import Problem
from paraqd.scoring.finding import Finding
from paraqd.scoring.verdict import EvidenceKind, Span
from paraqd.scoring.words import STOP_WORDS, stem

_OPPOSITES = (
    ("more", "fewer less"),
    (
        "increased increase increases increasing rise rises rose raised",
        "decreased decrease decreases decreasing reduced reduces reduce fell falls fall dropped drops lowered",
    ),
    ("before", "after"),
    ("earlier", "later"),
    ("profit gain gained gains", "loss lost loses"),
    ("older elder", "younger"),
    ("taller longer", "shorter"),
    ("heavier", "lighter"),
    ("faster", "slower"),
    ("greater larger bigger higher", "smaller lower"),
    ("least minimum", "most maximum"),
    ("upstream", "downstream"),
    ("with", "without"),
    ("inside", "outside"),
    ("above", "below"),
    ("odd", "even"),
    ("cheaper", "dearer costlier"),
    ("twice double doubled doubles", "half halved halves"),
    ("added adds add", "subtracted subtracts subtract removed removes"),
    ("deposited deposits", "withdrew withdraws withdrawn"),
    ("filled fills fill filling", "emptied empties empty emptying drains drained"),
    ("entered enters entering joined", "left leaving exited"),
    ("discount", "surcharge markup"),
    ("simple", "compound"),
    ("inclusive including", "exclusive excluding"),
    ("multiplied multiply multiplies", "divided divide divides"),
    ("gives gave give", ""),
    ("lends lent", "borrows borrowed"),
    ("sells sold", "bought buys"),
    ("owes owed", ""),
    ("beats beat defeats defeated", ""),
    ("overtakes overtook", ""),
    ("times", ""),
)
_SIDE: dict[str, tuple[int, int]] = {
    word: (number, side)
    for number, sides in enumerate(_OPPOSITES)
    for side, words in enumerate(sides)
    for word in words.split()
}
_COMPARED = frozenset(
    "more fewer less older elder younger taller longer shorter heavier lighter faster slower greater larger bigger "
    "higher smaller lower cheaper dearer costlier earlier later before after twice double half times".split()
)
_GIVING = frozenset(
    "gives gave give sells sold lends lent pays paid sends sent owes owed hands handed beats beat defeats defeated "
    "overtakes overtook follows followed passes passed".split()
)
_PASSIVE = frozenset({"is", "are", "was", "were", "be", "been", "being", "by"})
_JOINTS = frozenset({"than", "as", "before", "after", "that", "of"})
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[.?!;,]")
_REACH = 5


class Mention(NamedTuple):
    """A word of a relation, and the words that it relates."""

    side: int
    span: Span
    left: frozenset[str]
    right: frozenset[str]


def relation_findings(question: Problem, paraphrase: Problem) -> Iterator[Finding]:
    """Find relations that are turned round: the opposite word, or the same word between exchanged things.

    *Ann has 3 more than Bob* and *Bob has 3 fewer than Ann* are the same: both turns together are none.
    """
    here, there = _mentions(question.text), _mentions(paraphrase.text)
    for number in sorted(here):
        mine, theirs = here[number], there.get(number, [])
        if len(mine) == len(theirs) == 1:
            crossed = _crossed(mine[0], theirs[0])
            if crossed and mine[0].side == theirs[0].side:
                yield _exchanged(question, paraphrase, mine[0], theirs[0])
                continue
            if crossed:
                continue
        yield from _opposites(question, paraphrase, mine, theirs)


def _opposites(question: Problem, paraphrase: Problem, mine: list[Mention], theirs: list[Mention]) -> Iterator[Finding]:
    """Find a word of a relation whose opposite stands in the paraphrase in its stead."""
    for side in (0, 1):
        gone = [mention.span for mention in mine if mention.side == side]
        come = [mention.span for mention in theirs if mention.side != side]
        kept = sum(mention.side == side for mention in theirs)
        before = sum(mention.side != side for mention in mine)
        if len(gone) > kept and len(come) > before:
            word, other = question.text[slice(*gone[0])], paraphrase.text[slice(*come[0])]
            message = f"“{word}” became “{other}”: the relation is turned round."
            yield Finding("relation_turned", EvidenceKind.RELATION_CHANGED, tuple(gone), tuple(come), message)


def _exchanged(question: Problem, paraphrase: Problem, mine: Mention, theirs: Mention) -> Finding:
    word = question.text[slice(*mine.span)]
    message = f"What stands before and after “{word}” changed places: it is not clear that the same one is meant."
    spans = ((mine.span,), (theirs.span,))
    return Finding("things_exchanged", EvidenceKind.ENTITY_CHANGED, *spans, message)


def _crossed(mine: Mention, theirs: Mention) -> bool:
    """Tell whether what stood on the left of a relation stands on its right, and the other way round."""
    there = (mine.left & theirs.right) - mine.right - theirs.left
    back = (mine.right & theirs.left) - mine.left - theirs.right
    return bool(there and back)


def _mentions(text: str) -> dict[int, list[Mention]]:
    """Find the words of relations, by the number of the relation."""
    words = list(_WORD.finditer(text))
    low = [match.group().lower().replace("’", "'").removesuffix("'s") for match in words]
    found: dict[int, list[Mention]] = {}
    for place, word in enumerate(low):
        number, side = _SIDE.get(word, (None, 0))
        if number is None:
            continue
        related = word in _COMPARED or word in _GIVING
        if word in _GIVING and not _PASSIVE.isdisjoint(low[max(0, place - 2) : place + 4]):
            related = False
        left = _near(low, place, -1) if related else frozenset()
        right = _near(low, place, 1) if related else frozenset()
        if word in _GIVING:  # a baker sold rolls, the rolls that she sold: only people can change places here
            names = {stem(low[i]) for i, match in enumerate(words) if match.group()[0].isupper()}
            left, right = left & names, right & names
        found.setdefault(number, []).append(Mention(side, words[place].span(), left, right))
    return found


def _near(low: list[str], place: int, step: int) -> frozenset[str]:
    """Return the content words on one side, up to the end of the clause; behind a comparison those behind *than*."""
    found: list[str] = []
    joined = step < 0 or low[place] in _GIVING or low[place] in _JOINTS
    at = place + step
    while 0 <= at < len(low) and len(found) < _REACH:
        word = low[at]
        if word == "," and step < 0 and not found:
            at += step  # the bucket, which is heavier
            continue
        if word in _STOPS:
            break
        if word in _JOINTS and step > 0:
            joined = True
        elif joined and not word.isdecimal() and word not in STOP_WORDS and word not in _SIDE:
            found.append(stem(word))
        at += step
    return frozenset(found)


_STOPS = frozenset(".?!;,")
