"""Parse a problem with spaCy, and keep each token's span in the original text.

The parser was trained on news, so it reads a cleaned copy of the words: *Rs.* becomes a dollar sign, *km / hr* becomes
one word, and lower-case names are capitalised. Edits use the tokens' spans to change the original text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from paraqd.reading import Problem
from paraqd.reading.name_lists import common_names
from paraqd.reading.numerals import CARDINAL_START
from paraqd.rewriting.edits import Case, Ref

_CACHE_ATTRIBUTE = "_rewriting_document"  # the attribute of a problem in which its document is cached
MAX_CHARACTERS = 5000  # longer texts are not word problems, and a parse of them would need a lot of memory

_FIRST_NAMES = common_names() | {"anu", "lara", "sheela"}
_VERBS_AFTER_A = (
    "alone|together|can|could|will|would|is|was|has|had|does|did|takes|took|gets|got|started|starts|begins|began|"
    "works|worked|invests|invested|invest|joins|joined|leaves|left|sells|sold|buys|bought|gives|gave|earns|covers|"
    "runs|beats|completes|completed|finishes|finished|receives|received|contributes|contributed|to|lends|lent|"
    "borrows|borrowed|walks|travels|spends|owes|needs|must|may|should|puts|put"
)
# the letter A used as a name, which the parser would mistake for the article
_NAMED_A = re.compile(rf"[Aa](?=(?: and| or|,| &) ?[BbCc]\b|['’]s\b| ['’] ?s\b| (?:{_VERBS_AFTER_A})\b)")
_LETTER_A = re.compile(
    rf"(?<![\w.'’/^*+=-])(?:(?:{_NAMED_A.pattern})"
    rf"|(?:(?<=\band )|(?<=\bfor )|(?<=\bwith )|(?<=\bthan ))[Aa](?=[.,?;:]| ?$| (?:{_VERBS_AFTER_A})\b))"
)
_PERSON_A = "Adam"
_LETTER_NOUN = re.compile(
    r"\b(?:machine|company|student|partner|vehicle|pipe|type|city|town|brand|train|point|bucket|vessel|bag|box|person"
    r"|solution|mixture|station|team|set|group|class|store|shop|tank|car|number|alloy) ([a-z])(?![\w'’])"
)
_LETTER = re.compile(r"(?<![\w.'’/^*+=()<>-])(?<![-+*/=^(<>] )[b-hp-w](?![\w/^*+=()<>-])(?! [-+*/=^<>])")
_SPECIAL: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b[Rr][Ss]\.? ?(?=\d)"), "$"),
    (
        re.compile(
            r"\b(?:kms?|m|mt|met(?:er|re)s?|miles?|mi|ft|feet|cm|kmph|kmh|k ?m)"
            r" ?/ ?(?:hours?|hrs?|h|seconds?|secs?|s|min(?:ute)?s?)\b(?:\.(?= ?[a-z]))?"
        ),
        "mph",
    ),
    (_LETTER_A, _PERSON_A),
)
# *10 p. m. every day*, *the l. c. m. of*: a sentence hardly ever ends after such an abbreviation
_ABBREVIATED = re.compile(r"\b[a-z]\. ?[a-z]\.\s*\Z")
_UNIT_STOP = re.compile(
    r"\b(?:hrs?|mins?|secs?|kms?|cms?|mtrs?|mts?|kgs?|gms?|ltrs?|ft|sq|nos?|yrs?|approx)\.\s*\Z", re.I
)
_STARTERS = frozenset(
    """what how find if in the a an he she it they then when at by which calculate determine another both for on
    after who i his her their its there""".split()
)


def _starts_sentence(text: str, start: int) -> bool:
    """Return True unless the supposed sentence start at ``start`` merely follows an abbreviation."""
    before = max(0, start - 9)
    if _ABBREVIATED.search(text, before, start):
        return False
    following = re.match(r"\w+", text[start : start + 20])
    word = following.group() if following else ""
    if word == "c" and text[before:start].rstrip().endswith("h."):  # as in *the h. c. f.*
        return False
    return not _UNIT_STOP.search(text, before, start) or not word.islower() or word in _STARTERS


def _special_spans(text: str, lower_case: bool) -> list[tuple[int, int, str]]:
    found = [
        (match.start(), match.start() + len(match.group().rstrip()), word)
        for pattern, word in _SPECIAL
        for match in pattern.finditer(text)
    ]
    if lower_case:
        found += [(m.start(1), m.end(1), m.group(1).upper()) for m in _LETTER_NOUN.finditer(text)]
        found += [(m.start(), m.end(), m.group().upper()) for m in _LETTER.finditer(text)]
    found.sort()
    kept: list[tuple[int, int, str]] = []
    for item in found:
        if item[1] > item[0] and (not kept or item[0] >= kept[-1][1]):
            kept.append(item)
    return kept


_SURROGATE = re.compile("[\ud800-\udfff]")


def _token_spans(nlp: Any, text: str) -> Iterator[tuple[int, int]]:
    for token in nlp.tokenizer(text):
        if not token.is_space:
            yield token.idx, token.idx + len(token.text)


def _words(nlp: Any, problem: Problem) -> list[tuple[int, int, str]]:
    """Return the start and the end of each word in a problem, and the spelling that the parser reads."""
    text = _SURROGATE.sub("\ufffd", problem.text)  # spaCy cannot encode half of a surrogate pair
    lower_case = not any(character.isupper() for character in text)
    starts = {sentence.start for sentence in problem.sentences}
    stops = {sentence.end for sentence in problem.sentences}
    specials = _special_spans(text, lower_case)
    words: list[tuple[int, int, str]] = []
    upcoming = 0
    for start, end in _token_spans(nlp, text):
        position = start
        while upcoming < len(specials) and specials[upcoming][0] < end:
            special = specials[upcoming]
            if special[0] > position:
                words.append((position, special[0], text[position : special[0]]))
            words.append(special)
            position = special[1]
            upcoming += 1
        position = max(position, words[-1][1] if words else 0)
        if position < end:
            words.append((position, end, text[position:end]))
        # the final letter and stop in *… of B.* are not an abbreviation
        if end in stops and end - words[-1][0] == 2 and text[end - 1] == ".":
            words[-1:] = [(end - 2, end - 1, text[end - 2]), (end - 1, end, ".")]
    if lower_case:
        words = [
            (start, end, word.capitalize() if start in starts or word in _FIRST_NAMES else word)
            for start, end, word in words
        ]
    return words


def _to_doc(nlp: Any, problem: Problem) -> tuple[Any, list[tuple[int, int]]]:
    from spacy.tokens import Doc

    words = _words(nlp, problem)
    starts = sorted(sentence.start for sentence in problem.sentences)
    boundaries = [start for start in starts if _starts_sentence(problem.text, start)]
    sent_starts: list[bool] = []
    following = 0
    for start, _, _ in words:
        first = following < len(boundaries) and start >= boundaries[following]
        while following < len(boundaries) and start >= boundaries[following]:
            following += 1
        sent_starts.append(first or not sent_starts)
    spaces = [i + 1 < len(words) and words[i + 1][0] > end for i, (_, end, _) in enumerate(words)]
    doc = Doc(nlp.vocab, words=[word for _, _, word in words], spaces=spaces, sent_starts=sent_starts)
    return doc, [(start, end) for start, end, _ in words]


def _worth_parsing(text: str) -> bool:
    """Return True unless a text is blank, is too long, contains markup or is mostly in capitals."""
    if len(text) > MAX_CHARACTERS or not text.strip() or "\\" in text:  # a backslash indicates markup
        return False
    return sum(character.isupper() for character in text) <= sum(character.islower() for character in text)


def parse(nlp: Any, problems: Sequence[Problem]) -> list[Document | None]:
    """Parse problems in one batch. Return a document for each problem, or None if the problem cannot be edited.

    A problem cannot be edited if it is blank, is too long, is mostly in capitals or contains markup. Each document is
    cached on its problem, because several operators need the same parse.
    """
    inputs = []
    result: list[Document | None] = [problem.__dict__.get(_CACHE_ATTRIBUTE) for problem in problems]
    for i, problem in enumerate(problems):
        if result[i] is None and _worth_parsing(problem.text):
            doc, spans = _to_doc(nlp, problem)
            if len(doc):
                inputs.append((doc, (i, spans)))
    for doc, (i, spans) in nlp.pipe(inputs, as_tuples=True, batch_size=64, disable=["ner"]):
        document = Document(problems[i].text, doc, spans)
        document.named = frozenset(word for entity in problems[i].entities for word in entity.text.split())
        result[i] = problems[i].__dict__[_CACHE_ATTRIBUTE] = document
    return result


class Document:
    """A text, its spaCy parse, and the span of each token in the text."""

    def __init__(self, text: str, doc: Any, spans: Sequence[tuple[int, int]]) -> None:
        self.text = text
        self.doc = doc
        self.spans = spans
        self.sentences: list[tuple[int, int]] = [(s.start, s.end) for s in doc.sents]
        self.named: frozenset[str] = frozenset()  # the words that occur in the problem's names
        self._found: dict[Any, list[Any]] = {}

    def found_by(self, finder: Callable[[Document], list[Any]]) -> list[Any]:
        """Return the edits that a finder finds in this document. The result is cached."""
        if finder not in self._found:
            self._found[finder] = finder(self)
        return self._found[finder]

    def start(self, i: int) -> int:
        """Return the offset in the text at which token ``i`` starts."""
        return self.spans[i][0]

    def end(self, i: int) -> int:
        """Return the offset in the text at which token ``i`` ends."""
        return self.spans[i][1]

    def surface(self, i: int, j: int) -> str:
        """Return the original text of the tokens from ``i`` up to, but not including, ``j``."""
        return self.text[self.spans[i][0] : self.spans[j - 1][1]] if j > i else ""

    def ref(self, i: int, j: int, case: Case = "keep") -> Ref:
        """Return a reference to the tokens from ``i`` up to, but not including, ``j``."""
        if case == "lower" and self.doc[i].text == _PERSON_A:
            case = "keep"
        return Ref(self.spans[i][0], self.spans[j - 1][1], case)

    def like(self, i: int) -> Case:
        """Return the letter case that a replacement for token ``i`` needs."""
        first = self.text[self.spans[i][0]]
        capital = first.isupper() if first.isalpha() else self.upper
        return "upper" if self.doc[i].is_sent_start and capital else "keep"

    def cased(self, i: int, word: str) -> str:
        """Return ``word`` as a replacement for token ``i``, capitalised if the token starts a capitalised sentence."""
        return word[:1].upper() + word[1:] if self.like(i) == "upper" else word

    def sentence(self, i: int) -> int:
        """Return the index of the sentence that contains token ``i``."""
        return next(n for n, (first, last) in enumerate(self.sentences) if first <= i < last)

    @cached_property
    def upper(self) -> bool:
        """True if any sentence in the text starts with a capital letter."""
        return any(self.text[self.start(first)].isupper() for first, _ in self.sentences)

    @cached_property
    def words(self) -> frozenset[str]:
        """The lower-case words and lemmas of the text."""
        return frozenset(t.lower_ for t in self.doc) | frozenset(t.lemma_.lower() for t in self.doc)

    @cached_property
    def _names(self) -> frozenset[str]:
        from lemminflect import getAllLemmas

        inner = {self.surface(i, i + 1) for a, b in self.sentences for i in range(a + 1, b)}
        names = {word for word in inner if word[:1].isupper()}
        for first, last in self.sentences:
            token = self.doc[first]
            word = self.surface(first, first + 1)
            known = token.tag_ not in ("NNP", "NNPS") and getAllLemmas(word.lower())
            paired = last > first + 2 and self.doc[first + 1].lower_ == "and" and self.doc[first + 2].text[:1].isupper()
            if word[:1].isupper() and word.lower() not in inner and (not known or paired):
                names.add(word)
        return frozenset(word.rstrip(".") for word in names)

    def lower(self, text: str) -> str:
        """Return ``text`` with its first letter in lower case, unless ``text`` starts with a name or an acronym."""
        match = re.match(r"[^\W\d_]+", text)
        if match is None:
            return text
        word = match.group()
        if word in ("I", "I'm") or (len(word) > 1 and word.isupper()):
            return text
        if word == "A":
            return text if _NAMED_A.match(text) else "a" + text[1:]
        if word.lower() in _NEVER_NAMES or word.lower() in CARDINAL_START:
            return text[:1].lower() + text[1:]
        if word in self.named or word in self._names:
            return text
        return text[:1].lower() + text[1:]


_NEVER_NAMES = frozenset(
    """the an each every all some if when what how who which where there this that these those he she it they we
    his her its their my our in on at of for from to by with after before during and or but then find determine
    calculate one two three four five six seven eight nine ten another both half no not if as""".split()
)


def contiguous(token: Any) -> bool:
    """Return True if a token and all its dependents form a contiguous span."""
    return bool(sum(1 for _ in token.subtree) == token.right_edge.i - token.left_edge.i + 1)


def children(token: Any, *labels: str) -> list[Any]:
    """Return a token's children that have one of the given dependency labels."""
    return [child for child in token.children if child.dep_ in labels]
