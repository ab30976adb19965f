"""Test the tables on the check for solvable questions."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import solvable_tables

from paraqd.lab.corpora.question_texts import FAMILIES, QuestionText, write_texts
from paraqd.lab.training.pair_files import check_manifest
from paraqd.lab.training.recipes import load_recipe
from paraqd.lab.training.solvable_corpus import set_files, text_settings
from paraqd.model_folder import find_model_folder


@pytest.mark.parametrize(
    ("text", "score"),
    [("Tom has 5 pens and 3 caps. How many things has he?", 3), ("Find x if x + 2 = 9.", 2), ("Tom has 5 pens.", 0)],
)
def test_the_baseline_looks_at_the_form(text, score):
    assert solvable_tables.form_score(text) == score


def texts():
    whole = [QuestionText(f"w{n}", f"Tom has {n} pens and 3 caps. How many things?", 1) for n in range(4)]
    broken = [
        QuestionText(f"b{n}", "Tom has pens.", 0, FAMILIES[family], family)
        for n, family in enumerate(("cuts", "vague_numbers"))
    ]
    return [*whole, *broken]


def test_a_family_is_compared_with_all_solvable_texts():
    changed = replace(texts()[4], source="Typos")
    scores = {"mine": np.array([3.0, 3.0, 3.0, 3.0, 1.0, 4.0, 4.0])}
    lines = solvable_tables.family_table([*texts(), changed], scores, ["vague_numbers"], ["Typos"])
    assert lines[2:] == [
        "| cuts | 1 | 1.000 | 1 | 0.000 |",
        "| vague_numbers (held out) | 1 | 0.000 | 0 | – |",
        "| all | 2 | 0.500 | 1 | 0.000 |",
    ]


def test_shares_of_accepted_questions():
    lines = solvable_tables.figures_on_test(texts(), {"mine": np.array([1.0, 1.0, 1.0, -1.0, -1.0, 1.0])})
    assert "| accepted: solvable (4) | 75.0% |" in lines
    assert "| accepted: number_missing (1) | 100.0% |" in lines
    assert "| accepted: cut_off (1) | 0.0% |" in lines


def test_shares_of_accepted_questions_after_a_change():
    changes = {"louder": lambda text: text.text.upper(), "never": lambda text: None}
    lines = solvable_tables.change_table(
        texts(), changes, lambda given: np.array([1.0 if text.text.isupper() else text.label - 0.5 for text in given])
    )
    assert lines[2:] == [
        "| louder | 2 | 0.0% | 100.0% | 4 | 100.0% | 100.0% |",
        "| never | 0 | – | – | 0 | – | – |",
    ]


def test_all_tables(tmp_path):
    data = load_recipe("solvable").data
    check_manifest(tmp_path / "texts", text_settings(data))
    for path in set_files(tmp_path / "texts", data).validation.values():
        write_texts(texts(), path)
    made = solvable_tables.tables(tmp_path)
    assert made.count("\n## ") == 4 and "| family | broken texts | form only | small model | large model |" in made
    test = made.partition("## 300 test questions")[2]
    small, large = (
        float(cell) for cell in next(line for line in test.splitlines() if line.startswith("| AUC")).split("|")[-3:-1]
    )
    assert 0.88 < small < 0.94 < large < 0.98
    for operator in data.harmless_operators:
        assert f"\n| {operator} | " in test
    np.savez(tmp_path / "measured.npz", **{name: np.zeros(6) for name in data.validation})
    model = str(find_model_folder("solvable"))
    with_two = solvable_tables.tables(tmp_path, model=model, measured=tmp_path / "measured.npz")
    assert "| form only | model | without the two families |" in with_two and "| vague_numbers (held out) |" in with_two


def test_sentences_of_other_problems_stand_before_the_last_sentence():
    others = ["Ann has a dog.", "It rains.", "Bo sings."]
    found = solvable_tables.lengthened("Tom has 5 pens. How many pens has he?", others, 12)
    assert found == "Tom has 5 pens. Ann has a dog. How many pens has he?"
    assert solvable_tables.lengthened("Find x.", others, 0) == "Find x."
