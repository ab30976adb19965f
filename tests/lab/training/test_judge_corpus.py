"""Test the learned judge's corpus with a small data folder."""

from __future__ import annotations

import gzip
import json

import pytest

from paraqd.lab.corpora.faulty_pairs import (
    FaultyPair,
    changed_spans,
    find_words_again,
    operator_faults,
    read_faults,
    written_faults,
)
from paraqd.lab.training.judge_corpus import make_judge_pairs
from paraqd.lab.training.recipes import load_judge_recipe
from paraqd.tables.datasets import DatasetError, written_split

OPERATORS = ("NumToWords", "NumberChange", "LastSentenceDeletion", "ClumsyGrammar")
TWIN = next(number for number in range(40) if written_split(f"mathqa-{number:05d}") == "train")


def written(number, things=None):
    name = f"mathqa-{number:05d}"
    thing = things or ("marbles" if written_split(name) == "train" else "pens")
    return {
        "id": name,
        "question": f"Tom has {number + 4} red {thing} and 3 blue {thing}. How many {thing} does he have?",
        "heavy_valid": f"How many {thing} are Tom's if {number + 4} of them are red and 3 are blue?",
        "moderate_valid": f"Tom owns {number + 4} red {thing} and 3 blue {thing}. How many {thing} does he own?",
        "heavy_invalid": f"How many {thing} are Tom's if {number + 5} of them are red and 3 are blue?",
        "heavy_fault": "number_changed",
        "moderate_invalid": f"Tom owns {number + 4} red {thing}. How many {thing} does he own?",
        "moderate_fault": "condition_lost",
    }


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    rows = [written(number) for number in range(40)]
    rows[TWIN] = written(TWIN, "pens")  # differs from a held-out question only in its numbers
    with gzip.open(folder / "written_pairs.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    others = [
        {
            "id": f"gsm8k-{n}",
            "question": f"Ann buys {n + 2} pears for $3 each. How much does she pay?",
            "split": "train",
            "skeleton": f"pears {n}",
            "source": "gsm8k",
        }
        for n in range(6)
    ]
    kept = next(row for row in rows if written_split(row["id"]) == "benchmark")
    known = [
        {
            "id": row["id"],
            "question": row["question"],
            "split": "train",
            "skeleton": f"pens {row['id']}",
            "source": "mathqa",
        }
        for row in rows
    ]
    twin = {
        "id": "gsm8k-99",
        "question": "Tom has 99 red pens. How many?",
        "split": "train",
        "skeleton": f"pens {kept['id']}",
        "source": "gsm8k",
    }
    with gzip.open(folder / "questions.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in [*others, *known, twin])
    return folder


def recipe(**overrides):
    values = {
        "data.operators": OPERATORS,
        "data.train": {"written": {}, "composed": {}, "rules": {}},
        "data.validation": {"written": {}, "composed": {}},
    }
    return load_judge_recipe("default", values | {f"data.{name}": value for name, value in overrides.items()}).data


@pytest.fixture(scope="module")
def corpus(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    return folder, make_judge_pairs(folder, recipe(), data_dir=data)


def test_held_out_questions_are_not_used_for_training(corpus):
    _, made = corpus
    for part, files in (("train", made.train), ("validation", made.validation)):
        for name in ("written", "composed"):
            found = {written_split(pair.id.partition("|")[0]) for pair in read_faults(files[name])}
            assert found == {part}
    assert {pair.id for pair in read_faults(made.train["rules"])} == {f"gsm8k-{n}" for n in range(6)}


def test_near_twins_of_held_out_questions_are_not_used_for_training(corpus):
    for name in ("written", "composed"):
        assert not any(pair.id.startswith(f"mathqa-{TWIN:05d}") for pair in read_faults(corpus[1].train[name]))


def test_a_folder_created_with_other_settings_is_rejected(corpus, data):
    with pytest.raises(DatasetError, match="other values of operators and seed"):
        make_judge_pairs(corpus[0], recipe(operators=OPERATORS[:2], seed=8), data_dir=data)


def test_outputs_on_rewrites_are_paired_with_the_original_question(corpus):
    pairs = list(read_faults(corpus[1].train["composed"]))
    assert {pair.label for pair in pairs} == {0, 1}
    for pair in pairs:
        assert pair.question.startswith("Tom has")
        assert pair.source.startswith("composed-")
    changed = next(pair for pair in pairs if pair.source == "composed-NumberChange")
    assert changed.kind == "number_changed"
    (span,) = changed.paraphrase_spans
    assert changed.paraphrase[slice(*span)].strip("0123456789") == ""


def test_a_second_call_reuses_all_files(corpus, data):
    before = {path: path.stat().st_mtime_ns for path in corpus[0].glob("*.gz")}
    make_judge_pairs(corpus[0], recipe(), data_dir=data)
    assert before == {path: path.stat().st_mtime_ns for path in corpus[0].glob("*.gz")}


def test_faults_in_written_pairs_have_positions():
    pairs = list(written_faults([written(1)]))
    assert sum(pair.label for pair in pairs) == 4
    heavy = next(pair for pair in pairs if pair.kind == "number_changed" and pair.source == "written-heavy")
    assert [heavy.paraphrase[slice(*span)] for span in heavy.paraphrase_spans] == ["6"]
    assert [heavy.question[slice(*span)] for span in heavy.question_spans] == ["5"]
    lost = next(pair for pair in pairs if pair.kind == "content_lost" and pair.source == "written-moderate")
    assert [lost.question[slice(*span)] for span in lost.question_spans] == ["3", "blue"]


def test_repeated_words_have_no_position():
    gone, come = changed_spans("Tom has 5 red and 5 blue pens.", "Tom has 5 red pens.")
    assert not come
    assert find_words_again("Tom has 5 red and 5 blue pens.", gone, "5 red, 5 blue pens") == ((9, 13),)


def test_lost_articles_keep_a_pair_valid():
    row = {
        "id": "a",
        "question": "The boy is in the house.",
        "paraphrase": "Boy in house.",
        "label": 0,
        "operator": "RandomDeletion",
    }
    (pair,) = operator_faults([row], {})
    assert pair == FaultyPair("a", row["question"], row["paraphrase"], 1, source="rules-RandomDeletion")
