"""Replace function words: *in total* ↔ *altogether*, *each* ↔ *every*, *can* ↔ *is able to*, *does not* ↔ *doesn't*."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from paraqd.reading.signs import POSSESSIVES
from paraqd.rewriting.document import Document, children
from paraqd.rewriting.edits import Edit, Replacement
from paraqd.rewriting.grammar import is_plural

_CONTRACTED = {
    "does": "doesn't",
    "do": "don't",
    "did": "didn't",
    "is": "isn't",
    "are": "aren't",
    "was": "wasn't",
    "were": "weren't",
    "has": "hasn't",
    "have": "haven't",
    "had": "hadn't",
}
_FULL = {"ca": "cannot", "wo": "will not"}
_END = frozenset("? . , if when".split())


def function_word_edits(document: Document) -> list[Edit]:
    """Return the possible replacements of function words."""
    edits: list[Edit] = []
    doc = document.doc
    for token in doc:
        rules = _RULES.get(token.lower_, ())
        for rule in rules:
            edits += rule(document, token)
    return edits


def _replace_tokens(document: Document, i: int, j: int, *words: str) -> list[Edit]:
    return [Edit.single("words", document.start(i), document.end(j - 1), document.cased(i, word)) for word in words]


def _has_words_at(doc: Any, i: int, words: Sequence[str]) -> bool:
    return [token.lower_ for token in doc[i : i + len(words)]] == list(words)


def _phrase_ends(document: Document, i: int) -> bool:
    doc = document.doc
    return i >= len(doc) or doc[i].is_sent_start or doc[i].lower_ in _END


def _altogether(document: Document, token: Any) -> list[Edit]:
    before = document.doc[token.i - 1] if token.i > 0 else None
    if before is None or not _phrase_ends(document, token.i + 1) or before.tag_ == "RB" or token.is_sent_start:
        return []
    if before.lower_ in ("working", "work", "works", "of", "and"):
        return []
    return _replace_tokens(document, token.i, token.i + 1, "in total", "in all")


def _in_total(document: Document, token: Any) -> list[Edit]:
    doc = document.doc
    if token.is_sent_start or not _phrase_ends(document, token.i + 2) or doc[token.i - 1].lower_ == "together":
        return []
    if _has_words_at(doc, token.i, ("in", "total")) or _has_words_at(doc, token.i, ("in", "all")):
        new = ("altogether", "in all") if doc[token.i + 1].lower_ == "total" else ("altogether", "in total")
        return _replace_tokens(document, token.i, token.i + 2, *new)
    return []


def _each(document: Document, token: Any) -> list[Edit]:
    """Turn *each boy* into *every boy*, or *$5 each* into *$5 apiece*."""
    doc = document.doc
    first, last = document.sentences[document.sentence(token.i)]
    others = [t for t in doc[first:last] if t.lower_ == "each"]
    if all(_can_become_every(document, t) for t in others):
        if token != others[0]:
            return []
        replacements = [
            Replacement(document.start(t.i), document.end(t.i), (document.cased(t.i, "every"),)) for t in others
        ]
        return [Edit("words", tuple(replacements))]
    before = doc[token.i - 1] if token.i > 1 else None
    price = before is not None and before.tag_ == "CD" and any(c.tag_ == "$" for c in before.children)
    if price and _phrase_ends(document, token.i + 1):
        return _replace_tokens(document, token.i, token.i + 1, "apiece")
    return []


def _can_become_every(document: Document, token: Any) -> bool:
    """Return True if the token, which is *each*, can be replaced with *every*."""
    doc = document.doc
    following = doc[token.i + 1] if token.i + 1 < len(doc) else None
    if following is None or token.dep_ != "det" or token.head.tag_ != "NN" or following.tag_ not in ("NN", "JJ"):
        return False
    before = doc[token.i - 1].lower_ if token.i > 0 else ""
    if token.head.lower_ in ("other", "one", "time", "end", "side", "hand") or before in ("of", "for", "between"):
        return False
    if following.lower_ == "other":
        return False
    # in a question about *the price of each pen*, *every* might suggest the price of all pens
    return not _asks(document, token.i) or token.head.lower_ in _TIMES


_TIMES = frozenset("day week month year hour minute morning evening night".split())


def _asks(document: Document, i: int) -> bool:
    first, last = document.sentences[document.sentence(i)]
    return any(t.text == "?" or t.lower_ in ("find", "what", "how") for t in document.doc[first:last])


def _every(document: Document, token: Any) -> list[Edit]:
    doc = document.doc
    following = doc[token.i + 1] if token.i + 1 < len(doc) else None
    if following is None or following.tag_ != "NN" or following.lower_ in ("other", "time", "one"):
        return []
    if token.dep_ != "det" or token.head != following or doc[token.i - 1].lower_ in ("for", "almost", "nearly", "not"):
        return []
    return _replace_tokens(document, token.i, token.i + 1, "each")


def _can(document: Document, token: Any) -> list[Edit]:
    """Turn *A can do* into *A is able to do*."""
    verb = token.head
    subjects = [s for s in children(verb, "nsubj") if s.i < token.i]
    if token.dep_ != "aux" or len(subjects) != 1 or verb.i != token.i + 1 or verb.tag_ != "VB" or verb.lemma_ == "be":
        return []
    subject = subjects[0]
    if subject.right_edge.i + 1 != token.i or subject.lower_ in (
        "that",
        "which",
        "who",
        "what",
        "it",
        "you",
        "i",
        "one",
    ):
        return []
    plural = is_plural(subject)
    if plural is None or verb.lower_ in ("hold", "afford") or children(verb, "conj", "auxpass"):
        return []
    return _replace_tokens(document, token.i, token.i + 1, "are able to" if plural else "is able to")


def _able(document: Document, token: Any) -> list[Edit]:
    doc = document.doc
    if _has_words_at(doc, token.i + 1, ("able", "to")) and token.i + 3 < len(doc) and doc[token.i + 3].tag_ == "VB":
        if token.lower_ in ("was", "were"):
            return []
        return _replace_tokens(document, token.i, token.i + 3, "can")
    if _has_words_at(doc, token.i + 1, ("going", "to")) and token.i + 3 < len(doc) and doc[token.i + 3].tag_ == "VB":
        if token.lower_ in ("was", "were"):
            return []
        return _replace_tokens(document, token.i, token.i + 3, "will")
    return []


def _has_to(document: Document, token: Any) -> list[Edit]:
    doc = document.doc
    if token.i + 2 >= len(doc) or doc[token.i + 1].lower_ != "to" or doc[token.i + 2].tag_ != "VB":
        return []
    if doc[token.i + 2].head != token:
        return []
    if token.tag_ not in ("VBZ", "VBP", "VBD") or doc[token.i + 2].lower_ == "be" or token.i == 0:
        return []
    if token.dep_ == "relcl":  # as in *the paintings she has to choose from*
        return []
    subjects = children(token, "nsubj")
    if not subjects or subjects[0].i != token.i - 1:
        return []
    return _replace_tokens(
        document, token.i, token.i + 1, {"has": "needs", "have": "need", "had": "needed"}[token.lower_]
    )


def _not(document: Document, token: Any) -> list[Edit]:
    """Contract or expand a negation."""
    doc = document.doc
    if token.i == 0:
        return []
    before = doc[token.i - 1]
    glued = document.end(before.i) == document.start(token.i)
    if token.lower_ == "not":
        if glued or before.lower_ not in _CONTRACTED or before.pos_ != "AUX" or token.text != "not":
            return []
        return _replace_tokens(document, before.i, token.i + 1, _CONTRACTED[before.lower_])
    if not glued or before.pos_ != "AUX":
        return []
    full = _FULL.get(before.lower_, f"{before.lower_} not")
    if before.i > 0 and doc[before.i - 1].tag_ in ("WRB", "WP"):
        return []
    subjects = (
        children(before.head, "nsubj", "nsubjpass") if before.dep_.startswith("aux") else children(before, "nsubj")
    )
    if not subjects or subjects[0].i > before.i:  # *didn't he* would need a different word order
        return []
    return _replace_tokens(document, before.i, token.i + 1, full)


def _because(document: Document, token: Any) -> list[Edit]:
    doc = document.doc
    if token.i + 1 < len(doc) and doc[token.i + 1].lower_ == "of":
        return _replace_tokens(document, token.i, token.i + 2, "due to")
    if token.dep_ == "mark" and token.head.tag_ in ("VBZ", "VBD", "VBP", "VBN", "VBG", "VB"):
        return _replace_tokens(document, token.i, token.i + 1, "since", "as")
    return []


def _due(document: Document, token: Any) -> list[Edit]:
    if _has_words_at(document.doc, token.i, ("due", "to")) and token.dep_ in ("prep", "advmod", "pcomp"):
        return _replace_tokens(document, token.i, token.i + 2, "because of")
    return []


def _in_order(document: Document, token: Any) -> list[Edit]:
    if not token.is_sent_start and _has_words_at(document.doc, token.i, ("in", "order", "to")):
        return _replace_tokens(document, token.i, token.i + 3, "to")
    return []


def _random(document: Document, token: Any) -> list[Edit]:
    doc = document.doc
    if _has_words_at(doc, token.i, ("at", "random")) and token.i > 0 and doc[token.i - 1].tag_ in ("VBN", "NN", "NNS"):
        return _replace_tokens(document, token.i, token.i + 2, "randomly")
    return []


def _randomly(document: Document, token: Any) -> list[Edit]:
    doc = document.doc
    if token.i > 0 and doc[token.i - 1].tag_ == "VBN" and _phrase_ends(document, token.i + 1):
        return _replace_tokens(document, token.i, token.i + 1, "at random")
    return []


def _single(*new: str) -> Callable[[Document, Any], list[Edit]]:
    def rule(document: Document, token: Any) -> list[Edit]:
        return _replace_tokens(document, token.i, token.i + 1, *new)

    return rule


def _exactly(document: Document, token: Any) -> list[Edit]:
    following = document.doc[token.i + 1] if token.i + 1 < len(document.doc) else None
    plain = following is not None and following.tag_ == "CD"
    return _replace_tokens(document, token.i, token.i + 1, "precisely") if plain else []


def _adjective(new: str) -> Callable[[Document, Any], list[Edit]]:
    def rule(document: Document, token: Any) -> list[Edit]:
        before = document.doc[token.i - 1].lower_ if token.i > 0 else ""
        if token.dep_ != "amod" or token.head.tag_ != "NN" or token.head.lower_ in ("number", "integer", "price"):
            return []
        return _replace_tokens(document, token.i, token.i + 1, new) if before == "the" else []

    return rule


def _then(document: Document, token: Any) -> list[Edit]:
    """Turn *If …, then what …?* into *If …, what …?*."""
    doc = document.doc
    first, _ = document.sentences[document.sentence(token.i)]
    if token.i + 1 >= len(doc) or doc[token.i - 1].text != "," or doc[first].lower_ != "if" or token.text != "then":
        return []
    if doc[token.i + 1].lower_ not in ("what", "how", "find", "the", "in", "his", "her", "which"):
        return []
    return [Edit.single("words", document.start(token.i), document.start(token.i + 1))]


def _whats(document: Document, token: Any) -> list[Edit]:
    doc = document.doc
    if token.i + 1 < len(doc) and doc[token.i + 1].text in POSSESSIVES:
        return _replace_tokens(document, token.i, token.i + 2, "what is")
    return []


def _simultaneously(document: Document, token: Any) -> list[Edit]:
    return (
        _replace_tokens(document, token.i, token.i + 1, "at the same time")
        if _phrase_ends(document, token.i + 1)
        else []
    )


def _saying(document: Document, token: Any) -> list[Edit]:
    """Turn *he found each book was sold* into *he found that each book was sold*."""
    doc = document.doc
    clauses = [c for c in children(token, "ccomp") if c.i > token.i]
    if len(clauses) != 1 or children(clauses[0], "mark") or token.i + 1 >= len(doc):
        return []
    subjects = children(clauses[0], "nsubj", "nsubjpass")
    if len(subjects) != 1 or subjects[0].left_edge.i != token.i + 1 or clauses[0].left_edge.i != token.i + 1:
        return []
    auxiliaries = children(clauses[0], "aux", "auxpass")
    if any(t.tag_ == "TO" for t in auxiliaries) or not any(
        t.tag_ in ("VBZ", "VBD", "VBP", "MD") for t in (clauses[0], *auxiliaries)
    ):
        return []
    if subjects[0].lower_ in ("what", "who", "which", "that") or subjects[0].tag_ in ("WP", "WDT"):
        return []
    return _replace_tokens(document, token.i, token.i + 1, f"{token.lower_} that")


_Rule = Callable[[Document, Any], list[Edit]]
_RULES: Mapping[str, tuple[_Rule, ...]] = {
    "altogether": (_altogether,),
    "in": (_in_total, _in_order),
    "each": (_each,),
    "every": (_every,),
    "can": (_can,),
    "is": (_able,),
    "are": (_able,),
    "has": (_has_to,),
    "have": (_has_to,),
    "had": (_has_to,),
    "not": (_not,),
    "n't": (_not,),
    "n’t": (_not,),
    "because": (_because,),
    "due": (_due,),
    "at": (_random,),
    "randomly": (_randomly,),
    "entire": (_adjective("whole"),),
    "whole": (_adjective("entire"),),
    "approximately": (_single("roughly"),),
    "currently": (_single("at present"),),
    "exactly": (_exactly,),
    "simultaneously": (_simultaneously,),
    "then": (_then,),
    "what": (_whats,),
    "found": (_saying,),
    "finds": (_saying,),
    "said": (_saying,),
    "says": (_saying,),
    "knows": (_saying,),
    "knew": (_saying,),
    "thinks": (_saying,),
    "noticed": (_saying,),
    "realizes": (_saying,),
}
