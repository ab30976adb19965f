"""Texts in other languages are recognised, and English problems are never taken for another language."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from paraqd.scoring.language import is_foreign

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def foreign_problems():
    """Return the problems in other languages, each with the name of its language."""
    lines = (HERE / "foreign_problems.tsv").read_text(encoding="utf-8").splitlines()
    return [tuple(line.split("\t")) for line in lines]


def test_nearly_all_problems_in_other_languages_are_recognised():
    problems = foreign_problems()
    assert len(problems) >= 80
    assert len({language for language, _ in problems}) >= 25
    missed = [(language, text) for language, text in problems if not is_foreign(text)]
    assert len(missed) <= 4, missed


def test_english_problems_are_not_foreign():
    files = [*(ROOT / "datasets" / "synthetic").glob("*.jsonl"), *(ROOT / "datasets" / "styles").glob("*.jsonl")]
    texts = set()
    for file in sorted(files)[::8]:
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            texts |= {row[name] for name in ("question", "paraphrase") if name in row}
    with (ROOT / "samples" / "questions.csv").open(encoding="utf-8", newline="") as file:
        texts |= {row["question"] for row in csv.DictReader(file)}
    assert len(texts) > 5000
    assert [text for text in texts if is_foreign(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "José and Zoë drove from Los Angeles to San José de la Cruz. How many miles did they drive?",
        "father = son + 26; in 2 years father = 2 × son. son today?",
        "Find π if x² ≤ 4 and α + β = 5.",
        "for i in range(5): print(x + y)",
        "qwrt zxcv plmk bnhj 5 7",
        "5 + 3 = ?",
        "الـ",
        "At the café, a crème brûlée costs $5. How much do 3 cost?",
    ],
)
def test_names_formulas_code_and_random_letters_are_not_foreign(text):
    assert not is_foreign(text)


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        ("Ram ke paas 5 apples hain aur wo 2 apples Shyam ko deta hai. How many apples are left?", True),
        ("Ravi has 5 ladoos. His nani, who says 'beta, ek aur', gives him 3 more. How many has he now?", False),
    ],
)
def test_a_mixture_is_foreign_if_the_other_language_carries_the_sentence(text, foreign):
    assert is_foreign(text) is foreign
