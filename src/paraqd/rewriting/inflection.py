"""Inflect English verbs and nouns with lemminflect, and correct some of its results."""

from __future__ import annotations

from functools import lru_cache

# forms for which lemminflect would return an archaic or rare variant
_PREFERRED = {
    ("be", "VBD"): "was",
    ("be", "VBP"): "are",
    ("be", "VBZ"): "is",
    ("get", "VBN"): "got",
    ("sew", "VBN"): "sewn",
    ("mow", "VBN"): "mown",
    ("sell", "VBD"): "sold",
    ("leave", "VBD"): "left",
    ("leave", "VBN"): "left",
    ("find", "VBD"): "found",
    ("find", "VBN"): "found",
    ("fit", "VBD"): "fit",
    ("fit", "VBN"): "fit",
    ("can", "VBP"): "can",
    ("child", "NNS"): "children",
    ("person", "NNS"): "people",
}


@lru_cache(maxsize=4096)
def inflect(lemma: str, tag: str) -> str | None:
    """Return the form of a lemma for a Penn Treebank tag, or None if the form is unknown.

    >>> inflect("buy", "VBN"), inflect("carry", "VBZ"), inflect("pupil", "NNS")
    ('bought', 'carries', 'pupils')
    """
    if not lemma.isascii() or not lemma.isalpha():
        return None
    if (lemma, tag) in _PREFERRED:
        return _PREFERRED[lemma, tag]
    if tag in ("VB", "VBP", "NN"):
        return lemma
    from lemminflect import getInflection

    forms = getInflection(lemma, tag=tag, inflect_oov=False)
    return str(forms[0]) if forms else None


def be(tense: str, *, plural: bool) -> str:
    """Return the singular or plural form of *be* in the tense of a Penn Treebank tag.

    >>> be("VBD", plural=True), be("VBZ", plural=False)
    ('were', 'is')
    """
    if tense == "VBD":
        return "were" if plural else "was"
    return "are" if plural else "is"


def finite(lemma: str, tense: str, *, plural: bool) -> str | None:
    """Return a verb's third-person form in the tense of a Penn Treebank tag, or None if the form is unknown.

    >>> finite("go", "VBZ", plural=False), finite("go", "VBP", plural=True), finite("have", "VBD", plural=True)
    ('goes', 'go', 'had')
    """
    if lemma == "be":
        return be(tense, plural=plural)
    if tense == "VBD":
        return inflect(lemma, "VBD")
    return lemma if plural else inflect(lemma, "VBZ")
