"""Valid paraphrases with their styles, for training a paraphraser."""

from __future__ import annotations

import pytest

from paraqd.data.datasets import written_split
from paraqd.data.rewrites import rewrites_of_problems, rewrites_of_written, style_of, word_overlap
from paraqd.data.synthetic import InvalidParaphrase, SyntheticProblem
from paraqd.generators.styles import STYLES

QUESTION = "Maya had 48 stickers and gave 15 to her brother. How many stickers does she have now?"
STORY = (
    "Stickers glittered all over the rug: Maya owned 48 of them. Her little brother begged and begged until she peeled"
    " off 15 for him. What is the size of her hoard after this act of kindness?"
)
OTHER = "Out of 48 stickers, Maya's brother received 15. What number of them did Maya keep?"


def test_the_training_part_of_the_written_pairs_is_collected():
    rows = [
        {
            "id": f"w{n}",
            "question": f"{n} men dig. How long?",
            "heavy_valid": f"There are {n} diggers at work.",
            "moderate_valid": f"{n} men dig. For how long?",  # almost a copy
        }
        for n in range(40)
    ]
    assert [each.text for each in rewrites_of_written(rows)] == [
        f"There are {n} diggers at work." for n in range(40) if written_split(f"w{n}") == "train"
    ]


def test_valid_paraphrases_of_problems_are_collected():
    faulty = InvalidParaphrase("How many are left?", "number_lost", (), ())
    problems = [
        SyntheticProblem("sport-1", QUESTION, (OTHER,), (faulty,)),
        SyntheticProblem("clumsy-english-1", QUESTION, (OTHER,), ()),
        SyntheticProblem("lively-classroom-1", QUESTION, (STORY, QUESTION), ()),
        SyntheticProblem("ornate-prose-1", QUESTION, (OTHER,), (faulty,)),
    ]
    # neither the copy, nor the faulty texts, nor the clumsy paraphrase
    found = [(each.text, each.style) for each in rewrites_of_problems(problems)]
    assert found == [(OTHER, "plain"), (STORY, "engaging"), (OTHER, "ornate")]


@pytest.mark.parametrize(
    ("theme", "text", "style"),
    [
        ("sport", OTHER, "plain"),
        ("exam-problems", OTHER, "exam"),
        ("exam-problems", "48 stickers less 15: how many?", "short"),
        ("exam-problems", STORY, "engaging"),
        ("elevated-language", STORY, "ornate"),
    ],
)
def test_the_style_follows_from_theme_and_length(theme, text, style):
    assert style in STYLES
    assert style_of(theme, QUESTION, text) == style


def test_word_overlap_ignores_case_and_order():
    assert word_overlap("Tom has 5 pens", "5 pens has tom") == 1
    assert word_overlap("a b", "c d") == 0
