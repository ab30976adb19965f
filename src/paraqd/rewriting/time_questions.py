"""Convert between *In how many days will A finish the job?* and *How many days will A take to finish the job?*."""

from __future__ import annotations

from typing import Any

from paraqd.rewriting.document import Document
from paraqd.rewriting.edits import Edit, Piece
from paraqd.rewriting.grammar import SUBJECT_FORM
from paraqd.rewriting.how_questions import Asked, analyse, lead, whole_edit

_UNITS = frozenset("seconds minutes hours days weeks months years".split())
_WORKER_TAGS = frozenset("DT NN NNS NNP PRP CD CC JJ PRP$".split())


def time_edits(document: Document) -> list[Edit]:
    """Return the possible rewordings of questions that ask how long something takes."""
    edits: list[Edit] = []
    for token in document.doc:
        if token.lower_ not in ("how", "what"):
            continue
        found = analyse(document, token)
        if found is not None and found.subject is not None:
            edit = _how_long(document, found) or _in_what_time(document, found)
            if edit is not None:
                edits.append(edit)
    return edits


def _asked_time(document: Document, found: Asked) -> tuple[str, bool] | None:
    """Return the words that ask for a duration, such as *how many days*, and True if *in* precedes these words.

    Return None if the question does not ask for a duration.
    """
    words = [token.lower_ for token in document.doc[found.start : found.verb.i]]
    after_in = bool(words) and words[0] == "in"
    words = words[1:] if after_in else words
    phrase = " ".join(words)
    if phrase in ("how long", "how much time", "what time") or (
        len(words) == 3 and words[:2] == ["how", "many"] and words[2] in _UNITS
    ):
        return phrase, after_in
    return None


def _how_long(document: Document, found: Asked) -> Edit | None:
    """Turn *In what time will the train cross a bridge* into *How long will the train take to cross a bridge*."""
    asked = _asked_time(document, found)
    assert found.subject is not None
    start, stop = found.subject
    if asked is None or not asked[1] or found.main.i != stop or found.main.tag_ not in ("VB", "VBP"):
        return None
    if found.verb.lower_ not in ("will", "can", "did", "would") or found.main.lemma_ in ("be", "have", "take"):
        return None
    words = asked[0] if asked[0].startswith("how many") else "how long"
    aux = "will" if found.verb.lower_ == "can" else found.verb.lower_
    pieces: list[Piece] = [
        lead(document, found, f"{words} {aux} "),
        document.ref(start, stop),
        " take to ",
        document.ref(found.main.i, found.end),
    ]
    return whole_edit(document, found, "question.time", "?", *pieces)


def _in_what_time(document: Document, found: Asked) -> Edit | None:
    """Turn *How long will it take A to finish the job* into *In how much time will A finish the job*."""
    doc = document.doc
    asked = _asked_time(document, found)
    if asked is None or asked[1] or asked[0] == "what time" or found.main.lemma_ != "take":
        return None
    if found.verb.lower_ not in ("will", "does", "did", "would") or doc[found.verb.i + 1].lower_ != "it":
        return None
    start = found.main.i + 1
    if start < found.end and doc[start].lower_ == "for":
        start += 1
    to = next((t for t in doc[start : found.end] if t.lower_ == "to"), None)
    if to is None or to.i + 1 >= found.end or doc[to.i + 1].tag_ != "VB" or not _is_worker(doc[start : to.i]):
        return None
    worker: Piece = document.ref(start, to.i)
    if to.i - start == 1 and doc[start].lower_ in SUBJECT_FORM:
        form = SUBJECT_FORM[doc[start].lower_]
        worker = form if document.upper else form.lower()
    many = doc[to.i - 1].tag_ == "NNS" or doc[to.i - 1].lower_ in ("them", "us", "me", "you")
    many = many or any(t.tag_ == "CC" for t in doc[start : to.i])
    aux = "do" if many and found.verb.lower_ == "does" else found.verb.lower_
    words = asked[0] if asked[0].startswith("how many") else "how much time"
    pieces: list[Piece] = [
        lead(document, found, f"in {words} {aux} "),
        worker,
        " ",
        document.ref(to.i + 1, found.end),
    ]
    return whole_edit(document, found, "question.time", "?", *pieces)


def _is_worker(words: Any) -> bool:
    if not 0 < len(words) <= 5 or words[-1].tag_ not in ("NN", "NNS", "NNP", "PRP"):
        return False
    return all(token.tag_ in _WORKER_TAGS for token in words) and words[0].tag_ != "CC"
