"""Apply only the edits that preserve the quantities in a problem."""

from __future__ import annotations

from collections.abc import Sequence

from paraqd.reading import Problem, read, same_quantities
from paraqd.rewriting.text import splice

Edit = tuple[int, int, str]
_MOST_TRIES = 40  # trying more edits one by one would take too long


def keep_quantities(problem: Problem, edits: Sequence[Edit]) -> str | None:
    """Apply the edits that preserve a problem's quantities; return None if no edit can be applied.

    All edits are first applied together. If the quantities change, the edits are applied one by one, and each edit that
    changes the quantities is discarded.
    """
    if not edits:
        return None
    text = splice(problem.text, edits)
    if _has_same_quantities(problem, text):
        return text if text != problem.text else None
    if len(edits) > _MOST_TRIES:
        return None
    kept: list[Edit] = []
    for edit in edits:
        if _has_same_quantities(problem, splice(problem.text, [*kept, edit])):
            kept.append(edit)
    text = splice(problem.text, kept)
    return text if kept and text != problem.text else None


def _has_same_quantities(problem: Problem, text: str) -> bool:
    return same_quantities(problem.quantities, read(text).quantities)
