"""Find names without a model: look at capital letters, at positions in the sentence, and at short lists."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from paraqd.reading.name_lists import capitalised_words, not_names, organisations, people, places
from paraqd.reading.signs import POSSESSIVES
from paraqd.reading.token_stream import Stream
from paraqd.reading.types import Entity, Sentence, Token
from paraqd.reading.units import SPELLINGS

_TITLES = frozenset("mr mrs ms miss dr prof sir madam uncle aunt aunty shri smt master coach principal".split())
_ORGANISATION_ENDS = frozenset(
    "school college university company corporation inc ltd limited bank hospital club store shop supermarket league "
    "team industries enterprises motors airlines railways academy institute".split()
)
_PLACE_ENDS = frozenset(
    "river city street road avenue lane park lake island county beach valley mountain mount bridge station".split()
)
_PLACE_BEFORE = frozenset("in at from to near towards toward via between through leaving reaches reach reached".split())
_VERBISH = frozenset("has had is was can and or would could buys bought sells sold earns gave gives makes made".split())
_VERBISH |= frozenset(
    "ran runs ate eats paid pays got gets uses used spent spends saved saves needs wants bakes".split()
)
_MONTHS = frozenset("january february march april may june july august september october november december".split())
_CARDS = frozenset({"king", "queen", "jack", "ace"})
_ARTICLES = frozenset({"a", "an", "the", "each", "every", "or"})
_OPENERS = frozenset("\"“'‘([:")


@dataclass(frozen=True)
class _Lists:
    not_names: frozenset[str]
    capitalised: frozenset[str]
    single: dict[str, str]
    several: dict[str, tuple[tuple[str, ...], ...]]
    organisations: frozenset[str]
    beginnings: frozenset[str]


@cache
def _lists() -> _Lists:
    single = {name.lower(): "PLACE" for name in places() if " " not in name}
    single.update({name.lower(): "PERSON" for name in people()})
    several: dict[str, tuple[tuple[str, ...], ...]] = {}
    for name in places():
        words = tuple(name.lower().split())
        if len(words) > 1:
            several[words[0]] = (*several.get(words[0], ()), words)
    return _Lists(
        not_names(),
        capitalised_words(),
        single,
        several,
        frozenset(name.lower() for name in organisations()),
        (frozenset(single) - not_names() - capitalised_words()) | frozenset(several),
    )


class LightEntities:
    """A reader that finds names without a model.

    The reader looks at capital letters, at positions in the sentence, and at short lists. In a text without capital
    letters, it uses only the lists.
    """

    def find(self, text: str, tokens: Sequence[Token], sentences: Sequence[Sentence]) -> tuple[Entity, ...]:
        """Return every mention of a name, in order."""
        del tokens
        return find_names(Stream(text), sentences)


def find_names(s: Stream, sentences: Sequence[Sentence]) -> tuple[Entity, ...]:
    """Return every mention of a name, in order."""
    scan = _Scan(s, _lists())
    if not any(sentence.text[:1].isupper() for sentence in sentences) or s.source == s.source.upper():
        return tuple(scan.from_lists())
    return tuple(scan.from_capitals(frozenset([sentence.start for sentence in sentences])))


class _Scan:
    """The state of a search for names in a text."""

    def __init__(self, s: Stream, lists: _Lists) -> None:
        self.s = s
        self.low = s.low
        self.lists = lists

    def entity(self, i: int, j: int, category: str) -> Entity:
        start, end = self.s.start[i], self.s.end[j - 1]
        if self.low[j - 1] != _base(self.low[j - 1]):
            end -= 2
        return Entity(self.s.source[start:end], category, start, end)

    def titled(self, i: int) -> bool:
        """Return True if a title precedes token i."""
        if i > 1 and self.low[i - 1] == ".":
            i -= 1
        return i > 0 and self.low[i - 1] in _TITLES

    def place_length(self, i: int) -> int:
        """Return the number of words in the multi-word place name at token i, or 0 if no such name begins there."""
        names = self.lists.several.get(self.low[i])
        if names is None:
            return 0
        return next((len(words) for words in names if tuple(self.low[i : i + len(words)]) == words), 0)

    # lower-case texts

    def from_lists(self) -> Iterator[Entity]:
        i = 0
        while i < self.s.n:
            if not self.may_be_listed(i):
                i += 1
                continue
            length = self.place_length(i)
            if length:
                yield self.entity(i, i + length, "PLACE")
                i += length
                continue
            category = self.listed(i)
            j = i + 1
            while category == "PERSON" and j < self.s.n and self.follows(j) and self.listed(j) == "PERSON":
                j += 1  # a first name and a family name
            if category:
                yield self.entity(i, j, category)
            i = j

    def may_be_listed(self, i: int) -> bool:
        """Return True if the word at token i may begin a listed name. This quick check excludes nearly all words."""
        word = self.low[i]
        if word in self.lists.beginnings or word[-2:] in POSSESSIVES:
            return True
        return i > 0 and (self.low[i - 1] in _TITLES or (self.low[i - 1] == "." and self.titled(i)))

    def listed(self, i: int) -> str | None:
        word = self.low[i]
        base = _base(word)
        if len(base) < 3 or not base[0].isalpha():
            return None
        if self.titled(i) and word not in _TITLES:
            return "PERSON"
        category = self.lists.single.get(base)
        if category is None or base in self.lists.not_names or base in self.lists.capitalised:
            return None
        return category

    def follows(self, i: int) -> bool:
        """Return True if one space separates token i from the preceding token, and that token is not a possessive."""
        return self.s.start[i] == self.s.end[i - 1] + 1 and _base(self.low[i - 1]) == self.low[i - 1]

    # texts with capitals

    def from_capitals(self, starts: frozenset[int]) -> list[Entity]:
        found: list[tuple[int, int]] = []
        opening: list[tuple[int, int]] = []
        for i, j in self.runs():
            initial = self.s.start[i] in starts or (i > 0 and self.s.text[i - 1] in _OPENERS)
            first = self.skip_ordinary(i, j)
            if first == j:
                if initial and j - i == 1:
                    opening.append((i, j))
            elif initial and first == i and j - i == 1 and not self.titled(i):
                opening.append((i, j))
            else:
                found.append((first, j))
        known = {_base(self.low[i]) for i, j in found if j - i == 1}
        found += [(i, j) for i, j in opening if self.opens_with_name(i, known)]
        return [self.entity(i, j, self.category(i, j)) for i, j in sorted(found)]

    def runs(self) -> Iterator[tuple[int, int]]:
        """Yield the ranges [i, j) of consecutive capitalised tokens. A hyphenated name (Mei-Ling) is in one range."""
        words, low = self.s.text, self.low
        done = 0
        for i, word in enumerate(words):
            if not word[:1].isupper() or i < done or not _is_name_like(word) or low[i] in SPELLINGS:
                continue
            j = i + 1
            while j < self.s.n:
                if _is_name_like(words[j]) and self.follows(j) and low[j] not in SPELLINGS:
                    j += 1
                elif self.hyphenates(j):
                    j += 2
                else:
                    break
            yield i, j
            done = j

    def hyphenates(self, j: int) -> bool:
        s = self.s
        if s.text[j] != "-" or not s.glued(j) or not s.glued(j + 1) or not s.text[j + 1].isalpha():
            return False
        return _is_name_like(s.text[j + 1]) or self.low[j - 1] in self.lists.single

    def skip_ordinary(self, i: int, j: int) -> int:
        """Return the start of the name in the range [i, j), after any capitalised words that are not part of it."""
        while i < j and not self.titled(i) and self.is_ordinary(i) and not self.place_length(i):
            i += 1
        return i

    def is_ordinary(self, i: int) -> bool:
        base = _base(self.low[i])
        if base in _TITLES:
            return True
        if base in _CARDS and (i > 0 and self.low[i - 1] in _ARTICLES):
            return True
        if base not in self.lists.capitalised:
            return False
        return base in _MONTHS or base == "roman" or self.lists.single.get(base) != "PERSON"

    def opens_with_name(self, i: int, known: set[str]) -> bool:
        """Return True if the word at token i is a name. The word is the first word of its sentence."""
        word, base = self.low[i], _base(self.low[i])
        following = self.low[i + 1]
        if base in {"may", "will"}:
            return word != base or following in {"has", "had", "is", "was"}
        if base in known or base in self.lists.organisations:
            return True
        if self.lists.single.get(base) is None and self.lists.single.get(_plain(base)) is None:
            return False
        if base in self.lists.not_names or base in self.lists.capitalised:
            if following in {",", "and"} and self.is_person(i + 2):
                return True
            verb = following in _VERBISH or (len(following) > 3 and following.endswith(("ed", "s")))
            return word != base or (verb and self.lists.single.get(base) == "PERSON")
        return True

    def is_person(self, i: int) -> bool:
        return _is_name_like(self.s.text[i]) and self.lists.single.get(self.low[i]) == "PERSON"

    def category(self, i: int, j: int) -> str:
        words = tuple(_base(word) for word in self.low[i:j])
        if self.titled(i):
            return "PERSON"
        if words[-1] in _ORGANISATION_ENDS or " ".join(words) in self.lists.organisations:
            return "ORGANISATION"
        if words[-1] in _PLACE_ENDS or self.place_length(i):
            return "PLACE"
        known = self.lists.single.get(words[0])
        if known:
            return known
        return "PLACE" if i > 0 and self.low[i - 1] in _PLACE_BEFORE else "PERSON"


def _base(word: str) -> str:
    return word[:-2] if word.endswith(POSSESSIVES) else word


def _plain(word: str) -> str:
    """Return a word without accents, because the lists contain names without accents (*zoe* for *zoë*)."""
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


def _is_name_like(word: str) -> bool:
    return len(word) > 1 and word[0].isupper() and not word.isupper() and word[1] not in "'’"
