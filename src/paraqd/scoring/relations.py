"""Relations turned round: a word gone and its opposite in its place."""

from __future__ import annotations

import re
from collections.abc import Iterator

from paraqd.reading import Problem
from paraqd.scoring.finding import Finding
from paraqd.scoring.verdict import EvidenceKind

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
)
_SIDE: dict[str, tuple[int, int]] = {
    word: (number, side)
    for number, sides in enumerate(_OPPOSITES)
    for side, words in enumerate(sides)
    for word in words.split()
}
_WORD = re.compile(r"[^\W\d_]+")


def relation_findings(question: Problem, paraphrase: Problem) -> Iterator[Finding]:
    """Find a word of a relation whose opposite stands in the paraphrase in its stead."""
    here, there = _sides(question.text), _sides(paraphrase.text)
    for number in sorted({number for number, _ in here}):
        for side in (0, 1):
            mine, theirs = here.get((number, side), []), there.get((number, side), [])
            opposite_before, opposite = here.get((number, 1 - side), []), there.get((number, 1 - side), [])
            if len(mine) > len(theirs) and len(opposite) > len(opposite_before):
                word, other = question.text[slice(*mine[0])], paraphrase.text[slice(*opposite[0])]
                message = f"“{word}” became “{other}”: the relation is turned round."
                spans = (tuple(mine), tuple(opposite))
                yield Finding("relation_turned", EvidenceKind.RELATION_CHANGED, *spans, message)


def _sides(text: str) -> dict[tuple[int, int], list[tuple[int, int]]]:
    found: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for match in _WORD.finditer(text):
        where = _SIDE.get(match.group().lower())
        if where is not None:
            found.setdefault(where, []).append(match.span())
    return found
