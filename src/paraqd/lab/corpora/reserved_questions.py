"""Reserve corpus questions for tests that apply edits to them. No judge is trained on them."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

RESERVED = 2000


def reserved_questions(
    rows: Sequence[Mapping[str, Any]], written: Collection[str], *, count: int | None = None
) -> list[Mapping[str, Any]]:
    """Return about ``count`` corpus questions that training does not use.

    Questions that differ only in numbers have the same skeleton, and are reserved together. A question whose skeleton
    is that of a question with written rewrites is never reserved.

    Parameters
    ----------
    rows : sequence of mappings
        The rows of the data set ``questions``.
    written : collection of str
        The ids of the questions that have written rewrites.
    count : int, optional
        The number of questions to reserve (default: 2,000, but at most a tenth of those that could be).

    Examples
    --------
    >>> rows = [{"id": name, "skeleton": name[0]} for name in ("a1", "a2", "b1")]
    >>> [row["id"] for row in reserved_questions(rows, {"b1"}, count=1)]
    ['a1', 'a2']

    """
    taken = {row["skeleton"] for row in rows if str(row["id"]) in written}
    groups: dict[Any, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["skeleton"] not in taken:
            groups[row["skeleton"]].append(row)
    free = sum(map(len, groups.values()))
    wanted = min(RESERVED, free // 10) if count is None else count
    found: list[Mapping[str, Any]] = []
    for skeleton in sorted(groups, key=lambda each: hashlib.sha256(f"reserved|{each}".encode()).digest()):
        if len(found) >= wanted:
            break
        found += groups[skeleton]
    return found
