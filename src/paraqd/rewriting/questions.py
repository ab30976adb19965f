"""Reword questions: *What is X?* ↔ *Find X.*, *X is?* → *What is X?*, *Find the number of …* → *How many …?*."""

from __future__ import annotations

from typing import Any

from paraqd.rewriting.document import Document, children
from paraqd.rewriting.edits import Edit, Piece, Replacement
from paraqd.rewriting.grammar import POSSESSIVE, is_plural

ASKING = ("Find", "Determine", "Work out", "You are asked to find", "You need to find", "We want to find")
ASKING_HOW = (
    "Determine",
    "Find out",
    "Work out",
    "Figure out",
    "You are asked to work out",
    "You need to find out",
    "We want to know",
)
_IMPERATIVES = frozenset("find determine calculate compute".split())
# nouns for quantities that can be calculated; *calculate his name* would make no sense
NUMERIC = frozenset(
    """number value sum average mean ratio probability area volume perimeter cost price speed rate distance time age
    length width height weight amount percentage percent profit loss interest total difference product salary income
    share capacity radius circumference population median temperature money discount gain remainder""".split()
)
_SUMMING = frozenset("total all altogether average most least together".split())
_CLAUSE_STARTS = frozenset(", then :".split())
_TAIL_SPOILERS = frozenset('what how where why : ; " “ ” … = __ following above below'.split())


def starts_clause(document: Document, i: int) -> bool:
    """Return True if token ``i`` is the first token of its sentence or follows a comma, a colon or *then*."""
    token = document.doc[i]
    return bool(token.is_sent_start) or document.doc[i - 1].lower_ in _CLAUSE_STARTS


def tail(document: Document, i: int) -> tuple[int, int]:
    """Return the end of the words and the end of the punctuation in the sentence that contains token ``i``.

    Each end is the index of the token that follows.
    """
    last = document.sentences[document.sentence(i)][1]
    end = last
    while end > i and document.doc[end - 1].is_punct and document.doc[end - 1].text not in ("%", ")", '"', "”"):
        end -= 1
    return end, last


def asked(document: Document, end: int, last: int) -> bool:
    """Return True if a sentence is complete and ends with a question mark, a full stop or no mark.

    ``end`` and ``last`` are the results of ``tail`` for the sentence.
    """
    if cut_off(document, end, last):
        return False
    return document.surface(end, last).replace(" ", "") in ("", ".", "?", "?.", ".?", "??")


def cut_off(document: Document, end: int, last: int) -> bool:
    """Return True if the sentence splitter cut off a sentence inside an abbreviation such as *h. c. f.*.

    ``end`` and ``last`` are the results of ``tail`` for the sentence.
    """
    following = document.doc[last] if last < len(document.doc) else None
    return (
        following is not None and (len(following) == 1 or len(document.doc[end - 1]) == 1) and following.text.islower()
    )


def dangles(document: Document, start: int) -> bool:
    """Return True if a request at token ``start`` would leave a dangling modifier: *Working together, find …*."""
    lead = document.doc[document.sentences[document.sentence(start)][0] : start]
    if 0 < len(lead) <= 4 and lead[-1].text == "," and lead[-2].lower_ in _SUMMING:  # as in *In total, how many …*
        return True
    if any(token.dep_ in ("nsubj", "nsubjpass", "expl") for token in lead):
        return False
    return any(token.tag_ in ("VBG", "VBN", "VB") for token in lead)


def question_edits(document: Document) -> list[Edit]:
    """Return the possible rewordings of questions. At most one rewording can be applied per sentence."""
    edits: list[Edit] = []
    for token in document.doc:
        word = token.lower_
        if word == "what":
            edits += _what_is(document, token)
        elif word in _IMPERATIVES and starts_clause(document, token.i):
            edits += _imperative(document, token)
        elif word in ("is", "are", "was", "were"):
            edits += _unfinished(document, token)
    return edits


def frame(document: Document, i: int) -> tuple[tuple[str, int], ...]:
    """Return the frame that allows only one question edit in the sentence that contains token ``i``."""
    return (("question", document.sentence(i)),)


def with_mark(document: Document, edit: Edit, end: int, last: int, mark: str) -> Edit:
    """Return the edit, extended so that it also replaces the sentence's final punctuation with ``mark``."""
    if end == last:
        return edit
    sign = Replacement(document.start(end), document.end(last - 1), (mark,))
    return Edit(edit.family, (*edit.replacements, sign), edit.frames)


def _starts_definite_noun_phrase(token: Any) -> bool:
    """Return True if a definite noun phrase starts at this token: *the …*, *his …*, *Tom's …*."""
    if token.lower_ in ("the", "their") or token.lower_ in POSSESSIVE:
        return True
    following = token.nbor(1) if token.i + 1 < len(token.doc) else None
    return bool(token.tag_ == "NNP" and following is not None and following.tag_ == "POS")


def _has_spoiler(document: Document, start: int, end: int) -> bool:
    return any(token.lower_ in _TAIL_SPOILERS for token in document.doc[start:end])


def _verbs(document: Document, head: Any) -> tuple[str, ...]:
    return (*ASKING, "Calculate") if head.lemma_.lower() in NUMERIC else ASKING


def _what_is(document: Document, what: Any) -> list[Edit]:
    """Turn *What is the cost of 5 pens?* into *Find the cost of 5 pens.*."""
    doc = document.doc
    if not starts_clause(document, what.i) or what.i + 3 >= len(doc):
        return []
    verb = what.nbor(1)
    start = verb.i + 1
    if verb.lower_ == "will" and doc[start].lower_ == "be":
        start += 1
    elif verb.lower_ not in ("is", "are", "was", "were"):
        return []
    end, last = tail(document, what.i)
    if start >= end or not _starts_definite_noun_phrase(doc[start]) or _has_spoiler(document, start, end):
        return []
    if not asked(document, end, last) or _has_second_clause(document, start, end):
        return []
    if dangles(document, what.i) or doc[end - 1].lower_ in ("is", "are", "was"):
        return []
    counted = _how_many(document, what.i, start, end, last, past=verb.lower_ == "was")
    subjects = [t for t in doc[start:end] if t.dep_ in ("nsubj", "attr") and t.head.i in (verb.i, start - 1)]
    head = subjects[0] if subjects else doc[start]
    edits = counted
    for imperative in _verbs(document, head):
        edit = Edit.single(
            "question.what",
            document.start(what.i),
            document.end(start - 1),
            document.cased(what.i, imperative.lower()),
            frames=frame(document, what.i),
        )
        edits.append(with_mark(document, edit, end, last, "."))
    return edits


def _has_second_clause(document: Document, start: int, end: int) -> bool:
    """Return True if another main clause follows, as in *what is the price, and is it …*."""
    return any(
        token.lower_ in ("and", "but") and token.nbor(1).tag_ in ("VB", "VBZ", "WP", "WRB", "MD")
        for token in document.doc[start : end - 1]
    )


def _imperative(document: Document, verb: Any) -> list[Edit]:
    """Turn *Find the cost of 5 pens.* into *What is the cost of 5 pens?*."""
    doc = document.doc
    start = verb.i + 1
    if start < len(doc) and doc[start].lower_ == "out":
        start += 1
    end, last = tail(document, verb.i)
    if start >= end or not _starts_definite_noun_phrase(doc[start]) or _has_spoiler(document, start, end):
        return []
    if not asked(document, end, last) or children(verb, "conj"):
        return []
    objects = children(verb, "dobj")
    if verb.tag_ not in ("VB", "VBP") or len(objects) != 1 or objects[0].left_edge.i != start:
        return []
    plural = is_plural(objects[0])
    if plural is None or doc[end - 1].lower_ == "out" or _has_second_clause(document, start, end):
        return []
    edit = Edit.single(
        "question.find",
        document.start(verb.i),
        document.end(start - 1),
        document.cased(verb.i, "what are" if plural else "what is"),
        frames=frame(document, verb.i),
    )
    counted = _how_many(document, verb.i, start, end, last, past=False)
    return [with_mark(document, edit, end, last, "?"), *counted]


def _how_many(document: Document, lead: int, start: int, end: int, last: int, *, past: bool) -> list[Edit]:
    """Turn *Find the number of pens in the box.* into *How many pens are there in the box?*."""
    doc = document.doc
    if [t.lower_ for t in doc[start : start + 3]] != ["the", "number", "of"]:
        return []
    noun = next((t for t in doc[start + 3 : min(start + 7, end)] if t.tag_ in ("NNS", "NNPS")), None)
    if (
        noun is None
        or noun.i + 2 >= end
        or any(t.tag_ not in ("JJ", "NN", "VBN", "HYPH") for t in doc[start + 3 : noun.i])
    ):
        return []
    following = doc[noun.i + 1]
    if any(t.tag_ == "CC" or t.text == "," for t in doc[noun.i : end]):
        return []
    phrase = document.ref(start + 3, noun.i + 1)
    rest: tuple[Piece, ...]
    if following.lower_ in ("in", "on", "at", "between") and following.dep_ == "prep":
        if any(t.tag_ in ("VBD", "VBZ", "VBP", "MD", "VBG", "VBN") for t in doc[noun.i + 1 : end]):
            return []
        rest = (" were there " if past else " are there ", document.ref(noun.i + 1, end))
    elif following.lower_ in ("that", "who", "which") and following.dep_ in ("nsubj", "nsubjpass"):
        if doc[noun.i + 2].tag_ not in ("VBP", "VBD", "MD"):
            return []
        rest = (" ", document.ref(noun.i + 2, end))
    else:
        return []
    how = document.cased(lead, "how many ")
    edit = Edit.single(
        "question.many", document.start(lead), document.end(end - 1), how, phrase, *rest, frames=frame(document, lead)
    )
    return [with_mark(document, edit, end, last, "?")]


def _unfinished(document: Document, verb: Any) -> list[Edit]:
    """Turn *the share of A is?* into *what is the share of A?* or *find the share of A.*."""
    end, last = tail(document, verb.i)
    if verb.i != end - 1:
        return []
    subjects = children(verb, "nsubj")
    if len(subjects) != 1 or subjects[0].right_edge.i + 1 != verb.i or subjects[0].right_edge.is_punct:
        return []
    start = subjects[0].left_edge.i
    if (
        not _starts_definite_noun_phrase(document.doc[start])
        or not starts_clause(document, start)
        or _has_spoiler(document, start, end)
    ):
        return []
    plural = is_plural(subjects[0])
    if plural is None or plural != (verb.lower_ in ("are", "were")):
        return []
    finish = document.end(last - 1)
    texts: list[tuple[tuple[Piece, ...], str]] = [((f"what {verb.lower_} ",), "?")]
    if not dangles(document, start):
        texts += [((f"{imperative.lower()} ",), ".") for imperative in _verbs(document, subjects[0])]
    edits = []
    for (lead,), mark in texts:
        pieces: tuple[Piece, ...] = (
            document.cased(start, str(lead)),
            document.ref(start, verb.i, "lower"),
            mark,
        )
        edits.append(Edit.single("question.is", document.start(start), finish, *pieces, frames=frame(document, verb.i)))
    return edits
