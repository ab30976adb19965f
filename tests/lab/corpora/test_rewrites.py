"""Valid paraphrases with their styles, for training a paraphraser."""

from __future__ import annotations

import gzip
import json

import pytest

from paraqd.lab.corpora import rewrites
from paraqd.lab.corpora.rewrites import (
    held_out_questions,
    rewrites_of_problems,
    rewrites_of_written,
    style_of,
    styled_rewrites,
)
from paraqd.lab.corpora.synthetic import InvalidParaphrase, SyntheticProblem
from paraqd.paraphrasing.text_models.styles import STYLES
from paraqd.tables.datasets import dataset, written_split

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
        ("exam-problems", OTHER, "plain"),
        ("exam-problems", "48 stickers less 15: how many?", "short"),
        ("exam-problems", STORY, "engaging"),
        ("elevated-language", STORY, "ornate"),
    ],
)
def test_the_style_follows_from_theme_and_length(theme, text, style):
    assert style in STYLES
    assert style_of(theme, QUESTION, text) == style


def test_marks_make_no_difference_to_what_is_a_near_copy():
    copy = 'Maya had 48 "stickers", and gave 15 (to her brother). How many: "stickers" does she have, now?'
    assert list(rewrites_of_problems([SyntheticProblem("sport-1", QUESTION, (copy,), ())])) == []


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder in which each kind of held-out question has a near twin in the training text."""
    monkeypatch.setattr(rewrites, "synthetic_problems", lambda _, *, name="synthetic": made[name])
    other = "There are several ways to say so: what is it then, and which size has it?"
    problems = [
        SyntheticProblem(
            f"sport-{n}", f"Mia has {n} green pears and eats two of them. How many are left?", (other,), ()
        )
        for n in range(60)
    ]
    bakers = SyntheticProblem(
        "sport-70", "Two bakers sell 700 loaves and keep the rest. How many loaves?", (other,), ()
    )
    trams = SyntheticProblem("sport-80", "Seven trams leave the depot at 8 in the morning. When?", (other,), ())
    free = SyntheticProblem("sport-90", "A lamp costs $9. What do 4 lamps cost?", (other,), ())
    made = {"synthetic": problems, "styles": [bakers, trams, free]}
    held_out = next(name for n in range(99) if written_split(name := f"w{n}") == "validation")
    used = next(name for n in range(99) if written_split(name := f"w{n}") == "train")
    written = [
        {"id": held_out, "question": "Two bakers sell 300 loaves and keep the rest. How many loaves?"},
        {"id": used, "question": "Rob digs 3 holes. How many hours does Rob need?"},
    ]
    forms = {"heavy_valid": other, "moderate_valid": other}
    questions = [
        {"id": f"q{n}", "question": f"Seven trams leave the depot at {n} in the morning. When?", "skeleton": f"s{n}"}
        for n in range(20)
    ]
    for name, rows in (("written_pairs", [row | forms for row in written]), ("questions", questions)):
        file = tmp_path / dataset(name).files[0].name
        with gzip.open(file, "wt", encoding="utf-8") as stream:
            stream.writelines(json.dumps(row) + "\n" for row in rows)
    return tmp_path


def test_near_twins_of_held_out_questions_are_left_out(folder):
    held_out = held_out_questions(folder)
    for start in ("Mia has", "Two bakers sell 300", "Seven trams"):
        assert any(text.startswith(start) for text in held_out)
    assert not any(text.startswith("Rob") for text in held_out)
    assert {each.question for each in styled_rewrites(folder)} == {
        "Rob digs 3 holes. How many hours does Rob need?",
        "A lamp costs $9. What do 4 lamps cost?",
    }
