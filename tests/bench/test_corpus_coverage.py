"""Test the comparison of corpora by their coverage."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import corpus_coverage

QUESTIONS = (
    "Meera walks 3 km in 2 hours. How far does she walk in 4 hours?",
    "A box holds 6 pens. How many pens are in 5 boxes?",
    "Points A1 and B1 lie on a circle. Show that the triangle is isosceles.",
    "The opposite sides of a parallelogram are parallel.",
)


def test_reading_counts():
    counts = corpus_coverage.reading_counts(QUESTIONS)
    assert counts == {"a number": 2, "a number with a unit": 1, "a name": 1, "a question": 3}


def test_a_large_corpus_is_sampled_with_the_seed():
    rows = [{"id": str(number)} for number in range(100)]
    drawn = corpus_coverage.draw(rows, 10, 1)
    assert len({row["id"] for row in drawn}) == 10
    assert drawn == corpus_coverage.draw(rows, 10, 1) != corpus_coverage.draw(rows, 10, 2)
    assert corpus_coverage.draw(rows, 100, 1) == rows


def test_operators_that_need_a_model_are_listed_and_not_run():
    steps, models = corpus_coverage.chosen_steps()
    assert models == ["LossyParaphrase", "ImportantPhraseDeletion"]
    assert {"Backtranslation", "NumToWords", "Rewrite+NumberChange"} <= {step.name for step in steps}
    assert [step.name for step in steps if step.stand_in] == ["Backtranslation"]


@pytest.mark.extra("augment", "parquet")
def test_table_of_a_corpus(tmp_path, monkeypatch, capsys):
    source = tmp_path / "own.jsonl"
    source.write_text("\n".join(json.dumps({"question": text}) for text in QUESTIONS))
    monkeypatch.setattr(sys, "argv", ["corpus_coverage.py", str(source)])
    corpus_coverage.main()
    printed = capsys.readouterr()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in printed.out.splitlines()]
    assert cells[0] == ["", f"{source} (4)"]
    shares = dict(cells[2:])
    assert shares["a question"] == "75.0%" and shares["SameSentence (f2)"] == "100.0%"
    assert shares["UnitReplacement (f10)"] == "25.0%" and shares["NumberChange"] == "50.0%"
    assert "Backtranslation (f1, stand-in)" in shares
    assert "LossyParaphrase" in printed.err and "LossyParaphrase" not in printed.out
