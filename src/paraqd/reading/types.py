"""Define the frozen records that make up a reading.

A span is a pair (start, end) of code-point positions in the text, as in ``text[start:end]``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property, wraps
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from paraqd.reading.token_stream import Stream

T = TypeVar("T")
Span = tuple[int, int]
_LIKE_OTHERS = str.maketrans("ſıİ", "sii")


class Kind(StrEnum):
    """The kind of a quantity.

    ``count`` is a plain number (5 apples, 1995, 0.6). ``measure`` is a number with a unit of length, time, weight,
    speed, area, volume, temperature, angle or data. ``multiple`` is a factor (twice, double, threefold, 3 times).
    ``time_of_day`` is a time in hours since midnight. ``coefficient`` and ``exponent`` are parts of expressions (2y,
    x^2). ``label`` is a number that is part of a name and does not count anything (the 1 in x1 or A1).
    """

    COUNT = "count"
    MEASURE = "measure"
    MONEY = "money"
    PERCENT = "percent"
    FRACTION = "fraction"
    RATIO = "ratio"
    MULTIPLE = "multiple"
    ORDINAL = "ordinal"
    TIME_OF_DAY = "time_of_day"
    COEFFICIENT = "coefficient"
    EXPONENT = "exponent"
    LABEL = "label"


class Token(NamedTuple):
    """A word, a number or a punctuation mark."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence without surrounding white space."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit and kind.

    Attributes
    ----------
    value : Fraction
        The exact value. For a ratio, it is the first term divided by the second.
    unit : str, optional
        The canonical name of the unit, in the singular and in British spelling, such as ``kilometre``, ``rupee``,
        ``kilometre/hour``, ``square metre`` or ``percent``.
    kind : Kind
        The kind of quantity.
    start, end : int
        The position of the whole expression, such as ``Rs. 40,000``, ``5 km`` or ``half an hour``.
    surface : str
        The whole expression as written.
    number_span : tuple of int
        The position of the number.
    unit_span : tuple of int, optional
        The position of the unit or currency sign. None if there is no unit or if the unit is written elsewhere: the 3
        in *3, 4 and 12 days* has the unit day but no ``unit_span``.
    terms : tuple of Fraction
        The terms of a ratio; empty for other kinds.
    worded : bool
        True for a number in words.

    """

    value: Fraction
    unit: str | None
    kind: Kind
    start: int
    end: int
    surface: str
    number_span: Span
    unit_span: Span | None = None
    terms: tuple[Fraction, ...] = ()
    worded: bool = False

    @property
    def span(self) -> Span:
        """The start and end of the whole expression."""
        return (self.start, self.end)


@dataclass(frozen=True, slots=True)
class Entity:
    """A mention of a name. ``category`` is the kind of thing named, such as a person, a place or an organisation."""

    text: str
    category: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Question:
    """A clause that asks for something, with its target (``hours``, ``the average speed``)."""

    text: str
    start: int
    end: int
    target: str


@dataclass(frozen=True)
class Problem:
    """The reading of a word problem.

    Attributes
    ----------
    text : str
        The text of the problem. All positions refer to this string, in code points.
    sentences : tuple of Sentence
        The sentences in order.
    quantities : tuple of Quantity
        The numbers with their units, in order.
    entities : tuple of Entity
        The names of people, places and organisations, in order.
    questions : tuple of Question
        The clauses that ask for something, in order.

    """

    text: str
    sentences: tuple[Sentence, ...]
    quantities: tuple[Quantity, ...]
    entities: tuple[Entity, ...]
    questions: tuple[Question, ...]

    @property
    def question(self) -> Question | None:
        """The last question, or None."""
        return self.questions[-1] if self.questions else None

    @cached_property
    def cased(self) -> bool:
        """True if the text contains capitals. Many data sets are entirely in lower case."""
        return any(map(str.isupper, self.text))

    @cached_property
    def low(self) -> str:
        """The text in lower case. As in a case-insensitive regular expression, ſ becomes s, and ı and İ become i.

        Searching this string for a word is much faster than searching the text with a regular expression.
        """
        return self.text.lower() if self.text.isascii() else self.text.translate(_LIKE_OTHERS).lower()

    @cached_property
    def sentence_starts(self) -> frozenset[int]:
        """The start positions of the sentences."""
        return frozenset(sentence.start for sentence in self.sentences)

    def sentence_at(self, place: int) -> Sentence | None:
        """Return the sentence that contains a position, or None if the position is between two sentences."""
        number = bisect_right(self._starts, place) - 1
        return self.sentences[number] if number >= 0 and place < self.sentences[number].end else None

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        return tuple(sentence.start for sentence in self.sentences)

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The words, numbers and punctuation marks, in order."""
        return self.stream.tokens

    @cached_property
    def stream(self) -> Stream:
        """The tokens as parallel lists, for scanning."""
        from paraqd.reading.token_stream import Stream  # not at the top, because that module imports this one

        return Stream(self.text)


def computed_once(make: Callable[[Problem], T]) -> Callable[[Problem], T]:
    """Decorate a function of a problem so that it runs once per problem. Callers must not modify the result."""
    name = f"_{make.__module__}.{make.__name__}"

    @wraps(make)
    def cached(problem: Problem) -> T:
        results: dict[str, T] = problem.__dict__
        if name not in results:
            results[name] = make(problem)
        return results[name]

    return cached
