"""Define the parts of a reading: frozen records with spans in the text.

Every span is a pair (start, end) of code points, ``text[start:end]``.
"""

from __future__ import annotations

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

    ``count`` is a plain number (5 apples, 1995, 0.6); ``measure`` one with a unit of length, time, weight,
    speed, area, volume, temperature, angle or data; ``multiple`` a factor (twice, double, threefold,
    3 times); ``time_of_day`` is in hours since midnight; ``coefficient`` and ``exponent`` are parts of expressions
    (2y, x^2); ``label`` is a digit that is part of a name and counts nothing (the 1 of x1 or of A1).
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
    """A word, a number or one punctuation mark."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, without the white space around it."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its meaning.

    ``span`` covers the whole expression (``Rs. 40,000``, ``5 km``, ``half an hour``); ``number_span`` the number
    alone; ``unit_span`` the unit or currency sign, None if there is none or if the unit is written
    elsewhere (the 3 of "3, 4 and 12 days" has the unit day and no ``unit_span``).
    ``unit`` is a canonical name, singular and British (``kilometre``, ``rupee``, ``kilometre/hour``,
    ``square metre``, ``percent``) or None. ``terms`` are the numbers of a ratio, else empty. ``worded`` is
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
        """Start and end of the whole expression."""
        return (self.start, self.end)


@dataclass(frozen=True, slots=True)
class Entity:
    """A name: of a person, a place, an organisation or something else (``category``)."""

    text: str
    category: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Question:
    """A clause that asks for something, and its target (``hours``, ``the average speed``)."""

    text: str
    start: int
    end: int
    target: str


@dataclass(frozen=True)
class Problem:
    """A word problem that has been read."""

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
        """True if the text has capitals (many data sets are all in lower case)."""
        return any(map(str.isupper, self.text))

    @cached_property
    def low(self) -> str:
        """The text in lower case, as a regular expression that ignores case sees it: ſ is an s, ı and İ are an i.

        An expression can only match words that are in it. Looking for them first is much faster.
        """
        return self.text.lower() if self.text.isascii() else self.text.translate(_LIKE_OTHERS).lower()

    @cached_property
    def sentence_starts(self) -> frozenset[int]:
        """The starts of the sentences."""
        return frozenset(sentence.start for sentence in self.sentences)

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """Words and punctuation marks, in order."""
        return self.stream.tokens

    @cached_property
    def stream(self) -> Stream:
        """The tokens as lists, for scanning."""
        from paraqd.reading.token_stream import Stream  # imports this module

        return Stream(self.text)


def computed_once(make: Callable[[Problem], T]) -> Callable[[Problem], T]:
    """Decorate a function of a problem so that its result is kept with the problem; callers must not change it."""
    name = f"_{make.__module__}.{make.__name__}"

    @wraps(make)
    def cached(problem: Problem) -> T:
        results: dict[str, T] = problem.__dict__
        if name not in results:
            results[name] = make(problem)
        return results[name]

    return cached
