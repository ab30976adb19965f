"""Reword possessives and participles: *Tom's age* ↔ *the age of Tom*, *a box containing* ↔ *a box that contains*."""

from __future__ import annotations

from typing import Any

from paraqd.reading.signs import POSSESSIVES
from paraqd.rewriting.document import Document, children
from paraqd.rewriting.edits import Edit
from paraqd.rewriting.grammar import is_plural
from paraqd.rewriting.inflection import be, finite

# nouns that have one owner and allow both forms, unlike *the cost of 5 pens*
_PROPERTIES = frozenset(
    """age speed length width breadth height weight salary income perimeter radius diameter volume capacity population
    circumference area mass depth share""".split()
)
_STATES = frozenset("contain weigh cost have measure consist hold own".split())
_ACTIONS = frozenset(
    """run travel move go walk wear carry stand attend study play live sell use work sit ride drive make""".split()
)


_PHRASE_CONTINUES = frozenset("NN NNS NNP POS CD CC VBN VBG WDT WP TO".split())
_TIES = frozenset("that with whose of".split())
_PEOPLE = frozenset(
    """man men woman women boy girl person people passenger student jogger child children kid friend worker athlete
    farmer player teacher guest employee member runner cyclist""".split()
)
_MOVERS = _PEOPLE | frozenset("train car bus boat truck plane ship van cyclist bicycle motorcycle machine".split())


def phrase_edits(document: Document) -> list[Edit]:
    """Return the possible rewordings of possessives, participles and relative clauses."""
    edits: list[Edit] = []
    for token in document.doc:
        if token.lemma_.lower() in _PROPERTIES:
            found = _move_owner_before(document, token) or _move_owner_after(document, token)
            if found is not None:
                edits.append(found)
        elif token.tag_ == "VBG" and token.dep_ == "acl":
            found = _participle(document, token)
            if found is not None:
                edits.append(found)
        elif token.dep_ == "relcl":
            found = _relative(document, token)
            if found is not None:
                edits.append(found)
    return edits


def _move_owner_before(document: Document, noun: Any) -> Edit | None:
    """Turn *the age of Tom* into *Tom's age*, or *the speed of the train* into *the train's speed*."""
    doc = document.doc
    i = noun.i
    if noun.tag_ != "NN" or i < 1 or i + 2 >= len(doc) or doc[i + 1].lower_ != "of":
        return None
    if noun.dep_ == "conj":  # in *the length and the width of the roof*, the roof has both
        return None
    start = i - 1
    while start > 0 and doc[start].tag_ in ("JJ",) and doc[start].head == noun:
        start -= 1
    if doc[start].lower_ != "the" or doc[start].head != noun:
        return None
    first = i + 2
    owner = doc[first]
    if owner.lower_ in ("the",) and first + 1 < len(doc):
        last = first + 1
        if doc[last].tag_ != "NN" or len(doc[last]) < 3 or doc[last].lower_.endswith("s"):
            return None
    elif owner.tag_ == "NNP" and len(owner) > 2 and not owner.lower_.endswith("s"):
        last = first
    else:
        return None
    head = doc[last]
    if head.dep_ != "pobj" or head.head.i != i + 1 or head.right_edge.i != last or head.left_edge.i != first:
        return None
    following = doc[last + 1] if last + 1 < len(doc) and not doc[last + 1].is_sent_start else None
    if following is not None and (
        following.tag_ in _PHRASE_CONTINUES or following.text in "-/'’" or following.lower_ in _TIES
    ):
        return None
    if following is not None and len(following) == 1 and following.is_alpha:  # a label, as in *the area of square a*
        return None
    middle = document.surface(start + 1, i + 1)
    if document.text[document.end(last) : document.end(last) + 1] in ("'", "’", "-"):
        return None
    return Edit.single(
        "phrase.owner",
        document.start(start),
        document.end(last),
        document.ref(first, last + 1, document.like(start)),
        f"'s {middle}",
    )


def _move_owner_after(document: Document, noun: Any) -> Edit | None:
    """Turn *Tom's age* into *the age of Tom*."""
    doc = document.doc
    i = noun.i
    if noun.tag_ != "NN" or i < 2 or doc[i - 1].text not in POSSESSIVES or doc[i - 1].tag_ != "POS":
        return None
    owner = doc[i - 2]
    if owner.head != noun or owner.dep_ != "poss":
        return None
    start = owner.left_edge.i
    if (start < i - 2 and (doc[start].lower_ != "the" or start != i - 3)) or (start == i - 2 and owner.tag_ != "NNP"):
        return None
    if owner.tag_ not in ("NN", "NNP") or len(document.surface(i - 2, i - 1)) < 2 or noun.left_edge.i != start:
        return None
    following = doc[i + 1] if i + 1 < len(doc) and not doc[i + 1].is_sent_start else None
    if following is not None and (
        following.tag_ in ("NN", "NNS", "CD", "IN", "CC", "VBN", "TO") or following.text in "-/'’"
    ):
        return None
    if document.end(i - 2) != document.start(i - 1):
        return None
    return Edit.single(
        "phrase.of",
        document.start(start),
        document.end(i),
        document.cased(start, f"the {document.surface(i, i + 1)} of "),
        document.ref(start, i - 1, "lower"),
    )


def _participle(document: Document, verb: Any) -> Edit | None:
    """Turn *a box containing 5 pens* into *a box that contains 5 pens*, or *running* into *that is running*."""
    head = verb.head
    lemma = verb.lemma_.lower()
    if head.i + 1 != verb.i or head.tag_ not in ("NN", "NNS") or lemma not in _STATES | _ACTIONS:
        return None
    if lemma in _ACTIONS and head.lemma_.lower() not in _MOVERS:
        return None
    if children(head, "conj", "cc") or head.dep_ in ("conj", "compound", "npadvmod") or children(verb, "conj"):
        return None
    if not any(child.dep_ in ("det", "nummod") for child in head.children):
        return None
    if not children(verb, "dobj", "prep", "npadvmod") or any(t.text == "," for t in verb.subtree):
        return None
    plural = is_plural(head)
    if plural is None or verb.right_edge.tag_ == "CC":
        return None
    past = any(token.tag_ == "VBD" for token in verb.sent)
    if past and lemma in _ACTIONS:
        form: str | None = f"{be('VBD', plural=plural)} {verb.lower_}"
    elif lemma in _STATES:
        form = finite(lemma, "VBD" if past else "VBZ", plural=plural)
    else:
        form = f"{be('VBZ', plural=plural)} {verb.lower_}"
    if form is None:
        return None
    pronoun = "who" if head.lemma_.lower() in _PEOPLE else "that"
    return Edit.single("phrase.relative", document.start(verb.i), document.end(verb.i), f"{pronoun} {form}")


def _relative(document: Document, verb: Any) -> Edit | None:
    """Turn *a box that contains 5 pens* into *a box containing 5 pens*, or *that is running* into *running*."""
    doc = document.doc
    pronouns = [t for t in children(verb, "nsubj") if t.lower_ in ("that", "which", "who")]
    if len(pronouns) != 1 or doc[pronouns[0].i - 1] != verb.head or verb.head.tag_ not in ("NN", "NNS"):
        return None
    start = pronouns[0].i
    if children(verb, "conj", "neg") or verb.head.dep_ == "conj" or children(verb.head, "conj"):
        return None
    if is_plural(verb.head) is not (verb.tag_ == "VBP" or any(a.lower_ == "are" for a in children(verb, "aux"))):
        return None
    if verb.tag_ in ("VBZ", "VBP") and verb.i == start + 1 and verb.lemma_ in ("contain", "weigh", "cost", "measure"):
        return Edit.single(
            "phrase.participle", document.start(start), document.end(verb.i), f"{verb.lemma_.rstrip('e')}ing"
        )
    auxiliaries = children(verb, "aux")
    if verb.tag_ == "VBG" and [a.lower_ for a in auxiliaries] in (["is"], ["are"]) and verb.i == start + 2:
        return Edit.single(
            "phrase.participle", document.start(start), document.end(verb.i), document.ref(verb.i, verb.i + 1)
        )
    return None
