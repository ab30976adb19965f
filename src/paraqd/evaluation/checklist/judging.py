"""How a scorer fares on the checklist: verdicts, and whether its evidence names the right fault in the right place."""

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
class Outcome:
    """A case and what was said of it."""

    case: Case
    verdict: Verdict

    @property
    def passed(self) -> bool:
        """Whether the verdict is right."""
        return self.verdict.valid == (self.case.label == 1)

    @property
    def evidence_right(self) -> bool | None:
        """Whether the fault is named in its place; None where there is none to name: not asked for, or not seen."""
        if not self.case.kinds or self.verdict.valid:
            return None
        return any(shows_the_fault(piece, self.case) for piece in self.verdict.evidence)

    def to_dict(self) -> dict[str, Any]:
        """Return both as plain data for JSON."""
        return {**self.case.to_dict(), "evidence_right": self.evidence_right, "verdict": self.verdict.to_dict()}


@dataclass(frozen=True, kw_only=True)
class CapabilityRow:
    """How the cases of a capability fare, or of all of them.

    Attributes
    ----------
    capability : str
        Its name; ``all`` for the whole checklist.
    n, passed : int
        The cases, and those whose verdict is right.
    valid, valid_passed, invalid, invalid_passed : int
        The same for the valid cases and the invalid ones.
    evidence_asked, evidence_right : int
        The invalid cases judged invalid, and those of them with the right kind of evidence on the right words.
    rejected, rejected_with_evidence : int
        The cases judged invalid, rightly or not, and those of them that come with any evidence.

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
        """The share of right verdicts."""
        return self.passed / self.n

    @property
    def evidence_rate(self) -> float | None:
        """The share of faults that were seen which are named in their place; None where no fault was seen."""
        return self.evidence_right / self.evidence_asked if self.evidence_asked else None

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data for JSON."""
        return {**asdict(self), "pass_rate": self.pass_rate, "evidence_rate": self.evidence_rate}


@dataclass(frozen=True)
class ChecklistReport:
    """What a checklist found: a row for each capability, one over all, and every outcome."""

    signature: str
    total: CapabilityRow
    capabilities: tuple[CapabilityRow, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def failures(self) -> tuple[Outcome, ...]:
        """The cases with a wrong verdict."""
        return tuple(outcome for outcome in self.outcomes if not outcome.passed)

    @property
    def misplaced(self) -> tuple[Outcome, ...]:
        """The cases rightly judged invalid whose evidence names another fault or other words, or is not there."""
        return tuple(outcome for outcome in self.outcomes if outcome.evidence_right is False)

    def to_dict(self, *, failures: int | None = None) -> dict[str, Any]:
        """Return the report as plain data for JSON.

        Parameters
        ----------
        failures
            How many examples of each sort there are at most for each capability; all of them unless given.
        """
        return {
            "signature": self.signature,
            **{key: value for key, value in self.total.to_dict().items() if key != "capability"},
            "capabilities": [row.to_dict() for row in self.capabilities],
            "failures": [outcome.to_dict() for outcome in first_of_each(self.failures, failures)],
            "misplaced": [outcome.to_dict() for outcome in first_of_each(self.misplaced, failures)],
        }


def shows_the_fault(piece: Evidence, case: Case) -> bool:
    """Whether a piece of evidence names the fault of a case: one of its kinds, on some of its words.

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
    """Ask for the verdict on each case, and count.

    Parameters
    ----------
    judge
        Gives a verdict for each pair of question and paraphrase, such as ``Scorer.load().score_pairs``;
        `judge_by` makes one from plain scores.
    cases
        From `load_cases`.

    Raises
    ------
    ChecklistError
        Where there are no cases, or not one verdict for each.
    """
    if not cases:
        raise ChecklistError("there are no cases")
    verdicts = judge([(case.question, case.paraphrase) for case in cases])
    if len(verdicts) != len(cases):
        raise ChecklistError(f"{len(cases):,} cases but {len(verdicts):,} verdicts: there must be one for each case")
    outcomes = tuple(Outcome(case, verdict) for case, verdict in zip(cases, verdicts, strict=True))
    by_capability: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_capability.setdefault(outcome.case.capability, []).append(outcome)
    return ChecklistReport(
        signature=verdicts[0].signature,
        total=_row("all", outcomes),
        capabilities=tuple(_row(name, those) for name, those in by_capability.items()),
        outcomes=outcomes,
    )


def judge_by(
    score: Callable[[Pairs], Sequence[float] | NDArray[np.floating]],
    *,
    threshold: float = THRESHOLD,
    signature: str = "",
) -> Judge:
    """Make a judge of plain scores, such as a similarity: a pair is valid where its score is above the threshold.

    >>> judge = judge_by(lambda pairs: [float(len(q) == len(p)) for q, p in pairs])
    >>> [verdict.valid for verdict in judge([("Ann is 4.", "Ann is 5."), ("Ann is 4.", "Ann is four.")])]
    [True, False]
    """

    def judge(pairs: Pairs) -> list[Verdict]:
        scores = [float(each) for each in score(pairs)]
        return [Verdict(each, each > threshold, (), signature) for each in scores]

    return judge


def first_of_each(outcomes: Sequence[Outcome], most: int | None) -> list[Outcome]:
    """Return the outcomes, no more than so many for each capability."""
    taken: dict[str, int] = {}
    found = []
    for outcome in outcomes:
        name = outcome.case.capability
        taken[name] = taken.get(name, 0) + 1
        if most is None or taken[name] <= most:
            found.append(outcome)
    return found


def _overlap(some: Sequence[Span], others: Sequence[Span]) -> bool:
    return any(max(a, c) < min(b, d) for a, b in some for c, d in others)


def _row(name: str, outcomes: Sequence[Outcome]) -> CapabilityRow:
    valid = [outcome for outcome in outcomes if outcome.case.label == 1]
    invalid = [outcome for outcome in outcomes if outcome.case.label == 0]
    asked = [outcome.evidence_right for outcome in outcomes if outcome.evidence_right is not None]
    rejected = [outcome.verdict for outcome in outcomes if not outcome.verdict.valid]
    return CapabilityRow(
        capability=name,
        n=len(outcomes),
        passed=sum(outcome.passed for outcome in outcomes),
        valid=len(valid),
        valid_passed=sum(outcome.passed for outcome in valid),
        invalid=len(invalid),
        invalid_passed=sum(outcome.passed for outcome in invalid),
        evidence_asked=len(asked),
        evidence_right=sum(asked),
        rejected=len(rejected),
        rejected_with_evidence=sum(bool(verdict.evidence) for verdict in rejected),
    )
