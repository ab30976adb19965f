"""Run the checklist by comparing a scorer's verdicts and evidence with the expected labels and faults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.evaluation.checklist.cases import Case, ChecklistError
from paraqd.scoring.verdict import THRESHOLD, Evidence, Span, Verdict

Pairs = list[tuple[str, str]]
Judge = Callable[[Pairs], Sequence[Verdict]]


@dataclass(frozen=True)
class CaseResult:
    """A case and the scorer's verdict on the case."""

    case: Case
    verdict: Verdict

    @property
    def passed(self) -> bool:
        """True if the verdict is correct."""
        return self.verdict.valid == (self.case.label == 1)

    @property
    def evidence_right(self) -> bool | None:
        """True if the evidence marks the fault, or None if no evidence is expected or the verdict is *valid*."""
        if not self.case.kinds or self.verdict.valid:
            return None
        return any(shows_the_fault(piece, self.case) for piece in self.verdict.evidence)

    def to_dict(self) -> dict[str, Any]:
        """Return the case and the verdict as a JSON-serialisable dictionary."""
        return {**self.case.to_dict(), "evidence_right": self.evidence_right, "verdict": self.verdict.to_dict()}


@dataclass(frozen=True, kw_only=True)
class CapabilityRow:
    """The results for one capability or for the whole checklist.

    Attributes
    ----------
    capability : str
        The name of the capability, or ``all`` for the whole checklist.
    n, passed : int
        The number of cases, and the number of cases with the correct verdict.
    valid, valid_passed, invalid, invalid_passed : int
        The same numbers for valid cases and for invalid cases.
    evidence_asked, evidence_right : int
        The number of detected faults for which evidence is expected, and the number of these faults for which the
        evidence has the right kind and marks the right words.
    rejected, rejected_with_evidence : int
        The number of cases that were judged invalid, and the number of these cases for which there is evidence.

    """

    capability: str
    n: int
    passed: int
    valid: int
    valid_passed: int
    invalid: int
    invalid_passed: int
    evidence_asked: int
    evidence_right: int
    rejected: int
    rejected_with_evidence: int

    @property
    def pass_rate(self) -> float:
        """The share of correct verdicts."""
        return self.passed / self.n

    @property
    def evidence_rate(self) -> float | None:
        """The share of detected faults with the right evidence, or None if ``evidence_asked`` is 0."""
        return self.evidence_right / self.evidence_asked if self.evidence_asked else None

    def to_dict(self) -> dict[str, Any]:
        """Return the row as a JSON-serialisable dictionary."""
        return {**asdict(self), "pass_rate": self.pass_rate, "evidence_rate": self.evidence_rate}


@dataclass(frozen=True)
class ChecklistReport:
    """The results of a checklist: the total, a row for each capability, and the result of every case."""

    signature: str
    total: CapabilityRow
    capabilities: tuple[CapabilityRow, ...]
    results: tuple[CaseResult, ...]

    @property
    def failures(self) -> tuple[CaseResult, ...]:
        """The cases with a wrong verdict."""
        return tuple(result for result in self.results if not result.passed)

    @property
    def misplaced(self) -> tuple[CaseResult, ...]:
        """The cases whose fault was detected, but whose evidence is missing or has the wrong kind or position."""
        return tuple(result for result in self.results if result.evidence_right is False)

    def to_dict(self, *, failures: int | None = None) -> dict[str, Any]:
        """Return the report as a JSON-serialisable dictionary.

        Parameters
        ----------
        failures
            The maximum number of failing cases to include for each capability (default: all).
        """
        return {
            "signature": self.signature,
            **{key: value for key, value in self.total.to_dict().items() if key != "capability"},
            "capabilities": [row.to_dict() for row in self.capabilities],
            "failures": [result.to_dict() for result in first_of_each(self.failures, failures)],
            "misplaced": [result.to_dict() for result in first_of_each(self.misplaced, failures)],
        }


def shows_the_fault(piece: Evidence, case: Case) -> bool:
    """Return True if a piece of evidence has an accepted kind and marks at least one of the words at fault.

    >>> from paraqd.scoring.verdict import EvidenceKind
    >>> changed = EvidenceKind.NUMBER_CHANGED
    >>> case = Case(capability="numbers", question="Ann is 4.", paraphrase="Ann is 5.", label=0,
    ...     kinds=(changed,), question_spans=((7, 8),), paraphrase_spans=((7, 8),))
    >>> shows_the_fault(Evidence(changed, (), ((4, 8),), "4 became 5."), case)
    True
    >>> shows_the_fault(Evidence(changed, (), ((0, 3),), "Here is a number."), case)
    False
    """
    return piece.kind in case.kinds and (
        _overlap(piece.question_spans, case.question_spans) or _overlap(piece.paraphrase_spans, case.paraphrase_spans)
    )


def run_checklist(judge: Judge, cases: Sequence[Case]) -> ChecklistReport:
    """Judge all cases and count the results.

    Parameters
    ----------
    judge
        A function that returns a verdict for each pair, such as ``Scorer.load().score_pairs``. To use a function that
        returns scores, pass it to `judge_by` first.
    cases
        The cases, as returned by `load_cases`.

    Raises
    ------
    ChecklistError
        If there are no cases, or the number of verdicts is wrong.
    """
    if not cases:
        raise ChecklistError("there are no cases; pass at least one case")
    verdicts = judge([(case.question, case.paraphrase) for case in cases])
    if len(verdicts) != len(cases):
        raise ChecklistError(
            f"there are {len(cases):,} cases but {len(verdicts):,} verdicts; return one verdict for each case"
        )
    results = tuple(CaseResult(case, verdict) for case, verdict in zip(cases, verdicts, strict=True))
    by_capability: dict[str, list[CaseResult]] = {}
    for result in results:
        by_capability.setdefault(result.case.capability, []).append(result)
    return ChecklistReport(
        signature=verdicts[0].signature,
        total=_row("all", results),
        capabilities=tuple(_row(name, those) for name, those in by_capability.items()),
        results=results,
    )


def judge_by(
    score: Callable[[Pairs], Sequence[float] | NDArray[np.floating]],
    *,
    threshold: float = THRESHOLD,
    signature: str = "",
) -> Judge:
    """Create a judge from a function that returns scores, such as similarities.

    A pair is judged valid if its score is greater than the threshold.

    >>> judge = judge_by(lambda pairs: [float(len(q) == len(p)) for q, p in pairs])
    >>> [verdict.valid for verdict in judge([("Ann is 4.", "Ann is 5."), ("Ann is 4.", "Ann is four.")])]
    [True, False]
    """

    def judge(pairs: Pairs) -> list[Verdict]:
        scores = [float(each) for each in score(pairs)]
        return [Verdict(each, each > threshold, (), signature) for each in scores]

    return judge


def first_of_each(results: Sequence[CaseResult], most: int | None) -> list[CaseResult]:
    """Return the first ``most`` results for each capability, or all results if ``most`` is None."""
    taken: dict[str, int] = {}
    found = []
    for result in results:
        name = result.case.capability
        taken[name] = taken.get(name, 0) + 1
        if most is None or taken[name] <= most:
            found.append(result)
    return found


def _overlap(some: Sequence[Span], others: Sequence[Span]) -> bool:
    return any(max(a, c) < min(b, d) for a, b in some for c, d in others)


def _row(name: str, results: Sequence[CaseResult]) -> CapabilityRow:
    valid = [result for result in results if result.case.label == 1]
    invalid = [result for result in results if result.case.label == 0]
    asked = [result.evidence_right for result in results if result.evidence_right is not None]
    rejected = [result.verdict for result in results if not result.verdict.valid]
    return CapabilityRow(
        capability=name,
        n=len(results),
        passed=sum(result.passed for result in results),
        valid=len(valid),
        valid_passed=sum(result.passed for result in valid),
        invalid=len(invalid),
        invalid_passed=sum(result.passed for result in invalid),
        evidence_asked=len(asked),
        evidence_right=sum(asked),
        rejected=len(rejected),
        rejected_with_evidence=sum(bool(verdict.evidence) for verdict in rejected),
    )
