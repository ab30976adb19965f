"""Replace unusual hyphens and zero-width characters before a text is read, and restore the spans afterwards."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from paraqd.reading.signs import HYPHENS, ZERO_WIDTH
from paraqd.reading.types import Entity, Problem, Question, Sentence, Span
from paraqd.text_check import INVISIBLE

_Part = TypeVar("_Part", Sentence, Entity, Question)
_TO_HYPHEN = str.maketrans(HYPHENS, "-" * len(HYPHENS))


def replace_unusual_signs(text: str) -> tuple[str, list[int]]:
    r"""Replace unusual hyphens with plain hyphens, and remove zero-width characters.

    Return the new text and the original position of each of its characters.

    >>> replace_unusual_signs("5\u2010day\u200b trip")
    ('5-day trip', [0, 1, 2, 3, 4, 6, 7, 8, 9, 10])
    """
    positions = [place for place, sign in enumerate(text) if sign not in INVISIBLE]
    return ZERO_WIDTH.sub("", text).translate(_TO_HYPHEN), positions


def restore_text(problem: Problem, text: str, positions: list[int]) -> Problem:
    """Return a reading with its spans mapped to the original text."""

    def moved(start: int, end: int) -> Span:
        return (positions[start], positions[end - 1] + 1) if end > start else (0, 0)

    def place(part: _Part) -> _Part:
        start, end = moved(part.start, part.end)
        return replace(part, start=start, end=end, text=text[start:end])

    quantities = []
    for quantity in problem.quantities:
        start, end = moved(*quantity.span)
        number_span, unit_span = moved(*quantity.number_span), quantity.unit_span and moved(*quantity.unit_span)
        surface = text[start:end]
        quantities.append(
            replace(quantity, start=start, end=end, surface=surface, number_span=number_span, unit_span=unit_span)
        )
    restored = replace(
        problem,
        text=text,
        sentences=tuple(map(place, problem.sentences)),
        quantities=tuple(quantities),
        entities=tuple(map(place, problem.entities)),
        questions=tuple(map(place, problem.questions)),
    )
    restored.__dict__["stream"] = problem.stream.moved(text, positions)  # fill the cached property
    return restored
