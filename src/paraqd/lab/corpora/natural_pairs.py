"""Find natural pairs in a corpus: similarly worded questions with the same numbers and the same answer."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

from paraqd.lab.corpora.faulty_pairs import FaultyPair
from paraqd.reading import read
from paraqd.reading.equality import multiset

_FEWEST_NUMBERS = 2
_MOST_ALIKE = 40  # a larger group of questions with the same numbers usually comes from one template
# similarities from 0 to 100: less similar questions match by chance, and more similar questions are nearly the same
_LEAST, _MOST = 58.0, 93.0


def natural_pairs(rows: Iterable[Mapping[str, Any]]) -> Iterator[FaultyPair]:
    """Yield pairs of questions that have the same numbers, the same answer and similar wording.

    Each row has the keys ``id``, ``question`` and ``answer``. Rows without a numeric answer are ignored.
    """
    from rapidfuzz import fuzz

    groups: dict[Hashable, list[tuple[str, str, float]]] = defaultdict(list)
    for row in rows:
        answer = _number(row.get("answer"))
        if answer is None:
            continue
        numbers = multiset(read(str(row["question"])).quantities)
        if sum(numbers.values()) >= _FEWEST_NUMBERS:
            groups[frozenset(numbers.items())].append((str(row["id"]), str(row["question"]), answer))
    for group in groups.values():
        if len(group) > _MOST_ALIKE:
            continue
        for (name, one, answer), (_, other, theirs) in combinations(group, 2):
            if not math.isclose(answer, theirs, rel_tol=1e-3, abs_tol=1e-9):
                continue
            if _LEAST <= fuzz.token_sort_ratio(one.lower(), other.lower()) <= _MOST:
                yield FaultyPair(name, one, other, 1, source="natural")


def _number(value: Any) -> float | None:
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None
