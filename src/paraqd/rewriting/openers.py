"""Add opening words, such as *It is given that*, to statements and questions without changing their content."""

from __future__ import annotations

from paraqd.rewriting.document import Document
from paraqd.rewriting.edits import Edit
from paraqd.rewriting.questions import asked, tail
from paraqd.rewriting.sentences import plain_statement

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
    """Return the edits that add opening words to statements and questions.

    At most one statement and one question in a text can receive opening words.
    """
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
            edits += [_opener_edit(document, number, found, "opener.statement", words) for words in _STATING]
        end, last = tail(document, first)
        if number > 0 and end - first > 3 and asked(document, end, last) and document.surface(end, last):
            if document.doc[first].lower_ in ("how", "what", "find", "calculate", "determine"):
                edits += [_opener_edit(document, number, (first, end), "opener.question", words) for words in _ASKING]
    return edits


def _opener_edit(document: Document, number: int, span: tuple[int, int], family: str, words: str) -> Edit:
    return Edit.single(
        family,
        document.start(span[0]),
        document.end(span[1] - 1),
        document.cased(span[0], words),
        document.ref(*span, "lower"),
        frames=[("sentence", number), (family, 0)],
    )
