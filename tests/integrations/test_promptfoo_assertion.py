"""The assertion returns what promptfoo asks for."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from paraqd import ParaqdError
from paraqd.integrations.promptfoo_assertion import get_assert

QUESTION = "Tom has 5 pens and buys 3 more. How many pens does he have now?"
READING = {"model": "reading"}


def test_a_valid_and_an_invalid_output():
    context = {"vars": {"question": QUESTION}, "config": READING}
    good = get_assert(QUESTION.replace("buys", "purchases"), context)
    bad = get_assert(QUESTION.replace("5", "6"), context)
    assert good["pass"] is True and 0.5 < good["score"] <= 1
    assert bad["pass"] is False and 0 <= bad["score"] < 0.5
    assert bad["reason"] == 'A number changed: "5" became "6".'


def test_the_configuration_chooses_the_variable_and_the_threshold():
    config = {**READING, "question_var": "source", "threshold": -1}
    assert get_assert(QUESTION.replace("5", "6"), {"vars": {"source": QUESTION}, "config": config})["pass"] is True


@pytest.mark.parametrize("output", [None, "", 5, {"text": "a"}])
def test_an_output_without_text_fails(output):
    graded = get_assert(output, {"vars": {"question": QUESTION}, "config": READING})
    assert graded["pass"] is False and graded["score"] < 0.5 and graded["reason"]


def test_mistakes_in_the_configuration_are_one_clear_line():
    with pytest.raises(ParaqdError, match=r"no variable 'question' \(its variables: text\)"):
        get_assert("a", {"vars": {"text": QUESTION}})
    with pytest.raises(ParaqdError, match="unknown key 'treshold'"):
        get_assert("a", {"vars": {"question": QUESTION}, "config": {"treshold": 0.7}})


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"threshold": "0.5"}, "config.threshold is '0.5': write a number without quotes"),
        ({"threshold": True}, "config.threshold is True: write a number without quotes"),
        ({"model": ["reading"]}, r"config.model is \['reading'\]: write a text"),
        ({"skip": "no"}, "config.skip is 'no': write true or false"),
        ({"threshold": 2}, "the threshold must be a number from -1 to 1"),
    ],
)
def test_values_of_the_wrong_type_are_named(config, message):
    with pytest.raises(ParaqdError, match=message):
        get_assert("a", {"vars": {"question": QUESTION}, "config": {**READING, **config}})


def test_an_option_without_a_value_is_left_out():
    config = {**READING, "threshold": None, "mode": None}
    assert get_assert(QUESTION.replace("5", "6"), {"vars": {"question": QUESTION}, "config": config})["pass"] is False


def test_promptfoo_loads_the_file_and_stores_the_result_as_json(tmp_path):
    script = tmp_path / "paraphrase.py"
    script.write_text("from paraqd.integrations.promptfoo_assertion import get_assert\n")
    # as promptfoo's wrapper does
    code = f"""
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("paraphrase", {str(script)!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(json.dumps(module.get_assert(*json.load(sys.stdin))))
"""
    given = [QUESTION, {"prompt": "p", "vars": {"question": QUESTION}, "test": {}, "config": READING}]
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(given), capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == {"pass": True, "score": 1.0, "reason": "No fault was found."}
