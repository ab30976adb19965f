"""Find the content words of a parsed problem that an operator may replace."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from paraqd.lab.operators.wording.lexicon import UNLISTED, level
from paraqd.reading import Problem
from paraqd.reading.numerals import ONES, ORDINALS, SCALES, TENS
from paraqd.reading.units import SPELLINGS
from paraqd.rewriting.document import Document
from paraqd.rewriting.inflection import inflect
from paraqd.rewriting.text import fix_article

PARTS = {"NN": "n", "NNS": "n", "VB": "v", "VBD": "v", "VBG": "v", "VBN": "v", "VBP": "v", "VBZ": "v"}
PARTS |= {"JJ": "a", "RB": "r"}
_PLAIN = re.compile(r"[A-Z]?[a-z]{2,}")
_COMMON_FORMS = 55  # the level of the rarest form that is used without a look at other forms
_JOINED = frozenset("-'’/&$\\_^=+*#@;")
# words of arithmetic and words that relate, count, order or compare: none of them is replaced
WEIGHTY = frozenset(
    """
    number figure digit integer fraction decimal sum total average mean median mode ratio proportion percent percentage
    product quotient remainder difference factor multiple divisor power root square cube prime odd even positive
    negative equal equally value variable equation expression term sequence series set subset rate interest principal
    profit loss gain price cost worth discount tax revenue income amount quantity area volume perimeter circumference
    length width height breadth depth radius diameter diagonal angle side edge vertex base triangle rectangle circle
    sphere cylinder cone polygon degree probability chance permutation combination way average add subtract multiply
    divide increase decrease double triple halve reduce raise lower exceed equal calculate compute evaluate solve find
    determine estimate simplify round sum total half third quarter fourth fifth dozen score pair couple twice thrice
    more less fewer most least many much few little enough several each every all both either neither none any some
    other another same different equal equally only just also even still yet already again together alone apart
    separately respectively altogether combined combine remain remaining leave rest left over extra additional further
    first second last next final initial original former latter previous before after later earlier ago now then since
    until once always never again about approximately exactly nearly almost maximum minimum consecutive successive
    simple compound constant directly inversely random distinct ordered top bottom middle left right opposite
    old young long short tall high low wide deep heavy light fast slow early late far near big
    time age year date week day month hour minute decade century
    part piece portion share whole group row column line point place unit size weight mass speed distance
    be have do can will would should may might must let go
    """.split()
) | {*ONES, *ORDINALS, *SCALES, *TENS}


@dataclass(frozen=True, slots=True)
class ContentWord:
    """A noun, verb, adjective or adverb of a text that may be replaced.

    ``token`` is the spaCy token; ``start`` and ``end`` delimit the word in the text.
    """

    token: Any
    part: str
    lemma: str
    start: int
    end: int


def content_words(problem: Problem, document: Document, *, weighty: frozenset[str] = WEIGHTY) -> list[ContentWord]:
    """Return the content words that are neither numbers, units, names, words of arithmetic nor parts of other words."""
    text = problem.text
    taken = [(q.start, q.end) for q in problem.quantities] + [(e.start, e.end) for e in problem.entities]
    found = []
    for token in document.doc:
        part = PARTS.get(token.tag_)
        start, end = document.spans[token.i]
        word = text[start:end]
        if part is None or not _PLAIN.fullmatch(word) or word.lower() != token.lower_ or word in document.named:
            continue
        lemma = lemma_of(token)
        capital = word[0].isupper() and not token.is_sent_start
        joined = (start > 0 and text[start - 1] in _JOINED) or text[end : end + 1] in _JOINED
        numeric = lemma in weighty or token.lower_ in weighty or lemma in SPELLINGS or token.lower_ in SPELLINGS
        if capital or joined or numeric:
            continue
        if not any(a < end and start < b for a, b in taken):
            found.append(ContentWord(token, part, lemma, start, end))
    return found


def lemma_of(token: Any) -> str:
    """Return a token's lemma in lower case. The parser takes *cookies* for the plural of the rare word *cooky*."""
    lemma, word = str(token.lemma_).lower(), str(token.lower_)
    if token.tag_ == "NNS" and word.endswith("ies") and level(word[:-1]) < level(lemma):
        return word[:-1]
    return lemma


def is_compound(token: Any) -> bool:
    """Return True if a noun is part of a compound noun, such as *bus driver*."""
    return token.dep_ == "compound" or any(child.dep_ == "compound" for child in token.children)


def is_bare(token: Any) -> bool:
    """Return True if a singular noun has no determiner, as in *at home*."""
    return token.tag_ == "NN" and not any(child.dep_ in ("det", "poss", "nummod") for child in token.children)


def replacement(text: str, word: ContentWord, lemma: str) -> tuple[int, int, str] | None:
    """Return the edit that writes another word in the form, with the capital and with the article of a word.

    Return None if the form of the other word is not known.
    """
    form = form_of(lemma, word.token.tag_) if word.part in "nv" else lemma
    if form is None:
        return None
    if text[word.start].isupper():
        form = form[0].upper() + form[1:]
    start, made = fix_article(text, word.start, form)
    return start, word.end, made


def form_of(lemma: str, tag: str) -> str | None:
    """Return the form of a noun or a verb for a Penn Treebank tag, or None if the form is not known.

    Unlike `inflect`, this function also knows regular forms of rare words, and avoids archaic forms.

    >>> form_of("fridge", "NNS"), form_of("blend", "VBN"), form_of("trousers", "NNS"), form_of("blorven", "NNS")
    ('fridges', 'blended', 'trousers', None)
    """
    form = inflect(lemma, tag)
    if form is not None and level(form) <= _COMMON_FORMS:
        return form
    ends = {"NNS": ("s", "es"), "VBZ": ("s", "es"), "VBD": ("ed", "d"), "VBN": ("ed", "d"), "VBG": ("ing",)}.get(
        tag, ()
    )
    regular = [lemma + end for end in ends]
    if lemma.endswith("y"):
        regular += [f"{lemma[:-1]}i{end}" for end in ("es", "ed") if end in ends]
    if lemma.endswith("s") and tag == "NNS":  # a noun without a singular
        regular.insert(0, lemma)
    return next((made for made in regular if level(made) < UNLISTED), form)
