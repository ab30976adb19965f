"""Count the verdicts and the faults of scored pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from paraqd.runs.report.pairs import ERROR, INVALID, REVIEW, VALID, ReportPair


@dataclass(frozen=True)
class ReportSummary:
    """The counts of a report.

    ``errors`` counts the pairs without a score, and ``warned`` the pairs with warnings. ``faults`` counts the
    invalid pairs by kind of evidence, the most common kind first, and ``unnamed`` the invalid pairs without evidence.
    """

    rows: int
    valid: int
    invalid: int
    review: int
    errors: int
    warned: int
    questions: int
    faults: dict[str, int]
    unnamed: int

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as a JSON-serialisable dictionary."""
        return asdict(self)


def summarise(pairs: Iterable[ReportPair]) -> ReportSummary:
    """Count pairs.

    >>> pairs = [ReportPair(2, "Q", "P", 0.9, "valid"), ReportPair(3, "Q", "R", -0.2, "invalid")]
    >>> summary = summarise(pairs)
    >>> summary.rows, summary.valid, summary.invalid, summary.unnamed
    (2, 1, 1, 1)
    """
    decisions: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    questions: set[str] = set()
    warned = unnamed = 0
    for pair in pairs:
        decisions[pair.decision] += 1
        questions.add(pair.question)
        warned += bool(pair.warnings)
        if pair.decision == INVALID:
            kinds = {piece["kind"] for piece in pair.evidence}
            faults.update(kinds)
            unnamed += not kinds
    return ReportSummary(
        rows=decisions.total(),
        valid=decisions[VALID],
        invalid=decisions[INVALID],
        review=decisions[REVIEW],
        errors=decisions[ERROR],
        warned=warned,
        questions=len(questions),
        faults=dict(sorted(faults.items(), key=lambda item: (-item[1], item[0]))),
        unnamed=unnamed,
    )
