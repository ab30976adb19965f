"""A handle can be sent to another process, and turns verdicts into columns, faults and reasons."""

from __future__ import annotations

import pickle

import pytest

from paraqd import ModelError, Scorer
from paraqd.integrations.faults import fault_of
from paraqd.integrations.scorer_handle import ScorerHandle, cached_handle, is_valid, reason_of
from paraqd.runs.score import Model

QUESTION = "Tom has 5 pens and buys 3 more. How many pens does he have now?"
WRONG = QUESTION.replace("5", "6")


def test_a_pickled_handle_scores_as_before():
    handle = ScorerHandle(Model("reading", threshold=0.4))
    copy = pickle.loads(pickle.dumps(handle))
    assert copy.verdicts([QUESTION], [WRONG]) == handle.verdicts([QUESTION], [WRONG])
    assert copy.signature == handle.signature == Scorer.load("reading", threshold=0.4).signature


def test_a_used_handle_is_pickled_as_a_new_one_and_another_model_differently():
    used = ScorerHandle(Model("reading"))
    used.verdicts([QUESTION], [WRONG])
    assert pickle.dumps(used) == pickle.dumps(ScorerHandle(Model("reading")))
    assert pickle.dumps(used) != pickle.dumps(ScorerHandle(Model("reading", threshold=0.4)))


def test_the_same_settings_share_a_handle():
    assert cached_handle(Model("reading")) is cached_handle(Model("reading"))
    assert cached_handle(Model("reading")) is not cached_handle(Model("reading", threshold=0.4))


def test_an_unknown_model_is_reported_at_once():
    with pytest.raises(ModelError, match="nowhere"):
        ScorerHandle(Model("nowhere"))


def test_faults_and_reasons():
    handle = ScorerHandle(Model("reading"))
    same, wrong, blank, lost = handle.verdicts([QUESTION] * 2 + ["", QUESTION], [QUESTION, WRONG, WRONG, None])
    assert [is_valid(each) for each in (same, wrong, blank, lost)] == [True, False, False, False]
    assert [fault_of(each) for each in (same, wrong, blank, lost)] == ["", "number_changed", "error", "content_lost"]
    assert reason_of(same, 0.5) == "No fault was found."
    assert reason_of(wrong, 0.5) == 'A number changed: "5" became "6".'
    assert reason_of(blank, 0.5) == blank


def test_importing_the_room_imports_no_tool():
    import subprocess
    import sys

    tools = ["datasets", "pandas", "sklearn", "inspect_ai", "datatrove", "deepeval", "trl", "torch", "ray"]
    modules = "hf_datasets, promptfoo_assertion, trl, reward, wording"
    code = f"import sys\nfrom paraqd.integrations import {modules}\nprint([t for t in {tools} if t in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("module", "tool", "extra"),
    [
        ("pandas_accessor", "pandas", "pandas"),
        ("sklearn_estimator", "sklearn", "sklearn"),
        ("inspect_scorer", "inspect_ai", "inspect"),
        ("datatrove_filter", "datatrove", "datatrove"),
        ("deepeval_metric", "deepeval", "deepeval"),
    ],
)
def test_a_missing_tool_is_one_clear_line(module, tool, extra):
    import subprocess
    import sys

    code = f"""
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "{tool}" else find(name, *rest)
try:
    import paraqd.integrations.{module}
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{tool} is not installed (needed for the ")
    assert done.stdout.strip().endswith(f"pip install 'paraqd[{extra}]'")
