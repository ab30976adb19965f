"""Define edits that can be nested. The replacement for a span can contain references to spans of the old text.

An edit that moves a clause refers to the clause with a ``Ref``. Another edit that replaces a word inside the clause
therefore also takes effect at the clause's new position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Case = Literal["keep", "upper", "lower"]


@dataclass(frozen=True, slots=True)
class Ref:
    """A span of the old text to copy, and how to change the case of its first letter."""

    start: int
    end: int
    case: Case = "keep"


Piece = str | Ref


@dataclass(frozen=True, slots=True)
class Replacement:
    """The replacement of ``text[start:end]`` with ``pieces``."""

    start: int
    end: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """A group of replacements that are applied together or not at all.

    ``family`` is the kind of edit. ``frames`` identifies the parts of the text whose structure the edit changes, such
    as a sentence or a question. Two edits that share a frame are never combined, so the text stays readable.
    """

    family: str
    replacements: tuple[Replacement, ...]
    frames: frozenset[tuple[str, int]] = frozenset()

    @classmethod
    def single(cls, family: str, start: int, end: int, *pieces: Piece, frames: Iterable[tuple[str, int]] = ()) -> Edit:
        """Create an edit with a single replacement."""
        return cls(family, (Replacement(start, end, pieces),), frozenset(frames))


def _inside(inner: Replacement, outer: Replacement) -> bool:
    """Return True if ``inner`` lies within a span that ``outer`` copies from the old text."""
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
    """Apply edits to a text and return the new text. The edits must be compatible with one another.

    ``lower`` is called with each span that moves away from the start of a sentence. The function returns the span with
    its first letter in lower case, unless the span starts with a name.

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
        # a Ref may copy a span from outside this replacement, and the edits within that span must also apply
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
