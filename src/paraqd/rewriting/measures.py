"""Reword statements about measures, numbers, prices or ages: *The length of X is 5 m* ↔ *X has a length of 5 m*."""

from __future__ import annotations

from typing import Any

from paraqd.rewriting.document import Document, children, contiguous
from paraqd.rewriting.edits import Edit, Piece
from paraqd.rewriting.grammar import POSSESSIVE, is_plain, is_plural
from paraqd.rewriting.inflection import finite

_MEASURES = frozenset(
    """length width breadth height depth weight mass speed area perimeter volume radius diameter circumference
    capacity population average sum product mean median salary income temperature""".split()
)
_ADJECTIVES = frozenset("average total present original initial annual monthly weekly normal mean new old".split())
_POSSESSIVE_OF = {"he": "his", "she": "her"}
_VALUE_TAGS = frozenset("CD $ NN NNS IN DT SYM".split())
_NOT_VALUE = frozenset("more less than times twice half of which that as each equal respectively".split())


def measure_edits(document: Document) -> list[Edit]:
    """Return the possible rewordings of statements about measures, numbers, prices and ages."""
    edits: list[Edit] = []
    for token in document.doc:
        if token.lower_ in ("is", "was", "are", "were"):
            found = _measure_is(document, token) or _number_is(document, token) or _years_old(document, token)
        elif token.lower_ in ("has", "have", "had"):
            found = _has_measure(document, token)
        elif token.lower_ == "costs":
            found = _costs(document, token)
        else:
            continue
        if found is not None:
            edits.append(found)
    return edits


def _clause_ends(doc: Any, i: int) -> bool:
    return (
        i >= len(doc)
        or doc[i].is_sent_start
        or doc[i].tag_ == "."
        or doc[i].lower_ in (",", "and", ";", "while", "but")
    )


def _amount_end(doc: Any, start: int) -> int | None:
    """Return the index after an amount that starts at token ``start``, such as *60 km / hr* or *$ 5 per kg*.

    Return None if no amount starts there or if the clause continues after the amount.
    """
    end = start
    while end < len(doc) and not doc[end].is_sent_start and doc[end].tag_ in _VALUE_TAGS:
        if doc[end].lower_ in _NOT_VALUE or (doc[end].tag_ == "IN" and doc[end].lower_ != "per"):
            break
        end += 1
    if end == start or end - start > 6 or doc[start].tag_ not in ("CD", "$") or not _clause_ends(doc, end):
        return None
    if doc[end - 1].tag_ in ("IN", "DT", "SYM", "$") or not any(t.tag_ == "CD" for t in doc[start:end]):
        return None
    following = doc[end + 1] if end + 1 < len(doc) else None
    if end < len(doc) and doc[end].lower_ in (",", "and") and following is not None and following.tag_ in ("CD", "$"):
        return None  # the amount continues, as in *is 5 m and 6 m respectively* and *is 5, 000*
    return end


def _clause_start(document: Document, i: int) -> bool:
    token = document.doc[i]
    return bool(token.is_sent_start) or document.doc[i - 1].lower_ in ("if", ",", "and", "that", "when", "while", "but")


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" and not word.startswith("uni") else "a"


def _measure_is(document: Document, verb: Any) -> Edit | None:
    """Turn *The length of the train is 100 m* into *The train has a length of 100 m*."""
    doc = document.doc
    subjects = children(verb, "nsubj")
    if len(subjects) != 1 or verb.lower_ not in ("is", "was"):
        return None
    noun = subjects[0]
    name = noun.lemma_.lower()
    priced = name in ("cost", "price")
    end = _amount_end(doc, verb.i + 1)
    if end is not None and _is_referred_to_later(document, verb, end):
        return None
    if end is None or noun.tag_ != "NN" or not (name in _MEASURES or priced) or not contiguous(noun):
        return None
    start = noun.left_edge.i
    middle = doc[start + 1 : noun.i]
    if doc[start].lower_ != "the" or len(middle) > 1 or any(t.lower_ not in _ADJECTIVES for t in middle):
        return None
    of = [p for p in children(noun, "prep") if p.i == noun.i + 1 and p.lower_ == "of"]
    if len(of) != 1 or len(children(of[0], "pobj")) != 1 or not _clause_start(document, start):
        return None
    owner = children(of[0], "pobj")[0]
    owner_end = owner.right_edge.i + 1
    where = [p for p in children(owner, "prep") if p.lower_ == "in" and p.right_edge.lower_ == "water"]
    if where:  # in *the speed of a boat in still water*, *in still water* belongs to the speed
        owner_end = where[0].i
    plain = is_plain(owner, limit=8, prepositions=frozenset({"of", "in"} if where else {"of"}))
    if owner.left_edge.i != of[0].i + 1 or not plain or not _can_own(owner):
        return None
    rest = doc[owner_end : verb.i]
    if len(rest) and not (rest[0].lower_ == "in" and rest[-1].lower_ == "water"):
        return None  # in *the salary of the men in a shop*, *in a shop* belongs to the men
    plural = is_plural(owner)
    if plural is None or noun.right_edge.i + 1 != verb.i:
        return None
    tense = "VBD" if verb.lower_ == "was" else "VBZ"
    value = document.ref(verb.i + 1, end)
    pieces: list[Piece] = [document.ref(owner.left_edge.i, owner_end, document.like(start))]
    if priced:
        if doc[verb.i + 1].tag_ != "$" or len(middle) or len(rest) or tense == "VBD":
            return None
        pieces += [" cost " if plural else " costs ", value]
    else:
        words = document.surface(start + 1, noun.i + 1)
        pieces += [f" {finite('have', tense, plural=plural)} {_article(words.lower())} {words} of ", value]
    if len(rest):
        pieces += [" ", document.ref(owner_end, verb.i)]
    return Edit.single("measure", document.start(start), document.end(end - 1), *pieces)


def _is_referred_to_later(document: Document, verb: Any, end: int) -> bool:
    """Return True if later words may refer to the measure, as in *…, and including stops it is 45*."""
    doc = document.doc
    stop = verb.sent.end
    if any(t.lower_ in ("it", "its", "that", "this") for t in doc[end:stop]):
        return True
    if end + 1 < stop and doc[end].lower_ in (",", "and") and doc[end + 1].tag_ in ("IN", "VBG"):
        return True
    return stop < len(doc) and doc[stop].lower_ in ("it", "its", "this", "that", "these")


def _can_own(owner: Any) -> bool:
    if owner.tag_ == "PRP" or any(t.lower_ in POSSESSIVE for t in owner.subtree):
        return False
    # exclude *the average of 3 and 5*, because a number cannot own a measure
    return owner.tag_ in ("NN", "NNS", "NNP") and not any(
        t.lower_ in ("first", "last", "these", "following", "st", "nd", "th") for t in owner.subtree
    )


def _has_measure(document: Document, verb: Any) -> Edit | None:
    """Turn *The train has a length of 100 m* into *The length of the train is 100 m*."""
    doc = document.doc
    subjects, things = children(verb, "nsubj"), children(verb, "dobj")
    if len(subjects) != 1 or len(things) != 1 or children(verb, "aux"):
        return None
    owner, noun = subjects[0], things[0]
    start, stop = owner.left_edge.i, owner.right_edge.i + 1
    if stop != verb.i or not is_plain(owner, limit=6) or not _can_own(owner) or not _clause_start(document, start):
        return None
    article = verb.i + 1
    if noun.i <= article or noun.i + 1 >= len(doc):  # the noun precedes the verb, or ends the text
        return None
    middle = doc[article + 1 : noun.i]
    if doc[article].lower_ not in ("a", "an") or noun.lemma_.lower() not in _MEASURES or len(middle) > 1:
        return None
    if any(t.lower_ not in _ADJECTIVES for t in middle) or doc[noun.i + 1].lower_ != "of" or noun.tag_ != "NN":
        return None
    end = _amount_end(doc, noun.i + 2)
    if end is None or _is_referred_to_later(document, verb, end):
        return None
    if end + 1 < len(doc) and doc[end].lower_ in (",", "and") and doc[end + 1].lower_ in ("a", "an"):
        return None  # a second measure follows, as in *has a length of 5 m and a width of 3 m*
    if is_plural(owner) is None or owner.lower_ in ("which", "that", "who"):
        return None
    if is_plural(owner) and noun.lemma_ not in ("average", "sum", "product", "mean", "median") and not len(middle):
        return None  # *two pipes have a length of 5 m* means that each pipe is 5 m long
    words = document.surface(article + 1, noun.i + 1)
    lead = document.cased(start, f"the {words} of ")
    be = " was " if verb.lower_ == "had" else " is "
    return Edit.single(
        "measure",
        document.start(start),
        document.end(end - 1),
        lead,
        document.ref(start, stop, "lower"),
        be,
        document.ref(noun.i + 2, end),
    )


def _number_is(document: Document, verb: Any) -> Edit | None:
    """Turn *The number of boys in the class is 20* into *There are 20 boys in the class*."""
    doc = document.doc
    subjects = children(verb, "nsubj")
    if len(subjects) != 1 or subjects[0].lower_ != "number" or verb.i + 1 >= len(doc):
        return None
    noun = subjects[0]
    start = noun.left_edge.i
    if noun.i != start + 1 or doc[start].lower_ != "the" or not _clause_start(document, start) or not contiguous(noun):
        return None
    if doc[noun.i + 1].lower_ != "of" or doc[verb.i + 1].tag_ != "CD" or not _clause_ends(doc, verb.i + 2):
        return None
    if doc[verb.i + 1].lower_ in ("1", "one", "zero", "0") or noun.right_edge.i + 1 != verb.i:
        return None
    if doc[verb.i + 1].text.endswith((".", ",")):
        return None
    things = doc[noun.i + 2 : verb.i]
    head = next((t for t in things if t.tag_ in ("NNS", "NNPS")), None)
    if head is None or any(t.tag_ not in ("JJ", "NN", "VBN") for t in doc[noun.i + 2 : head.i]):
        return None
    rest = doc[head.i + 1 : verb.i]
    if len(rest) and (rest[0].tag_ != "IN" or rest[0].lower_ not in ("in", "on", "at")):
        return None
    if any(t.tag_ in ("CC", "WDT", "VBN", "VBD") for t in rest):
        return None
    there = document.cased(start, "there were " if verb.lower_ in ("was", "were") else "there are ")
    return Edit.single(
        "measure.number",
        document.start(start),
        document.end(verb.i + 1),
        there,
        document.ref(verb.i + 1, verb.i + 2),
        " ",
        document.ref(noun.i + 2, verb.i),
    )


def _years_old(document: Document, verb: Any) -> Edit | None:
    """Turn *Tom is 12 years old* into *Tom's age is 12 years*."""
    doc = document.doc
    i = verb.i
    if i < 1 or i + 3 >= len(doc) or [t.lower_ for t in doc[i + 2 : i + 4]] != ["years", "old"]:
        return None
    owner = doc[i - 1]
    if (
        doc[i + 1].tag_ != "CD"
        or not _clause_ends(doc, i + 4)
        or not _clause_start(document, i - 1)
        or verb.lower_ not in ("is", "was")
    ):
        return None
    surface = document.surface(i - 1, i)
    if owner.lower_ in _POSSESSIVE_OF:
        whose = document.cased(i - 1, _POSSESSIVE_OF[owner.lower_])
    elif owner.tag_ == "NNP" and len(surface) > 1 and not surface.endswith("s"):
        whose = f"{surface}'s"
    else:
        return None
    if i > 1 and not owner.is_sent_start and doc[i - 2].lower_ in ("and", ",") and owner.dep_ == "conj":
        return None
    return Edit.single(
        "measure.age",
        document.start(i - 1),
        document.end(i + 3),
        f"{whose} age {verb.lower_} ",
        document.ref(i + 1, i + 3),
    )


def _costs(document: Document, verb: Any) -> Edit | None:
    """Turn *Each pen costs $5* into *Each pen is priced at $5*."""
    doc = document.doc
    subjects = children(verb, "nsubj")
    if len(subjects) != 1 or verb.tag_ != "VBZ" or verb.i + 1 >= len(doc) or doc[verb.i + 1].tag_ != "$":
        return None
    owner = subjects[0]
    if (
        owner.right_edge.i + 1 != verb.i
        or owner.tag_ != "NN"
        or _amount_end(doc, verb.i + 1) is None
        or not is_plain(owner)
    ):
        return None
    if owner.lower_ in ("it", "that", "this", "which") or children(verb, "dative", "xcomp", "ccomp"):
        return None
    if doc[_amount_end(doc, verb.i + 1) or 0].text == ",":  # a clause that omits its verb may follow: *…, every hat $4*
        return None
    return Edit.single("measure.price", document.start(verb.i), document.end(verb.i), "is priced at")
