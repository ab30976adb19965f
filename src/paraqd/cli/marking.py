"""Mark spans of a text so that the marks are legible with and without colours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from paraqd.terminal_text import visible

if TYPE_CHECKING:
    from rich.text import Text

# one colour per piece of evidence; the colours repeat
COLOURS = ("red", "yellow", "magenta", "cyan", "green", "blue")


class Piece(NamedTuple):
    """A part of a text, with the numbers of the pieces of evidence whose spans cover it."""

    text: str
    numbers: tuple[int, ...]


def pieces(text: str, spans: Sequence[Sequence[tuple[int, int]]]) -> list[Piece]:
    """Split a text at the boundaries of spans.

    ``spans[0]`` holds the spans with number 1, ``spans[1]`` holds the spans with number 2, and so on. Spans may
    overlap, be adjacent, or extend beyond the text.

    >>> pieces("7 red pens", [[(0, 5)], [(2, 10)]])
    [Piece(text='7 ', numbers=(1,)), Piece(text='red', numbers=(1, 2)), Piece(text=' pens', numbers=(2,))]
    """
    clipped = [
        (max(0, start), min(len(text), end), number)
        for number, found in enumerate(spans, start=1)
        for start, end in found
    ]
    covering = [(start, end, number) for start, end, number in clipped if start < end]
    cuts = sorted({0, len(text), *(place for start, end, _ in covering for place in (start, end))})
    made: list[Piece] = []
    for start, end in pairwise(cuts):
        numbers = tuple(sorted({number for first, last, number in covering if first <= start and end <= last}))
        if made and made[-1].numbers == numbers:  # merge adjacent pieces with the same numbers
            made[-1] = Piece(made[-1].text + text[start:end], numbers)
        else:
            made.append(Piece(text[start:end], numbers))
    return made


def marked(text: str, spans: Sequence[Sequence[tuple[int, int]]]) -> Text:
    """Return a text with each span in colour and in numbered brackets, as in ``[1: 4 pounds]``."""
    from rich.text import Text

    shown = Text()
    for piece in pieces(text, spans):
        if not piece.numbers:
            shown.append(visible(piece.text))
            continue
        colour = style(piece.numbers[0])
        shown.append(f"[{_listed(piece.numbers)}: ", style=f"bold {colour}")
        shown.append(visible(piece.text), style=f"underline {colour}")
        shown.append("]", style=f"bold {colour}")
    return shown


def style(number: int) -> str:
    """Return the colour for the piece of evidence with this number."""
    return COLOURS[(number - 1) % len(COLOURS)]


def _listed(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))
