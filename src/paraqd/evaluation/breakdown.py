"""Break down the results of an evaluation by operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from paraqd.evaluation.errors import EvaluationError
from paraqd.evaluation.weighted import Labels, Scores, checked
from paraqd.scoring.verdict import THRESHOLD


@dataclass(frozen=True)
class OperatorRow:
    """The results for one operator's pairs; ``accepted`` is the share of pairs with a score above the threshold."""

    operator: str
    n: int
    valid: int
    invalid: int
    accepted: float
    accuracy: float
    mean_score: float

    def to_dict(self) -> dict[str, Any]:
        """Return the row as a JSON-serialisable dictionary."""
        return asdict(self)


def by_operator(
    operators: Sequence[str | None], labels: Labels, scores: Scores, *, threshold: float = THRESHOLD
) -> tuple[OperatorRow, ...]:
    """Return a row for each operator, in the order in which the operators first appear.

    Pairs without an operator are counted under ``(none)``.

    >>> rows = by_operator(["f2", "f8", "f8"], [1, 0, 0], [0.9, 0.7, -0.3])
    >>> [(row.operator, row.n, row.accuracy) for row in rows]
    [('f2', 1, 1.0), ('f8', 2, 0.5)]
    """
    y, s = checked(labels, scores, one_class=True)
    if len(operators) != len(y):
        raise EvaluationError(
            f"there are {len(y):,} pairs but {len(operators):,} operators; pass one operator for each pair"
        )
    names = np.array([operator or "(none)" for operator in operators], dtype=object)
    rows = []
    for name in dict.fromkeys(names):
        chosen = names == name
        accepted = s[chosen] > threshold
        rows.append(
            OperatorRow(
                operator=str(name),
                n=int(chosen.sum()),
                valid=int(y[chosen].sum()),
                invalid=int((y[chosen] == 0).sum()),
                accepted=float(accepted.mean()),
                accuracy=float((accepted == (y[chosen] == 1)).mean()),
                mean_score=float(s[chosen].mean()),
            )
        )
    return tuple(rows)
