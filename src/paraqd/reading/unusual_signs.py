"""Read texts with unusual hyphens and zero-width characters as if they had none, with spans in the original text."""

from __future__ import annotations

from dataclasses import replace

from paraqd.reading.signs import HYPHENS, ZERO_WIDTH
from paraqd.reading.types import Problem, Span
from paraqd.text_check import INVISIBLE

_TO_HYPHEN = str.maketrans(HYPHENS, "-" * len(HYPHENS))


def replace_unusual_signs(text: str) -> tuple[str, list[int]]:
    r"""Return a text with plain hyphens and without zero-width characters, and the position of each character before.

    >>> replace_unusual_signs("5\u2010day\u200b trip")
    ('5-day trip', [0, 1, 2, 3, 4, 6, 7, 8, 9, 10])
    """
    positions = [place for place, sign in enumerate(text) if sign not in INVISIBLE]
    return ZERO_WIDTH.sub("", text).translate(_TO_HYPHEN), positions


def restore_text(problem: Problem, text: str, positions: list[int]) -> Problem:
    """Return a reading with its spans moved to the original text."""

    def moved(span: Span) -> Span:
        start, end = span
        return (positions[start], positions[end - 1] + 1) if end > start else (0, 0)

    def part(start: int, end: int) -> dict[str, object]:
        first, last = moved((start, end))
        return {"start": first, "end": last, "text": text[first:last]}

    quantities = []
    for quantity in problem.quantities:
        start, end = moved(quantity.span)
        spans = {
            "number_span": moved(quantity.number_span),
            "unit_span": quantity.unit_span and moved(quantity.unit_span),
        }
        quantities.append(replace(quantity, start=start, end=end, surface=text[start:end], **spans))
    restored = replace(
        problem,
        text=text,
        sentences=tuple(replace(each, **part(each.start, each.end)) for each in problem.sentences),
        quantities=tuple(quantities),
        entities=tuple(replace(each, **part(each.start, each.end)) for each in problem.entities),
        questions=tuple(replace(each, **part(each.start, each.end)) for each in problem.questions),
    )
    restored.__dict__["stream"] = problem.stream.moved(text, positions)  # fills the cached property
    return restored
