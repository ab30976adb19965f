"""Check that one part of a sentence can be moved before another part without breaking references."""

from __future__ import annotations

from typing import Any

_PERSONS = {
    "he": "he",
    "him": "he",
    "his": "he",
    "she": "she",
    "her": "she",
    "hers": "she",
    "i": "i",
    "me": "i",
    "my": "i",
    "we": "we",
    "us": "we",
    "our": "we",
    "you": "you",
    "your": "you",
}
_POINTING = frozenset(
    """it its they them their theirs this that these those such same other another others former latter one ones each
    both himself herself itself themselves respectively rest remaining then there thus so also""".split()
)


def stands_alone(moved: Any, rest: Any) -> bool:
    """Return True if the span ``moved`` still makes sense when it is placed before the span ``rest``.

    Both spans belong to the same parsed text. Return False if a word in ``moved`` may refer to something that ``rest``
    introduces.
    """
    people = {_PERSONS[token.lower_] for token in moved if token.lower_ in _PERSONS}
    if any(token.lower_ in _POINTING and token.dep_ not in ("mark", "expl") for token in moved):
        return False
    if people - {_PERSONS[token.lower_] for token in rest if token.lower_ in _PERSONS} - {"i", "we", "you"}:
        return False
    if people & {"he", "she"} and any(token.tag_ in ("NNP", "NNPS") for token in rest):
        return False
    first = min(moved.start, rest.start)
    known = {token.lemma_.lower() for token in moved.doc[: moved.doc[first].sent.start]}
    new = {
        token.lemma_.lower()
        for token in rest
        if token.tag_ in ("NN", "NNS") and (_is_new(token) or token.lemma_.lower() not in known)
    }
    return not any(token.lemma_.lower() in new and not _is_new(token) for token in moved if token.tag_ in ("NN", "NNS"))


def _is_new(noun: Any) -> bool:
    """Return True unless a word such as *the* or *his* marks the noun as already known."""
    for i in range(noun.i - 1, max(noun.i - 5, noun.sent.start - 1), -1):
        token = noun.doc[i]
        if token.lower_ in ("the", "this", "that", "these", "those") or token.tag_ in ("PRP$", "POS"):
            return False
        if token.tag_ not in ("JJ", "NN", "NNS", "NNP", "CD", "VBN", "VBG", "HYPH"):
            break
    return True
