"""Convert between *There are 30 pupils in a class.* and *A class has 30 pupils.*."""

from __future__ import annotations

from typing import Any

from paraqd.rewriting.document import Document, children, contiguous
from paraqd.rewriting.edits import Edit
from paraqd.rewriting.grammar import MEASURE_NOUNS, is_plain, is_plural
from paraqd.rewriting.inflection import be
from paraqd.rewriting.questions import tail

_CONTAINERS = frozenset(
    """bag basket bin bottle bowl box bucket cabinet carton case container crate cup drawer envelope fridge jar packet
    pack package pot purse tank tray urn vase vessel wallet bookcase bookshelf shelf deck""".split()
)
_GROUPS = frozenset(
    """class classroom school college university team club company committee family farm factory garden hotel house
    library office orchard park room store shop town village city theater theatre zoo building apartment kennel
    restaurant hall forest group choir hospital bakery camp neighborhood district""".split()
)


def existence_edits(document: Document) -> list[Edit]:
    """Return the edits that change *there is* to *has* or *contains*, or the other way round."""
    edits: list[Edit] = []
    for number, (first, _) in enumerate(document.sentences):
        found = _there_is(document, first, number) or _has(document, first, number)
        if found is not None:
            edits.append(found)
    return edits


def _there_is(document: Document, first: int, number: int) -> Edit | None:
    doc = document.doc
    end, last = tail(document, first)
    if end - first < 6 or doc[first].lower_ != "there" or doc[first + 1].lower_ not in ("is", "are", "was", "were"):
        return None
    if document.surface(end, last) != ".":
        return None
    verb = doc[first + 1]
    things, places = children(verb, "attr"), [p for p in children(verb, "prep") if p.i > verb.i]
    if len(things) != 1:
        return None
    places += [p for p in children(things[0], "prep") if p.lower_ != "of"]
    if len(places) != 1 or places[0].lower_ != "in":
        return None
    where = children(places[0], "pobj")
    start = places[0].i
    if len(where) != 1 or where[0].lemma_.lower() not in _CONTAINERS | _GROUPS or where[0].right_edge.i + 1 != end:
        return None
    if doc[start + 1].tag_ not in ("DT", "PRP$", "NNP"):
        return None
    if not is_plain(where[0]) or where[0].tag_ != "NN" or not _is_simple_list(doc[first + 2 : start]):
        return None
    holds = where[0].lemma_.lower() in _CONTAINERS
    past = verb.lower_ in ("was", "were")
    form = ("contained" if past else "contains") if holds else ("had" if past else "has")
    return Edit.single(
        "existence.has",
        document.start(first),
        document.end(end - 1),
        document.ref(start + 1, end, document.like(first)),
        f" {form} ",
        document.ref(first + 2, start),
        frames=[("sentence", number)],
    )


def _is_simple_list(words: Any) -> bool:
    """Return True if the tokens form a simple list, such as *5 red balls and 3 blue ones*."""
    if not 1 < len(words) <= 14 or words[-1].tag_ not in ("NN", "NNS", "NNPS"):
        return False
    if any(
        token.tag_ == "CD" and token.nbor(1).tag_ in (",", "CC", "CD") for token in words if token.i < words.end - 1
    ):
        return False
    return all(
        token.tag_ in ("CD", "JJ", "NN", "NNS", "DT", "CC", ",", "HYPH", "VBN", "IN")
        and (token.tag_ != "IN" or token.lower_ == "of")
        and token.lower_ not in ("only", "no", "more", "fewer", "less", "as", "or")
        for token in words
    )


def _has(document: Document, first: int, number: int) -> Edit | None:
    doc = document.doc
    end, last = tail(document, first)
    verb = doc[first].sent.root
    if document.surface(end, last) != "." or verb.lemma_ not in ("have", "contain") or verb.tag_ not in ("VBZ", "VBD"):
        return None
    subjects, things = children(verb, "nsubj"), children(verb, "dobj")
    if len(subjects) != 1 or len(things) != 1 or {c.dep_ for c in verb.children} - {"nsubj", "dobj", "punct"}:
        return None
    subject, thing = subjects[0], things[0]
    places = _CONTAINERS | (_GROUPS if verb.lemma_ == "have" else frozenset())
    if subject.lemma_.lower() not in places or subject.left_edge.i != first or subject.right_edge.i + 1 != verb.i:
        return None
    if not is_plain(subject) or subject.tag_ != "NN" or doc[first].lower_ not in ("a", "an", "the"):
        return None
    plural = is_plural(thing)
    if plural is None or thing.left_edge.i != verb.i + 1 or thing.right_edge.i + 1 != end or not contiguous(thing):
        return None
    if not _is_simple_list(doc[verb.i + 1 : end]) or not any(child.dep_ == "nummod" for child in thing.children):
        return None
    if thing.lower_ in MEASURE_NOUNS and subject.lemma_.lower() in _GROUPS:
        return None
    if doc[verb.i + 1].lower_ in ("1", "one", "a", "an"):
        plural = False  # in *there is one red and two blue balls*, the verb agrees with the first item
    there = document.cased(first, "there")
    return Edit.single(
        "existence.there",
        document.start(first),
        document.end(end - 1),
        f"{there} {be('VBD' if verb.tag_ == 'VBD' else 'VBZ', plural=plural)} ",
        document.ref(verb.i + 1, end),
        " in ",
        document.ref(first, verb.i, "lower"),
        frames=[("sentence", number)],
    )
