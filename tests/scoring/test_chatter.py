"""An assistant's remarks around a paraphrase are found; dialogues, letters and lists are left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paraqd.scoring.chatter import assistant_remark

ROOT = Path(__file__).parents[2]
QUESTION = "Tom has 5 red pens and buys 3 blue pens. How many pens does he have now?"
GOOD = "Tom owns 5 red pens and gets 3 blue ones. How many pens are there in all?"


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        (f"Here is a rewritten version: {GOOD}", "Here is a rewritten version:"),
        (f"Here’s a possible rewording: {GOOD}", "Here's a possible rewording:"),
        (f"Here are three paraphrases:\n1. {GOOD}", "Here are three paraphrases:"),
        (f"Below is a reworded version of the question: {GOOD}", "Below is a reworded version of the question:"),
        (f"Sure! {GOOD}", "Sure!"),
        (f"Sure.\n\n{GOOD}", "Sure."),
        (f"Sure, here is the problem:\n{GOOD}", "Sure, here is the problem:"),
        (f"Sure thing! Here you go: {GOOD}", "Sure thing! Here you go:"),
        (f"Certainly! Here's the reworded question: {GOOD}", "Certainly! Here's the reworded question:"),
        (f"Okay, here's a simpler version: {GOOD}", "Okay, here's a simpler version:"),
        (f"I've rephrased the problem for you: {GOOD}", "I've rephrased the problem for you:"),
        (f"Paraphrase: {GOOD}", "Paraphrase:"),
        (f"**Paraphrased problem:** {GOOD}", "Paraphrased problem:"),
        (f"**Problem:** {GOOD}", "Problem:"),
        (f"### Rewritten problem\n{GOOD}", "Rewritten problem"),
        (f"Output: {GOOD}", "Output:"),
        (f"[Paraphrase] {GOOD}", "[Paraphrase]"),
        (f"[DRAFT] {GOOD}", "[DRAFT]"),
        (f"{GOOD} (to be reviewed by Ann)", "(to be reviewed by Ann)"),
        (f"{GOOD} [TODO: check the units]", "[TODO: check the units]"),
        (f"```\n{GOOD}\n```", "```"),
        (f"<think>He has 8.</think>\n{GOOD}", "<think>"),
        (f"He has 8.\n</think>\n\n{GOOD}", "</think>"),
        (f"{GOOD} <Thinking>Is that right?", "<Thinking>"),
        (f"<answer>{GOOD}", "<answer>"),
        (f"Option 1: {GOOD}\nOption 2: {GOOD}", "Option 1:"),
        (f"1. {GOOD}\n2. {GOOD}", "2. Tom owns 5 red pens and gets 3 blue ones. How many pens are there in all?"),
        (f"{GOOD} I hope this helps!", "I hope this helps!"),
        (f"{GOOD}\n\nLet me know if you'd like another version.", "Let me know if you'd like another version."),
        (f"{GOOD} (This version keeps the same numbers.)", "This version keeps the same numbers."),
        (f"{GOOD}\n\nNote: I've kept the original meaning intact.", "I've kept the original meaning intact."),
        ("I'm sorry, but I can't help with that.", "I'm sorry, but I can't help with that"),
        (f"Sure, I can {'really ' * 10}help: {GOOD}", f"Sure, I can {'really ' * 9}real…"),
    ],
)
def test_remarks(text, remark):
    assert assistant_remark(QUESTION, text) == remark


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        '"Sure!" said Tom. "I have 5 red pens and 3 blue ones." How many has he?',
        "Ann: Sure! You had 5 red pens.\nTom: And I bought 3 blue ones. How many have I?",
        "Dear Ann, I hope you are well. I had 5 red pens and bought 3. How many have I? Let me know! Love, Tom",
        "Of course, Tom has 5 red pens before he buys 3 blue pens. How many has he now?",
        f"Here is a problem for you: {GOOD}",
        "Tom pays 5 dollars (for checked bags) and 3 dollars (for reviewing 3 papers). How much is it in all?",
        "A farmer has 5 heavy (draft horses) and 3 light ones [to be checked in]. How many horses are there?",
        "For which x is 3 <draft and y> 5 red pens?",
        "Here are the facts: 5 red pens, 3 blue pens. How many in all?",
        "Here are the revised numbers: 5 red pens and 3 blue pens. How many in all?",
        "Facts: 1. Tom has 5 red pens. 2. He buys 3 blue pens. How many are there?",
        "**Given:** 5 red pens, 3 blue pens bought. **Find:** the number of pens.",
        f"Note: all pens are full. {GOOD}",
        f"Question: {GOOD}",
        f"I think 5 < thinking > 3. {GOOD}",
    ],
)
def test_what_belongs_to_the_problem(text):
    assert assistant_remark(QUESTION, text) == ""


def test_what_the_question_has_too_is_no_remark():
    assert assistant_remark(f"Problem 1: {QUESTION}", f"Sure! {GOOD}")
    assert not assistant_remark(f"Sure! {QUESTION}", f"Certainly! {GOOD}")
    assert not assistant_remark(f"1. {QUESTION} 2. And then?", f"1. {GOOD} 2. {GOOD}")


def test_hardly_any_written_paraphrase_has_a_remark():
    found, total = [], 0
    for file in sorted((ROOT / "datasets").glob("*/*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row.get("label") == 1 and {"question", "paraphrase"} <= set(row):  # some rows hold only one text
                total += 1
                if remark := assistant_remark(row["question"], row["paraphrase"]):
                    found.append((remark, row["paraphrase"]))
    assert total > 25_000
    assert len(found) <= total // 10_000, found


def test_long_texts_take_linear_time():
    for text in ("\n" * 100_000, "here is " * 12_000, "*" * 100_000, "1. " * 30_000, "this word " * 10_000):
        assert assistant_remark(QUESTION, f"x{text}") == ""
