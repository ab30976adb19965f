"""Compare the test operators' intended labels with the annotators' labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from paraqd.evaluation.errors import EvaluationError
from paraqd.tables.labels import ALSO_READ, binary_label
from paraqd.tables.rows import numbered

# the paper's averages over AquaRAT, EM_Math and SAWP
PAPER_AVERAGES: Mapping[str, float] = {"precision": 0.4, "recall": 0.59, "accuracy": 0.56}


@dataclass(frozen=True)
class OperatorCount:
    """The annotated labels of one operator's outputs.

    ``intended`` is the label that the operator should produce (1 valid, 0 invalid). ``valid`` and ``invalid`` are the
    numbers of outputs that annotators labelled valid and invalid.
    """

    operator: str
    paper_id: str
    intended: int
    valid: int
    invalid: int

    @property
    def n(self) -> int:
        """The number of annotated outputs."""
        return self.valid + self.invalid

    @property
    def accuracy(self) -> float:
        """The share of outputs with the intended label."""
        return (self.valid if self.intended else self.invalid) / self.n


@dataclass(frozen=True)
class OperatorStatistics:
    """A confusion matrix of intended and annotated labels, with "valid" as the positive class.

    ``matrix[i][j]`` is the number of pairs with the intended label ``i`` and the annotated label ``j``, as in the
    paper's figure of test operators (see `paraqd.evaluation.plots.operator_plot`). ``unlabelled`` is the number of rows
    without an annotated label. The other statistics exclude these rows.
    """

    operators: tuple[OperatorCount, ...]
    matrix: tuple[tuple[int, int], tuple[int, int]]
    unlabelled: int

    @property
    def n(self) -> int:
        """The number of annotated pairs."""
        return sum(sum(row) for row in self.matrix)

    @property
    def precision(self) -> float:
        """Of the pairs intended to be valid, the share labelled valid; 0 if there are no such pairs."""
        false, true = self.matrix[1]
        return _share(true, true + false)

    @property
    def recall(self) -> float:
        """Of the pairs labelled valid, the share intended to be valid; 0 if there are no such pairs."""
        (_, missed), (_, true) = self.matrix
        return _share(true, true + missed)

    @property
    def accuracy(self) -> float:
        """The share of pairs with the intended label."""
        return _share(self.matrix[0][0] + self.matrix[1][1], self.n)

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics as a JSON-serialisable dictionary."""
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
    """Count annotated pairs by operator and intended label.

    Each row has the keys ``operator``, ``intended`` and ``label``, and optionally ``paper_id``. A label is 0 or 1, as a
    number or a string, and is blank if the pair has not been annotated. In the result, operators that should produce
    valid pairs come first, sorted by paper id and name. An `EvaluationError` is raised if a row has no operator, no
    intended label, or an unknown label.

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
    for number, row in numbered(rows):
        operator = str(row.get("operator") or "").strip()
        if not operator:
            raise EvaluationError(f"row {number} names no operator; fill in the column 'operator'")
        intended = _label(row.get("intended"), number, "intended")
        if intended is None:
            raise EvaluationError(
                f"row {number} has no intended label; fill in 1 (valid) or 0 (invalid) in the column 'intended'"
            )
        label = _label(row.get("label"), number, "label")
        if label is None:
            unlabelled += 1
            continue
        counts.setdefault((operator, str(row.get("paper_id") or ""), intended), [0, 0])[label] += 1
        matrix[intended][label] += 1
    if not counts:
        raise EvaluationError(
            f"none of the {unlabelled} rows has an annotated label; fill in 1 (valid) or 0 (invalid) as the label"
            if unlabelled
            else "there are no rows; pass a file with annotated pairs"
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
    """Return the mean precision, recall and accuracy over data sets, as in the paper."""
    if not statistics:
        raise EvaluationError("there is nothing to average; pass the statistics of at least one data set")
    return {
        name: sum(getattr(found, name) for found in statistics) / len(statistics)
        for name in ("precision", "recall", "accuracy")
    }


def _label(value: Any, number: int, name: str) -> int | None:
    """Return the label 0 or 1, or None if the value is blank."""
    try:
        return binary_label(value)
    except ValueError:
        raise EvaluationError(f"row {number} has the {name} {value!r}; it must be 0 or 1 ({ALSO_READ})") from None


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
