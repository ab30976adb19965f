"""Apply only those edits that preserve the quantities in a text."""

from __future__ import annotations

from collections.abc import Sequence

from paraqd.operators.text import splice
from paraqd.reading import Problem, read, same_quantities

Edit = tuple[int, int, str]
_MOST_TRIES = 40  # with more edits, trying them one by one would take too long


def keep_quantities(problem: Problem, edits: Sequence[Edit]) -> str | None:
    """Apply the edits that preserve the quantities in a text; return None if no edit does.

    All edits are first applied together. If the quantities change, the edits are tried one by one, and the harmful
    edits are discarded.
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
