"""Score paraphrases in an evaluation with Inspect (``inspect_ai``).

::

    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.solver import generate
    from paraqd.integrations.inspect_scorer import valid_paraphrase

    question = "Ann has 5 pens and buys 3 more. How many pens has she now?"
    sample = Sample(input=f"Rewrite this problem: {question}", metadata={"question": question})
    eval(Task(dataset=[sample], solver=generate(), scorer=valid_paraphrase()), model="openai/gpt-4o-mini")
"""

from __future__ import annotations

import asyncio
from typing import Any

from paraqd.extras import require_extra
from paraqd.integrations.faults import fault_of
from paraqd.integrations.scorer_handle import ScorerHandle, is_valid, reason_of
from paraqd.runs.score import Model
from paraqd.scoring.verdict import Verdict

require_extra("inspect", "the Inspect scorer")
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer, stderr  # noqa: E402
from inspect_ai.solver import TaskState  # noqa: E402


@scorer(metrics=[accuracy(), stderr()])  # type: ignore[untyped-decorator]  # Inspect is not type-checked
def valid_paraphrase(
    question_key: str = "question",
    model: str | None = None,
    mode: str = "fused",
    threshold: float | None = None,
    judge: str | None = None,
) -> Scorer:
    """Count the outputs that are valid paraphrases.

    The explanation of a score is the evidence. Its metadata have ``score``, ``fault`` and ``signature``.

    Parameters
    ----------
    question_key : str
        The key of the question in a sample's metadata. For a sample without it, the input is the question.
    model, mode, threshold, judge
        Passed to `paraqd.Scorer.load`.

    """
    handle = ScorerHandle(Model(model, mode, threshold, judge=judge))

    async def score(state: TaskState, target: Target) -> Score:
        del target
        question = state.metadata.get(question_key, state.input_text)
        output = state.output.completion
        (verdict,) = await asyncio.to_thread(handle.verdicts, [question], [output])
        metadata: dict[str, Any] = {
            "score": verdict.score if isinstance(verdict, Verdict) else None,
            "fault": fault_of(verdict),
            "signature": handle.signature,
        }
        return Score(
            value=CORRECT if is_valid(verdict) else INCORRECT,
            answer=output,
            explanation=reason_of(verdict, handle.scorer.threshold),
            metadata=metadata,
        )

    return score
