"""Compare two texts word by word to find changes, renamings, and words that are glued together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from paraqd.lab.annotation.purity.amounts import Count
from paraqd.lab.annotation.purity.numerals import NUMBER_WORDS, plain
from paraqd.lab.annotation.purity.units import UNITS
from paraqd.reading.currencies import CURRENCIES, SIGN_PATTERN

_LONGEST = 1500  # the maximum number of tokens to align, because alignment takes quadratic time
# white space and marks that carry no meaning, unlike marks in numbers, arithmetic and amounts of money
_FOLD = re.compile(
    r"""\s+|(?<!\d)[,:]+|(?<=[^\W\d_])\.|[.,:]+(?!\d)|[;!?'"`’‘“”()\[\]{}_…]+|(?<![\d\s])-|-(?![\d\s])"""
)
_ENDERS = frozenset(".?!")
_ARTICLES = frozenset({"a", "an"})
# words that may be part of a number or a unit in one notation but not in another
_NUMBER_GLUE = frozenset({"to", "and", "of", "times", "time", "minus", "negative", "o'clock", "fold", "am", "pm"})
_NUMBER_GLUE |= {"past", "sterling"}
_UNIT_GLUE = frozenset({"per", "each", "every", "squared", "of", "sterling", "metric"})
_STARTS = frozenset("what how which who find if the he she they it when where calculate determine".split())
# abbreviations, which may end with a full stop
_SHORT = (
    frozenset(w for w in UNITS if len(w) < 5)
    | {"mr", "mrs", "ms", "dr", "no", "sq", "cu", "vs", "st", "eg", "etc", "approx"}
) - frozenset("day days week year hour foot feet mile inch cent acre gram yard pint ton tons".split())
_SHORT -= {name for currency in CURRENCIES for name in (currency.name, currency.plural)}
_GLUED_SENTENCES = re.compile(r"[a-z%)][.?!](?:[A-Z][a-z]|\d)|\d[.?!][A-Z][a-z]")
_MIXED = re.compile(r"[^\W\d_]+\d\w*|\d+(?:\.\d+)*[^\W\d_]\w*")
_ORDINAL_DIGITS = re.compile(r"[\d,]*\d(?:st|nd|rd|th)", re.I)
_SIGN_WORD = re.compile(rf"{SIGN_PATTERN}\s?(?:{'|'.join(sorted(NUMBER_WORDS))})\b", re.I)
_GLUED_TO = sorted({*UNITS, *NUMBER_WORDS, "x", "y", "nd", "rd", "th"} - {"s", "°"}, key=len, reverse=True)
_GLUED_WORD = re.compile(
    f"(?:{'|'.join(sorted(NUMBER_WORDS, key=len, reverse=True))})+(?:{'|'.join(map(re.escape, _GLUED_TO))})"
)
_GLUED_FINE = frozenset({"tens", "tent", "tenths", "ones", *NUMBER_WORDS})
_LONGEST_WORD = 60
_WORD = re.compile(r"[^\W\d_]+")
_PLURAL = re.compile(r"(?<=...)(?:y|ies?|(?<=o)es|s)$")  # candy matches candies, and cookie matches cookies

_LISTING = frozenset({",", ";", "and", "or"})

# function words whose loss changes the meaning
_TELLING = frozenset(
    (
        "no not nor more most less least all any both only same other each every per over under up down out into after "
        "before between among through during again what which who whom whose when where why how find"
    ).split()
)
SILENT = frozenset(
    (
        "a an the of to in on at by for from with and or but if then than that this these those is are was were be "
        "been being it its he she they them his her their him i you we our your my me as so such there here do does "
        "did done has have had having will would can could shall should may might must also just about very too now "
        "s t re ll ve st nd rd th"
    ).split()
)
STOP = SILENT | _TELLING
_NO_CONTENT = STOP | frozenset(UNITS) | NUMBER_WORDS | {"sq", "square", "cu", "cubic", "negative", "minus", "times"}


class Change(NamedTuple):
    """A difference between a question and its paraphrase: the ``old`` tokens were replaced with the ``new`` tokens.

    Either ``old`` or ``new`` may be empty. ``start`` is the index of the first old token in the question.
    """

    old: tuple[str, ...]
    new: tuple[str, ...]
    start: int


def fold(text: str) -> str:
    """Return a text in lower case, without white space and without marks that carry no meaning.

    >>> fold("It's 5 km!") == fold("its 5km"), fold("It costs $5.") == fold("It costs €5.")
    (True, False)
    """
    return _FOLD.sub("", text).casefold()


def stem(word: str) -> str:
    """Return the first letters of a word, which are usually the same for all forms of the word."""
    word = word.lower()
    if len(word) > 5:
        return word[:5]
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def content_stems(text: str) -> Counter[str]:
    """Count the stems of the content words in a text; numbers and units are not content words."""
    words = (word.lower() for word in _WORD.findall(text))
    return Counter(stem(w) for w in words if len(w) > 1 and w not in _NO_CONTENT)


def split_possessives(tokens: Sequence[str]) -> list[str]:
    """Turn each possessive ``'s`` into a token of its own so that renaming an owner changes only one token."""
    found: list[str] = []
    for token in tokens:
        if token.endswith(("'s", "'S")) and len(token) > 2:
            found += [token[:-2], "'s"]
        else:
            found.append(token)
    return found


def changes(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    """Return the differences between two token sequences, in order."""
    begin = 0
    while begin < min(len(old), len(new)) and old[begin] == new[begin]:
        begin += 1
    end = 0
    while end < min(len(old), len(new)) - begin and old[-1 - end] == new[-1 - end]:
        end += 1
    a, b = old[begin : len(old) - end], new[begin : len(new) - end]
    if not a and not b:
        return []
    if max(len(a), len(b)) > _LONGEST or not a or not b:
        return [Change(tuple(a), tuple(b), begin)]
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    return [
        Change(tuple(a[i:j]), tuple(b[k:m]), begin + i) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"
    ]


def is_subsequence(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Return True if removing tokens from ``whole`` can produce ``part``."""
    rest = iter(whole)
    return all(any(token == other for other in rest) for token in part)


class Renaming(NamedTuple):
    """The renamed phrases of a text.

    ``names`` maps each old phrase to its new phrase. ``consistent`` is True if the texts differ only in these phrases,
    each old phrase is replaced everywhere, and no two phrases become the same phrase.
    """

    names: dict[tuple[str, ...], tuple[str, ...]]
    consistent: bool


def renaming(question: Sequence[str], paraphrase: Sequence[str]) -> Renaming:
    """Return the phrases of the question that are renamed in the paraphrase.

    >>> renaming("Tom ran . Tom won .".split(), "Max ran . Max won .".split()).consistent
    True
    >>> renaming("Tom ran . Tom won .".split(), "Max ran . Tom won .".split()).consistent
    False
    """
    old, new = split_possessives(question), split_possessives(paraphrase)
    low = [token.lower() for token in old]
    found = changes(low, [token.lower() for token in new])
    names: dict[tuple[str, ...], tuple[str, ...]] = {}
    consistent = bool(found)
    gone: set[str] = set()
    for change in found:
        if not change.old or not change.new or names.setdefault(change.old, change.new) != change.new:
            consistent = False
        if any(token in _LISTING for token in (*change.old, *change.new)):  # a list changed, so a person may be missing
            consistent = False
        if len(change.old) > 1:
            gone |= {word for word in old[change.start : change.start + len(change.old)] if word[0].isalpha()}
    changed = {k for change in found for k in range(change.start, change.start + len(change.old))}
    left = {token for k, token in enumerate(old) if k not in changed}
    # a word from a longer name may occur elsewhere in lower case: the Soccer Stars play in a soccer league
    single_words = {phrase[0] for phrase in names if len(phrase) == 1}
    added = {word for phrase in names.values() for word in phrase if word[0].isalpha()} - STOP
    stays = (gone - STOP) & left or single_words & {token.lower() for token in left}
    if stays or added & set(low) or len(set(names.values())) != len(names):
        consistent = False
    return Renaming(names, consistent)


def singular_things(tokens: Sequence[str]) -> list[str]:
    """Remove the articles *a* and *an* and plural endings so that *an apple* and *apples* match.

    >>> singular_things("An apple, two apples and 3 mangoes".split())
    ['apple,', 'two', 'apple', 'and', '3', 'mango']
    """
    return [_PLURAL.sub("", token) for token in tokens if token.lower() not in _ARTICLES]


class Skeleton(NamedTuple):
    """The words of a text and the marks that end its sentences.

    The first element of ``stops`` is the mark before the first word, and each further element is the mark after a word.
    A mark is ``.``, ``?``, ``!``, ``~`` (a full stop that may be part of an abbreviation) or an empty string.
    """

    words: tuple[str, ...]
    stops: tuple[str, ...]

    def stops_like(self, other: Skeleton) -> bool:
        """Return True if the sentences of both texts seem to end at the same words."""
        return all(
            a == b or ("~" in a + b and (a + b).strip("~") in {"", "."})
            for a, b in zip(self.stops, other.stops, strict=True)
        )


def skeleton(text: Count, *, numbers: bool, units: bool) -> Skeleton:
    """Return the words of a text without units and, if ``numbers`` is True, without numbers.

    If ``numbers`` is True, words that often accompany numbers are also removed; if ``units`` is True, so are words that
    often accompany units.

    >>> from paraqd.lab.annotation.purity.amounts import count
    >>> skeleton(count("She paid $5 for 2 pens."), numbers=True, units=True)
    Skeleton(words=('she', 'paid', 'for', 'pens'), stops=('', '', '', '', '.'))
    """
    dropped = text.units | (text.inside() if numbers else frozenset())
    ignored = _ARTICLES | (_NUMBER_GLUE if numbers else frozenset()) | (_UNIT_GLUE if units else frozenset())
    words: list[str] = []
    stops = [""]
    for k, token in enumerate(text.low):
        if token in _ENDERS:
            stop = _stop(text, k)
            stops[-1] = stop if stop != "~" else stops[-1] or stop
        elif k not in dropped and token not in ignored and token[0].isalnum():
            if token == "s" and text.low[k - 1] == "'":
                continue  # a possessive s that is separated from its word
            if numbers and token == "is" and text.low[k + 1 : k + 2] == ("to",):
                continue  # "4 is to 1" equals "four to one"
            words.append(token.removesuffix("'s"))
            stops.append("")
    return Skeleton(tuple(words), tuple(stops))


def _stop(text: Count, k: int) -> str:
    if text.low[k] != ".":
        return text.low[k]
    before = text.low[k - 1] if k else ""
    following = text.tokens[k + 1] if k + 1 < len(text.tokens) else ""
    abbreviated = before in _SHORT or (len(before) == 1 and before.isalpha())
    if before in UNITS and before not in {"rs", "re", "in"} and (following[:1].isupper() or following in _STARTS):
        abbreviated = False
    goes_on = following[:1] in set(",;:-)/") or (before[:1].isdigit() and following[:1].isdigit())
    return "~" if abbreviated or goes_on else "."


def glued(question: str, paraphrase: str) -> str | None:
    """Return a string such as *onekm* that is glued together only in the paraphrase, or None if there is none.

    >>> glued("It is 1 km.", "It is onekm."), glued("It is 1 km.", "It is one km.")
    ('onekm', None)
    """
    q, p = plain(question), plain(paraphrase)
    known = {_shape(token) for token in _MIXED.findall(q)}
    letters = {word.lower() for word in _WORD.findall(q) if len(word) == 1}
    token: str
    for token in _MIXED.findall(p):
        low = token.lower().rstrip(".")
        fine = _ORDINAL_DIGITS.fullmatch(low) or low.lstrip("0123456789") in letters
        if not fine and _shape(token) not in known:
            return token
    words = {word.lower() for word in _WORD.findall(q)}
    for token in _WORD.findall(p):
        low = token.lower()
        if low not in words and low not in _GLUED_FINE and len(low) < _LONGEST_WORD and _GLUED_WORD.fullmatch(low):
            return token
    sign = _SIGN_WORD.search(p)
    if sign is not None and not _SIGN_WORD.search(q):
        return sign.group()
    sentences: list[str] = _GLUED_SENTENCES.findall(p)
    return sentences[-1] if len(sentences) > len(_GLUED_SENTENCES.findall(q)) else None


def _shape(token: str) -> str:
    """Replace each number in a token with 0, and a unit after the number with u: 5km becomes 0u."""
    shape = re.sub(r"[\d.,]+", "0", token.lower().rstrip("."))
    return "0u" if shape[0] == "0" and shape[1:] in UNITS else shape


def roles(text: Count) -> Counter[tuple[object, ...]]:
    """Count each number together with its dimension or, if the number has no unit, with the words after it."""
    return Counter(
        (value, dimension, "" if dimension else _words_after(text, end)) for value, dimension, end in text.summed()
    )


def _words_after(text: Count, k: int) -> str:
    """Return the stems of up to two content words after a number; k is the index of the token after the number."""
    found: list[str] = []
    for word in text.low[k : k + 5]:
        if (not word[0].isalpha() and word != "-") or word in NUMBER_WORDS:
            break
        if word[0].isalpha() and word not in STOP:
            found.append(stem(word))
    return " ".join(found[:2])
