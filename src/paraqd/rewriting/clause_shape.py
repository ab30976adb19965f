"""Check that a clause has the simple structure that a change of voice requires."""

from __future__ import annotations

from typing import Any

from paraqd.rewriting.document import children
from paraqd.rewriting.grammar import (
    COMPARING,
    MEASURE_NOUNS,
    POSSESSIVE,
    REFLEXIVE,
    is_money,
    is_plain,
    is_plural,
)
from paraqd.rewriting.verbs import MONEY_VERBS

NOUN_TAGS = ("NN", "NNS", "NNP", "NNPS")
FOCUS = frozenset("only even just also too each apiece respectively either neither both no few not never".split())
INTERROGATIVE = frozenset("what which how whose who that".split())
_CLAUSE_CHILDREN = frozenset(
    "nsubj nsubjpass dobj aux auxpass agent prep advmod npadvmod punct mark cc conj advcl attr dative ccomp".split()
)
_SPOILERS = frozenset("\"'“”‘’():;=") | {"than", "respectively", "as"}
_MARKS = frozenset("if when because after before while".split())
_ADVERBIAL = frozenset(
    """in on at for from to during after before within among between into over when if yesterday today tomorrow daily
    weekly altogether together later afterwards online""".split()
)
_GIVING = frozenset("give lend send sell pay deliver donate distribute bring carry add transport throw mail".split())
_NOT_SUBJECTS = frozenset("it you there this that which who what these those all both each none one".split())
_WORK = frozenset("work job task homework piece project assignment".split())
_NEVER_OBJECTS = frozenset("average mean way".split())
_NOT_OBJECTS = {
    "make": frozenset("profit loss money gain sense trip progress difference call use journey".split()),
    "cross": frozenset("path".split()),
    "pass": frozenset("time test exam examination law".split()),
    "play": frozenset("role part".split()),
    "reach": frozenset("conclusion".split()),
    "lose": frozenset("weight".split()),
    "break": frozenset("record".split()),
    "give": frozenset("birth answer result".split()),
    "find": frozenset("number value".split()),
    "drive": frozenset("distance".split()),
    "complete": frozenset("journey trip lap round".split()),
}


def clean_clause(verb: Any) -> bool:
    """Return True if a verb heads a simple main clause or a simple clause after *if*, *and* or a similar word."""
    if verb.dep_ == "advcl":
        if not _has_conjunction(verb):
            return False
    elif verb.dep_ == "conj":
        if not children(verb, "nsubj", "nsubjpass") or not children(verb.head, "nsubj", "nsubjpass"):
            return False
    elif verb.dep_ != "ROOT":
        return False
    if not all(_clean_child(child, verb) for child in verb.children):
        return False
    return not {token.lower_ for token in verb.subtree} & _SPOILERS and not _is_continued(verb)


def _clean_child(child: Any, verb: Any) -> bool:
    if child.dep_ not in _CLAUSE_CHILDREN:
        return False
    if child.dep_ == "conj":
        return bool(children(child, "nsubj", "nsubjpass"))
    if child.dep_ == "ccomp":
        return bool(child.i < verb.i)
    if child.dep_ == "advcl":
        return _has_conjunction(child)
    # a preposition after the verb needs a noun as its object; *before crying* has none
    if child.dep_ == "prep" and child.i > verb.i:
        return bool(children(child, "pobj"))
    return bool(child.dep_ != "dative" or child.tag_ == "IN" or child.i < verb.i)


def _has_conjunction(clause: Any) -> bool:
    return any(mark.lower_ in _MARKS for mark in children(clause, "mark", "advmod"))


def _is_continued(verb: Any) -> bool:
    """Return True if the next sentence has no subject or verb of its own, as in *… for $5. And sold it …*."""
    end = verb.sent.end
    if end >= len(verb.doc):
        return False
    following = verb.doc[end]
    return following.tag_ in ("CC", "VBD", "VBZ") or following.sent.root.pos_ not in ("VERB", "AUX")


def movable(head: Any) -> bool:
    """Return True if a noun phrase is simple and contains no words that refer back, compare or ask."""
    words = {token.lower_ for token in head.subtree}
    if words & (POSSESSIVE | REFLEXIVE | COMPARING | FOCUS | INTERROGATIVE | {"every", "per"}) or not is_plain(head):
        return False
    # *gave Ann 5 pens* has two phrases, even if the parser finds only one
    return not any(
        token.tag_ == "CD" and token.nbor(-1).pos_ in ("NOUN", "PROPN", "PRON")
        for token in head.subtree
        if token.i > head.left_edge.i
    )


def good_subject(head: Any) -> bool:
    """Return True if a subject can be turned into a *by* phrase."""
    if head.lower_ in _NOT_SUBJECTS or head.tag_ not in (*NOUN_TAGS, "PRP"):
        return False
    if head.tag_ == "PRP" and head.left_edge.i != head.right_edge.i:  # as in *he and Ann*
        return False
    words = {token.lower_ for token in head.subtree}
    return is_plain(head) and not words & (REFLEXIVE | COMPARING | (FOCUS - {"each"}) | INTERROGATIVE | {"there"})


def good_object(head: Any, lemma: str) -> bool:
    """Return True if ``head``, an object of the verb ``lemma``, can become the subject of a passive clause."""
    if head.lower_ in ("it", "them"):
        return True
    if is_money(head):
        return lemma in MONEY_VERBS and all(token.tag_ in ("$", "CD") for token in head.subtree)
    if head.tag_ not in NOUN_TAGS or not movable(head):
        return False
    noun = head.lemma_.lower()
    if head.lower_ in MEASURE_NOUNS:
        return bool(lemma == "cover" and noun == "distance")
    if lemma == "do" and noun not in _WORK:
        return False
    return noun not in _NEVER_OBJECTS and noun not in _NOT_OBJECTS.get(lemma, ())


def follows_well(verb: Any, after: int) -> bool:
    """Return True if the rest of a clause, from token ``after`` on, can stay in place when the voice changes."""
    doc = verb.doc
    stop = min([conj.left_edge.i for conj in children(verb, "conj") if conj.i > verb.i] + [verb.right_edge.i + 1])
    rest = doc[after:stop]
    while len(rest) and (rest[-1].is_punct or (rest[-1].tag_ == "CC" and rest[-1].head == verb)):
        rest = rest[:-1]
    # the words after *and* may be a clause that omits its verb: *… in 8 hours and pipe B in 4 hours*
    if any(token.tag_ == "CC" or token.text == "," or token.lower_ in FOCUS - {"each"} for token in rest):
        return False
    if len(rest) > 1 and rest[0].lower_ == "to" and rest[1].tag_ != "VB" and verb.lemma_ not in _GIVING:
        return False  # in *bought tickets to the show*, the show belongs to the tickets
    if len(rest):
        return rest[0].lower_ in _ADVERBIAL or "npadvmod" in (rest[0].dep_, rest[0].head.dep_)
    following = doc[after] if after < len(doc) and not doc[after].is_sent_start else None
    if following is None or following.tag_ == ".":
        return True
    if following.text == "," and verb.dep_ == "advcl":
        return _main_starts(verb, after + 1)
    return following.head == verb or (verb.dep_ in ("advcl", "conj") and following.i > verb.right_edge.i)


def _main_starts(verb: Any, i: int) -> bool:
    """Return True if a main clause starts at token ``i``, after the subordinate clause headed by ``verb``."""
    if i >= len(verb.doc):
        return False
    if verb.doc[i].lower_ in ("how", "what", "which", "find", "then", "in", "at", "by", "calculate", "determine"):
        return True
    subjects = children(verb.head, "nsubj", "nsubjpass", "expl")
    return len(subjects) == 1 and subjects[0].left_edge.i == i and verb.doc[subjects[0].right_edge.i + 1].text != ","


def starts_well(verb: Any, start: int) -> bool:
    """Return True if the clause headed by ``verb`` starts at token ``start``."""
    if verb.doc[start].is_sent_start:
        return True
    before = verb.doc[start - 1]
    if before.tag_ == "CC":
        return bool(verb.dep_ == "conj" and before.head == verb.head)
    return before.text == "," or before.dep_ in ("mark", "advmod") or before.lower_ in ("if", "when", "then")


def agrees(subject: Any, first: Any) -> bool:
    """Return True if the subject agrees with ``first``, the first word of its verb group.

    If they do not agree, either the parse or the sentence is wrong.
    """
    plural = is_plural(subject)
    if plural is None:
        return False
    if first.tag_ == "VBZ" or first.lower_ in ("is", "was", "has", "does"):
        return not plural or (subject.lower_ == "i" and first.lower_ == "was")
    if first.tag_ == "VBP" or first.lower_ in ("are", "were", "have", "do"):
        return plural
    return True


def distributes(subject: Any, thing: Any, auxiliaries: list[Any]) -> bool:
    """Return True if each member of a plural subject may act separately, as in *three customers bought two melons*.

    The passive would hide this meaning.
    """
    if is_money(thing):
        return is_plural(subject) is not False
    if subject.tag_ not in ("NNS", "NNPS") or any(aux.lower_ in ("can", "could") for aux in auxiliaries):
        return False
    return any(child.dep_ == "nummod" or child.lower_ in ("a", "an") for child in thing.children)
