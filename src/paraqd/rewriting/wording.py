"""Reword fixed phrases: *at 60 kmph* ↔ *at a speed of 60 kmph*, *a number which is* ↔ *a number that is*."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from paraqd.rewriting.document import Document, children
from paraqd.rewriting.edits import Edit, Replacement
from paraqd.rewriting.grammar import is_plural
from paraqd.rewriting.questions import tail

_SPEED = frozenset("mph kmph kmh km/hr km/h kph".split())
_PEOPLE = frozenset("person people man men woman women boy girl student child friend worker employee member".split())
_PERSON_ENDINGS = ("er", "ers", "or", "ors", "ist", "ists", "man", "men", "ee", "ees", "ian", "ians")
_AGES = frozenset("age salary population".split())
_UNREAL = frozenset("were had would could".split())


def wording_edits(document: Document) -> list[Edit]:
    """Return the possible rewordings of fixed phrases."""
    edits = _job(document)
    for token in document.doc:
        for rule in _RULES.get(token.lower_, ()):
            edits += rule(document, token)
    return edits


def _replace_tokens(document: Document, i: int, j: int, *words: str) -> list[Edit]:
    return [Edit.single("wording", document.start(i), document.end(j - 1), document.cased(i, word)) for word in words]


def _has_words_at(document: Document, i: int, words: str) -> bool:
    return " ".join(token.lower_ for token in document.doc[i : i + len(words.split())]) == words


def _word_at(document: Document, i: int) -> str:
    return str(document.doc[i].lower_) if 0 <= i < len(document.doc) else ""


def _at_speed(document: Document, token: Any) -> list[Edit]:
    doc, i = document.doc, token.i
    for phrase in ("at a speed of", "at the speed of"):
        if (
            _has_words_at(document, i, phrase)
            and i + 5 < len(doc)
            and doc[i + 4].tag_ == "CD"
            and _word_at(document, i + 5) in _SPEED
        ):
            return _replace_tokens(
                document, i, i + 4, "at", "at a speed of" if phrase.startswith("at the") else "at a rate of"
            )
    if i + 2 < len(doc) and doc[i + 1].tag_ == "CD" and _word_at(document, i + 2) in _SPEED:
        if _word_at(document, i + 3) in ("and", "&", ",", "or") and i + 4 < len(doc) and doc[i + 4].tag_ == "CD":
            return []
        return _replace_tokens(document, i, i + 1, "at a speed of")
    if _has_words_at(document, i, "at the rate of"):
        return _replace_tokens(document, i, i + 4, "at a rate of")
    if _has_words_at(document, i, "at the same time"):
        return (
            _replace_tokens(document, i, i + 4, "simultaneously")
            if _word_at(document, i + 4) in (".", ",", "?")
            else []
        )
    return []


def _with_speed(document: Document, token: Any) -> list[Edit]:
    return (
        _replace_tokens(document, token.i, token.i + 4, "at a speed of")
        if _has_words_at(document, token.i, "with a speed of")
        else []
    )


def _ratio(document: Document, token: Any) -> list[Edit]:
    doc, i = document.doc, token.i
    if _has_words_at(document, i, "in the ratio of") and i + 4 < len(doc) and doc[i + 4].tag_ == "CD":
        return _replace_tokens(document, i, i + 4, "in the ratio")
    if _has_words_at(document, i, "in the ratio") and i + 3 < len(doc) and doc[i + 3].tag_ == "CD":
        return _replace_tokens(document, i, i + 3, "in the ratio of")
    return []


def _equal(document: Document, token: Any) -> list[Edit]:
    if (
        _has_words_at(document, token.i + 1, "equal to")
        and children(token, "nsubj")
        and not children(token, "neg", "aux")
    ):
        return _replace_tokens(document, token.i, token.i + 3, "equals" if token.lower_ == "is" else "equal")
    return []


def _equals(document: Document, token: Any) -> list[Edit]:
    plain = children(token, "nsubj") and _word_at(document, token.i + 1) != "to"
    return _replace_tokens(document, token.i, token.i + 1, "is equal to") if plain else []


def _consists(document: Document, token: Any) -> list[Edit]:
    if _word_at(document, token.i + 1) != "of" or token.tag_ not in ("VBZ", "VBP"):
        return []
    return _replace_tokens(document, token.i, token.i + 2, "is made up of" if token.tag_ == "VBZ" else "are made up of")


def _remaining(document: Document, token: Any) -> list[Edit]:
    """Turn *the remaining pens* into *the rest of the pens*."""
    doc, i = document.doc, token.i
    if i < 1 or i + 2 >= len(doc) or doc[i - 1].lower_ != "the" or doc[i + 1].tag_ not in ("NNS", "NN"):
        return []
    if (
        doc[i + 1].lower_ in ("ones", "two", "three")
        or doc[i + 1].dep_ == "compound"
        or doc[i + 2].tag_ in ("NN", "NNS", "CD", "IN", "POS")
        or token.dep_ != "amod"
    ):
        return []
    if doc[i + 1].tag_ == "NN" and doc[i + 1].lower_ not in ("money", "work", "amount", "job", "distance"):
        return []
    before = doc[i - 2].lower_ if i > 1 else ""
    return _replace_tokens(document, i - 1, i + 1, "the rest of the") if before not in ("of", "all") else []


def _sum_of_money(document: Document, token: Any) -> list[Edit]:
    i = token.i
    once = sum(t.lower_ in ("sum", "amount", "amounts") for t in document.doc) == 1
    if _word_at(document, i - 1) == "a" and _has_words_at(document, i, "sum of money") and once:
        return _replace_tokens(document, i - 1, i + 3, "an amount of money")
    return []


def _only(document: Document, token: Any) -> list[Edit]:
    following = document.doc[token.i + 1] if token.i + 1 < len(document.doc) else None
    plain = following is not None and following.tag_ == "CD" and token.i > 0
    return _replace_tokens(document, token.i, token.i + 1, "just") if plain and not token.is_sent_start else []


def _certain(document: Document, token: Any) -> list[Edit]:
    """Turn *a certain day* into *a particular day* throughout the text."""
    every = [t for t in document.doc if t.lower_ == "certain"]
    if token != every[0] or any(t.dep_ != "amod" or _word_at(document, t.i - 1) != "a" for t in every):
        return []
    spans = [Replacement(document.start(t.i), document.end(t.i), ("particular",)) for t in every]
    return [Edit("wording", tuple(spans))]


def _present(document: Document, token: Any) -> list[Edit]:
    if token.dep_ == "amod" and token.head.lemma_.lower() in _AGES and _word_at(document, token.i - 1) != "an":
        return _replace_tokens(document, token.i, token.i + 1, "current")
    return []


def _which(document: Document, token: Any) -> list[Edit]:
    """Turn *a number which is even* into *a number that is even*, or the other way round."""
    doc, i = document.doc, token.i
    if token.tag_ != "WDT" or token.dep_ not in ("nsubj", "nsubjpass", "dobj") or i < 1 or i + 1 >= len(doc):
        return []
    before = doc[i - 1]
    if document.end(i) == document.start(i + 1):  # as in *that's*
        return []
    if before.tag_ not in ("NN", "NNS") or token.head.dep_ != "relcl" or token.head.head != before:
        return []
    if token.lower_ == "which":
        return _replace_tokens(document, i, i + 1, "that") if doc[i + 1].lower_ != "of" else []
    if before.lemma_.lower() in _PEOPLE or before.lower_.endswith(_PERSON_ENDINGS) or token.dep_ == "dobj":
        return []
    if token.head.lemma_ not in ("be", "cost", "contain", "weigh", "have", "measure"):
        return []
    return _replace_tokens(document, i, i + 1, "which")


def _out_of(document: Document, token: Any) -> list[Edit]:
    if token.is_sent_start and _word_at(document, token.i + 1) == "of":
        return _replace_tokens(document, token.i, token.i + 2, "of")
    return []


def _while(document: Document, token: Any) -> list[Edit]:
    """Turn *A takes 5 days while B takes 6* into *A takes 5 days whereas B takes 6*."""
    verb = token.head
    if token.dep_ != "mark" or verb.dep_ != "advcl" or token.is_sent_start or not children(verb, "nsubj"):
        return []
    pair = (verb, verb.head)
    if any(t.tag_ not in ("VBZ", "VBP") and not any(a.lower_ == "can" for a in children(t, "aux")) for t in pair):
        return []
    return _replace_tokens(document, token.i, token.i + 1, "whereas")


def _if(document: Document, token: Any) -> list[Edit]:
    """Turn *What is his age if …?* into *What is his age, given that …?*."""
    doc, verb = document.doc, token.head
    if token.is_sent_start or token.dep_ != "mark" or verb.dep_ != "advcl" or verb.head.dep_ != "ROOT":
        return []
    first, _ = document.sentences[document.sentence(token.i)]
    end, _ = tail(document, first)
    clause = doc[token.i + 1 : end]
    if verb.right_edge.i + 1 < end or any(t.lower_ in _UNREAL or t.lower_ == "if" for t in clause):
        return []
    before = doc[token.i - 1]
    if before.lower_ in ("even", "only", "as", "what", "and", "or", "but", "see", "determine", "that", ";", ":"):
        return []
    if doc[first].lower_ not in ("what", "how", "find", "in", "at") or "would" in {
        t.lower_ for t in doc[first : token.i]
    }:
        return []
    start = token.i - 1 if before.text == "," else token.i
    glue = "" if before.text == "," else ","
    edits = []
    for words in ("given that", "assuming that"):
        begin = document.start(start) if glue == "" else document.end(token.i - 1)
        edits.append(Edit.single("wording.if", begin, document.end(token.i), f", {words}"))
    return edits


def _must(document: Document, token: Any) -> list[Edit]:
    verb = token.head
    subjects = [s for s in children(verb, "nsubj", "nsubjpass") if s.i < token.i]
    if token.dep_ != "aux" or len(subjects) != 1 or subjects[0].right_edge.i + 1 != token.i:
        return []
    if token.i + 1 >= len(document.doc) or document.doc[token.i + 1].tag_ not in ("VB",):
        return []
    plural = is_plural(subjects[0])
    if plural is None or subjects[0].tag_ in ("WP", "WDT", "DT") or _word_at(document, token.i + 1) in ("have", "not"):
        return []
    return _replace_tokens(document, token.i, token.i + 1, "have to" if plural else "has to")


def _needs_to(document: Document, token: Any) -> list[Edit]:
    doc, i = document.doc, token.i
    if i + 2 >= len(doc) or doc[i + 1].lower_ != "to" or doc[i + 2].tag_ != "VB" or doc[i + 2].lower_ == "be":
        return []
    if token.tag_ not in ("VBZ", "VBD") or not children(token, "nsubj") or token.dep_ == "relcl":
        return []
    return _replace_tokens(document, i, i + 1, {"needs": "has", "needed": "had"}[token.lower_])


def _left(document: Document, token: Any) -> list[Edit]:
    """Turn *have left?* into *have remaining?*, or *are left?* into *remain?*."""
    doc, i = document.doc, token.i
    if i < 2 or _word_at(document, i + 1) not in ("?", "."):
        return []
    before = doc[i - 1].lower_
    if before in ("have", "has", "had"):
        return _replace_tokens(document, i, i + 1, "remaining")
    subject_before = doc[i - 2].tag_ in ("NNS", "NN") and any(t.lower_ == "many" for t in doc[max(0, i - 7) : i])
    if before in ("are", "were") and subject_before:
        return _replace_tokens(document, i - 1, i + 1, "remain" if before == "are" else "remained")
    return []


def _persons(document: Document, token: Any) -> list[Edit]:
    plain = token.tag_ == "NNS" and _word_at(document, token.i - 1) not in ("one", "1", "first")
    return _replace_tokens(document, token.i, token.i + 1, "people") if plain and "people" not in document.words else []


_WORK_BEFORE = frozenset("a the same this that whole entire remaining particular certain of".split())


def _job(document: Document) -> list[Edit]:
    """Turn *a piece of work … the work* into *a job … the job* throughout the text."""
    doc = document.doc
    nouns = [t for t in doc if t.lower_ == "work" and t.tag_ == "NN"]
    if not nouns or document.words & {"job", "jobs", "works"} or any(t.tag_ == "NNS" for t in nouns):
        return []
    replacements = []
    for token in nouns:
        i = token.i
        if _has_words_at(document, i - 3, "a piece of work") or _has_words_at(document, i - 2, "piece of work"):
            replacements.append(Replacement(document.start(i - 2), document.end(i), ("job",)))
        elif _word_at(document, i - 1) in _WORK_BEFORE - {"of"} and _word_at(document, i + 1) not in (
            "of",
            "force",
            "-",
        ):
            replacements.append(Replacement(document.start(i), document.end(i), ("job",)))
        else:
            return []
    if not any(_word_at(document, t.i - 1) == "of" for t in nouns):
        return []
    return [Edit("wording.job", tuple(replacements))]


_Rule = Callable[[Document, Any], list[Edit]]
_RULES: Mapping[str, tuple[_Rule, ...]] = {
    "at": (_at_speed,),
    "with": (_with_speed,),
    "in": (_ratio,),
    "is": (_equal,),
    "are": (_equal,),
    "equals": (_equals,),
    "consists": (_consists,),
    "consist": (_consists,),
    "remaining": (_remaining,),
    "sum": (_sum_of_money,),
    "only": (_only,),
    "certain": (_certain,),
    "present": (_present,),
    "which": (_which,),
    "that": (_which,),
    "out": (_out_of,),
    "while": (_while,),
    "if": (_if,),
    "must": (_must,),
    "needs": (_needs_to,),
    "needed": (_needs_to,),
    "left": (_left,),
    "persons": (_persons,),
}
