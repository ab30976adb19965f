"""Test the measurement of what each part of the recipe adds."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import judge_parts

from paraqd.lab.corpora.faulty_pairs import FaultyPair, write_faults
from paraqd.lab.training.pair_files import MANIFEST, pair_settings, synthetic_digest
from paraqd.lab.training.recipes import load_judge_recipe
from paraqd.tables.writers import replace_json


def pairs(prefix, source=""):
    """Return pairs with both labels, of eight questions."""
    for number in range(8):
        question = f"Ann has {number + 10} pens and loses {number + 1} of them. How many pens are left?"
        yield FaultyPair(
            f"{prefix}{number}", question, question.replace("pens are left", "pens remain"), 1, source=source
        )
        wrong = question.replace(f"{number + 10}", f"{number + 30}")
        yield FaultyPair(f"{prefix}{number}", question, wrong, 0, kind="number_changed", source=source)


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """Return a work folder with a few pairs in every set."""
    folder = tmp_path_factory.mktemp("parts") / "work"
    recipe = judge_parts.parts_recipe()
    (folder / "pairs").mkdir(parents=True)
    for part in ("train", "validation"):
        for name, each in getattr(recipe.data, part).items():
            source = "rules-UnrelatedWord" if name == "rules" else f"{name}-NumberChange"
            write_faults(
                pairs(f"{part}-{name}-", source), folder / "pairs" / f"{name}_{part}_{each.most or 'all'}.jsonl.gz"
            )
    facts = {**pair_settings(recipe.data), "synthetic": synthetic_digest(recipe.data)}
    replace_json(folder / "pairs" / MANIFEST, facts)
    judge_parts.prepare(folder, None)
    for name in ("answers", "odds"):
        (folder / name).mkdir()
    return folder


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["judge_parts.py", *map(str, arguments)])
    judge_parts.main()


def test_the_recipe_is_a_smaller_form_of_the_default():
    small, default = judge_parts.parts_recipe().data, load_judge_recipe("default").data
    assert set(default.train) - set(small.train) == set(judge_parts.LEFT_OUT)
    assert small.operators == default.operators and small.questions < default.questions
    assert {name for part in judge_parts.PARTS.values() for name in part.sets} == set(small.train)
    assert {name for each in default.operators for name in each.split("+")} >= judge_parts.WORD_OPERATORS


def test_pairs_by_word_operators_are_marked(work):
    with np.load(work / "words.npz") as marks:
        assert {name: int(marks[name].sum()) for name in ("rules", "composed")} == {"rules": 16, "composed": 0}


def test_judges_are_trained_with_more_and_more_parts(work, monkeypatch):
    names = ["start", "words", "teacher"]
    answers = {each: np.full(16, 3.0, dtype=np.float32) for each in judge_parts.PARTS["teacher"].sets}
    for name, odds in answers.items():
        np.save(work / "answers" / f"train-{name}.npy", odds)
    start = Path(judge_parts.__file__).parents[1] / "src/paraqd/models/default"
    parts = [word for name in names for word in ("--part", name)]
    run(monkeypatch, "train", work, "--start", start, *parts, "--pairs", 32, "--device", "cpu")
    odds = {name: judge_parts._stored(work / "odds" / f"{name}.npz") for name in names}
    assert all(each["written"].shape == (16,) for each in odds.values())
    assert not np.allclose(odds["start"]["written"], odds["words"]["written"])
    # the teacher calls everything valid
    assert odds["teacher"]["written"].mean() > odds["words"]["written"].mean()
    with pytest.raises(SystemExit, match="another start or number of pairs"):
        run(monkeypatch, "train", work, "--start", start, "--pairs", 64, "--device", "cpu")


def test_the_table_has_a_row_for_each_part(work, monkeypatch, capsys):
    labels = np.array([1, 0] * 8)
    sets = json.loads((work / "parts.json").read_text())["validation"]
    for number, name in enumerate(judge_parts.PARTS):
        right = labels * 2.0 - 1 if number else 1 - labels * 2.0  # only the first judge is wrong
        np.savez(work / "odds" / f"{name}.npz", **dict.fromkeys(sets, right.astype(np.float32)))
    for name in sets:
        np.save(work / "answers" / f"validation-{name}.npy", (labels * 8.0 - 4).astype(np.float32))
    run(monkeypatch, "table", work)
    lines = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert [line[0].removeprefix("| ") for line in lines[2:-3]] == [part.title for part in judge_parts.PARTS.values()]
    assert "1.000, 1.000" not in lines[2] and lines[3][1] == "1.000, 1.000"
    assert "is unsure" in lines[-2][0]
