"""How often test operators do what they are meant to: their polarity against what annotators found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from paraqd.evaluation.errors import EvaluationError

# the paper's averages over AquaRAT, EM_Math and SAWP, for the same three figures
PAPER_AVERAGES: Mapping[str, float] = {"precision": 0.4, "recall": 0.59, "accuracy": 0.56}

# 0.0 and False are 0 to a dictionary; the texts are those that are read in every command
_LABELS: Mapping[Any, int] = {0: 0, 1: 1, "0": 0, "1": 1, "0.0": 0, "1.0": 1, "false": 0, "true": 1}


@dataclass(frozen=True)
class OperatorCount:
    """What annotators found among the outputs of one operator.

    ``intended`` is what the operator is meant to make (1 valid, 0 invalid); ``valid`` and ``invalid`` count
    what it made.
    """

    operator: str
    paper_id: str
    intended: int
    valid: int
    invalid: int

    @property
    def n(self) -> int:
        """How many outputs were annotated."""
        return self.valid + self.invalid

    @property
    def accuracy(self) -> float:
        """The share of outputs that are what the operator is meant to make."""
        return (self.valid if self.intended else self.invalid) / self.n


@dataclass(frozen=True)
class OperatorStatistics:
    """Operators against annotators, as a confusion matrix with "valid" as the positive class.

    ``matrix[i][j]`` counts pairs whose operator intends ``i`` and that are annotated ``j``: the paper's figure of
    test operators (`paraqd.evaluation.plots.operator_plot` draws it). ``unlabelled`` counts the rows without an
    annotated label, which are left out.
    """

    operators: tuple[OperatorCount, ...]
    matrix: tuple[tuple[int, int], tuple[int, int]]
    unlabelled: int

    @property
    def n(self) -> int:
        """How many pairs were annotated."""
        return sum(sum(row) for row in self.matrix)

    @property
    def precision(self) -> float:
        """Of the pairs meant to be valid, the share that is (0 where there are none)."""
        false, true = self.matrix[1]
        return _share(true, true + false)

    @property
    def recall(self) -> float:
        """Of the pairs that are valid, the share that was meant to be (0 where there are none)."""
        (_, missed), (_, true) = self.matrix
        return _share(true, true + missed)

    @property
    def accuracy(self) -> float:
        """The share of pairs that are what was meant."""
        return _share(self.matrix[0][0] + self.matrix[1][1], self.n)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        operators = [{**asdict(count), "n": count.n, "accuracy": count.accuracy} for count in self.operators]
        return {
            "n": self.n,
            "unlabelled": self.unlabelled,
            "precision": self.precision,
            "recall": self.recall,
            "accuracy": self.accuracy,
            "matrix": [list(row) for row in self.matrix],
            "operators": operators,
        }


def operator_statistics(rows: Iterable[Mapping[str, Any]]) -> OperatorStatistics:
    """Count annotated pairs by operator and by what the operator was meant to make.

    Each row has ``operator``, ``intended`` and ``label`` (0 or 1, as number or text; a blank label is one not
    annotated yet), and where known ``paper_id``. The operators come valid ones first, then by paper id and
    name. Raises `EvaluationError`, in one line that names the row, for what cannot be counted.

    >>> rows = [
    ...     {"operator": "ActivePassive", "paper_id": "fa", "intended": 1, "label": 1},
    ...     {"operator": "ActivePassive", "paper_id": "fa", "intended": 1, "label": 0},
    ...     {"operator": "RandomDeletion", "paper_id": "fd", "intended": 0, "label": 0},
    ... ]
    >>> found = operator_statistics(rows)
    >>> found.precision, found.recall, round(found.accuracy, 2)
    (0.5, 1.0, 0.67)
    """
    counts: dict[tuple[str, str, int], list[int]] = {}
    matrix = [[0, 0], [0, 0]]
    unlabelled = 0
    for number, row in enumerate(rows, start=1):
        operator = str(row.get("operator") or "").strip()
        if not operator:
            raise EvaluationError(f"row {number} names no operator")
        intended = _label(row.get("intended"), number, "intended")
        if intended is None:
            raise EvaluationError(f"row {number} does not say what is intended (1 valid, 0 invalid)")
        label = _label(row.get("label"), number, "label")
        if label is None:
            unlabelled += 1
            continue
        counts.setdefault((operator, str(row.get("paper_id") or ""), intended), [0, 0])[label] += 1
        matrix[intended][label] += 1
    if not counts:
        raise EvaluationError(
            f"none of the {unlabelled} rows has an annotated label" if unlabelled else "there are no rows"
        )
    ordered = sorted(counts.items(), key=lambda item: (-item[0][2], item[0][1] or "~", item[0][0]))
    operators = tuple(
        OperatorCount(operator=name, paper_id=paper_id, intended=intended, valid=valid, invalid=invalid)
        for (name, paper_id, intended), (invalid, valid) in ordered
    )
    return OperatorStatistics(
        operators=operators,
        matrix=((matrix[0][0], matrix[0][1]), (matrix[1][0], matrix[1][1])),
        unlabelled=unlabelled,
    )


def average_statistics(statistics: Sequence[OperatorStatistics]) -> dict[str, float]:
    """Return the mean precision, recall and accuracy over data sets, as the paper reports them."""
    if not statistics:
        raise EvaluationError("there is nothing to average")
    return {
        name: sum(getattr(found, name) for found in statistics) / len(statistics)
        for name in ("precision", "recall", "accuracy")
    }


def _label(value: Any, number: int, name: str) -> int | None:
    """Return 0 or 1, or None for a blank."""
    if isinstance(value, str):
        value = value.strip().lower()
    if value is None or value == "":
        return None
    found = _LABELS.get(value) if isinstance(value, (str, int, float)) else None
    if found is None:
        raise EvaluationError(
            f"row {number} has the {name} {value!r}; it must be 0 or 1 (true, false, 1.0 and 0.0 are read too)"
        )
    return found


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
