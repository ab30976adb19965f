"""Define nestable edits, whose replacements consist of new text and references to the old text.

A moved clause is a ``Ref``. A synonym found inside that clause therefore still takes effect at the clause's new
position, and one parse of the text is enough for any number of edits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Case = Literal["keep", "upper", "lower"]


@dataclass(frozen=True, slots=True)
class Ref:
    """A span of the old text, and the case of the first letter in the new position."""

    start: int
    end: int
    case: Case = "keep"


Piece = str | Ref


@dataclass(frozen=True, slots=True)
class Replacement:
    """Replace ``text[start:end]`` with ``pieces``."""

    start: int
    end: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """A group of replacements that are applied together or not at all.

    ``family`` is the kind of edit. ``frames`` names the parts of the text whose structure the edit changes, such as a
    sentence or a question. To keep the text readable, at most one edit may change each frame.
    """

    family: str
    replacements: tuple[Replacement, ...]
    frames: frozenset[tuple[str, int]] = frozenset()

    @classmethod
    def single(cls, family: str, start: int, end: int, *pieces: Piece, frames: Iterable[tuple[str, int]] = ()) -> Edit:
        """Create an edit with a single replacement."""
        return cls(family, (Replacement(start, end, pieces),), frozenset(frames))


def _inside(inner: Replacement, outer: Replacement) -> bool:
    """Return True if ``inner`` lies within a span that ``outer`` keeps from the old text."""
    return any(
        isinstance(piece, Ref) and piece.start <= inner.start and inner.end <= piece.end for piece in outer.pieces
    )


def _clash(a: Replacement, b: Replacement) -> bool:
    if a.end <= b.start or b.end <= a.start:
        return False
    if (a.start, a.end) == (b.start, b.end):
        return True
    return not (_inside(a, b) or _inside(b, a))


def compatible(edit: Edit, chosen: Sequence[Edit]) -> bool:
    """Return True if an edit can be combined with the edits already chosen."""
    for other in chosen:
        if edit.frames & other.frames:
            return False
        if any(_clash(a, b) for a in edit.replacements for b in other.replacements):
            return False
    return True


def render(text: str, edits: Sequence[Edit], lower: Callable[[str], str]) -> str:
    """Return the text after applying all edits, which must be compatible.

    ``lower`` removes the capital from a span that is moved away from the start of a sentence, unless the span starts
    with a name.

    >>> swap = Edit.single("order", 0, 12, Ref(8, 12, "upper"), ", ", Ref(0, 7, "lower"))
    >>> word = Edit.single("synonym", 5, 7, "leave")
    >>> render("They go then.", [swap, word], str.lower)
    'Then, they leave.'
    """
    replacements = sorted((r for edit in edits for r in edit.replacements), key=lambda r: (r.start, -r.end))
    return _render(text, 0, len(text), replacements, lower)


def _render(text: str, start: int, end: int, replacements: Sequence[Replacement], lower: Callable[[str], str]) -> str:
    parts: list[str] = []
    position = start
    for replacement in replacements:
        if replacement.start < position or replacement.end > end:
            continue
        parts.append(text[position : replacement.start])
        # a Ref may also copy a span from elsewhere, including the edits within that span
        others = [r for r in replacements if r is not replacement]
        for piece in replacement.pieces:
            if isinstance(piece, str):
                parts.append(piece)
                continue
            rendered = _render(text, piece.start, piece.end, others, lower)
            if piece.case == "upper":
                rendered = rendered[:1].upper() + rendered[1:]
            elif piece.case == "lower":
                rendered = lower(rendered)
            parts.append(rendered)
        position = replacement.end
    parts.append(text[position:end])
    return "".join(parts)
