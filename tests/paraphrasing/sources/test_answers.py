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
