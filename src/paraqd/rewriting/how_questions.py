"""Reword *how* questions: *How many pens did Tom buy?* → *Find the number of pens that Tom bought.*."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paraqd.rewriting.document import Document, children
from paraqd.rewriting.edits import Edit, Piece
from paraqd.rewriting.grammar import COMPARING, is_plain
from paraqd.rewriting.inflection import finite
from paraqd.rewriting.questions import (
    ASKING,
    ASKING_HOW,
    asked,
    dangles,
    frame,
    starts_clause,
    tail,
    with_mark,
)

_POSSESSIVE_OF = {"he": "his", "she": "her", "they": "their", "it": "its", "i": "my", "we": "our", "you": "your"}
_MOVING = frozenset("travel walk run drive go cycle ride swim jog hike fly move".split())
_SPENDING = frozenset("spend pay earn save owe invest donate".split())
_AMOUNTS = frozenset(
    "cost price profit loss bill total income salary share money interest change discount expense".split()
)
_PHRASE_TAGS = frozenset("JJ NN NNS NNP NNPS IN DT HYPH VBN VBG CD PRP$ POS JJS JJR RBR RB".split())
_SUBJECT_TAGS = frozenset("NNP NNPS NN NNS PRP DT PRP$ CD EX".split())
_ENDS = frozenset('how what : ; ( ) " “ ” = … whether'.split())


@dataclass(frozen=True)
class Asked:
    """The parts of a question clause such as *[how many apples] [did] [Tom] [buy] [on Monday]*.

    ``start`` is the index of the first token. ``subject`` is the subject's token range, or None if the question phrase
    itself is the subject (*how many students passed*). ``end`` and ``last`` are the results of ``questions.tail``.
    """

    start: int
    verb: Any  # the finite verb or auxiliary that follows the question phrase
    main: Any
    subject: tuple[int, int] | None
    end: int
    last: int


def how_edits(document: Document) -> list[Edit]:
    """Return the possible rewordings of *how* questions. At most one rewording can be applied per sentence."""
    edits: list[Edit] = []
    for token in document.doc:
        if token.lower_ != "how" and not (token.lower_ == "what" and token.i + 1 < len(document.doc)):
            continue
        found = analyse(document, token)
        if found is not None:
            edits += _as_request(document, found)
            edits += _as_number(document, found)
            edits += _as_amount(document, found)
            edits += _other_words(document, found)
    return edits


def analyse(document: Document, how: Any) -> Asked | None:
    """Return the parts of the question clause that starts at the token ``how``, or None if the clause is not simple."""
    doc = document.doc
    start = how.i
    if start > 0 and not how.is_sent_start and doc[start - 1].lower_ in ("in", "at", "by", "for", "on"):
        start -= 1
    if not starts_clause(document, start):
        return None
    end, last = tail(document, start)
    if not asked(document, end, last) or any(t.lower_ in _ENDS for t in doc[how.i + 1 : end]):
        return None
    verb = next((t for t in doc[how.i + 1 : end] if t.tag_ in ("MD", "VBZ", "VBP", "VBD")), None)
    if verb is None or verb.i - how.i > 8 or verb.i == how.i + 1 or not _simple(doc[how.i + 1 : verb.i]):
        return None
    if how.lower_ == "what" and doc[how.i + 1].lower_ not in (
        "percent",
        "percentage",
        "fraction",
        "time",
        "rate",
        "price",
        "%",
    ):
        return None
    if any(t.text == "," and doc[t.i + 1].tag_ in ("CC", "PRP", "VB") for t in doc[verb.i : end - 1]):
        return None
    if children(verb, "neg"):
        return None
    found = _by_parse(document, how.i, start, verb, end, last)
    return found or _by_tags(document, start, verb, end, last)


def _by_parse(document: Document, how: int, start: int, verb: Any, end: int, last: int) -> Asked | None:
    doc = document.doc
    main = verb.head if verb.dep_ in ("aux", "auxpass") else verb
    if main.i < verb.i or main.i >= end:
        return None
    if verb.lemma_ == "be" and verb.i + 1 < end and doc[verb.i + 1].lower_ == "there":
        return Asked(start, verb, main, (verb.i + 1, verb.i + 2), end, last) if main is verb else None
    subjects = [s for s in children(main, "nsubj", "nsubjpass", "expl") if s.i > verb.i]
    if subjects:
        subject = (subjects[0].left_edge.i, subjects[0].right_edge.i + 1)
        if len(subjects) > 1 or subject[0] != verb.i + 1 or not is_plain(subjects[0], limit=8):
            return None
        if verb.lemma_ == "do" and main.i != subject[1]:
            return None
        return Asked(start, verb, main, subject, end, last)
    following = doc[verb.i + 1] if verb.i + 1 < end else None
    if verb.lemma_ == "do" or (
        following is not None and following.tag_ in _SUBJECT_TAGS and verb.lemma_ in ("be", "have")
    ):
        return None  # the word order is inverted, but the parse has no subject
    before = [s for s in children(main, "nsubj", "nsubjpass") if how < s.i < verb.i]
    contiguous = all(t.dep_ in ("aux", "auxpass", "advmod") for t in doc[verb.i + 1 : main.i])
    if start != how or len(before) != 1 or before[0].i != _head_noun(doc, how, verb.i) or not contiguous:
        return None
    return Asked(start, verb, main, None, end, last)


def _by_tags(document: Document, start: int, verb: Any, end: int, last: int) -> Asked | None:
    """Find the parts of a clause such as *did Tom buy* from part-of-speech tags, in case the parse is wrong."""
    doc = document.doc
    if verb.tag_ != "MD" and verb.lower_ not in ("do", "does", "did"):
        return None
    stop = verb.i + 1
    while stop < end and doc[stop].tag_ in ("DT", "PRP$", "NN", "NNS", "NNP", "PRP") and stop - verb.i < 4:
        stop += 1
    if stop == verb.i + 1 or stop >= end or doc[stop].tag_ != "VB" or (verb.lemma_ == "be"):
        return None
    if doc[stop - 1].tag_ not in ("NN", "NNS", "NNP", "PRP"):
        return None
    return Asked(start, verb, doc[stop], (verb.i + 1, stop), end, last)


def _simple(phrase: Any) -> bool:
    return all(token.tag_ in _PHRASE_TAGS or token.lower_ in ("many", "much", "%") for token in phrase)


def _head_noun(doc: Any, how: int, verb: int) -> int:
    """Return the index of the head noun, such as *apples* in *how many red apples in the box*.

    The head noun is the last word before the first preposition.
    """
    if how + 2 < verb and doc[how + 2].lower_ == "of":
        return how + 1
    for i in range(how + 2, verb):
        if doc[i].tag_ == "IN":
            return i - 1
    return verb - 1


def _statement(document: Document, found: Asked) -> list[Piece] | None:
    """Return a question's words in the order of a statement: *did Tom buy on Monday* → *Tom bought on Monday*.

    Return None if the word order cannot be changed safely.
    """
    doc = document.doc
    if found.subject is None:
        return [document.ref(found.verb.i, found.end)]
    start, stop = found.subject
    if found.verb.lower_ in ("do", "does", "did") and found.verb is not found.main:
        if found.main.i != stop or found.main.tag_ not in ("VB", "VBP"):
            return None
        tense = "VBD" if found.verb.lower_ == "did" else "VBZ"
        form = finite(found.main.lemma_.lower(), tense, plural=found.verb.lower_ == "do")
        if form is None:
            return None
        rest: list[Piece] = [document.ref(stop, found.end)] if found.end > stop + 1 else []
        if rest:
            rest = [" ", document.ref(stop + 1, found.end)]
        return [document.ref(start, stop), f" {form}", *rest]
    if found.verb.lemma_ == "be" and found.verb is found.main and (stop - start > 3 or stop < found.end - 8):
        return None
    if found.end <= stop:
        return [document.ref(start, stop), f" {found.verb.lower_}"]
    if doc[stop].tag_ in ("DT", "NN", "NNS") and found.verb is found.main:
        return None
    return [document.ref(start, stop), f" {found.verb.lower_} ", document.ref(stop, found.end)]


def whole_edit(document: Document, found: Asked, family: str, mark: str, *pieces: Piece) -> Edit:
    """Return an edit that replaces the whole question clause and its final punctuation."""
    edit = Edit.single(
        family,
        document.start(found.start),
        document.end(found.end - 1),
        *pieces,
        frames=frame(document, found.start),
    )
    return with_mark(document, edit, found.end, found.last, mark)


def lead(document: Document, found: Asked, words: str) -> str:
    """Return ``words`` as the start of the new question, capitalised if the old question is capitalised."""
    return document.cased(found.start, words.lower())


def _as_request(document: Document, found: Asked) -> list[Edit]:
    """Turn *How many pens did Tom buy?* into *Work out how many pens Tom bought.*."""
    statement = _statement(document, found)
    if statement is None or (document.doc[found.start].lower_ == "what" and found.verb.lemma_ == "be"):
        return []
    if dangles(document, found.start):
        return []
    phrase = document.ref(found.start, found.verb.i, "lower")
    return [
        whole_edit(document, found, "question.request", ".", lead(document, found, f"{verb} "), phrase, " ", *statement)
        for verb in ASKING_HOW
    ]


def _as_number(document: Document, found: Asked) -> list[Edit]:
    """Turn *How many pens did Tom buy?* into *Find the number of pens that Tom bought.*."""
    doc = document.doc
    start = found.start
    after_in = doc[start].lower_ == "in"
    if after_in:
        start += 1
    if doc[start + 1].lower_ != "many" or start + 2 >= found.verb.i:
        return []
    phrase = doc[start + 2 : found.verb.i]
    if any(t.tag_ in ("IN", "DT", "POS", "CD", "RB") or t.lower_ in COMPARING or t.lower_ == "times" for t in phrase):
        return []
    if phrase[-1].tag_ not in ("NNS", "NNPS") and phrase[-1].lower_ != "people":
        return []
    if found.verb.lemma_ == "be" and found.verb is found.main:
        return _number_there_is(document, found, phrase)
    statement = _statement(document, found)
    if statement is None or (doc[start].is_sent_start and after_in):
        return []
    link = " in which " if after_in or phrase[-1].lower_ == "ways" else " that "
    if found.subject is None and after_in:
        return []
    if phrase[-1].lower_ == "ways" and found.subject is None:
        link = " that "
    noun = document.ref(phrase.start, phrase.end)
    leads = [("What is the number of ", "?")]
    if not dangles(document, found.start):
        leads += [(f"{verb} the number of ", ".") for verb in ASKING]
    return [
        whole_edit(document, found, "question.number", mark, lead(document, found, words), noun, link, *statement)
        for words, mark in leads
    ]


def _number_there_is(document: Document, found: Asked, phrase: Any) -> list[Edit]:
    """Turn *How many pens are there in the box?* into *Find the number of pens in the box.*."""
    doc = document.doc
    if found.subject is None or doc[found.subject[0]].lower_ != "there" or found.subject[1] - found.subject[0] != 1:
        return []
    rest = found.subject[1]
    if rest >= found.end or doc[rest].tag_ != "IN" or doc[rest].lower_ not in ("in", "on", "at", "between", "among"):
        return []
    if doc[rest + 1].lower_ in ("total", "all"):
        return []
    noun = document.ref(phrase.start, phrase.end)
    place = document.ref(rest, found.end)
    be = found.verb.lower_
    leads = [(f"What {'was' if be == 'were' else 'is'} the number of ", "?")]
    if not dangles(document, found.start):
        leads += [(f"{verb} the number of ", ".") for verb in ASKING]
    return [
        whole_edit(document, found, "question.there", mark, lead(document, found, words), noun, " ", place)
        for words, mark in leads
    ]


def _as_amount(document: Document, found: Asked) -> list[Edit]:
    """Turn *How much money did Tom spend?* into *Find the amount of money that Tom spent.*."""
    doc = document.doc
    start = found.start
    if doc[start].lower_ != "how" or doc[start + 1].lower_ != "much" or found.subject is None:
        return []
    statement = _statement(document, found)
    if statement is None or found.verb is found.main:
        return []
    phrase = doc[start + 2 : found.verb.i]
    if not len(phrase):
        if found.main.lemma_.lower() not in _SPENDING:
            return []
        noun: list[Piece] = ["the amount that "]
    elif len(phrase) == 1 and phrase[0].lower_ == "money":
        noun = ["the amount of ", document.ref(phrase.start, phrase.end), " that "]
    else:
        return []
    leads = [("What is ", "?")]
    if not dangles(document, found.start):
        leads += [(f"{verb} ", ".") for verb in (*ASKING, "Calculate")]
    return [
        whole_edit(document, found, "question.amount", mark, lead(document, found, words), *noun, *statement)
        for words, mark in leads
    ]


def _other_words(document: Document, found: Asked) -> list[Edit]:
    doc = document.doc
    start = found.start
    if doc[start].lower_ != "how" or found.subject is None:
        return []
    key = doc[start + 1].lower_
    alone = found.verb.i == start + 2
    if key == "long" and alone and found.main.lemma_ == "take":
        return [_replace_question_word(document, found, "How much time")]
    if key == "far" and alone and found.main.lemma_.lower() in _MOVING:
        return [_replace_question_word(document, found, "What distance")]
    if key == "fast" and alone and found.main.lemma_.lower() in _MOVING and found.main is not found.verb:
        return [_replace_question_word(document, found, "At what speed")]
    if key == "old" and alone and found.main.lemma_ == "be":
        return _age(document, found)
    if key == "much" and alone and found.main.lemma_ == "cost":
        return _cost(document, found)
    if key == "much" and alone and found.main is found.verb and found.verb.lemma_ == "be":
        return _how_much_is(document, found)
    return []


def _replace_question_word(document: Document, found: Asked, words: str) -> Edit:
    return Edit.single(
        "question.words",
        document.start(found.start),
        document.end(found.start + 1),
        lead(document, found, words),
        frames=frame(document, found.start),
    )


def _age(document: Document, found: Asked) -> list[Edit]:
    """Turn *How old is Tom now?* into *What is Tom's age now?*."""
    assert found.subject is not None
    start, stop = found.subject
    owner = document.surface(start, stop)
    if stop - start > 2 or owner.endswith(("s", ".")) or children(document.doc[start], "conj"):
        return []
    if document.doc[stop - 1].tag_ not in ("NNP", "NN", "PRP") or document.doc[stop - 1].lower_ in ("a", "b", "x", "y"):
        return []
    possessive = _POSSESSIVE_OF.get(owner.lower(), f"{owner}'s")
    modal = found.verb is not found.main
    rest = found.main.i + 1 if modal else stop
    if modal and found.main.i != stop:
        return []
    pieces: list[Piece] = [lead(document, found, f"what {found.verb.lower_} "), f"{possessive} age"]
    if modal:
        pieces.append(" be")
    if rest < found.end:
        pieces += [" ", document.ref(rest, found.end)]
    return [whole_edit(document, found, "question.age", "?", *pieces)]


def _cost(document: Document, found: Asked) -> list[Edit]:
    """Turn *How much do 5 pens cost?* into *What is the cost of 5 pens?*."""
    assert found.subject is not None
    start, stop = found.subject
    head = document.doc[stop - 1]
    if found.main.i != stop or head.tag_ not in ("NN", "NNS") or found.verb.lower_ not in ("do", "does", "did"):
        return []
    if stop + 1 < found.end and document.doc[stop + 1].lower_ not in ("per", "in", "if", "each"):
        return []
    be = "was" if found.verb.lower_ == "did" else "is"
    pieces: list[Piece] = [lead(document, found, f"what {be} the cost of "), document.ref(start, stop)]
    if stop + 1 < found.end:
        pieces += [" ", document.ref(stop + 1, found.end)]
    return [whole_edit(document, found, "question.cost", "?", *pieces)]


def _how_much_is(document: Document, found: Asked) -> list[Edit]:
    """Turn *How much is his profit?* into *What is his profit?*."""
    assert found.subject is not None
    start = found.subject[0]
    heads = [s for s in children(found.main, "nsubj") if s.i > found.verb.i]
    if not heads or heads[0].lemma_.lower() not in _AMOUNTS:
        return []
    if document.doc[start].lower_ not in ("the", "his", "her", "their", "its", "my"):
        return []
    return [_replace_question_word(document, found, "What")]
