"""Edits that can be nested: a replacement is made of new text and of references to stretches of the old one.

A clause that is moved is a ``Ref``, so that a synonym inside it, found on its own, still takes effect where the
clause ends up. One parse of the text is therefore enough for any number of edits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Case = Literal["keep", "upper", "lower"]


@dataclass(frozen=True, slots=True)
class Ref:
    """A stretch of the old text, with the case that its first letter should have in its new place."""

    start: int
    end: int
    case: Case = "keep"


Piece = str | Ref


@dataclass(frozen=True, slots=True)
class Replacement:
    """Put ``pieces`` in the place of ``text[start:end]``."""

    start: int
    end: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """Replacements that are made together or not at all.

    ``family`` says what sort of edit it is. ``frames`` names the parts of the text whose build it changes (a
    sentence, a question): at most one edit may change each, or readable clauses would turn into a tangle.
    """

    family: str
    replacements: tuple[Replacement, ...]
    frames: frozenset[tuple[str, int]] = frozenset()

    @classmethod
    def single(cls, family: str, start: int, end: int, *pieces: Piece, frames: Iterable[tuple[str, int]] = ()) -> Edit:
        """Make an edit of one replacement."""
        return cls(family, (Replacement(start, end, pieces),), frozenset(frames))


def _inside(inner: Replacement, outer: Replacement) -> bool:
    """Whether ``inner`` lies in a stretch that ``outer`` takes over from the old text."""
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
    """Whether an edit can be made together with those already chosen."""
    for other in chosen:
        if edit.frames & other.frames:
            return False
        if any(_clash(a, b) for a in edit.replacements for b in other.replacements):
            return False
    return True


def render(text: str, edits: Sequence[Edit], lower: Callable[[str], str]) -> str:
    """Return the text after all the edits, which must be compatible with one another.

    ``lower`` takes the capital off a stretch that leaves the start of a sentence (and knows names, which keep it).

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
        # a Ref may also copy what stands elsewhere, with what is changed there
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
