"""Move subordinate clauses that start with *when*, *because* or a similar word: *When C, M* ↔ *M when C*.

Here, C is the subordinate clause and M is the main clause.
"""

from __future__ import annotations

from typing import Any

from paraqd.rewriting.document import Document, children
from paraqd.rewriting.edits import Edit
from paraqd.rewriting.grammar import MEASURE_NOUNS
from paraqd.rewriting.questions import cut_off, tail
from paraqd.rewriting.reference import stands_alone

_MARKS = frozenset("when after before because since until once".split())
_SPOILERS = frozenset('( ) " “ ” : ; if then whereas while'.split())
_TRADERS = frozenset("man woman person shopkeeper trader merchant dealer seller vendor boy girl".split())
_POINTING = frozenset("it its they them their".split())


def subordinate_edits(document: Document) -> list[Edit]:
    """Return the edits that move a subordinate clause before or after its main clause."""
    edits: list[Edit] = []
    for number, (first, _) in enumerate(document.sentences):
        end, last = tail(document, first)
        words = {token.lower_ for token in document.doc[first:end]}
        if end - first < 8 or words & _SPOILERS or cut_off(document, end, last):
            continue
        found = (
            _postponed(document, first, end, number)
            or _fronted(document, first, end, number)
            or _purpose_postponed(document, first, end, number)
        )
        if found is not None:
            edits.append(found)
    return edits


def _has_subject_and_verb(words: Any) -> bool:
    return any(t.tag_ in ("VBZ", "VBP", "VBD", "MD") for t in words) and any(
        t.dep_ in ("nsubj", "nsubjpass", "expl") for t in words
    )


def _postponed(document: Document, first: int, end: int, number: int) -> Edit | None:
    """Turn *When C, M.* into *M when C.*."""
    doc = document.doc
    if doc[first].lower_ not in _MARKS:
        return None
    commas = [t.i for t in doc[first:end] if t.text == ","]
    if len(commas) != 1:
        return None
    clause, main = doc[first + 1 : commas[0]], doc[commas[0] + 1 : end]
    root = doc[first].sent.root
    if len(clause) < 3 or len(main) < 4 or root.i < commas[0] or children(root, "conj"):
        return None
    if (
        not _has_subject_and_verb(main)
        or not (_has_subject_and_verb(clause) or clause[0].tag_ == "VBG")
        or not stands_alone(main, clause)
    ):
        return None
    subjects = children(root, "nsubj", "nsubjpass", "expl")
    if len(subjects) != 1 or any(t.tag_ == "CC" for t in main) or any(t.dep_ in ("advcl", "relcl") for t in main):
        return None
    if doc[first].lower_ in ("since",) and clause[0].tag_ == "CD":
        return None
    if any(t.lower_ in _POINTING for t in clause) or any(t.tag_ == "VBG" or t.lower_ == "than" for t in main):
        return None
    if sum(t.tag_ in ("VBZ", "VBP", "VBD", "MD") for t in main) != 1:
        return None
    mark = document.surface(first, first + 1).lower()
    return Edit.single(
        "subordinate.end",
        document.start(first),
        document.end(end - 1),
        document.ref(commas[0] + 1, end, document.like(first)),
        f" {mark} ",
        document.ref(first + 1, commas[0]),
        frames=[("sentence", number)],
    )


def _purpose_postponed(document: Document, first: int, end: int, number: int) -> Edit | None:
    """Turn *To make a cake, Ann needs 3 eggs.* into *Ann needs 3 eggs to make a cake.*.

    Phrases such as *By selling …* are moved in the same way.
    """
    doc = document.doc
    opening: tuple[str, str] = (doc[first].lower_, doc[first + 1].tag_)
    commas = [t.i for t in doc[first:end] if t.text == ","]
    purpose = opening == ("to", "VB")
    if not (purpose or opening == ("by", "VBG")) or len(commas) != 1:
        return None
    clause, main = doc[first : commas[0]], doc[commas[0] + 1 : end]
    root = doc[first].sent.root
    if len(clause) < 3 or len(main) < 4 or root.i < commas[0]:
        return None
    if not purpose and children(root, "conj", "advcl"):
        return None
    subjects = children(root, "nsubj")
    if len(subjects) != 1 or subjects[0].left_edge.i != commas[0] + 1 or not stands_alone(main, clause):
        return None
    if any(t.lower_ in _POINTING for t in clause) or any(t.tag_ in ("CC", "VBG", "TO") for t in main):
        return None
    if not purpose and subjects[0].tag_ not in ("NNP", "PRP") and subjects[0].lemma_.lower() not in _TRADERS:
        return None
    if sum(t.tag_ in ("VBZ", "VBP", "VBD", "MD") for t in main) != 1:
        return None
    return Edit.single(
        "subordinate.purpose",
        document.start(first),
        document.end(end - 1),
        document.ref(commas[0] + 1, end, document.like(first)),
        " ",
        document.ref(first, commas[0], "lower"),
        frames=[("sentence", number)],
    )


def _fronted(document: Document, first: int, end: int, number: int) -> Edit | None:
    """Turn *M when C.* into *When C, M.*."""
    doc = document.doc
    marks = [t for t in doc[first + 3 : end] if t.lower_ in _MARKS]
    if len(marks) != 1 or any(t.text == "," or t.tag_ == "CC" for t in doc[first:end]):
        return None
    mark = marks[0]
    clause, main = doc[mark.i + 1 : end], doc[first : mark.i]
    if mark.dep_ not in ("mark", "advmod") or mark.head.dep_ != "advcl" or mark.head.head.dep_ != "ROOT":
        return None
    if (
        len(clause) < 3
        or not _has_subject_and_verb(clause)
        or not _has_subject_and_verb(main)
        or not stands_alone(clause, main)
    ):
        return None
    before = doc[mark.i - 1]
    if mark.lower_ not in ("when", "because") and doc[first].lower_ != "how":
        return None
    if mark.lower_ == "until" or before.tag_ in ("IN", "RB", "CD", "TO") or before.lower_ in MEASURE_NOUNS:
        return None
    if before.lower_ in ("remainder", "result", "quotient") and doc[first].lower_ not in ("what", "find"):
        return None
    if before.lower_ in ("even", "only", "just", "ago", "later", "than", "time"):
        return None
    if mark.head.right_edge.i + 1 < end or doc[first].lower_ in ("and", "but", "so", "or", "also"):
        return None
    return Edit.single(
        "subordinate.front",
        document.start(first),
        document.end(end - 1),
        document.cased(first, f"{mark.lower_} "),
        document.ref(mark.i + 1, end),
        ", ",
        document.ref(first, mark.i, "lower"),
        frames=[("sentence", number)],
    )
