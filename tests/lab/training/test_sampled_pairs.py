"""The set that a small language model writes, and the pairs on which this model is trained."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest

from paraqd.lab.corpora.faulty_pairs import UNLABELLED, read_faults
from paraqd.lab.generators.train import train_generator
from paraqd.lab.training import paraphraser_pairs, work_folder
from paraqd.lab.training.recipes import GeneratorRecipe, load_judge_recipe
from paraqd.lab.training.sampled_pairs import draw_inputs, prepare_inputs, sampled_file, sampled_rewrites, write_sampled
from paraqd.lab.training.settings import TrainingError
from paraqd.lab.training.work_folder import recipe_pairs
from paraqd.model_runtime import GeneratorUnavailableError
from paraqd.paraphrasing.distance import overlap
from paraqd.paraphrasing.text_models.styles import STYLES, styled

QUESTIONS = [(f"q{n}", f"Tom has {n} pens. How many pens has Tom?") for n in range(2, 8)]
MADE = GeneratorRecipe(kind="paraphrase", scale="smoke", seed=1)


def generator_pairs():
    return [(styled(text, style), text) for _, text in QUESTIONS for style in STYLES]


def test_the_drawn_inputs_depend_on_the_seed():
    drawn = draw_inputs(QUESTIONS, count=12, seed=1)
    assert len(drawn) == 12 and {(each["id"], each["question"]) for each in drawn} <= set(QUESTIONS)
    assert len({each["id"] for each in drawn}) > 1 and len({each["style"] for each in drawn}) > 1
    assert drawn == draw_inputs(QUESTIONS, count=12, seed=1) != draw_inputs(QUESTIONS, count=12, seed=2)
    assert draw_inputs([], count=12, seed=1) == []


def test_a_generator_rewrites_questions_for_the_teacher(tmp_path):
    folder = train_generator(
        "paraphrase", None, tmp_path / "writer", scale="smoke", device="cpu", pairs=generator_pairs()
    )
    inputs = draw_inputs(QUESTIONS, count=12, seed=1)
    found = sampled_rewrites(inputs, folder, device="cpu")
    assert found and all(pair.label == UNLABELLED and (pair.id, pair.question) in QUESTIONS for pair in found)
    assert all(pair.paraphrase != pair.question for pair in found)
    assert found == sampled_rewrites(inputs, folder, device="cpu")


def test_the_set_is_written_from_what_was_prepared(tmp_path):
    prepare_inputs(tmp_path, lambda: QUESTIONS, count=6, seed=1)
    path = write_sampled(tmp_path, MADE, generator_pairs, count=6, device="cpu")
    assert path == sampled_file(tmp_path, 6, MADE)
    found = list(read_faults(path))
    assert found and {pair.label for pair in found} == {UNLABELLED}
    written = path.read_bytes()
    # what is there already is neither drawn nor written again
    prepare_inputs(tmp_path, lambda: pytest.fail("drawn again"), count=6, seed=1)
    again = write_sampled(tmp_path, MADE, lambda: pytest.fail("trained again"), count=6, device="cpu")
    assert again.read_bytes() == written


def test_another_generator_writes_another_set(tmp_path):
    folder = train_generator("paraphrase", None, tmp_path / "a", scale="smoke", device="cpu", pairs=generator_pairs())
    prepare_inputs(tmp_path, lambda: QUESTIONS, count=6, seed=1)
    assert sampled_file(tmp_path, 6, MADE) != sampled_file(tmp_path, 6, replace(MADE, seed=2))
    path = write_sampled(
        tmp_path, MADE, lambda: pytest.fail("needs no pairs"), count=6, generator=str(folder), device="cpu"
    )
    assert path.is_file() and path != sampled_file(tmp_path, 6, MADE)


def test_the_number_of_rewrites_is_needed(tmp_path):
    with pytest.raises(TrainingError, match=r"data\.train\.sampled needs the number of rewrites"):
        prepare_inputs(tmp_path, lambda: QUESTIONS, count=0, seed=1)


def test_a_prepared_folder_needs_no_data_sets(tmp_path, monkeypatch):
    recipe = load_judge_recipe(
        "default", {"data.train": {"sampled": {"most": 6}}, "data.validation": {}, "data.generator.scale": "smoke"}
    )
    monkeypatch.setattr(work_folder, "questions_to_rewrite", lambda *_, **__: QUESTIONS)
    monkeypatch.setattr(paraphraser_pairs, "paraphraser_pairs", lambda *_, **__: generator_pairs())
    files = recipe_pairs(recipe, tmp_path, data_dir="nowhere", complete=False)
    assert not files.train
    monkeypatch.setattr(work_folder, "questions_to_rewrite", lambda *_, **__: pytest.fail("drawn again"))
    monkeypatch.setattr(paraphraser_pairs, "paraphraser_pairs", lambda *_, **__: pytest.fail("paired again"))
    files = recipe_pairs(recipe, tmp_path, data_dir="nowhere", device="cpu")
    assert list(files.train) == ["sampled"] and list(read_faults(files.train["sampled"]))


def test_a_missing_base_model_is_reported_before_the_pairs_are_made(tmp_path, monkeypatch):
    recipe = load_judge_recipe("default", {"data.train": {"sampled": {"most": 6}}, "data.validation": {}})

    def missing(*_):
        raise GeneratorUnavailableError("the language model is not installed")

    monkeypatch.setattr(work_folder, "check_base_model", missing)
    with pytest.raises(GeneratorUnavailableError):
        recipe_pairs(recipe, tmp_path, data_dir="nowhere")
    assert not any(tmp_path.iterdir())


def test_the_rules_write_training_pairs_close_to_the_question(tmp_path):
    pytest.importorskip("spacy")
    rows = [
        {"id": "a", "question": "Tom has 5 red pens. He buys 3 more pens. How many pens does he have now?"},
        {"id": "b", "question": "A baker sells 12 loaves at $3 each. How much money does the baker get?"},
    ]
    kept = {"id": "c", "question": "A ferry carries 9 cars on each of 4 trips. How many cars does it carry?"}
    with gzip.open(tmp_path / "questions.jsonl.gz", "wt") as file:
        for row in rows:
            file.write(json.dumps({**row, "split": "train", "skeleton": row["id"], "source": "gsm8k"}) + "\n")
        file.write(json.dumps({**kept, "split": "test", "skeleton": "c", "source": "gsm8k"}) + "\n")
    written = {"id": "w-1", "question": "A shop sells 5 blue cups and 3 green cups. How many cups is that?"}
    written |= {"heavy_valid": "5 blue cups and 3 green ones are sold. How many are sold?", "moderate_valid": ""}
    with gzip.open(tmp_path / "written_pairs.jsonl.gz", "wt") as file:
        file.write(json.dumps(written) + "\n")
    digest = paraphraser_pairs.data_digest(tmp_path)
    found = paraphraser_pairs.paraphraser_pairs(tmp_path, scale="smoke")
    asked = {styled(row["question"], style): row["question"] for row in rows for style in ("close", "exam")}
    assert not any("ferry carries 9 cars" in text for text, _ in found)  # it is not a training question
    found = [(text, paraphrase) for text, paraphrase in found if text in asked]
    assert len(found) >= 4
    assert all(overlap(asked[text], paraphrase) <= 0.8 for text, paraphrase in found)
    with gzip.open(tmp_path / "questions.jsonl.gz", "at") as file:
        file.write(json.dumps({**kept, "id": "d", "split": "train", "skeleton": "d", "source": "gsm8k"}) + "\n")
    assert paraphraser_pairs.data_digest(tmp_path) != digest
