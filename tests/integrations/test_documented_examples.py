"""Run the examples of docs/integrations.md with the tools that are installed."""

from __future__ import annotations

import gzip
import json
import re
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import pytest

from paraqd import Scorer
from paraqd.integrations.reward import rate_outputs
from paraqd.judge_package import JUDGE

PAGE = (Path(__file__).parents[2] / "docs" / "integrations.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
TOOLS = {
    "datasets": "datasets.config",  # the repository has a folder datasets, too
    "pandas": "pandas",
    "scikit-learn": "sklearn",
    "promptfoo": None,
    "Inspect": "inspect_ai",
    "datatrove": "datatrove",
    "deepeval": "deepeval",
    "TRL: rewards": None,
}
QUESTION = "Ann has 5 pens and buys 3 more. How many pens does she have now?"


def test_every_section_has_an_example_that_is_run():
    assert SECTIONS.keys() == TOOLS.keys()
    for name, text in SECTIONS.items():
        assert len(re.findall("^```python$", text, re.MULTILINE)) == 1, name


def has_judge_package():
    return bool(entry_points(group=JUDGE.group))


@pytest.fixture
def example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(section):
        tool = TOOLS[section]
        if tool is not None and find_spec(tool) is None:
            pytest.skip(f"{tool} is not installed")
        (code,) = re.findall(r"^```python\n(.*?)^```", SECTIONS[section], re.MULTILINE | re.DOTALL)
        # a class or function of an example needs a module that can be found
        names = {"__name__": "example"}
        exec(compile(code, f"docs/integrations.md, {section}", "exec"), names)
        return names

    return run


@pytest.mark.parametrize("section", ["datasets", "pandas", "scikit-learn", "TRL: rewards"])
def test_an_example_that_checks_itself(example, section):
    example(section)


@pytest.mark.parametrize("judge", ["small", None])
def test_the_documented_reward_is_clear_with_each_judge(example, judge, monkeypatch):
    if judge is None:
        if not has_judge_package():
            pytest.skip("the language-model judge is not installed")
        monkeypatch.delenv("PARAQD_JUDGE")
    outputs = example("TRL: rewards")["outputs"]
    scorer = Scorer.load(judge=judge)
    good, wrong, copied = rate_outputs([(QUESTION, output) for output in outputs], scorer)
    assert ("judge:cascade" in scorer.signature) == (judge is None)
    assert good.reward > 0.8 and wrong.reward < -0.5 and copied.reward == -1


def test_promptfoo(example):
    graded = example("promptfoo")["get_assert"](
        QUESTION, {"vars": {"question": QUESTION}, "config": {"threshold": 0.5}}
    )
    assert graded["pass"] is True


def test_inspect(example):
    task = example("Inspect")["rewriting"]()
    assert len(task.dataset) == 1 and len(task.scorer) == 1


def test_datatrove(example, tmp_path):
    if find_spec("orjson") is None:
        pytest.skip("orjson is not installed")
    (tmp_path / "pairs").mkdir()
    rows = [{"id": str(i), "question": QUESTION, "paraphrase": QUESTION.replace("5", str(i))} for i in (5, 6)]
    (tmp_path / "pairs" / "1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    example("datatrove")
    files = [next(Path(name).glob("*.gz")) for name in ("valid", "dropped")]
    kept, dropped = (gzip.decompress(file.read_bytes()).decode().splitlines() for file in files)
    assert [json.loads(line)["id"] for line in (*kept, *dropped)] == ["5", "6"]
    assert len(kept) == 1


def test_deepeval(example):
    names = example("deepeval")
    names["test_the_rewriter"]()
    names["rewrite"] = lambda question: question.replace("5", "6")
    with pytest.raises(AssertionError):
        names["test_the_rewriter"]()
