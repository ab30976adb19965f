"""Paraphrases are found in answers that are wrapped in remarks."""

import json

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
        '{"text": "Ann has 2 pens. How many?"}\n{"text": "2 pens are with Ann. How many?"}',
        '```json\n["Ann has 2 pens. How many?"]\n```\nand\n```json\n["2 pens are with Ann. How many?"]\n```',
        "I use the order of the original problem first, and then begin with 2.\n\n"
        '```json\n["Ann has 2 pens. How many?", "2 pens are with Ann. How many?"]\n```\n\nThe numbers are the same.',
        '["1. Ann has 2 pens. How many?", "Version 2: 2 pens are with Ann. How many?"]',
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


@pytest.mark.parametrize(
    "answer",
    [
        f"<think>Ann has pens, say [2]. I list:\n1. a\n2. b</think>\n{json.dumps(TWO)}",
        f"<thinking>\nHow many? Two.\n</thinking>\n\n1. {TWO[0]}\n2. {TWO[1]}",
        f"I need [two] rewrites.\n1. Ann ...\n</think>\n\n{json.dumps(TWO)}",  # the opening tag is in the prompt
        f"{json.dumps(TWO)}\n<think>Did I keep every number? [2",
        f"<THINK>one</THINK><think>two</think>{json.dumps(TWO)}",
    ],
)
def test_what_a_reasoning_model_thinks_is_no_paraphrase(answer):
    assert paraphrases_in(answer) == TWO


def test_a_single_text_after_thoughts_is_taken_alone():
    assert paraphrases_in(f"<think>\nAnn has 2 pens.\n</think>\n\n{TWO[0]}") == [TWO[0]]


@pytest.mark.parametrize("answer", ["<think>Ann has 2 pens. Let me see", "<think>Ann has 2 pens.</think>", "<think>"])
def test_thoughts_alone_give_no_paraphrase(answer):
    assert paraphrases_in(answer) == []


def test_many_tags_take_linear_time():
    assert paraphrases_in("<think>" * 50_000) == []
    assert paraphrases_in("</think>" * 50_000) == []


@pytest.mark.parametrize(
    "answer",
    [
        "1. Ann has 2 pens.\nHow many?\n2. 2 pens are with Ann.\nHow many?\nLet me know!",
        "Two versions:\n\n1. Ann has 2 pens.\n   How many?\n\n2. 2 pens are with Ann.\n\n   How many?",
        "- Ann has 2 pens.\n  How many?\n- 2 pens are with Ann.\n  How many?\n\nAll of them keep the number.",
        "**Plain**\n1. Ann has 2 pens.\nHow many?\n**Formal:**\n2. 2 pens are with Ann.\nHow many?",
        "Formal:\n- Ann has 2 pens. How many?\n- 2 pens are with Ann. How many?\n\nWould you like more versions?",
    ],
)
def test_an_item_keeps_all_its_lines(answer):
    assert paraphrases_in(answer) == TWO


@pytest.mark.parametrize(
    "text",
    [
        "Ann has:\n- 5 red pens\n- 3 blue pens\nHow many pens does she have?",
        "Ann has:\n1. 5 red pens\n2. 3 blue pens\nHow many pens does she have?",
        "In a shop,\n- pens cost $5.\n- cups cost $3.\n\nWhat do 2 pens and 4 cups cost?",
        "- Ann has 5 red pens\n- Bob has 3 blue pens\nHow many pens do they have?",
    ],
)
def test_a_single_text_with_a_list_is_kept_whole(text):
    assert paraphrases_in(text) == [text.replace("\n\n", "\n")]
    assert paraphrases_in(f"Sure! Here is a rewrite:\n{text}\n\nI hope this helps!") == [text.replace("\n\n", "\n")]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ('1. "Ann" has 2 pens and gives 1 to "Bob"', '"Ann" has 2 pens and gives 1 to "Bob"'),
        ('["\\"Go!\\" said Ann. How many said \\"No!\\""]', '"Go!" said Ann. How many said "No!"'),
        ("“Ann's 2 pens: how many?”", "Ann's 2 pens: how many?"),
        ("'Ann's 2 pens: how many?'", "Ann's 2 pens: how many?"),
        ("`Ann has 2 pens.`", "Ann has 2 pens."),
    ],
)
def test_only_quotes_around_the_whole_text_are_removed(answer, text):
    assert paraphrases_in(answer) == [text]


def test_a_list_within_an_item_belongs_to_it():
    answer = "1. Ann buys:\n   - 5 pens\n   - 3 cups\n   How many things?\n2. Ann gets 5 pens and 3 cups. How many?"
    assert paraphrases_in(answer) == [
        "Ann buys:\n- 5 pens\n- 3 cups\nHow many things?",
        "Ann gets 5 pens and 3 cups. How many?",
    ]


def test_a_line_of_an_item_that_speaks_of_options_is_kept():
    assert paraphrases_in("1. Ann has 2 pens.\nShe has 3 options. How many?") == [
        "Ann has 2 pens. She has 3 options. How many?"
    ]


def test_a_text_that_no_file_can_hold_is_left_out():
    assert paraphrases_in('["Ann has \\ud800 pens.", "Ann has 2 pens."]') == ["Ann has 2 pens."]


@pytest.mark.parametrize(
    "text",
    [
        "Plain: $2 a cup. Salted: $3 a cup. What do 2 plain and 1 salted cups cost?",
        "Exam: 40 questions with 2 points each. How many points are there?",
        "Version 1: $20. Version 2: $25. How much more does version 2 cost?",
    ],
)
def test_a_label_in_json_may_belong_to_the_problem(text):
    assert paraphrases_in(json.dumps([text])) == [text]
    assert paraphrases_in(json.dumps({"paraphrases": [text]})) == [text]
