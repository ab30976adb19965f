"""Merge or split sentences with the same subject: *Tom has 5 pens. He buys 3.* ↔ *Tom has 5 pens and buys 3.*."""

from __future__ import annotations

from typing import Any

from paraqd.rewriting.document import Document, children
from paraqd.rewriting.edits import Edit, Piece
from paraqd.rewriting.questions import tail
from paraqd.rewriting.sentences import plain_statement

_FINITE = ("VBZ", "VBP", "VBD", "MD")
_PEOPLE = frozenset(
    """brother sister mother father mom dad friend wife husband son daughter boy girl man woman cousin aunt uncle
    teacher boss neighbor neighbour partner roommate grandmother grandfather he she him her they them""".split()
)

_PRONOUNS = frozenset("he she him her they them".split())


def subject_edits(document: Document) -> list[Edit]:
    """Return the edits that merge two sentences with the same subject or split a sentence and repeat its subject."""
    edits: list[Edit] = []
    for number in range(len(document.sentences)):
        if number + 1 < len(document.sentences):
            edits += _merged(document, number)
        edits += _split(document, number)
    return edits


def _merged(document: Document, number: int) -> list[Edit]:
    """Turn *Tom has 5 pens. He buys 3 more.* into *Tom has 5 pens and buys 3 more.*."""
    one, two = plain_statement(document, number, 14), plain_statement(document, number + 1, 16)
    if one is None or two is None:
        return []
    doc = document.doc
    first, second = doc[one[0]].sent.root, doc[two[0]].sent.root
    if doc[two[0]].lower_ not in ("he", "she") or doc[two[0]].head != second or doc[two[0]].dep_ != "nsubj":
        return []
    name = doc[one[0]]
    if name.tag_ != "NNP" or name.dep_ != "nsubj" or name.head != first or children(name, "conj", "appos"):
        return []
    rest = doc[one[0] + 1 : one[1]]
    if any(t.tag_ in ("NNP", "CC", ",") or t.lower_ in _PEOPLE for t in rest) or children(first, "conj", "ccomp"):
        return []
    if children(second, "conj") or _tense(first) != _tense(second) or any(t.tag_ == "CC" for t in doc[two[0] : two[1]]):
        return []
    if doc[two[0] + 1].tag_ == "RB" and doc[two[0] + 1].lower_ not in ("then", "also"):
        return []
    pieces: tuple[Piece, ...] = (document.ref(*one), " and ", document.ref(two[0] + 1, two[1]))
    return [
        Edit.single(
            "subject.merge",
            document.start(one[0]),
            document.end(two[1] - 1),
            *pieces,
            frames=[("sentence", number), ("sentence", number + 1)],
        )
    ]


def _tense(verb: Any) -> str:
    group = [verb, *children(verb, "aux", "auxpass")]
    return next(
        (("VBZ" if t.tag_ == "VBP" else str(t.tag_)) for t in sorted(group, key=lambda t: t.i) if t.tag_ in _FINITE), ""
    )


def _split(document: Document, number: int) -> list[Edit]:
    """Turn *A man buys a bike and sells it for $60.* into *A man buys a bike. The man sells it for $60.*."""
    doc = document.doc
    first, _ = document.sentences[number]
    end, last = tail(document, first)
    if end - first < 8 or document.surface(end, last) != ".":
        return []
    root = doc[first].sent.root
    subjects, parts = children(root, "nsubj"), children(root, "conj")
    if len(subjects) != 1 or len(parts) != 1 or subjects[0].left_edge.i != first:
        return []
    subject, part = subjects[0], parts[0]
    if children(part, "nsubj", "nsubjpass", "conj", "aux") or part.tag_ != root.tag_ or root.tag_ not in ("VBZ", "VBD"):
        return []
    joints = [t for t in children(root, "cc") if t.lower_ == "and" and root.i < t.i < part.i]
    if len(joints) != 1 or children(root, "aux", "advcl", "ccomp", "xcomp", "parataxis", "mark"):
        return []
    joint = joints[0].i
    stop = joint - 1 if doc[joint - 1].text == "," else joint
    start = joint + 1
    if doc[start].lower_ == "then":
        start += 1
    if part.i != start or part.right_edge.i + 1 < end or subject.right_edge.i + 1 != root.i:
        return []
    repeated = _repeated_subject(document, first, subject)
    if repeated is None or any(t.text in (",", ";", ":", "(", '"') for t in doc[first:stop]):
        return []
    if stop - first < 4 or end - part.i < 3:
        return []
    return [
        Edit.single(
            "subject.split",
            document.end(stop - 1),
            document.end(end - 1),
            " " if document.text[document.end(stop - 1) - 1] == "." else ". ",
            *repeated,
            " ",
            document.ref(joint + 1, end),
            frames=[("sentence", number)],
        )
    ]


def _repeated_subject(document: Document, first: int, subject: Any) -> tuple[Piece, ...] | None:
    """Return the words that repeat a subject: *the man* for *a man*, and *he* or *she* for a name.

    Return None if the subject is not simple or the pronoun is uncertain.
    """
    if subject.tag_ == "NNP" and subject.i == first and not children(subject, "conj", "compound"):
        pronoun = _pronoun(document)
        return (document.cased(first, pronoun),) if pronoun else None
    if (
        subject.tag_ != "NN"
        or document.doc[first].lower_ not in ("a", "an", "the")
        or children(subject, "prep", "relcl", "acl", "conj")
    ):
        return None
    if subject.i - first > 2 or any(t.tag_ == "CD" for t in document.doc[first : subject.i]):
        return None
    return document.cased(first, "the "), document.ref(first + 1, subject.i + 1)


def _pronoun(document: Document) -> str | None:
    """Return *he* or *she* for the only person in a text, or None if the right pronoun is uncertain."""
    doc = document.doc
    he = any(t.lower_ in ("he", "his", "him", "himself") for t in doc)
    she = any(t.lower_ in ("she", "her", "hers", "herself") for t in doc)
    names = {t.lower_ for t in doc if t.tag_ == "NNP"}
    if he == she or len(names) > 1 or any(t.lemma_.lower() in _PEOPLE - _PRONOUNS for t in doc):
        return None
    return "he" if he else "she"
