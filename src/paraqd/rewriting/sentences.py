"""Merge two sentences into one, or split one sentence into two, if both parts are complete clauses."""

from __future__ import annotations

from typing import Any

from paraqd.rewriting.document import Document, children
from paraqd.rewriting.edits import Edit, Piece
from paraqd.rewriting.questions import NUMERIC, tail
from paraqd.rewriting.reference import stands_alone

_FINITE = ("VBZ", "VBP", "VBD", "MD")
# words that link a sentence to the previous sentence; adding *and* or *given that* would change the meaning
_LINKS = frozenset(
    """however then also so but and or thus therefore hence moreover besides if when after before while because since
    although though instead otherwise still yet next finally let suppose assume given find determine calculate note
    round consider except unless once meanwhile later further furthermore now here to for as""".split()
)
_LEANING = frozenset("it its they them their this these those then later remaining another already rest".split())
_SPOILERS = frozenset('( ) " “ ” : ; if whether following respectively'.split())


def sentence_edits(document: Document) -> list[Edit]:
    """Return the edits that merge two sentences or split a sentence."""
    edits: list[Edit] = []
    count = len(document.sentences)
    for number in range(count):
        if number + 1 < count:
            edits += _merge(document, number)
            edits += _into_question(document, number)
        edits += _split(document, number)
    return edits


def plain_statement(document: Document, number: int, limit: int) -> tuple[int, int] | None:
    """Return the token range of the words in sentence ``number`` if the sentence is one simple statement.

    Return None if the sentence is not a simple statement or has more than ``limit`` words.
    """
    first, last = document.sentences[number]
    end, last = tail(document, first)
    doc = document.doc
    if not 4 <= end - first <= limit or document.surface(end, last) != ".":
        return None
    root = doc[first].sent.root
    subjects = children(root, "nsubj", "nsubjpass", "expl")
    if len(subjects) != 1 or (subjects[0].i > root.i and subjects[0].dep_ != "expl"):
        return None
    if any(child.i < root.i for child in children(root, "ccomp", "parataxis")):  # a comma joins two sentences
        return None
    finite = [t for t in (root, *children(root, "aux", "auxpass")) if t.tag_ in _FINITE]
    words = {t.lower_ for t in doc[first:end]}
    if any("?" in word for word in words):  # two sentences have no space between them
        return None
    if not finite or doc[first].lower_ in _LINKS or words & _SPOILERS or words & {"what", "how", "which"}:
        return None
    if doc[first].pos_ in ("AUX", "VERB") or words & {"so", "however"}:
        return None
    if doc[first].tag_ in ("VB", "CC", "WRB", "WP", "WDT", "RB", "UH") or doc[end - 1].tag_ in ("CC", "IN", "DT"):
        return None
    if any(len(t) == 1 and t.is_alpha and t.lower_ != "a" and t.lower_ != "i" for t in doc[end - 1 : end]):
        return None
    return first, end


def _merge(document: Document, number: int) -> list[Edit]:
    """Turn *X. Y.* into *X, and Y.*."""
    one, two = plain_statement(document, number, 16), plain_statement(document, number + 1, 16)
    if one is None or two is None:
        return []
    doc = document.doc
    roots = doc[one[0]].sent.root, doc[two[0]].sent.root
    if any(children(root, "conj") for root in roots) or any(_has_clause_and(doc[a:b]) for a, b in (one, two)):
        return []
    pieces = (document.ref(*one), ", and ", document.ref(*two, "lower"))
    return [
        Edit.single(
            "sentence.merge",
            document.start(one[0]),
            document.end(two[1] - 1),
            *pieces,
            frames=[("sentence", number), ("sentence", number + 1)],
        )
    ]


def _has_clause_and(words: Any) -> bool:
    return any(token.tag_ == "CC" and token.head.pos_ in ("VERB", "AUX") for token in words)


def _into_question(document: Document, number: int) -> list[Edit]:
    """Turn *X. How many …?* into *Given that X, how many …?*."""
    one = plain_statement(document, number, 22)
    first, _ = document.sentences[number + 1]
    end, last = tail(document, first)
    doc = document.doc
    if one is None or doc[first].lower_ not in ("how", "what", "find") or document.surface(end, last) not in ("?", "."):
        return []
    if number > 0 and _follows_condition(document, number):
        return []
    edits = []
    question, statement = doc[first:end], doc[one[0] : one[1]]
    if _can_lead(question, statement, opens_text=number == 0):
        moved: tuple[Piece, ...] = (
            document.ref(first, end, document.like(one[0])),
            ", given that ",
            document.ref(*one, "lower"),
        )
        span = document.start(one[0]), document.end(end - 1)
        frames = [("sentence", number), ("sentence", number + 1)]
        edits.append(Edit.single("sentence.after", *span, *moved, frames=frames))
    leads = ("given that ", "if ") if not _unreal(doc[first:end]) else ("given that ",)
    for lead in leads:
        pieces: tuple[Piece, ...] = (
            document.cased(one[0], lead),
            document.ref(*one, "lower"),
            ", ",
            document.ref(first, end, "lower"),
        )
        edits.append(
            Edit.single(
                "sentence.given",
                document.start(one[0]),
                document.end(end - 1),
                *pieces,
                frames=[("sentence", number), ("sentence", number + 1)],
            )
        )
    return edits


def _can_lead(question: Any, statement: Any, *, opens_text: bool) -> bool:
    """Return True if a question can be moved before the statement that precedes it."""
    if _unreal(question) or any(t.text == "," for t in question) or not stands_alone(question, statement):
        return False
    if any(t.lower_ in _LEANING for t in statement):
        return False
    # in a question that opens the text, every noun with *the* must be a quantity, because nothing is introduced yet
    return not opens_text or all(
        token.head.lemma_.lower() in NUMERIC for token in question if token.lower_ in ("the", "this", "these")
    )


def _unreal(words: Any) -> bool:
    return any(token.lower_ in ("would", "could", "if", "when") for token in words)


def _follows_condition(document: Document, number: int) -> bool:
    """Return True if the previous sentence may be an unfinished condition: *If …. Then …*."""
    first, _ = document.sentences[number - 1]
    end, last = tail(document, first)
    return document.doc[first].lower_ == "if" or document.surface(end, last) != "."


def _split(document: Document, number: int) -> list[Edit]:
    """Turn *X, and Y.* into *X. Y.*."""
    first, _ = document.sentences[number]
    end, last = tail(document, first)
    doc = document.doc
    root = doc[first].sent.root
    words = [t.lower_ for t in doc[first:end]]
    if not words or document.surface(end, last) != "." or set(words) & _SPOILERS or words[0] in _LINKS:
        return []
    parts = children(root, "conj")
    if (
        len(parts) != 1
        or children(parts[0], "conj")
        or not _is_complete_clause(root)
        or not _is_complete_clause(parts[0])
    ):
        return []
    subject = children(root, "nsubj", "nsubjpass", "expl")[0]
    if subject.left_edge.i != first or children(root, "ccomp", "parataxis", "advcl", "dep"):
        return []
    joints = [t for t in children(root, "cc") if t.lower_ == "and" and root.i < t.i < parts[0].i]
    if len(joints) != 1 or parts[0].left_edge.i != joints[0].i + 1 or parts[0].right_edge.i + 1 < end:
        return []
    if children(parts[0], "xcomp") and not children(root, "xcomp"):  # as in *A takes 3 and B takes 4 days to finish*
        return []
    joint = joints[0].i
    stop = joint - 1 if doc[joint - 1].text == "," else joint
    if set(words) & {"both", "either", "neither", "would", "so", "such", "that", "when", "while", "because"}:
        return []
    if doc[joint + 1].lower_ in _LINKS or doc[joint + 1].tag_ in ("WRB", "WP", "WDT", "RB", "IN", "VB"):
        return []
    if stop - first < 4 or end - joint < 5 or any(t.text == "," for t in doc[first:stop]):
        return []
    return [
        Edit.single(
            "sentence.split",
            document.end(stop - 1),
            document.end(end - 1),
            " " if document.text[document.end(stop - 1) - 1] == "." else ". ",
            document.ref(joint + 1, end, "upper" if document.upper else "keep"),
            frames=[("sentence", number)],
        )
    ]


def _is_complete_clause(verb: Any) -> bool:
    """Return True if a verb is finite and has its own subject before it."""
    subjects = children(verb, "nsubj", "nsubjpass", "expl")
    if len(subjects) != 1 or (subjects[0].i > verb.i):
        return False
    return any(t.tag_ in _FINITE for t in (verb, *children(verb, "aux", "auxpass")))
