"""Change clauses from the active to the passive voice, or from the passive to the active voice.

Only clauses with a simple structure are changed: one subject, a verb from a fixed list and one object, with nothing in
between.
"""

from __future__ import annotations

from typing import Any

from paraqd.rewriting.clause_shape import (
    FOCUS,
    NOUN_TAGS,
    agrees,
    clean_clause,
    distributes,
    follows_well,
    good_object,
    good_subject,
    movable,
    starts_well,
)
from paraqd.rewriting.document import Document, children
from paraqd.rewriting.edits import Edit, Piece
from paraqd.rewriting.grammar import (
    COMPARING,
    MEASURE_NOUNS,
    OBJECT_FORM,
    POSSESSIVE,
    REFLEXIVE,
    SUBJECT_FORM,
    is_plain,
    is_plural,
    noun_phrase,
)
from paraqd.rewriting.inflection import finite, inflect
from paraqd.rewriting.verbs import MONEY_VERBS, TRANSITIVE, active_words, group, passive_words

_NOT_AGENTS = frozenset(
    """number integer x y z n k hand bus train car bicycle bike foot mail plane boat mistake default chance means way
    amount sum remainder profit loss""".split()
)
_ALONE = ("alone", "together")


def voice_edits(document: Document) -> list[Edit]:
    """Return one edit for each clause whose voice can be changed."""
    edits: list[Edit] = []
    for verb in document.doc:
        if verb.pos_ in ("VERB", "AUX") and (verb.is_lower or verb.is_sent_start):
            edit = _voice_edit(document, verb)
            if edit is not None:
                edits.append(edit)
    return edits


def _voice_edit(document: Document, verb: Any) -> Edit | None:
    if verb.dep_ == "acl":
        return _participle_to_clause(document, verb)
    if verb.lemma_.lower() not in TRANSITIVE:
        return None
    if verb.dep_ == "relcl":
        return _clause_to_participle(document, verb)
    if not clean_clause(verb):
        return None
    if children(verb, "auxpass"):
        return _active_question(document, verb) or _active_statement(document, verb)
    return _passive_question(document, verb) or _inverted_question(document, verb) or _passive_statement(document, verb)


def _auxiliaries_before(verb: Any) -> list[Any]:
    return [child for child in children(verb, "aux", "auxpass") if child.i < verb.i]


def _new_subject(document: Document, thing: Any, start: int) -> Piece:
    """Return the old clause's object as the new clause's subject, which is placed at token ``start``."""
    if thing.lower_ in ("it", "them"):
        return document.cased(start, SUBJECT_FORM[thing.lower_])
    return document.ref(*noun_phrase(thing), document.like(start))


def _new_agent(document: Document, subject: Any, end: int) -> Piece:
    return OBJECT_FORM.get(subject.lower_) or document.ref(subject.left_edge.i, end, "lower")


def _end_with_alone(document: Document, end: int, stop: int) -> int:
    """Return the end of a noun phrase, extended past *alone* or *together* if either word follows."""
    while end < stop and document.doc[end].lower_ in _ALONE:
        end += 1
    return end


def _object_is_plural(thing: Any) -> bool | None:
    return True if thing.lower_ == "them" else is_plural(thing)


def _passive_statement(document: Document, verb: Any) -> Edit | None:
    """Turn *Tom bought 5 apples* into *5 apples were bought by Tom*."""
    subjects, objects, auxiliaries = children(verb, "nsubj"), children(verb, "dobj"), _auxiliaries_before(verb)
    if len(subjects) != 1 or len(objects) != 1 or children(verb, "dative", "attr"):
        return None
    subject, thing = subjects[0], objects[0]
    first = auxiliaries[0] if auxiliaries else verb
    start, subject_end = noun_phrase(subject)
    subject_end = _end_with_alone(document, subject_end, first.i)
    thing_start, end = noun_phrase(thing)
    if subject_end != first.i or verb.i != first.i + len(auxiliaries) or thing_start != verb.i + 1:
        return None
    if not (good_subject(subject) and good_object(thing, verb.lemma_.lower()) and agrees(subject, first)):
        return None
    if distributes(subject, thing, auxiliaries) or not (follows_well(verb, end) and starts_well(verb, start)):
        return None
    verbs, plural = group(auxiliaries, verb, passive=False), _object_is_plural(thing)
    if verbs is None or plural is None or (auxiliaries and first.lower_ in ("do", "does", "did")):
        return None
    words = passive_words(verbs, plural=plural)
    if words is None:
        return None
    return Edit.single(
        "voice",
        document.start(start),
        document.end(end - 1),
        _new_subject(document, thing, start),
        f" {' '.join(words)} by ",
        _new_agent(document, subject, subject_end),
    )


def _asked_phrase(document: Document, aux: Any) -> tuple[bool, bool] | None:
    """Describe a phrase such as *how many apples* or *how much money* before an auxiliary.

    The first result is True if the phrase contains a noun, and the second is True if the noun is plural. Return None if
    there is no such phrase.
    """
    doc = document.doc
    for i in range(aux.i - 2, max(aux.i - 9, aux.sent.start) - 1, -1):
        if doc[i].lower_ != "how" or doc[i + 1].lower_ not in ("many", "much"):
            continue
        phrase = doc[i + 2 : aux.i]
        many = doc[i + 1].lower_ == "many"
        if not len(phrase):
            return None if many else (False, False)
        if any(t.tag_ not in ("JJ", "NN", "NNS", "NNP", "IN", "DT", "HYPH", "VBG", "VBN") for t in phrase):
            return None
        if any(t.lower_ in COMPARING | MEASURE_NOUNS | POSSESSIVE for t in phrase):
            return None
        if any(t.tag_ == "IN" and t.lower_ != "of" for t in phrase):
            return None
        if many and not any(t.tag_ == "NNS" or t.lower_ == "people" for t in phrase):
            return None
        return True, many
    return None


def _passive_question(document: Document, verb: Any) -> Edit | None:
    """Turn *How many apples did Tom buy* into *How many apples were bought by Tom*."""
    auxiliaries = _auxiliaries_before(verb)
    if len(auxiliaries) != 1 or any(t.i > verb.i for t in children(verb, "dobj", "dative", "attr")):
        return None
    aux = auxiliaries[0]
    subjects = [subject for subject in children(verb, "nsubj") if aux.i < subject.i < verb.i]
    asked = _asked_phrase(document, aux)
    if len(subjects) != 1 or asked is None:
        return None
    subject = subjects[0]
    start, end = noun_phrase(subject)
    if start != aux.i + 1 or end != verb.i or not good_subject(subject) or not follows_well(verb, verb.i + 1):
        return None
    if not asked[0] and verb.lemma_.lower() not in MONEY_VERBS:
        return None
    if aux.tag_ != "MD" and not agrees(subject, aux):
        return None
    verbs = group([aux], verb, passive=False)
    words = passive_words(verbs, plural=asked[1]) if verbs else None
    if words is None:
        return None
    agent = _new_agent(document, subject, end)
    return Edit.single("voice", document.start(aux.i), document.end(verb.i), f"{' '.join(words)} by ", agent)


def _inverted_question(document: Document, verb: Any) -> Edit | None:
    """Turn *In how many days will A finish the work* into *In how many days will the work be finished by A*."""
    auxiliaries, things, subjects = _auxiliaries_before(verb), children(verb, "dobj"), children(verb, "nsubj")
    if (
        len(auxiliaries) != 1
        or len(things) != 1
        or len(subjects) != 1
        or any(child.i > verb.i for child in children(verb, "dative", "attr"))
    ):
        return None
    aux, thing, subject = auxiliaries[0], things[0], subjects[0]
    start, subject_end = noun_phrase(subject)
    subject_end = _end_with_alone(document, subject_end, verb.i)
    thing_start, end = noun_phrase(thing)
    if start != aux.i + 1 or subject_end != verb.i or thing_start != verb.i + 1 or aux.i - 4 < aux.sent.start:
        return None
    asked = [token.lower_ for token in document.doc[aux.i - 4 : aux.i - 1]]
    if asked[:2] != ["in", "how"] or document.doc[aux.i - 1].lower_ not in MEASURE_NOUNS:
        return None
    if not (good_subject(subject) and good_object(thing, verb.lemma_.lower()) and follows_well(verb, end)):
        return None
    verbs, plural = group([aux], verb, passive=False), _object_is_plural(thing)
    words = passive_words(verbs, plural=plural) if verbs and plural is not None else None
    if words is None:
        return None
    return Edit.single(
        "voice",
        document.start(aux.i),
        document.end(end - 1),
        f"{words[0]} ",
        _new_subject(document, thing, aux.i),
        f" {words[1]} by ",
        _new_agent(document, subject, subject_end),
    )


def _agent(verb: Any) -> tuple[Any, Any, int] | None:
    """Return the token *by*, the agent's head and the index after the agent, or None if no simple agent exists."""
    found = children(verb, "agent")
    if len(found) != 1 or found[0].lower_ != "by":
        return None
    heads = children(found[0], "pobj")
    if len(heads) != 1 or found[0].i + 1 != heads[0].left_edge.i:
        return None
    head = heads[0]
    if head.tag_ not in (*NOUN_TAGS, "PRP") or head.lemma_.lower() in _NOT_AGENTS | MEASURE_NOUNS:
        return None
    if not is_plain(head) or any(t.lower_ in COMPARING | REFLEXIVE | FOCUS for t in head.subtree):
        return None
    if head.tag_ == "PRP" and head.left_edge.i != head.right_edge.i:  # as in *him and Ann*
        return None
    return found[0], head, head.right_edge.i + 1


def _agent_is_plural(head: Any) -> bool | None:
    return head.lower_ in ("me", "us", "them", "you") if head.lower_ in SUBJECT_FORM else is_plural(head)


def _passive_core(document: Document, verb: Any) -> tuple[list[Any], Any, Any, int] | None:
    """Return a passive clause's auxiliaries, its token *by*, the agent's head and the index after the agent.

    Return None if the clause is not simple.
    """
    auxiliaries, agent = _auxiliaries_before(verb), _agent(verb)
    if agent is None or not auxiliaries or children(verb, "dobj", "attr", "nsubj"):
        return None
    by, head, end = agent
    end = _end_with_alone(document, end, len(document.doc))
    if verb.i != auxiliaries[0].i + len(auxiliaries) or not follows_well(verb, end):
        return None
    if any(t.text == "," or t.tag_ in ("CC", "WDT", "WP") for t in document.doc[verb.i + 1 : by.i]):
        return None
    return auxiliaries, by, head, end


def _active_statement(document: Document, verb: Any) -> Edit | None:
    """Turn *5 apples were bought by Tom* into *Tom bought 5 apples*."""
    core, subjects = _passive_core(document, verb), children(verb, "nsubjpass")
    if core is None or len(subjects) != 1:
        return None
    auxiliaries, by, head, end = core
    thing = subjects[0]
    start, thing_end = noun_phrase(thing)
    if not starts_well(verb, start) or thing_end != auxiliaries[0].i or not agrees(thing, auxiliaries[0]):
        return None
    pronoun = thing.lower_ in ("it", "they")
    if not pronoun and (thing.tag_ not in NOUN_TAGS or not movable(thing)):
        return None
    verbs, plural = group(auxiliaries, verb, passive=True), _agent_is_plural(head)
    words = active_words(verbs, plural=plural, question=False) if verbs and plural is not None else None
    if words is None:
        return None
    pieces: list[Piece] = [
        document.cased(start, SUBJECT_FORM[head.lower_])
        if head.lower_ in SUBJECT_FORM
        else document.ref(by.i + 1, end, document.like(start)),
        f" {' '.join(filter(None, words))} ",
        OBJECT_FORM[thing.lower_] if pronoun else document.ref(start, thing_end, "lower"),
    ]
    if by.i > verb.i + 1:
        pieces += [" ", document.ref(verb.i + 1, by.i)]
    return Edit.single("voice", document.start(start), document.end(end - 1), *pieces)


def _active_question(document: Document, verb: Any) -> Edit | None:
    """Turn *How many apples were bought by Tom* into *How many apples did Tom buy*."""
    core = _passive_core(document, verb)
    if core is None or _asked_phrase(document, core[0][0]) is None:
        return None
    auxiliaries, by, head, end = core
    verbs, plural = group(auxiliaries, verb, passive=True), _agent_is_plural(head)
    words = active_words(verbs, plural=plural, question=True) if verbs and plural is not None else None
    if words is None:
        return None
    pieces: list[Piece] = [
        f"{words[0]} ",
        SUBJECT_FORM.get(head.lower_) or document.ref(by.i + 1, end),
        f" {words[1]}",
    ]
    if by.i > verb.i + 1:
        pieces += [" ", document.ref(verb.i + 1, by.i)]
    return Edit.single("voice", document.start(auxiliaries[0].i), document.end(end - 1), *pieces)


_AFTER_RELATIVE = frozenset("to in at for on from during is was are were will ? . , if when".split())
_NOT_OBJECT_HEADS = frozenset("day week month year hour minute way reason place moment".split())


def _ends_well(verb: Any, end: int) -> bool:
    doc = verb.doc
    return end >= len(doc) or doc[end].is_sent_start or doc[end].lower_ in _AFTER_RELATIVE


def _participle_to_clause(document: Document, verb: Any) -> Edit | None:
    """Turn *the time taken by Tom to …* into *the time that Tom takes to …*."""
    agent = _agent(verb)
    lemma = verb.lemma_.lower()
    if agent is None or verb.tag_ != "VBN" or lemma not in TRANSITIVE | {"take", "require", "need", "travel"}:
        return None
    by, head, end = agent
    end = _end_with_alone(document, end, len(document.doc))
    if by.i != verb.i + 1 or verb.head.i >= verb.i or children(verb, "conj") or not _ends_well(verb, end):
        return None
    if document.doc[verb.i - 1].tag_ not in NOUN_TAGS or head.lower_ in SUBJECT_FORM or _agent_is_plural(head) is None:
        return None
    past = any(token.tag_ == "VBD" for token in document.doc)
    form = finite(lemma, "VBD" if past else "VBZ", plural=bool(_agent_is_plural(head)))
    if form is None:
        return None
    subject = document.ref(by.i + 1, end)
    return Edit.single("voice", document.start(verb.i), document.end(end - 1), "that ", subject, f" {form}")


def _clause_to_participle(document: Document, verb: Any) -> Edit | None:
    """Turn *the apples (that) Tom bought* into *the apples bought by Tom*."""
    subjects = children(verb, "nsubj")
    if verb.tag_ != "VBD" or verb.lemma_ == "do" or len(subjects) != 1 or verb.head.lemma_.lower() in _NOT_OBJECT_HEADS:
        return None
    subject = subjects[0]
    start, end = noun_phrase(subject)
    others = [child for child in verb.children if child != subject and child.dep_ not in ("prep", "punct")]
    if any(child.lower_ not in ("that", "which") for child in others) or end != verb.i or not good_subject(subject):
        return None
    if any(not children(prep, "pobj") for prep in children(verb, "prep")) or not _ends_well(verb, verb.i + 1):
        return None
    if start > 0 and document.doc[start - 1].lower_ in ("that", "which"):
        start -= 1
    participle = inflect(verb.lemma_.lower(), "VBN")
    if participle is None or start == 0 or document.doc[start - 1].tag_ not in ("NN", "NNS"):
        return None
    agent = _new_agent(document, subject, end)
    return Edit.single("voice", document.start(start), document.end(verb.i), f"{participle} by ", agent)
