"""Add words that open a statement or a question without adding content: *It is given that …*."""

from __future__ import annotations

from paraqd.operators.rewriting.document import Document
from paraqd.operators.rewriting.edits import Edit
from paraqd.operators.rewriting.questions import asked, tail
from paraqd.operators.rewriting.sentences import plain_statement

_STATING = (
    "it is given that ",
    "it is known that ",
    "we know that ",
    "we are told that ",
    "you are told that ",
    "suppose that ",
    "assume that ",
)
_ASKING = (
    "using this information, ",
    "based on this information, ",
    "from this information, ",
    "given these facts, ",
    "with this information, ",
    "on the basis of these facts, ",
)


def opener_edits(document: Document) -> list[Edit]:
    """Return the openers that fit; at most one opener of each kind can be applied per text."""
    edits: list[Edit] = []
    for number, (first, _) in enumerate(document.sentences):
        found = plain_statement(document, number, 24)
        if found is not None and document.doc[first].lower_ not in (
            "i",
            "we",
            "you",
            "my",
            "this",
            "it",
            "they",
            "there",
        ):
            edits += [_open(document, number, found, "opener.statement", words) for words in _STATING]
        end, last = tail(document, first)
        if number > 0 and end - first > 3 and asked(document, end, last) and document.surface(end, last):
            if document.doc[first].lower_ in ("how", "what", "find", "calculate", "determine"):
                edits += [_open(document, number, (first, end), "opener.question", words) for words in _ASKING]
    return edits


def _open(document: Document, number: int, span: tuple[int, int], family: str, words: str) -> Edit:
    return Edit.single(
        family,
        document.start(span[0]),
        document.end(span[1] - 1),
        document.cased(span[0], words),
        document.ref(*span, "lower"),
        frames=[("sentence", number), (family, 0)],
    )
