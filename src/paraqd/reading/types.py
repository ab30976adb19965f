"""What a reading holds: frozen records with spans into the text that was read.

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
    """What sort of quantity a number is.

    ``count`` is a plain number (5 apples, 1995, 0.6); ``measure`` one with a unit of length, time, weight,
    speed, area, volume, temperature, angle or data; ``multiple`` says how many times (twice, double, threefold,
    3 times); ``time_of_day`` is in hours since midnight; ``coefficient`` and ``exponent`` stand in expressions
    (2y, x^2); ``label`` is a digit that names something and counts nothing (the 1 of x1 or of A1).
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
    """A number as the text means it.

    ``span`` covers the whole expression (``Rs. 40,000``, ``5 km``, ``half an hour``); ``number_span`` the number
    alone; ``unit_span`` the unit or currency sign, None where there is none or where the unit is written
    elsewhere (the 3 of "3, 4 and 12 days" has the unit day and no ``unit_span``).
    ``unit`` is a canonical name, singular and British (``kilometre``, ``rupee``, ``kilometre/hour``,
    ``square metre``, ``percent``) or None. ``terms`` are a ratio's members, else empty. ``worded`` says that the
    number is written in words.
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
    """The clause that asks, and its target: what is asked for (``hours``, ``the average speed``)."""

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
        """The last thing asked, or None."""
        return self.questions[-1] if self.questions else None

    @cached_property
    def cased(self) -> bool:
        """Whether the text uses capitals (many collections are all in lower case)."""
        return any(map(str.isupper, self.text))

    @cached_property
    def low(self) -> str:
        """The text in small letters, as a regular expression that ignores case sees it: ſ is an s, ı and İ are an i.

        What is not in it no such expression finds: asking that first is much cheaper.
        """
        return self.text.lower() if self.text.isascii() else self.text.translate(_LIKE_OTHERS).lower()

    @cached_property
    def sentence_starts(self) -> frozenset[int]:
        """Where the sentences begin."""
        return frozenset(sentence.start for sentence in self.sentences)

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """Words and punctuation marks, in order."""
        return self.stream.tokens

    @cached_property
    def stream(self) -> Stream:
        """The tokens laid out for scanning."""
        from paraqd.reading.token_stream import Stream  # which is written in terms of tokens

        return Stream(self.text)


def computed_once(make: Callable[[Problem], T]) -> Callable[[Problem], T]:
    """Let what is computed from a problem be kept with it; nobody may change what is returned."""
    name = f"_{make.__module__}.{make.__name__}"

    @wraps(make)
    def found(problem: Problem) -> T:
        held: dict[str, T] = problem.__dict__
        if name not in held:
            held[name] = make(problem)
        return held[name]

    return found
