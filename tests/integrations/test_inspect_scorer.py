"""The scorer works in an evaluation with Inspect."""

from __future__ import annotations

import pytest

pytest.importorskip("inspect_ai")
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.solver import solver

from paraqd.integrations.inspect_scorer import valid_paraphrase

QUESTION = "Tom has 5 pens and buys 3 more. How many pens does he have now?"


def test_an_evaluation(tmp_path):
    outputs = {
        "valid": QUESTION.replace("buys", "purchases"),
        "invalid": QUESTION.replace("5", "6"),
        "from the input": QUESTION.replace("3", "4"),
    }
    samples = [
        Sample(id="valid", input=f"Rewrite: {QUESTION}", metadata={"question": QUESTION}),
        Sample(id="invalid", input=f"Rewrite: {QUESTION}", metadata={"question": QUESTION}),
        Sample(id="from the input", input=QUESTION),
    ]

    @solver
    def written():
        async def solve(state, generate):
            state.output = ModelOutput.from_content("mockllm/model", outputs[state.sample_id])
            return state

        return solve

    task = Task(dataset=samples, solver=written(), scorer=valid_paraphrase(model="reading"))
    (log,) = eval(task, model="mockllm/model", log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    scores = {sample.id: sample.scores["valid_paraphrase"] for sample in log.samples}
    assert {name: score.value for name, score in scores.items()} == {
        "valid": "C",
        "invalid": "I",
        "from the input": "I",
    }
    assert scores["invalid"].explanation == 'A number changed: "5" became "6".'
    assert scores["invalid"].metadata["fault"] == "number_changed"
    assert scores["valid"].metadata["signature"].startswith("paraqd:")
    (result,) = log.results.scores
    assert result.metrics["accuracy"].value == pytest.approx(1 / 3)
