"""Analyse the number, the pronoun case and the complexity of noun phrases."""

from __future__ import annotations

from typing import Any

from paraqd.rewriting.document import children, contiguous

OBJECT_FORM = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them", "you": "you", "it": "it"}
SUBJECT_FORM = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they", "you": "you", "it": "it"}
POSSESSIVE = frozenset("my your his her its our their whose".split())
REFLEXIVE = frozenset("myself yourself himself herself itself ourselves themselves yourselves".split())
COMPARING = frozenset("more less fewer than as same other another such else rest remaining most least".split())

MEASURE_NOUNS = frozenset(
    """km kms kilometer kilometre m meter metre cm centimeter centimetre mm millimeter foot feet ft inch inches yard
    yards yd mile miles mi mph kmph second seconds sec minute minutes min hour hours hr hrs day days week weeks month
    months year years yr decade century kg kgs kilogram gram grams g lb lbs pound pounds ounce ounces oz ton tons
    tonne liter litre liters litres l ml gallon gallons quart pint degree degrees percent percentage % point points
    time times cent cents dollar dollars rupee rupees euro euros rs $ distance meters metres block blocks lap laps
    step steps mph""".split()
)
_QUANTIFIER_HEADS = frozenset(
    "half third quarter fifth sixth tenth % percent percentage some all most many none total number lot rest "
    "majority fraction dozen couple".split()
)


def noun_phrase(token: Any) -> tuple[int, int]:
    """Return the first index of the noun phrase headed by ``token``, and the index after the phrase's last token."""
    return token.left_edge.i, token.right_edge.i + 1


def is_money(token: Any) -> bool:
    """Return True if a token is the head of an amount of money, such as *$ 40*."""
    return bool(token.tag_ == "CD" and any(child.tag_ == "$" for child in token.children)) or token.tag_ == "$"


def is_plural(head: Any) -> bool | None:
    """Return True if a noun phrase is plural, False if it is singular, or None if its number is uncertain."""
    if any(child.dep_ == "cc" and child.lower_ in ("or", "nor", "but") for child in head.children):
        return None
    if children(head, "conj"):
        return True
    if is_money(head) or any(child.lower_ in ("each", "every") and child.i < head.i for child in head.children):
        return False
    if head.lower_ in _QUANTIFIER_HEADS or head.tag_ in ("CD", "DT", "PDT", "JJ"):
        return _partitive_is_plural(head)
    if head.lower_ in ("they", "we", "you", "these", "those", "both", "i", "many", "few"):
        return True
    if head.lower_ in ("he", "she", "it", "this", "that", "each", "everyone", "somebody", "someone"):
        return False
    if head.tag_ in ("NNS", "NNPS"):
        return head.lower_ not in ("mathematics", "news", "physics")
    if head.tag_ in ("NN", "NNP"):
        numbers = [child for child in children(head, "nummod") if child.lower_ not in ("1", "one", "$")]
        if numbers or any(
            child.lower_ in ("many", "several", "few", "both", "these", "those") for child in head.children
        ):
            return True if head.lower_ in MEASURE_NOUNS or head.lower_ in ("people", "men", "women") else None
        return head.lower_ in ("people", "men", "women", "children")
    return None


def _partitive_is_plural(head: Any) -> bool | None:
    of = [child for child in children(head, "prep") if child.lower_ == "of"]
    if not of:
        if head.tag_ == "NN" and head.lower_ in ("total", "number", "fraction", "percentage"):
            return False
        return True if head.tag_ == "CD" and head.lower_ not in ("1", "one") else None
    if any(child.lower_ == "the" for child in head.children) and head.lower_ in ("number", "total", "percentage"):
        return False
    objects = children(of[0], "pobj")
    return is_plural(objects[0]) if len(objects) == 1 else None


def is_plain(head: Any, *, limit: int = 9, prepositions: frozenset[str] = frozenset({"of"})) -> bool:
    """Return True if a noun phrase is contiguous, has at most ``limit`` words and contains no clause.

    The only prepositions that the phrase may contain are those in ``prepositions``.
    """
    first, last = noun_phrase(head)
    if last - first > limit or not contiguous(head) or head.doc[last - 1].is_punct:
        return False
    for token in head.subtree:
        if token.dep_ in ("relcl", "acl", "appos", "advcl", "ccomp", "parataxis", "dep", "csubj"):
            return False
        if token.dep_ == "prep" and token.lower_ not in prepositions:
            return False
        if token.pos_ in ("VERB", "AUX", "SCONJ", "INTJ") and token.dep_ not in ("amod", "compound"):
            return False
        if token.text in ('"', "'", "(", ")", "“", "”", ":", ";", "=", "+", "?", "/", "*"):
            return False
    return True
