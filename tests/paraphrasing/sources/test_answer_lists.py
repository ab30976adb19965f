"""Paraphrases are found in answers that are no JSON, in the forms in which assistants write them."""

import pytest

from paraqd.paraphrasing.sources.answers import paraphrases_in

A, B = TWO = ["Ann has 2 pens. How many?", "2 pens are with Ann. How many?"]


@pytest.mark.parametrize(
    "answer",
    [
        f"Version 1: {A}\nVersion 2: {B}",
        f"**Version 1:** {A}\n\n**Version 2**: {B}",
        f"**Version 1:**\n\n{A}\n\n**Version 2:**\n\n{B}\n\nBoth versions keep every number.",
        f"First version: {A}\nSecond version (formal): {B}",
        f"Rewrite #1: {A}\nRewrite #2: {B}",
        f"Option A: {A}\nOption B: {B}",
        f"Formal: {A}\nCasual: {B}",
        f"Paraphrase 1 – {A}\nParaphrase 2 – {B}",
        f"Paraphrase 1 –\n{A}\nParaphrase 2 –\n{B}",
        f"# Rewrites\n\n## Version 1\n\n{A}\n\n## Version 2\n\n{B}\n\nLet me know!",
        f"### 1. Formal\n{A}\n\n### 2. Casual\n{B}",
    ],
)
def test_a_label_begins_a_text(answer):
    assert paraphrases_in(answer) == TWO


@pytest.mark.parametrize(
    "answer",
    [
        f"1.\n{A}\n\n2.\n{B}",
        f"**1.** {A}\n**2.** {B}",
        f"**1. {A}**\n**2. {B}**",
        f"(1) “{A}”\n(2) “{B}”",
        f"1️⃣ {A}\n2️⃣ {B}",
        f"1. **Formal:** {A}\n2. **Casual**: {B}",
        f"1. **Formal** – {A}\n2. **Casual** – {B}",
        f"1. **Formal**\n   {A}\n\n2. **Casual**\n   - {B}",
        f"**1. Formal:** {A}\n\n**2. Casual:** {B}",
        "- Ann has 2 pens.\nHow many?\n- 2 pens are with Ann.\nHow many?",
        "1. Ann has 2 pens.\n\nHow many?\n\n2. 2 pens are with Ann.\n\nHow many?\n\nAll numbers are kept.",
    ],
)
def test_a_number_may_stand_alone_or_with_a_label(answer):
    assert paraphrases_in(answer) == TWO


@pytest.mark.parametrize(
    "answer",
    [
        f"Two different rewrites of the problem follow.\n\n1. {A}\n2. {B}",
        f"Take your pick.\n1) {A}\n2) {B}\n\nDo any of these work for you?",
        f"I'm sorry, I cannot write 12 versions. Here are two:\n1. {A}\n2. {B}",
        f"**Version 1:** {A}\n**Changes:** other order.\n\n**Version 2:** {B}\n**Changes:** another verb.",
        f"1. {A}\n   Answer: 2\n2. {B}\n   Answer: 2",
        f"Sure! Here they are:\n\n---\n\n{A}\n\n---\n\n{B}\n\n---\n\nI kept all 2 numbers.",
    ],
)
def test_what_is_said_about_the_texts_is_left_out(answer):
    assert paraphrases_in(answer) == TWO


@pytest.mark.parametrize(
    "answer",
    [
        f"> {A}\n\n> {B}",
        f'"{A}"\n"{B}"',
        f"Here are two rewrites of the problem:\n\n{A}\n\n{B}\n\nI hope these help!",
        f"```\n{A}\n```\n\n```\n{B}\n```",
        f"Version 1:\n```text\n{A}\n```\nVersion 2:\n```text\n{B}\n```",
        f"<answer>\n<rewrite>{A}</rewrite>\n<rewrite>{B}</rewrite>\n</answer>",
        f"| # | Paraphrase |\n|---|---|\n| 1 | {A} |\n| 2 | {B} |",
        f"Here you go:\n\n| Kind | Text | Edits |\n|:--|:--|--:|\n| a | {A} | order |\n| b | {B} | words |\n\nEnjoy!",
        f"| Original | Paraphrase |\n|---|---|\n| Ann, a girl, has got 2 pens. How many? | {A} |\n| {A} | {B} |",
    ],
)
def test_texts_without_numbers_are_separated(answer):
    assert paraphrases_in(answer) == TWO


@pytest.mark.parametrize(
    "text",
    [
        "Ann buys 3 things:\n1. a pen.\n2. a cup.\nHow many things?",
        "1. Ann has 5 red pens.\n2. Bob has 3 blue pens.\nHow many pens do they have?",
        "Ann has 5 pens and Bob has 3 pens.\n1. How many pens do they have?\n2. How many more does Ann have?",
        "A gym offers two plans.\nOption A: $5 a visit.\nOption B: $50 a month.\nAfter how many visits is B cheaper?",
        "Solution A: 20% salt, 3 litres.\nSolution B: 10% salt, 2 litres.\nWhat is the share of salt in the mixture?",
        "Ann has 5 pens.\nQuestion: How many pens are left if she gives 2 away?",
        "Ann has 5 pens and Bob has 3. How many do they have?\nHow many more does Ann have?",
        "| Fruit | Price |\n|---|---|\n| Apple | $2 |\n| Pear | $3 |\nWhat do 2 apples and a pear cost?",
        "Which of these is the largest?\n1. 5\n2. 3\n3. 12",
        "Plain yoghurt: $2. Fruit yoghurt: $3. How much more is fruit yoghurt?",
        "Version 2 of a game costs $5 more than version 1, which costs $20. What does version 2 cost?",
        "**Ann** has 2 pens. How many?",
        "Thanks to Ann, Tom has 5 pens.\nHow many pens does Tom have?",
        "I've 5 pens and buy 3 more.\nHow many do I have?",
        "I used 5 of my 12 pens.\nHow many are left?",
        "I have used 5 of my 12 pens.\nHow many are left?",
        "I kept 5 of my 12 pens.\nHow many did I give away?",
        "How many pens does Ann have?\n\nShe had 5 pens and bought 3 more.",
        "Ann has 5 pens and Bob has 3. How many do they have?\n\nIf Ann gives 2 to Bob, how many does Bob have?",
        "Okay, so Ann has 5 pens. She buys 3 more.\nHow many does she have?",
        "Each option costs $5.\nHow much do 3 options cost?",
    ],
)
def test_a_problem_that_looks_like_a_list_or_a_label_stays_whole(text):
    whole = ([text], [" ".join(text.split())])
    assert paraphrases_in(text) in whole
    assert paraphrases_in(f"Sure! Here is a rewrite:\n{text}\n\nI hope this helps!") in whole
    assert paraphrases_in(f"**Version 1:**\n\n{text}\n\nLet me know if you want more.") in whole


@pytest.mark.parametrize(
    ("given", "find"),
    [
        ("{}", "Question: {}"),
        ("**Scenario:** {}", "**Question:** {}"),
        ("**Scenario:**\n{}\n", "**Question:**\n{}"),
        ("**Given:** {}", "**Find:** {}"),
        ("### Given\n{}\n", "### Find\n{}"),
    ],
)
@pytest.mark.parametrize("label", ["Version {}:", "**Version {}**\n", "### Rewrite {}"])
def test_the_facts_of_each_version_stay_with_its_question(given, find, label):
    facts = ["Ann has 5 pens and buys 3 more.", "Ann adds 3 pens to her 5 pens."]
    questions = ["How many pens does she have?", "What is the number of her pens?"]
    parts = [
        f"{label.format(number)}\n{given.format(facts[number])}\n{find.format(questions[number])}" for number in (0, 1)
    ]
    found = [text.replace("Question: ", "").replace("Find: ", "") for text in paraphrases_in("\n\n".join(parts))]
    assert found == [f"{facts[number]} {questions[number]}" for number in (0, 1)]


@pytest.mark.parametrize("mark", ["Paraphrase {}: ", "**Paraphrase {}:** ", "Paraphrase {} – ", "{}. "])
def test_a_labelled_line_may_end_in_a_colon(mark):
    first = "A farmer keeps the following animals:\n- 12 cows\n- 30 hens\nHow many legs do they have?"
    second = "12 cows and 30 hens live on a farm. How many legs do they have?"
    assert paraphrases_in(f"{mark.format(1)}{first}\n\n{mark.format(2)}{second}") == [first, second]


def test_a_note_with_a_number_within_an_item_is_kept():
    first = "A shop sells pens at $2.\n   Note: buy 5, get 1 free.\n   How much do 6 pens cost?"
    second = "Pens cost $2, and 1 is free with 5. What do 6 pens cost?"
    assert paraphrases_in(f"1. {first}\n2. {second}\n   Note: all 4 numbers are kept.") == [
        " ".join(first.split()),
        second,
    ]


@pytest.mark.parametrize(
    "text",
    [
        "I can't count 5 + 3 pens in my head. How many are there?",
        "Sorry to say, Tom lost 5 of his 12 pens. How many are left?",
        "I can't find 5 of my 12 pens.\nHow many are left?",
    ],
)
def test_a_problem_that_begins_like_a_refusal_is_kept(text):
    assert paraphrases_in(text) == [text.replace("\n", " ")]
    assert paraphrases_in(f"1. {text}\n2. {B}") == [text.replace("\n", " "), B]


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, but I can't help with that. Is there something else I can help with?",
        "Sure! I'd be happy to help. Could you please provide the problem?",
        "As an AI, I cannot do this.\n\nWould you like me to try something else?",
        "I cannot write 12 versions.",
        "Certainly!",
        "**Version 1:**",
        "1.",
    ],
)
def test_a_question_to_the_user_is_no_problem(answer):
    assert paraphrases_in(answer) == []


def test_an_apology_before_a_paraphrase_is_left_out():
    assert paraphrases_in(f"I'm sorry, but I can't change the numbers.\n\n{A}") == [A]


@pytest.mark.parametrize(
    "text",
    [
        "a\n" + "\n" * 60_000 + "b",
        "```json\n" * 20_000,
        "I can't find 5.\n" * 500,
        "1. Ann\n\n" + "she\n\n" * 2000,
        "Note: 5.\n" * 500,
        "Ann\n" + "Question: a\n" * 500,
        "# " + "." * 16_000 + "a",
        "|---" * 4000,
        "# " + " " * 16_000 + ".",
    ],
    ids=["blank lines", "fences", "refusals", "lines", "notes", "parts", "heading", "table", "spaces"],
)
def test_long_answers_take_linear_time(text):
    assert len(paraphrases_in(text)) <= 1
