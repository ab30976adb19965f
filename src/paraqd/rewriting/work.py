"""Convert between *A can do a job in 5 days*, *A takes 5 days to do a job* and *It takes A 5 days to do a job*."""

from __future__ import annotations

from typing import Any

from paraqd.rewriting.clause_shape import clean_clause, good_subject, starts_well
from paraqd.rewriting.document import Document, children
from paraqd.rewriting.edits import Edit, Piece
from paraqd.rewriting.grammar import OBJECT_FORM, SUBJECT_FORM, is_plain, is_plural, noun_phrase

_UNITS = frozenset("second minute hour day week month year hr min sec".split())
_WORK = frozenset(
    """do finish complete fill empty build paint dig type copy process make produce mow wash clean write read reap
    plough plow plant harvest pack sort assemble cross pass cover eat drain pump fold iron bake cook print""".split()
)
_ALONE = ("alone", "together")


def work_edits(document: Document) -> list[Edit]:
    """Return the edits that change *can do in N days* to *takes N days to do*, or the other way round."""
    edits: list[Edit] = []
    for token in document.doc:
        if token.lemma_ in _WORK:
            edits += _can_do(document, token)
        elif token.lower_ in ("take", "takes"):
            edits += _takes(document, token)
    return edits


def _duration(head: Any) -> bool:
    return bool(
        head.lemma_.lower() in _UNITS
        and [c.dep_ for c in head.children] in (["nummod"], ["nummod", "punct"])
        and head.i - head.left_edge.i <= 2
    )


def _clause_ends(doc: Any, verb: Any, end: int) -> bool:
    """Return True if the clause ends at token ``end``, at a full stop, a comma, or *and* before another clause."""
    if end >= len(doc) or doc[end].is_sent_start or doc[end].tag_ == ".":
        return True
    if doc[end].lower_ == "and" and doc[end].head == verb:
        return any(children(conj, "nsubj", "nsubjpass") for conj in children(verb, "conj"))
    if doc[end].text == ",":
        return verb.dep_ == "advcl" or any(children(c, "nsubj", "nsubjpass") for c in children(verb, "conj"))
    return False


def _can_do(document: Document, verb: Any) -> list[Edit]:
    doc = document.doc
    auxiliaries, subjects, things = children(verb, "aux"), children(verb, "nsubj"), children(verb, "dobj")
    if [a.lower_ for a in auxiliaries] != ["can"] or len(subjects) != 1 or len(things) != 1:
        return []
    subject, thing = subjects[0], things[0]
    start, stop = noun_phrase(subject)
    while stop < auxiliaries[0].i and doc[stop].lower_ in _ALONE:
        stop += 1
    thing_start, thing_end = noun_phrase(thing)
    if stop != auxiliaries[0].i or verb.i != stop + 1 or thing_start != verb.i + 1 or not clean_clause(verb):
        return []
    if not good_subject(subject) or not (is_plain(thing) or thing.lower_ == "it") or not starts_well(verb, start):
        return []
    if thing_end + 2 >= len(doc) or doc[thing_end].lower_ != "in" or doc[thing_end].head not in (verb, thing):
        return []
    times = children(doc[thing_end], "pobj")
    if len(times) != 1 or not _duration(times[0]) or times[0].left_edge.i != thing_end + 1:
        return []
    end = times[0].i + 1
    plural = is_plural(subject)
    if plural is None or not _clause_ends(doc, verb, end):
        return []
    if subject.tag_ == "NNS" and thing.tag_ == "NNS":  # *8 men can dig 4 holes* may mean 4 holes each or 4 holes in all
        return []
    time, work = document.ref(thing_end + 1, end), document.ref(verb.i, thing_end)
    who: Piece = OBJECT_FORM.get(subject.lower_) or document.ref(start, stop, "lower")
    span = document.start(start), document.end(end - 1)
    active = (document.ref(start, stop), " take " if plural else " takes ", time, " to ", work)
    impersonal = (document.cased(start, "it takes "), who, " ", time, " to ", work)
    edits = [Edit.single("work.takes", *span, *active)]
    if stop - start <= 4 and doc[stop - 1].lower_ not in _ALONE and document.surface(start, stop) != "a":
        edits.append(Edit.single("work.takes", *span, *impersonal))
    return edits


def _takes(document: Document, verb: Any) -> list[Edit]:
    """Turn *A takes 5 days to do a job* into *A can do a job in 5 days*."""
    doc = document.doc
    subjects = children(verb, "nsubj")
    if len(subjects) != 1 or children(verb, "aux", "neg") or verb.dep_ not in ("ROOT", "conj", "advcl"):
        return []
    if any(other.lemma_ == "take" for other in (*children(verb, "conj"), verb.head) if other != verb):
        return []  # in *A takes 3 and B takes 4 days to finish*, the work belongs to both workers
    subject = subjects[0]
    start, stop = noun_phrase(subject)
    while stop < verb.i and doc[stop].lower_ in _ALONE:
        stop += 1
    works = [w for w in children(verb, "xcomp", "advcl") if w.lemma_ in _WORK and w.i > verb.i]
    if stop != verb.i or len(works) != 1 or not starts_well(verb, start):
        return []
    work = works[0]
    if [a.lower_ for a in children(work, "aux")] != ["to"] or len(children(work, "dobj")) != 1:
        return []
    thing = children(work, "dobj")[0]
    end = thing.right_edge.i + 1
    if thing.left_edge.i != work.i + 1 or not (is_plain(thing) or thing.lower_ == "it"):
        return []
    if {c.dep_ for c in work.children} - {"aux", "dobj"} or not _clause_ends(doc, verb, end):
        return []
    time_end = work.i - 1
    time = doc[time_end - 1]
    if not _duration(time):
        return []
    time_start = time.left_edge.i
    if subject.lower_ == "it" and time_start > verb.i + 1:
        worker = doc[verb.i + 1 : time_start]
        return _personal(document, start, worker, (time_start, time_end), (work.i, end))
    if subject.lower_ in ("it", "that", "this") or time_start != verb.i + 1 or not good_subject(subject):
        return []
    return [
        Edit.single(
            "work.can",
            document.start(start),
            document.end(end - 1),
            document.ref(start, stop),
            " can ",
            document.ref(work.i, end),
            " in ",
            document.ref(time_start, time_end),
        )
    ]


def _personal(document: Document, start: int, worker: Any, time: tuple[int, int], work: tuple[int, int]) -> list[Edit]:
    """Turn *It takes A 5 days to do a job* into *A can do a job in 5 days*."""
    if any(t.tag_ not in ("DT", "NN", "NNP", "NNS", "PRP", "CD", "CC") for t in worker) or len(worker) > 4:
        return []
    if worker[-1].tag_ not in ("NN", "NNP", "NNS", "PRP") or worker[0].tag_ == "CC":
        return []
    who: Piece
    if worker[0].lower_ in SUBJECT_FORM and len(worker) == 1:
        who = document.cased(start, SUBJECT_FORM[worker[0].lower_])
    else:
        who = document.ref(worker.start, worker.end, document.like(start))
    return [
        Edit.single(
            "work.can",
            document.start(start),
            document.end(work[1] - 1),
            who,
            " can ",
            document.ref(*work),
            " in ",
            document.ref(*time),
        )
    ]
