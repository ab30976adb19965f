"""Move adverbials to the front or the end of a sentence: *He bought 5 pens on Monday.* ↔ *On Monday, he …*."""

from __future__ import annotations

from typing import Any

from paraqd.rewriting.document import Document, children, contiguous
from paraqd.rewriting.edits import Edit
from paraqd.rewriting.questions import cut_off, tail
from paraqd.rewriting.reference import stands_alone

_DAYS = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december weekend morning afternoon evening night noon midnight today yesterday
    day week month year summer winter spring autumn fall semester season christmas birthday""".split()
)
_PREPOSITIONS = frozenset("on in at during after before by".split())
_TIME_DETERMINERS = frozenset("last next this every each one that".split())
_SPOILERS = frozenset('( ) " “ ” : ; - – respectively than as'.split())


def adverbial_edits(document: Document) -> list[Edit]:
    """Return the edits that move an adverbial to the front or the end of its sentence."""
    edits: list[Edit] = []
    for number, (first, _) in enumerate(document.sentences):
        end, last = tail(document, first)
        words = {token.lower_ for token in document.doc[first:end]}
        if end - first < 5 or words & _SPOILERS or cut_off(document, end, last):
            continue
        edits += _to_front(document, first, end, number)
        edits += _to_end(document, first, end, number)
    return edits


def _is_time(head: Any) -> bool:
    """Return True if a phrase states a time: *on Monday*, *last week*, *in 2005*, *every day*."""
    if head.dep_ == "npadvmod" or head.tag_ in ("NN", "NNP"):
        noun, named = head, any(child.lower_ in _TIME_DETERMINERS for child in head.children)
    else:
        objects = children(head, "pobj")
        if len(objects) != 1 or head.lower_ not in _PREPOSITIONS:
            return False
        noun, named = objects[0], True
    if any(token.dep_ in ("relcl", "acl", "conj", "cc", "appos") for token in head.subtree):
        return False
    if noun.tag_ == "CD":
        return head.lower_ == "in" and len(noun) == 4 and noun.text.isdigit()
    word = noun.lemma_.lower()
    if word in ("day", "week", "month", "year") and not (
        named and any(child.dep_ in ("det", "nummod", "amod", "poss") for child in noun.children)
    ):
        return False
    if any(token.dep_ == "prep" and token != head and token.lower_ != "of" for token in head.subtree):
        return False
    if head.lower_ in ("in", "by", "at") and any(child.dep_ == "nummod" for child in noun.children):
        return False
    return word in _DAYS


def _to_front(document: Document, first: int, end: int, number: int) -> list[Edit]:
    doc = document.doc
    roots = [token for token in doc[first:end] if token.dep_ == "ROOT"]
    if len(roots) != 1 or any(token.text == "," for token in doc[first:end]):
        return []
    if any(token.tag_ == "CC" and token.head.pos_ not in ("NOUN", "PROPN") for token in doc[first:end]):
        return []
    verb = roots[0]
    if verb.lemma_ == "be" and not children(verb, "attr", "acomp", "expl", "advmod", "prep"):
        return []
    adverbials = [a for a in children(verb, "prep", "npadvmod") if a.i > verb.i and a.right_edge.i == end - 1]
    if len(adverbials) != 1 or not contiguous(adverbials[0]) or not _is_time(adverbials[0]):
        return []
    start = adverbials[0].left_edge.i
    if (
        doc[start].tag_ == "CD"
        or doc[start - 1].tag_ in ("IN", "TO")
        or sum(token.lemma_.lower() in _DAYS for token in doc[first:end]) > 1
    ):
        return []
    if not _main_starts(doc, verb, first) or (verb.tag_ == "VB" and doc[first].lower_ not in ("how", "what")):
        return []
    if children(verb, "advcl", "ccomp", "xcomp") or start - first < 4 or children(adverbials[0], "prep"):
        return []
    return [
        Edit.single(
            "adverbial.front",
            document.start(first),
            document.end(end - 1),
            document.ref(start, end, document.like(first)),
            ", ",
            document.ref(first, start, "lower"),
            frames=[("sentence", number)],
        )
    ]


def _main_starts(doc: Any, verb: Any, first: int) -> bool:
    """Return True if token ``first`` is *how*, *what* or the first word of the verb's subject."""
    if doc[first].lower_ in ("how", "what"):
        return True
    subjects = children(verb, "nsubj", "nsubjpass", "expl")
    return len(subjects) == 1 and subjects[0].left_edge.i == first and subjects[0].i < verb.i


def _to_end(document: Document, first: int, end: int, number: int) -> list[Edit]:
    doc = document.doc
    commas = [token.i for token in doc[first:end] if token.text == ","]
    if len(commas) != 1 or any(token.tag_ == "CC" for token in doc[commas[0] : end]):
        return []
    comma = commas[0]
    head = doc[first:comma].root
    if head.dep_ not in ("prep", "npadvmod") or comma - first > 6 or end - comma < 5:
        return []
    if any(token.pos_ in ("VERB", "AUX", "SCONJ") for token in doc[first:comma]):
        return []
    verb = head.head
    main = doc[comma + 1 : end]
    if verb.dep_ != "ROOT" or verb.i < comma or not (_is_time(head) or _is_place(doc, head, comma)):
        return []
    if children(verb, "advcl", "ccomp", "conj") or any(token.dep_ in ("relcl", "advcl") for token in main):
        return []
    if any(token.tag_ == "VBG" and token != verb for token in main):
        return []
    if not _main_starts(doc, verb, comma + 1) or not stands_alone(main, doc[first:comma]):
        return []
    if doc[end - 1].tag_ in ("IN", "RP", "CD") or doc[end - 1].lower_ in ("each", "is", "are", "left"):
        return []
    return [
        Edit.single(
            "adverbial.end",
            document.start(first),
            document.end(end - 1),
            document.ref(comma + 1, end, document.like(first)),
            " ",
            document.ref(first, comma, "lower"),
            frames=[("sentence", number)],
        )
    ]


def _is_place(doc: Any, head: Any, comma: int) -> bool:
    """Return True if a phrase states a place and is followed by *there is* or *there are*."""
    if any(token.tag_ == "IN" and token.lower_ != "of" for token in head.head.doc[comma + 1 : head.head.sent.end]):
        return False
    return bool(head.lower_ in ("in", "on", "at") and doc[comma + 1].lower_ == "there" and children(head, "pobj"))
