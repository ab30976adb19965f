"""Replace words with synonyms that do not affect the mathematics.

The tables contain neither technical terms nor words that count or compare. Each synonym has a guard, which is a
function that decides from the context whether the synonym fits. A noun is replaced throughout the text or not at all,
and never with a noun that the text already contains.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from paraqd.rewriting.document import Document, children
from paraqd.rewriting.edits import Edit, Replacement
from paraqd.rewriting.grammar import MEASURE_NOUNS, is_money
from paraqd.rewriting.inflection import inflect

Guard = Callable[[Any], bool]


def _next_word(token: Any) -> str:
    return str(token.nbor(1).lower_) if token.i + 1 < len(token.doc) else ""


def _always(token: Any) -> bool:
    return token.dep_ not in ("amod", "compound", "pcomp") or token.tag_ == "VBG"


def _object(token: Any) -> bool:
    """Return True if a verb has a noun as its object and is not followed by a clause or a particle."""
    if children(token, "xcomp", "ccomp", "prt", "dative") or _next_word(token) in (
        "up",
        "out",
        "off",
        "to",
        "in",
        "for",
    ):
        return False
    return any(child.tag_ in ("NN", "NNS", "NNP", "PRP", "CD") for child in children(token, "dobj"))


def _active_object(token: Any) -> bool:
    return _object(token) and token.tag_ != "VBN" and not children(token, "auxpass")


def _things_object(token: Any) -> bool:
    """Return True if a verb's object is not a distance, a lap or a journey."""
    return _object(token) and not any(child.lemma_.lower() in _ROUNDS for child in children(token, "dobj"))


def _before_to(token: Any) -> bool:
    return _next_word(token) == "to" and bool(children(token, "xcomp")) and not children(token, "auxpass")


def _starting(token: Any) -> bool:
    return _next_word(token) in ("to", "with") and token.pos_ == "VERB"


def _needed(token: Any) -> bool:
    """Return True if *required* can become *needed*, as in *the tiles required to …* and *how many are required*."""
    if token.tag_ == "VBN":
        return token.dep_ in ("acl", "ROOT", "relcl", "ccomp") and _next_word(token) in (
            "to",
            "for",
            "?",
            ".",
            "by",
            "in",
        )
    return _active_object(token)


def _money_object(token: Any) -> bool:
    if children(token, "xcomp", "ccomp", "dative", "prt") or token.tag_ == "VBN":
        return False
    return any(is_money(child) or child.lower_ in ("money",) for child in children(token, "dobj"))


def _holding(token: Any) -> bool:
    subjects = children(token, "nsubj")
    counted = [c for c in children(token, "dobj") if c.tag_ == "NNS" and c.lower_ not in MEASURE_NOUNS]
    return _active_object(token) and bool(counted) and any(s.lemma_.lower() in _VESSELS for s in subjects)


def _moving(token: Any) -> bool:
    return token.tag_ in ("VBZ", "VBP", "VBD", "VB") and _next_word(token) in ("at", "from", "to")


def _crossing(token: Any) -> bool:
    return any(child.lemma_.lower() in _PASSED for child in children(token, "dobj")) and not children(token, "prt")


def _running(token: Any) -> bool:
    movers = [*children(token, "nsubj"), *([token.head] if token.dep_ == "acl" else [])]
    return _next_word(token) == "at" and any(mover.lemma_.lower() in _VEHICLES for mover in movers)


def _dividing(token: Any) -> bool:
    return any(prep.lower_ in ("into", "among", "between") for prep in children(token, "prep")) and not any(
        prep.lower_ == "by" for prep in children(token, "prep", "agent")
    )


def _earns_wage(token: Any) -> bool:
    """Return True if the verb describes earning money per hour, day, week, month or year."""
    if not _money_object(token):
        return False
    words = [t.lower_ for t in token.doc[token.i + 1 : token.i + 7]]
    return any(w in ("hour", "week", "month", "day", "year") for w in words)


def _coin(token: Any) -> bool:
    return any(t.lemma_.lower() == "coin" for t in token.subtree) or any(
        s.lemma_ == "coin" for s in children(token, "nsubjpass")
    )


def _dice(token: Any) -> bool:
    return any(t.lemma_.lower() in ("dice", "die") for t in token.subtree)


def _covering(token: Any) -> bool:
    return _active_object(token) and any(c.lower_ in _LENGTHS for c in children(token, "dobj"))


_PASSED = frozenset("pole platform bridge tunnel man post tree person woman".split())
_VEHICLES = frozenset("train bus car truck boat".split())
_LENGTHS = frozenset("distance km kms kilometers kilometres miles mile meters metres".split())
_ROUNDS = frozenset("lap round revolution journey degree circuit trip rotation mile kilometer meter".split())
_VESSELS = frozenset("bag box jar bowl basket container tank bottle bucket can jug vessel drawer crate carton".split())

_VERBS: Mapping[str, tuple[tuple[str, Guard], ...]] = {
    "buy": (("purchase", _object),),
    "purchase": (("buy", _object),),
    "begin": (("start", _always),),
    "start": (("begin", _starting),),
    "complete": (("finish", _things_object),),
    "finish": (("complete", _things_object),),
    "require": (("need", _needed),),
    "need": (("require", _active_object),),
    "receive": (("get", _active_object),),
    "obtain": (("get", _active_object),),
    "travel": (("go", _moving),),
    "choose": (("select", _object),),
    "select": (("choose", _object),),
    "want": (("wish", _before_to),),
    "wish": (("want", _before_to),),
    "plan": (("intend", _before_to),),
    "intend": (("plan", _before_to),),
    "try": (("attempt", _before_to),),
    "attempt": (("try", _before_to),),
    "decide": (("choose", _before_to),),
    "earn": (("make", _money_object),),
    "contain": (("hold", _holding),),
    "cross": (("pass", _crossing),),
    "pass": (("cross", _crossing),),
    "run": (("move", _running),),
    "divide": (("split", _dividing),),
    "make": (("earn", _earns_wage),),
    "toss": (("flip", _coin),),
    "flip": (("toss", _coin),),
    "throw": (("roll", _dice),),
    "roll": (("throw", _dice),),
    "cover": (("travel", _covering),),
    "utilize": (("use", _object),),
    "locate": (("situate", lambda token: token.tag_ == "VBN"),),
}


def _not_in_compound(token: Any) -> bool:
    """Return True if a noun is not part of a compound such as *shop window*."""
    if token.dep_ == "compound" or children(token, "compound"):
        return False
    before = token.nbor(-1) if token.i > 0 else None
    after = token.nbor(1) if token.i + 1 < len(token.doc) else None
    return not (before is not None and before.text == "-") and not (after is not None and after.text in ("-", "’"))


def _not_hyphenated(token: Any) -> bool:
    before = token.nbor(-1).text if token.i > 0 else ""
    return bool(before != "-" and _next_word(token) != "-")


_NOUNS: Mapping[str, tuple[tuple[str, Guard], ...]] = {
    "pupil": (("student", _not_in_compound),),
    "kid": (("child", _not_in_compound),),
    "shop": (("store", _not_in_compound),),
    "bike": (("bicycle", _not_in_compound),),
    "bicycle": (("bike", _not_in_compound),),
    "movie": (("film", _not_in_compound),),
    "mom": (("mother", _not_hyphenated),),
    "mum": (("mother", _not_hyphenated),),
    "dad": (("father", _not_hyphenated),),
    "grandma": (("grandmother", _not_hyphenated),),
    "grandpa": (("grandfather", _not_hyphenated),),
    "photo": (("photograph", _not_in_compound),),
    "automobile": (("car", _not_in_compound),),
    "journey": (("trip", _not_in_compound),),
    "shopkeeper": (("shop owner", _not_in_compound),),
    "merchant": (("trader", _not_in_compound),),
    "trader": (("merchant", _not_in_compound),),
    "firm": (("company", _not_in_compound),),
    "article": (("item", _not_in_compound),),
    "dealer": (("trader", _not_in_compound),),
    "employee": (("worker", _not_in_compound),),
    "refrigerator": (("fridge", _not_in_compound),),
    "cistern": (("tank", _not_in_compound),),
    "gift": (("present", _not_in_compound),),
    "couch": (("sofa", _not_in_compound),),
    "lorry": (("truck", _not_in_compound),),
    "airplane": (("plane", _not_in_compound),),
    "aeroplane": (("plane", _not_in_compound),),
}


def synonym_edits(document: Document) -> list[Edit]:
    """Return the possible replacements of verbs and nouns with synonyms."""
    edits: list[Edit] = []
    nouns: dict[str, list[Any]] = defaultdict(list)
    for token in document.doc:
        lemma = token.lemma_.lower()
        if token.pos_ == "VERB" and lemma in _VERBS and not _quoted(document, token):
            edits += _verb_edits(document, token)
        if token.tag_ in ("NN", "NNS", "NNP") and lemma in _NOUNS:
            nouns[lemma].append(token)
    for lemma, tokens in nouns.items():
        edits += _noun_edits(document, lemma, tokens)
    return edits


def _quoted(document: Document, token: Any) -> bool:
    first, last = document.sentences[document.sentence(token.i)]
    return any(t.text in ('"', "“", "”", "‘") for t in document.doc[first:last])


def _verb_edits(document: Document, token: Any) -> list[Edit]:
    edits = []
    for new, guard in _VERBS[token.lemma_.lower()]:
        form = inflect(new, token.tag_)
        if form is not None and guard(token) and new not in {t.lemma_.lower() for t in token.sent}:
            edits.append(
                Edit.single(
                    "synonym.verb",
                    document.start(token.i),
                    document.end(token.i),
                    _capitalised_like(document, token, form),
                )
            )
    return edits


def _capitalised_like(document: Document, token: Any, word: str) -> str:
    old = document.surface(token.i, token.i + 1)
    return word[:1].upper() + word[1:] if old[:1].isupper() else word


def _noun_edits(document: Document, lemma: str, tokens: list[Any]) -> list[Edit]:
    edits = []
    every = [token for token in document.doc if token.lower_.rstrip("s") == lemma or token.lemma_.lower() == lemma]
    for new, guard in _NOUNS[lemma]:
        if new.split()[-1] in document.words or len(every) != len(tokens) or not all(guard(t) for t in tokens):
            continue
        if any(_named(document, t, lemma) for t in tokens):
            continue
        replacements = []
        for token in tokens:
            head, _, last = new.rpartition(" ")
            form = inflect(last, "NNS" if token.tag_ == "NNS" else "NN")
            if form is None or not _article_fits(document, token, new):
                break
            word = _capitalised_like(document, token, f"{head} {form}".strip())
            replacements.append(Replacement(document.start(token.i), document.end(token.i), (word,)))
        else:
            edits.append(Edit("synonym.noun", tuple(replacements)))
    return edits


_FAMILY = frozenset("mom mum dad grandma grandpa".split())


def _named(document: Document, token: Any, lemma: str) -> bool:
    """Return True if a noun is used as a name, as in *Grandma left …* and *the Movie Club*."""
    return document.surface(token.i, token.i + 1)[:1].isupper() and (lemma in _FAMILY or not token.is_sent_start)


def _article_fits(document: Document, token: Any, new: str) -> bool:
    """Return True unless the noun follows *a* or *an* and the new word needs the other article."""
    before = document.doc[token.i - 1].lower_ if token.i > 0 else ""
    if before not in ("a", "an"):
        return True
    return (before == "an") == (new[0] in "aeiou")
