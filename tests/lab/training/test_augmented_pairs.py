"""Test that stored pairs are reused only if they are complete and were created with the same settings."""

from __future__ import annotations

import gzip
import json

import pytest

pytest.importorskip("torch")

from paraqd.lab.training.augmented_pairs import is_complete, prepare_pairs
from paraqd.lab.training.recipe_corpus import recipe_corpus


def question_rows(count):
    return [{"id": f"q{n}", "question": f"Tom has {n + 3} pens. He loses 2. How many are left?"} for n in range(count)]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_pairs_are_created_only_once(tmp_path):
    questions = write(tmp_path / "q.jsonl", question_rows(4))
    out = tmp_path / "pairs.jsonl.gz"
    assert not is_complete(out)
    made = prepare_pairs(questions, out, recipe="paper", skip=["f1", "f5", "f9"])
    assert (made.recipe, made.stand_ins) == ("paper", ())
    before = out.stat().st_mtime_ns
    prepare_pairs(questions, out, recipe="paper", skip=["f1", "f5", "f9"])
    assert out.stat().st_mtime_ns == before


def test_an_output_with_unfinished_parts_is_not_complete(tmp_path):
    """A process that is killed while it joins the parts leaves an earlier output and the parts."""
    questions = write(tmp_path / "q.jsonl", question_rows(4))
    out = tmp_path / "pairs.jsonl.gz"
    prepare_pairs(questions, out, recipe="paper", skip=["f1", "f5", "f9"])
    assert is_complete(out)
    parts = tmp_path / "pairs.jsonl.gz.parts"
    parts.mkdir()
    (parts / "_manifest.json").write_text('{"format": 1, "command": "augment", "input": {}, "parts": []}')
    assert not is_complete(out)


def test_an_interrupted_output_is_not_complete(tmp_path):
    out = tmp_path / "pairs.jsonl"
    out.write_text("")
    (tmp_path / "pairs.jsonl.meta.json").write_text('{"complete": false}')
    assert not is_complete(out)


def test_an_edited_recipe_creates_another_corpus(tmp_path, monkeypatch):
    monkeypatch.setenv("PARAQD_CACHE_DIR", str(tmp_path / "cache"))
    rows = [
        {**row, "source": "aqua", "split": "train" if n else "validation"} for n, row in enumerate(question_rows(6))
    ]
    with gzip.open(tmp_path / "questions.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    recipe = tmp_path / "my.toml"
    text = 'name = "my"\ndescription = "two"\n[operators]\nvalid = ["NumToWords"]\ninvalid = ["{}"]\n'
    folders = []
    for operator in ("NumberDeletion", "LastSentenceDeletion", "NumberDeletion"):
        recipe.write_text(text.format(operator))
        made, _ = recipe_corpus(str(recipe), questions=5, data_dir=tmp_path)
        with gzip.open(made.paths[0], "rt", encoding="utf-8") as file:
            assert {json.loads(line)["operator"] for line in file} == {"NumToWords", operator}
        folders.append(made.paths[0].parent)
    assert folders[0] == folders[2] != folders[1]
