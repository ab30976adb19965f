"""Determine the tense, modal and aspect of a verb group, and write the group in the other voice."""

from __future__ import annotations

from typing import Any, NamedTuple

from paraqd.rewriting.inflection import be, finite, inflect

# verbs that are common in the passive, unlike *have*, *cost*, *weigh*, *take* (time), *travel*, *get* and *want*
TRANSITIVE = frozenset(
    """add answer assemble attend bake borrow break bring build buy carry catch choose chop clean climb collect
    complete construct consume cook copy cover create cross cut decorate deliver deposit design dig discover
    distribute do donate download draw drink drive drop earn eat employ empty examine feed fill find finish fix fold
    gather give grow harvest hire inspect install invest invite iron knit lend load lose mail make manufacture mow
    obtain open operate order organize own pack paint pass pay peel perform pick plant play pour prepare print
    process produce publish purchase reach read receive record recycle release remove rent repair replace review
    save score select sell send serve sew slice solve sort spend spill squeeze stack steal store study supply teach
    test throw tie translate transport type unload use visit wash watch water wear win wrap write""".split()
)
MONEY_VERBS = frozenset("borrow deposit donate earn invest lend pay receive save spend win lose give".split())
_MODALS = frozenset("can could will would may might must should shall".split())


class Verb(NamedTuple):
    """A verb group, described by its lemma, tense, modal and aspect.

    ``tense`` is ``VBD`` for the past, ``VBZ`` for the present, or ``MD`` for a modal verb.
    """

    lemma: str
    tense: str
    modal: str = ""
    perfect: bool = False
    progressive: bool = False


def _be_tag(word: str) -> str:
    """Return the Penn Treebank tag of a form of *be*. All present forms get the tag ``VBZ``."""
    forms = {"be": "VB", "been": "VBN", "being": "VBG", "was": "VBD", "were": "VBD"}
    return forms.get(word, "VBZ")


def group(auxiliaries: list[Any], verb: Any, *, passive: bool) -> Verb | None:
    """Return the verb group that consists of the auxiliaries and the verb, or None if the group is not simple."""
    words = [auxiliary.lower_ for auxiliary in auxiliaries]
    lemma, tag = verb.lemma_.lower(), verb.tag_
    if passive:
        if tag != "VBN" or not words or auxiliaries[-1].lemma_.lower() != "be":
            return None
        tag = _be_tag(words.pop())
    if not words:
        past = tag == "VBD"
        return Verb(lemma, "VBD" if past else "VBZ") if tag in ("VBD", "VBZ", "VBP") else None
    if words[0] in _MODALS:
        if len(words) == 1 and tag in ("VB", "VBP"):
            return Verb(lemma, "MD", words[0])
        if words[1:] == ["have"] and tag in ("VBN", "VBD"):
            return Verb(lemma, "MD", words[0], perfect=True)
        return None
    return _with_one_auxiliary(words, lemma, tag)


def _with_one_auxiliary(words: list[str], lemma: str, tag: str) -> Verb | None:
    if len(words) != 1:
        return None
    word = words[0]
    if word in ("have", "has", "had") and tag in ("VBN", "VBD"):
        return Verb(lemma, "VBD" if word == "had" else "VBZ", perfect=True)
    if word in ("is", "are", "am", "was", "were") and tag == "VBG":
        return Verb(lemma, "VBD" if word in ("was", "were") else "VBZ", progressive=True)
    if word in ("do", "does", "did") and tag in ("VB", "VBP"):
        return Verb(lemma, "VBD" if word == "did" else "VBZ")
    return None


def passive_words(verb: Verb, *, plural: bool) -> tuple[str, str] | None:
    """Return the first word of the passive verb group and the remaining words, or None if a form is unknown.

    >>> passive_words(Verb("buy", "VBD"), plural=True)
    ('were', 'bought')
    >>> passive_words(Verb("do", "MD", "can"), plural=False)
    ('can', 'be done')
    """
    participle = inflect(verb.lemma, "VBN")
    if participle is None:
        return None
    if verb.modal:
        return verb.modal, f"have been {participle}" if verb.perfect else f"be {participle}"
    if verb.perfect:
        return finite("have", verb.tense, plural=plural) or "have", f"been {participle}"
    if verb.progressive:
        return be(verb.tense, plural=plural), f"being {participle}"
    return be(verb.tense, plural=plural), participle


def active_words(verb: Verb, *, plural: bool, question: bool) -> tuple[str, str] | None:
    """Return the auxiliary of the active verb group and the other words, or None if a form is unknown.

    If the group has no auxiliary, the first result is an empty string.

    >>> active_words(Verb("buy", "VBD"), plural=False, question=False)
    ('', 'bought')
    >>> active_words(Verb("buy", "VBZ"), plural=False, question=True)
    ('does', 'buy')
    """
    participle, gerund = inflect(verb.lemma, "VBN"), inflect(verb.lemma, "VBG")
    if participle is None or gerund is None:
        return None
    if verb.modal:
        return verb.modal, f"have {participle}" if verb.perfect else verb.lemma
    if verb.perfect:
        return finite("have", verb.tense, plural=plural) or "have", participle
    if verb.progressive:
        return be(verb.tense, plural=plural), gerund
    if question:
        return finite("do", verb.tense, plural=plural) or "do", verb.lemma
    form = finite(verb.lemma, verb.tense, plural=plural)
    return ("", form) if form else None
