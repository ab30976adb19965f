"""Drop remarks that are in both texts and say nothing about the problem, such as *Question 7:* or *Good luck*.

A remark that both texts share cannot be a fault. It may still change the answer of a learned judge, so the texts are
compared without it.
"""

from __future__ import annotations

import re

from paraqd.reading import Kind, read
from paraqd.reading.sentences import split_sentences
from paraqd.scoring.evidence.content_words import content_stems
from paraqd.scoring.markup import PlainText

_LABEL = re.compile(
    r"\s*(?:question|problem|exercise|example|task|item|puzzle|quiz|q|ex|no)\b\.?\s*(?:no\.?\s*)?\d{0,3}\s*[:.)](?!\d)\s*",
    re.I,
)
_BRACKETS = re.compile(r"\s*(?:\([^()]{1,80}\)|\[[^\[\]]{1,80}\])\s*")
# words that address the reader or refer to the text
_TO_READER = re.compile(
    r"\b(?:following|below|above|problems?|questions?|exercises?|puzzles?|riddles?|hints?|tips?|note|read|answers?|"
    r"carefully|solve|solutions?|test|exam|quiz|homework|worksheet|textbook|calculator|please|dear|remember|try|luck|"
    r"careful|your (?:time|steps|work|working|reasoning))\b",
    re.I,
)
_MOST = 3  # the largest number of remarks dropped at each end, which limits the time
_LONGEST = 30  # the largest number of words in a remark
_COMPARED = 3  # the number of characters compared first; most texts already differ in these


def drop_shared_remarks(question: PlainText, paraphrase: PlainText) -> tuple[PlainText, PlainText]:
    """Return both texts without shared labels at the beginning and shared remarks at either end.

    >>> both = drop_shared_remarks(PlainText("Question 7: Tom has 5 pens."), PlainText("Question 7: 5 pens are Tom's."))
    >>> [plain.text for plain in both], both[1].original_span(0, 6)
    (['Tom has 5 pens.', "5 pens are Tom's."], (12, 18))
    """
    for _ in range(_MOST):
        ends = _shared_start(question.text, paraphrase.text)
        if ends is None:
            break
        question, paraphrase = (plain.part(end) for plain, end in zip((question, paraphrase), ends, strict=True))
    for _ in range(_MOST):
        starts = _shared_end(question.text, paraphrase.text)
        if starts is None:
            break
        question, paraphrase = (plain.part(0, end) for plain, end in zip((question, paraphrase), starts, strict=True))
    return question, paraphrase


def _shared_start(one: str, other: str) -> tuple[int, int] | None:
    """Return where a remark at the beginning of both texts ends in each, or None. The numbers in labels may differ."""
    labels = _LABEL.match(one), _LABEL.match(other)
    if labels[0] and labels[1]:
        return (labels[0].end(), labels[1].end()) if one[labels[0].end() :] and other[labels[1].end() :] else None
    if _key(one[: 2 * _COMPARED])[:_COMPARED] != _key(other[: 2 * _COMPARED])[:_COMPARED]:
        return None
    mine, theirs = _BRACKETS.match(one), _BRACKETS.match(other)
    if mine and theirs and _key(mine[0]) == _key(theirs[0]):
        rests = one[mine.end() :], other[theirs.end() :]
        if all(rests) and _is_remark(mine[0], *rests):
            return mine.end(), theirs.end()
    mine_all, theirs_all = split_sentences(one), split_sentences(other)
    if min(len(mine_all), len(theirs_all)) < 2 or _key(mine_all[0].text) != _key(theirs_all[0].text):
        return None
    ends = mine_all[1].start, theirs_all[1].start
    return ends if _is_remark(mine_all[0].text, one[ends[0] :], other[ends[1] :]) else None


def _shared_end(one: str, other: str) -> tuple[int, int] | None:
    """Return where a remark at the end of both texts starts in each, or None."""
    if _key(one[-2 * _COMPARED :])[-_COMPARED:] != _key(other[-2 * _COMPARED :])[-_COMPARED:]:
        return None
    mine, theirs = split_sentences(one), split_sentences(other)
    if min(len(mine), len(theirs)) < 2 or _key(mine[-1].text) != _key(theirs[-1].text):
        return None
    starts = mine[-1].start, theirs[-1].start
    return starts if _is_remark(mine[-1].text, one[: starts[0]], other[: starts[1]]) else None


def _is_remark(text: str, *rests: str) -> bool:
    """Return True if a passage addresses the reader, has no number or name, and shares no content word with a rest."""
    if not _TO_READER.search(text) or len(text.split()) > _LONGEST:
        return False
    passage = read(text)
    counted = any(quantity.kind is not Kind.ORDINAL for quantity in passage.quantities)  # "first" is not an amount
    if counted or passage.entities or any(sign.isdigit() for sign in text):
        return False
    stems = set(content_stems(passage)[0])
    readings = [read(rest) for rest in rests]
    if any(stems & set(content_stems(rest)[0]) for rest in readings):
        return False
    # keep "Solve this equation." before "x + 2 = 5": without it, the text would ask nothing
    return not passage.questions or all(rest.questions for rest in readings)


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()
