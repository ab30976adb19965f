"""Reword *If C, Q?* as *Q if C?*, *Suppose that C. Q?* or *Given that C, Q?*, and *Q if C?* as *If C, Q?*.

Here, C is the condition and Q is the question or request.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from paraqd.rewriting.document import Document
from paraqd.rewriting.edits import Edit, Piece
from paraqd.rewriting.questions import cut_off, tail
from paraqd.rewriting.reference import stands_alone

_UNREAL = frozenset("were would had could should might been".split())
_UNSAFE = frozenset('( ) " “ ” : ; .'.split())
_ASKING = frozenset(
    "what how find determine calculate in at by which who when for compute the his her their its".split()
)


class Condition(NamedTuple):
    """The token indices of the parts of a sentence such as *If C, then Q?*.

    ``first`` is the index of *if*. The condition extends from ``start`` up to ``comma``, and the main clause extends
    from ``main`` up to ``end``. The sentence's final punctuation ends before ``last``.
    """

    first: int
    start: int
    comma: int
    main: int
    end: int
    last: int


def condition_edits(document: Document) -> list[Edit]:
    """Return the possible rewordings of conditions. At most one rewording can be applied per sentence."""
    edits: list[Edit] = []
    for number, (first, _) in enumerate(document.sentences):
        found = _leading(document, first)
        if found is not None:
            edits += _restated(document, found, number)
            edits += _postponed(document, found, number)
        edits += _fronted(document, first, number)
    return edits


def unsafe(words: list[str]) -> bool:
    """Return True if a sentence contains punctuation that makes it unsafe to move clauses.

    Such punctuation includes quotation marks, brackets and a question mark without a space after it (*time?Then*).
    """
    return bool(set(words) & _UNSAFE) or any("?" in word and len(word) > 1 for word in words)


def _leading(document: Document, first: int) -> Condition | None:
    """Return the simple condition that starts at token ``first``, or None if no such condition exists."""
    doc = document.doc
    if doc[first].lower_ != "if":
        return None
    end, last = tail(document, first)
    words = [token.lower_ for token in doc[first + 1 : end]]
    if "if" in words or unsafe(words) or end - first < 6 or cut_off(document, end, last):
        return None
    for comma in range(first + 3, end - 2):
        if doc[comma].text != ",":
            continue
        main = comma + 2 if doc[comma + 1].lower_ == "then" else comma + 1
        if doc[main].lower_ in _ASKING and _starts_main(doc, first, main, end):
            clause = doc[first + 1 : comma]
            return Condition(first, first + 1, comma, main, end, last) if _has_subject_and_verb(clause) else None
    return None


def _starts_main(doc: Any, first: int, main: int, end: int) -> bool:
    """Return True if a main clause that asks or requests something starts at token ``main``."""
    token = doc[main]
    if doc[main - 2 if doc[main - 1].lower_ == "then" else main - 1].i - first < 4 or _follows_aside(doc, first, main):
        return False
    if token.lower_ in ("what", "how"):
        return True
    if token.lower_ == "which":
        return bool(doc[main + 1].lower_ == "of")
    if token.lower_ in ("find", "determine", "calculate", "compute"):
        return bool(token.tag_ in ("VB", "VBP"))
    if token.lower_ in ("in", "at", "by", "for"):
        return bool(doc[main + 1].lower_ in ("what", "how", "which"))
    # *the ratio is?*: a subject followed by its verb at the end of the sentence
    verb = doc[end - 1]
    return bool(verb.lower_ in ("is", "are", "was", "were") and doc[main : end - 1].root.head == verb)


def _follows_aside(doc: Any, first: int, main: int) -> bool:
    """Return True if a short phrase between commas comes just before the main clause: *…, at most, how many …*."""
    commas = [i for i in range(first, main) if doc[i].text == ","]
    return len(commas) > 1 and commas[-1] - commas[-2] < 4 and doc[commas[-2] + 1].tag_ in ("IN", "RB")


def _has_subject_and_verb(clause: Any) -> bool:
    """Return True if a clause contains a finite verb and a subject."""
    return any(t.tag_ in ("VBZ", "VBP", "VBD", "MD") for t in clause) and any(
        t.dep_ in ("nsubj", "nsubjpass", "expl") for t in clause
    )


def _is_real(document: Document, found: Condition) -> bool:
    words = {token.lower_ for token in document.doc[found.start : found.comma]}
    asked = {token.lower_ for token in document.doc[found.main : found.end]}
    return not words & _UNREAL and "would" not in asked


def _restated(document: Document, found: Condition, number: int) -> list[Edit]:
    """Turn *If C, Q?* into *Suppose that C. Q?* or *Given that C, Q?*."""
    given = document.doc[found.start : found.start + 3]
    if not _is_real(document, found) or given[-1].lower_ in ("assumed", "given", "known", "supposed"):
        return []
    clause = document.ref(found.start, found.comma)
    upper = document.like(found.first)
    texts: list[tuple[Piece, ...]] = []
    for lead in ("Suppose that ", "Assume that ", "Suppose "):
        texts.append(
            (document.cased(found.first, lead.lower()), clause, ". ", document.ref(found.main, found.end, upper))
        )
    for lead in ("Given that ", "Assuming that "):
        texts.append((document.cased(found.first, lead.lower()), clause, ", ", document.ref(found.main, found.end)))
    return [
        Edit.single(
            "condition.restated",
            document.start(found.first),
            document.end(found.end - 1),
            *pieces,
            frames=[("sentence", number)],
        )
        for pieces in texts
    ]


def _postponed(document: Document, found: Condition, number: int) -> list[Edit]:
    """Turn *If C, Q?* into *Q if C?*."""
    doc = document.doc
    if found.comma - found.start > 22 or doc[found.end - 1].lower_ in ("is", "are", "was", "were"):
        return []
    moved, rest = doc[found.main : found.end], doc[found.start : found.comma]
    if any(token.text == "," for token in moved) or not stands_alone(moved, rest):
        return []
    if doc[found.main].lower_ == "how" and doc[found.main + 1].lower_ in ("many", "much"):
        if doc[found.main + 2].tag_ not in ("NN", "NNS", "JJ", "MD", "VBZ", "VBD"):
            return []
    return [
        Edit.single(
            "condition.postponed",
            document.start(found.first),
            document.end(found.end - 1),
            document.ref(found.main, found.end, document.like(found.first)),
            " if ",
            document.ref(found.start, found.comma),
            frames=[("sentence", number)],
        )
    ]


def _fronted(document: Document, first: int, number: int) -> list[Edit]:
    """Turn *Q if C?* into *If C, Q?*."""
    doc = document.doc
    end, last = tail(document, first)
    words = [token.lower_ for token in doc[first:end]]
    if words.count("if") != 1 or words[0] == "if" or unsafe(words) or cut_off(document, end, last):
        return []
    position = first + words.index("if")
    stop = position
    if doc[position - 1].text == ",":
        stop -= 1
    verb = doc[position].head
    if verb.dep_ != "advcl" or verb.head.dep_ != "ROOT" or verb.right_edge.i + 1 < end:
        return []
    if position - first < 4 or end - position < 4:
        return []
    main, clause = doc[first:stop], doc[position + 1 : end]
    if any(token.text == "," for token in main) or not _has_subject_and_verb(clause) or not stands_alone(clause, main):
        return []
    if words[0] in ("and", "but", "or", "so", "then", "also", "however", "even", "only", "suppose", "assume"):
        return []
    if doc[position - 1].lower_ in ("even", "only", "as", "what", "and", "or", "see", "determine", "check", "that"):
        return []
    lead = document.cased(first, "if ")
    return [
        Edit.single(
            "condition.fronted",
            document.start(first),
            document.end(end - 1),
            lead,
            document.ref(position + 1, end),
            ", ",
            document.ref(first, stop, "lower"),
            frames=[("sentence", number)],
        )
    ]
