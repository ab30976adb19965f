"""Measure paraphrases with deepeval.

::

    from deepeval import assert_test
    from deepeval.test_case import LLMTestCase
    from paraqd.integrations.deepeval_metric import ParaphraseMetric

    def test_the_rewriter():
        question = "Ann has 5 pens and buys 3 more. How many pens has she now?"
        assert_test(LLMTestCase(input=question, actual_output=rewrite(question)), [ParaphraseMetric()])
"""

from __future__ import annotations

import asyncio
from typing import Any

from paraqd.extras import require_extra
from paraqd.integrations.scorer_handle import ScorerHandle, is_valid, reason_of
from paraqd.runs.score import Model
from paraqd.scoring.verdict import Verdict, probability_of

require_extra("deepeval", "the deepeval metric")
from deepeval.metrics import BaseMetric  # noqa: E402
from deepeval.test_case import LLMTestCase  # noqa: E402


class ParaphraseMetric(BaseMetric):  # type: ignore[misc]  # deepeval is not type-checked
    """The probability that the actual output is a valid paraphrase of the input. No language model is called.

    Parameters
    ----------
    threshold : float, optional
        The score above which a paraphrase is valid (default: the model's own threshold).
    model, judge, threads
        Passed to `paraqd.Scorer.load`.

    """

    def __init__(
        self,
        threshold: float | None = None,
        *,
        model: str | None = None,
        judge: str | None = None,
        threads: int | None = None,
    ) -> None:
        self._handle = ScorerHandle(Model(model, "fused", threshold, judge=judge), threads)
        self.threshold = self._handle.scorer.threshold
        self.evaluation_model = None
        self.include_reason = True
        self.async_mode = True
        self.verbose_mode = False

    def measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float:
        """Score a test case, and return the probability. The reason is the evidence."""
        del args, kwargs  # deepeval passes options for its own display
        self.error = None
        (verdict,) = self._handle.verdicts([test_case.input], [test_case.actual_output])
        scored = isinstance(verdict, Verdict)
        self.score = probability_of(verdict.score) if isinstance(verdict, Verdict) else 0.0
        self.success = is_valid(verdict)
        self.reason = reason_of(verdict, self._handle.scorer.threshold)
        self.error = None if scored else str(verdict)
        self.score_breakdown = {"paraqd score": verdict.score} if isinstance(verdict, Verdict) else {}
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float:
        """Score a test case in another thread."""
        return await asyncio.to_thread(self.measure, test_case, *args, **kwargs)

    def is_successful(self) -> bool:
        """Return True if the last test case was a valid paraphrase."""
        return bool(self.success) and self.error is None

    @property
    def __name__(self) -> str:
        return "Valid paraphrase"
