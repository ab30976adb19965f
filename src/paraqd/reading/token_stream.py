"""Arrange a text's tokens for scanning, in parallel lists with empty tokens at the end."""

from __future__ import annotations

from functools import cached_property

from paraqd.reading.tokens import VULGAR, token_lists, tokens_of
from paraqd.reading.types import Token

VULGAR_SET = frozenset(VULGAR)
# tokens that may precede a unit's abbreviation: "km / h", "per m", "sq m", "x m long"
_BEFORE_UNITS = frozenset({"/", "per", "sq", ".", "'", "’", "a", "square", "cubic"})
_PAYING = frozenset(
    (
        "cost costs costing paid pay pays paying spent spend spends earn earns earned price priced charge charges "
        "charged owes owed worth sold sells sell fare rent bill saved save saves change"
    ).split()
)
_UNDER = frozenset({"s", "sec", "second", "min", "minute", "h", "hr", "hour", "m", "l"})  # "in m/s"
_PADDING = 6  # empty tokens at the end, so that a scanner can always look a few tokens ahead


class Stream:
    """A text's tokens as parallel lists.

    ``text``, ``low``, ``start`` and ``end`` hold each token's text, its text in lower case, and its span. The first
    ``n`` tokens are real, and the others are empty padding. ``words`` is the set of all elements in ``low``.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.text, self.start, self.end = token_lists(source)
        self.n = len(self.text)
        far = [len(source) + 9] * _PADDING
        self.text += [""] * _PADDING
        self.low = [word.lower() for word in self.text]
        self.words = frozenset(self.low)
        self.start += far
        self.end += far

    def moved(self, source: str, positions: list[int]) -> Stream:
        """Return the same tokens with spans in a different text.

        ``positions`` maps each character of this text to its position in the other text.
        """
        stream = object.__new__(Stream)
        stream.__dict__ |= {"source": source, "text": self.text, "low": self.low, "words": self.words, "n": self.n}
        far = [len(source) + 9] * _PADDING
        stream.start = [positions[start] for start in self.start[: self.n]] + far
        stream.end = [positions[end - 1] + 1 for end in self.end[: self.n]] + far
        return stream

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens as `Token` objects, without the padding."""
        return tokens_of(self.text[: self.n], self.start, self.end)

    def glued(self, i: int) -> bool:
        """Return True if no space separates token i from the preceding token."""
        return i > 0 and self.start[i] == self.end[i - 1]

    def number_at(self, i: int) -> bool:
        """Return True if token i is a number in digits."""
        word = self.text[i]
        return bool(word) and (word[0].isdecimal() or (word[0] == "." and len(word) > 1))

    def ends_number(self, i: int) -> bool:
        """Return True if token i is a number in digits or a fraction sign."""
        return i >= 0 and (self.number_at(i) or self.text[i][:1] in VULGAR_SET)

    @cached_property
    def variables(self) -> frozenset[str]:
        """The single letters that may be variables. A letter after a number, a slash or *per* is probably a unit."""
        from paraqd.reading.numerals import CARDINAL_START  # not at the top, because that module imports this one

        found = set()
        for i in range(self.n):
            word = self.text[i]
            if len(word) == 1 and word.isalpha():
                before = self.low[i - 1] if i else ""
                unit_place = (
                    before in _BEFORE_UNITS or before in CARDINAL_START or (len(before) == 1 and before.isalpha())
                )
                rate = self.text[i + 1] == "/" and self.low[i + 2] in _UNDER
                if not unit_place and not rate and not self.ends_number(i - 1):
                    found.add(word)
        return frozenset(found)

    @cached_property
    def pays_in_pounds(self) -> bool:
        """True if a word such as *cost* or *paid* occurs shortly before *pound* or *pounds*."""
        return any(
            self.low[i] in {"pound", "pounds"} and not _PAYING.isdisjoint(self.low[max(0, i - 6) : i])
            for i in range(self.n)
        )
