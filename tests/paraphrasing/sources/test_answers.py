"""Paraphrases are found in answers that are wrapped in remarks."""

import pytest

from paraqd.paraphrasing.sources.answers import paraphrases_in

TWO = ["Ann has 2 pens. How many?", "2 pens are with Ann. How many?"]


@pytest.mark.parametrize(
    "answer",
    [
        '["Ann has 2 pens. How many?", "2 pens are with Ann. How many?"]',
        'Sure! Here they are:\n```json\n["Ann has 2 pens. How many?", "2 pens are with Ann. How many?"]\n```\nEnjoy!',
        '{"paraphrases": ["Ann has 2 pens. How many?", "2 pens are with Ann. How many?"]}',
        '[{"text": "Ann has 2 pens. How many?"}, {"text": "2 pens are with Ann. How many?"}]',
        "Here are 2 versions:\n\n1. Ann has 2 pens. How many?\n2. 2 pens are with Ann. How many?\n\nLet me know!",
        '{"note": "all ok", "paraphrases": {"1": "Ann has 2 pens. How many?", "2": "2 pens are with Ann. How many?"}}',
        '{"1": "Ann has 2 pens. How many?", "2": "2 pens are with Ann. How many?"}',
        '["Ann has 2 pens. How many?", "2 pens are with Ann. How many?", "Bob has',
        'Here they are:\n[{"text": "Ann has 2 pens. How many?"}, {"text": "2 pens are with Ann. How many?"}, {"te',
        '- **Version A:** "Ann has 2 pens. How many?"\n- **Version B:** "2 pens are with Ann. How many?"',
    ],
)
def test_two_paraphrases_are_found(answer):
    assert paraphrases_in(answer) == TWO


def test_a_single_text_is_taken_without_the_remark():
    assert paraphrases_in("Certainly! Here is a rewrite:\nAnn has 2 pens. How many?") == [TWO[0]]


@pytest.mark.parametrize("answer", ["", "   ", "[]", "I'm sorry, but I cannot do that.", '{"error": 5}'])
def test_an_answer_without_a_paraphrase_gives_none(answer):
    assert [each for each in paraphrases_in(answer) if "pens" in each] == []


@pytest.mark.parametrize(
    "text",
    [
        "Note that Ann has 5 pens. How many?",
        "These 5 pens cost $10. What does one cost?",
        "Great Uncle Tom has 3 cups. How many?",
        "Here are 5 pens and 3 cups. How many things are there?",
        "Of course Ann has 2 pens. How many?",
        'Ann has a list, ["red pen", "blue pen"], and loses one pen. How many does she have left?',
    ],
)
def test_a_problem_that_looks_like_a_remark_is_kept(text):
    assert paraphrases_in(text) == [text]
    assert paraphrases_in(f"Sure! Here is a rewrite:\n{text}\nI hope this helps!") == [text]
    assert paraphrases_in(f"1. {text}") == [text]


def test_a_remark_on_the_same_line_is_removed():
    assert paraphrases_in("Sure, here is a rewrite: Ann has 2 pens. How many?") == [TWO[0]]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("[" * 100_000, id="brackets"),
        pytest.param('{"a":' * 100_000, id="braces"),
        '["Ann has',
        '{"paraphrases": {"1": "Ann',
        "['Ann has 2 pens.']",
        "[1, 2]",
    ],
)
def test_broken_json_is_never_a_paraphrase(answer):
    assert paraphrases_in(answer) == []


@pytest.mark.parametrize("answer", ["I'm sorry, I cannot help.", "I can't do that.", "Here are two rewrites:"])
def test_a_refusal_is_no_paraphrase(answer):
    assert paraphrases_in(answer) == []


def test_quotes_that_break_the_json_give_no_fragments():
    assert paraphrases_in('["Ann said "two pens" to Bob.", "Tom has 3 cups.", "Bo') == ["Tom has 3 cups."]
