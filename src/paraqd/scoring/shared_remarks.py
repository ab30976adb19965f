"""Drop passages that begin or end both texts and are unrelated to the rest, such as *Question 7:* or *Good luck*.

A passage that both texts share cannot be a fault. It may still change the answer of a learned judge, so the texts are
compared without it. A passage is kept if it shares a content word or a number with the rest of a text, because the rest
may need it.
"""

from __future__ import annotations

import re

from paraqd.reading import Kind, read
from paraqd.reading.sentences import split_sentences
from paraqd.scoring.evidence.content_words import STOP_WORDS, stem
from paraqd.scoring.markup import PlainText

_LABEL = re.compile(
    r"\s*(?:question|problem|exercise|example|task|item|puzzle|quiz|q|ex|no)(?![a-z])\.?\s*(?:no\.?\s*)?(?:\d{1,3}\s*)?[:.)](?!\d)\s*",
    re.I,
)
_BRACKETS = re.compile(r"\s*(?:\([^()]{1,80}\)|\[[^\[\]]{1,80}\])\s*")
_BEFORE_COLON = re.compile(r"[^.?!:\n]{1,80}:\s+(?=[^\W\d_])")
_LINE = re.compile(r"[^\n]{1,120}\n\s*")
_ENTRY = re.compile(r"[^:.?!]{1,40}: *[^:?!]{1,40}")  # "Level: 2."
# a number before a word, such as "24 sweets", but not "Chapter 6" or "3 marks"; the rest may write it in another way
_AMOUNT = re.compile(r"[^\w\s.,:;()\[\]-]\s?\d|\d(?:[\d,.]*\d)?\s?(?:%|(?!marks?\b|points?\b|pts?\b)[^\W\d_])", re.I)
_WORDS = re.compile(r"[^\W\d_]+")
_NUMBERS = re.compile(r"\d+")
_MOST = 3  # the largest number of passages dropped at each end, which limits the time
_LONGEST = 30  # the largest number of words in a passage
_COMPARED = 3  # the number of characters compared first; most texts already differ in these


def drop_shared_remarks(question: PlainText, paraphrase: PlainText) -> tuple[PlainText, PlainText]:
    """Return both texts without shared labels at the beginning and shared passages at either end that stand alone.

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
    """Return where a passage at the beginning of both texts ends in each, or None. The numbers in labels may differ."""
    labels = _LABEL.match(one), _LABEL.match(other)
    if labels[0] and labels[1]:
        return (labels[0].end(), labels[1].end()) if one[labels[0].end() :] and other[labels[1].end() :] else None
    if _key(one[: 2 * _COMPARED])[:_COMPARED] != _key(other[: 2 * _COMPARED])[:_COMPARED]:
        return None
    for pattern in (_BRACKETS, _LINE, _BEFORE_COLON):
        mine, theirs = pattern.match(one), pattern.match(other)
        if mine and theirs and _key(mine[0]) == _key(theirs[0]):
            rests = one[mine.end() :], other[theirs.end() :]
            if all(rests) and _stands_alone(mine[0], *rests, numbers=pattern is not _BEFORE_COLON):
                return mine.end(), theirs.end()
    mine_all, theirs_all = split_sentences(one), split_sentences(other)
    if min(len(mine_all), len(theirs_all)) < 2 or _key(mine_all[0].text) != _key(theirs_all[0].text):
        return None
    ends = mine_all[1].start, theirs_all[1].start
    return ends if _sentence_stands_alone(mine_all[0].text, one[ends[0] :], other[ends[1] :]) else None


def _shared_end(one: str, other: str) -> tuple[int, int] | None:
    """Return where a passage at the end of both texts starts in each, or None."""
    if _key(one[-2 * _COMPARED :])[-_COMPARED:] != _key(other[-2 * _COMPARED :])[-_COMPARED:]:
        return None
    mine, theirs = split_sentences(one), split_sentences(other)
    if min(len(mine), len(theirs)) < 2 or _key(mine[-1].text) != _key(theirs[-1].text):
        return None
    starts = mine[-1].start, theirs[-1].start
    return starts if _sentence_stands_alone(mine[-1].text, one[: starts[0]], other[: starts[1]]) else None


def _sentence_stands_alone(text: str, *rests: str) -> bool:
    return _stands_alone(text, *rests, numbers=_ENTRY.fullmatch(text.strip()) is not None)


def _stands_alone(text: str, *rests: str, numbers: bool) -> bool:
    """Return True if a passage shares no content word and no number with a rest.

    A passage does not stand alone if it has the only question, the name of a person or an amount. If ``numbers`` is
    True, it may have a number that is no amount, such as *Chapter 6* or *3 marks*.
    """
    if len(text.split()) > _LONGEST or (_AMOUNT if numbers else _NUMBERS).search(text):
        return False
    stems, digits = _stems(text), set(_NUMBERS.findall(text))
    if any(stems & _stems(rest) or digits & set(_NUMBERS.findall(rest)) for rest in rests):
        return False
    passage = read(text)
    if any(entity.category == "PERSON" for entity in passage.entities):
        return False  # the rest may call the person "he"
    amounts = [quantity for quantity in passage.quantities if quantity.kind is not Kind.ORDINAL]
    if any(not numbers or not quantity.surface.isdigit() for quantity in amounts):
        return False
    # keep "Solve this equation." before "x + 2 = 5": without it, the text would ask nothing
    return not passage.questions or all(read(rest).questions for rest in rests)


def _stems(text: str) -> set[str]:
    return {stem(word) for word in _WORDS.findall(text) if word.lower() not in STOP_WORDS}


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()
