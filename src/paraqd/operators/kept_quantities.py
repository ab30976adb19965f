"""Keeping only the edits that do not change what the text says in numbers."""

from __future__ import annotations

from collections.abc import Sequence

from paraqd.operators.text import splice
from paraqd.reading import Problem, read, same_quantities

Edit = tuple[int, int, str]
_MOST_TRIES = 40  # a text of hundreds of numbers is not worth trying edit by edit


def keep_quantities(problem: Problem, edits: Sequence[Edit]) -> str | None:
    """Apply the edits under which the text still reads as the same quantities; None where none is left.

    All at once if that is harmless, which is nearly always; else one by one, leaving out each that is not.
    """
    if not edits:
        return None
    text = splice(problem.text, edits)
    if _same(problem, text):
        return text if text != problem.text else None
    if len(edits) > _MOST_TRIES:
        return None
    kept: list[Edit] = []
    for edit in edits:
        if _same(problem, splice(problem.text, [*kept, edit])):
            kept.append(edit)
    text = splice(problem.text, kept)
    return text if kept and text != problem.text else None


def _same(problem: Problem, text: str) -> bool:
    return same_quantities(problem.quantities, read(text).quantities)
