"""The metric works with deepeval."""

from __future__ import annotations

import asyncio
import json
import shutil

import pytest

pytest.importorskip("deepeval")
from deepeval import assert_test, evaluate
from deepeval.evaluate import AsyncConfig, DisplayConfig
from deepeval.test_case import LLMTestCase

from paraqd.integrations.deepeval_metric import ParaphraseMetric
from paraqd.model_folder import DEFAULT_MODEL

QUESTION = "Tom has 5 pens and buys 3 more. How many pens does he have now?"
GOOD = LLMTestCase(input=QUESTION, actual_output=QUESTION.replace("buys", "purchases"))
BAD = LLMTestCase(input=QUESTION, actual_output=QUESTION.replace("5", "6"))


@pytest.fixture
def metric(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # deepeval writes into the working folder
    return ParaphraseMetric(model="reading")


def test_measuring(metric):
    assert 0.5 < metric.measure(GOOD) <= 1 and metric.is_successful() and metric.reason == "No fault was found."
    assert 0 <= asyncio.run(metric.a_measure(BAD)) < 0.5 and not metric.is_successful()
    assert metric.reason == 'A number changed: "5" became "6".'
    assert metric.measure(LLMTestCase(input="", actual_output="a")) == 0 and "question" in metric.error
    assert metric.measure(GOOD) > 0.5 and metric.error is None


def test_the_threshold():
    assert ParaphraseMetric(-1, model="reading").measure(BAD) < 0.5
    strict = ParaphraseMetric(-1, model="reading")
    strict.measure(LLMTestCase(input=QUESTION, actual_output=BAD.actual_output))
    assert strict.is_successful()


def test_the_default_threshold_is_the_models_own(tmp_path):
    folder = shutil.copytree(DEFAULT_MODEL.with_name("reading"), tmp_path / "strict")
    facts = json.loads((folder / "paraqd.json").read_text())
    (folder / "paraqd.json").write_text(json.dumps({**facts, "threshold": 0.9}))
    assert ParaphraseMetric(model=str(folder)).threshold == 0.9
    assert ParaphraseMetric(0.3, model=str(folder)).threshold == 0.3


@pytest.mark.parametrize("run_async", [True, False])
def test_assert_test_passes_and_fails(metric, run_async):
    assert_test(GOOD, [metric], run_async=run_async)
    with pytest.raises(AssertionError, match="Valid paraphrase"):
        assert_test(BAD, [metric], run_async=run_async)


def test_an_evaluation(metric):
    done = evaluate(
        [GOOD, BAD],
        [metric],
        async_config=AsyncConfig(run_async=False),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
    )
    assert sorted(result.success for result in done.test_results) == [False, True]
