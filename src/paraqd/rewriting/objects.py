"""Reorder objects or list items: *gave Ann 5 pens* ↔ *gave 5 pens to Ann*, *5 pens and 3 caps* → *3 caps and …*."""

from __future__ import annotations

from typing import Any

from paraqd.rewriting.clause_shape import NOUN_TAGS
from paraqd.rewriting.document import Document, children
from paraqd.rewriting.edits import Edit
from paraqd.rewriting.grammar import COMPARING, MEASURE_NOUNS, POSSESSIVE, is_plain

_GIVING = frozenset("give lend send hand offer show".split())
_PEOPLE = frozenset(
    """friend brother sister mother father mom dad wife husband son daughter neighbor neighbour cousin teacher aunt
    uncle niece nephew student child classmate colleague grandmother grandfather boss cashier""".split()
)
# words that indicate that the order of a list matters
_ORDERED = frozenset("respectively former latter order ratio : first second difference subtracted divided".split())
_PHRASE_CONTINUES = frozenset("NN NNS NNP WDT WP VBG VBN IN JJR CC , POS HYPH CD".split())


def object_edits(document: Document) -> list[Edit]:
    """Return the edits that reorder the two objects of a verb or the two items of a list."""
    edits: list[Edit] = []
    for token in document.doc:
        if token.lemma_ in _GIVING and token.pos_ == "VERB":
            found = _giving(document, token)
        elif token.lower_ == "and" and token.dep_ == "cc" and not document.words & _ORDERED:
            found = _swapped(document, token)
        else:
            continue
        if found is not None:
            edits.append(found)
    return edits


def _person(head: Any) -> bool:
    if head.right_edge.i - head.left_edge.i > 2 or children(head, "conj", "prep", "relcl"):
        return False
    return head.tag_ in ("NNP", "PRP") or head.lemma_.lower() in _PEOPLE


def _giving(document: Document, verb: Any) -> Edit | None:
    things, receivers = children(verb, "dobj"), children(verb, "dative")
    if len(things) != 1 or len(receivers) != 1 or children(verb, "auxpass", "prt"):
        return None
    thing, receiver = things[0], receivers[0]
    if thing.tag_ not in ("NNS", "NN") or not is_plain(thing, limit=6) or thing.i < verb.i:
        return None
    if any(t.lower_ in COMPARING | POSSESSIVE for t in thing.subtree):
        return None
    start, end = thing.left_edge.i, thing.right_edge.i + 1
    if receiver.lower_ == "to":
        people = children(receiver, "pobj")
        if len(people) != 1 or not _person(people[0]) or start != verb.i + 1 or receiver.i != end:
            return None
        last = people[0].right_edge.i + 1
        if not _clause_ends(document.doc, last):
            return None
        return Edit.single(
            "object.dative",
            document.start(start),
            document.end(last - 1),
            document.ref(receiver.i + 1, last),
            " ",
            document.ref(start, end),
        )
    if not _person(receiver) or receiver.left_edge.i != verb.i + 1 or receiver.right_edge.i + 1 != start:
        return None
    if not _clause_ends(document.doc, end):
        return None
    return Edit.single(
        "object.dative",
        document.start(verb.i + 1),
        document.end(end - 1),
        document.ref(start, end),
        " to ",
        document.ref(verb.i + 1, start),
    )


def _clause_ends(doc: Any, i: int) -> bool:
    return i >= len(doc) or doc[i].is_sent_start or doc[i].tag_ == "." or doc[i].lower_ in ("on", "every", "if")


def _swapped(document: Document, joint: Any) -> Edit | None:
    """Turn *5 pens and 3 pencils* into *3 pencils and 5 pens*."""
    doc = document.doc
    one = joint.head
    others = children(one, "conj")
    if len(others) != 1 or one.tag_ not in ("NN", "NNS") or others[0].tag_ not in ("NN", "NNS"):
        return None
    two = others[0]
    start, end = one.left_edge.i, two.right_edge.i + 1
    first, second = doc[start : joint.i], doc[joint.i + 1 : end]
    if one.i != joint.i - 1 or two.i != end - 1 or one.dep_ == "conj" or children(two, "conj"):
        return None
    if any(_is_complex_item(part) for part in (first, second)) or one.lemma_ == two.lemma_:
        return None
    before = doc[start - 1] if start > 0 and not doc[start].is_sent_start else None
    if before is not None and (
        before.lower_ in ("between", "of", "another", "and", "both") or before.tag_ in ("CD", "JJ", ",", "HYPH")
    ):
        return None
    if end < len(doc) and not doc[end].is_sent_start and doc[end].tag_ in _PHRASE_CONTINUES:
        return None
    return Edit.single(
        "object.list",
        document.start(start),
        document.end(end - 1),
        document.ref(joint.i + 1, end, document.like(start)),
        " ",
        document.ref(joint.i, joint.i + 1),
        " ",
        document.ref(start, joint.i, "lower"),
    )


def _is_complex_item(part: Any) -> bool:
    """Return True unless a list item consists of a number, optional modifiers and a countable noun."""
    if not 2 <= len(part) <= 5 or part[0].tag_ != "CD" or part[-1].tag_ not in NOUN_TAGS:
        return True
    if part[-1].tag_ == "NN" and part[0].lower_ not in ("1", "one") and part[1].lower_ not in ("percent", "%"):
        return True
    if part[-1].lower_ in MEASURE_NOUNS | {"ones"} or part[-1].lower_ in ("noon", "a.m.", "p.m."):
        return True
    return any(t.tag_ not in ("CD", "JJ", "NN", "NNS", "HYPH") for t in part) or any(t.tag_ == "CD" for t in part[1:])
