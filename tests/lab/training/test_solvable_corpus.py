"""Create the texts for the model of solvable questions from a small data folder."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter
from dataclasses import replace
from importlib import resources

import pytest

from paraqd.lab.corpora.question_texts import read_texts, written_question_part
from paraqd.lab.training.recipes import load_recipe
from paraqd.lab.training.recipes.solvable import SolvableData, TextSet
from paraqd.lab.training.settings import TrainingError
from paraqd.lab.training.solvable_corpus import make_question_texts
from paraqd.tables.datasets import DatasetError, written_split

LISTED = (resources.files("paraqd.tables") / "files" / "solvable.sha256").read_text("utf-8").split()[1::2]
FAMILIES = {"lost_questions": ("LastSentenceDeletion",), "vague_numbers": ("VagueNumber",)}
THINGS = "pens caps cups toys hats bags keys maps nuts eggs figs pies".split()
PLACES = "in Rome|at school|on Monday|near the lake|for his aunt|in the shop|at home|by the sea|in May|on a farm".split(
    "|"
)


def written(number):
    thing, place = THINGS[number % 12], PLACES[number % 10]
    return {
        "id": f"mathqa-{number:05d}",
        "question": f"Tom has {number + 4} red {thing} and 3 blue {thing} {place}. How many {thing} does he have?",
        "heavy_valid": f"How many {thing} are Tom's {place} if {number + 4} of them are red and 3 are blue?",
        "moderate_valid": f"Tom owns {number + 4} red {thing} and 3 blue {thing} {place}. How many does he own?",
        "heavy_invalid": f"How many {thing} are Tom's {place} if {number + 5} of them are red and 3 are blue?",
        "heavy_fault": "number_changed",
        "moderate_invalid": f"Tom owns some red {thing} and 3 blue {thing} {place}. How many does he own?",
        "moderate_fault": "number_lost",
    }


def own(number):
    thing, place = THINGS[-1 - number % 12], PLACES[number % 10]
    whole = f"Ann sells {number + 20} {thing} in boxes of {number + 2} {place}. How many boxes does she need?"
    lost = whole.replace(f" of {number + 2}", "")
    name = f"own-{number}"
    return [
        {"id": name, "text": whole, "label": 1},
        {"id": name, "text": lost, "label": 0, "family": "lost_numbers", "spans": []},
    ]


def write_lines(path, rows):
    path.parent.mkdir(exist_ok=True)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(lines.encode()) if path.suffix == ".gz" else lines.encode())


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_lines(folder / "written_pairs.jsonl.gz", [written(number) for number in range(40)])
    write_lines(folder / "solvable" / "school.jsonl", [row for number in range(30) for row in own(number)])
    write_lines(folder / "solvable" / "aptitude.jsonl", [row for number in range(30, 36) for row in own(number)])
    others = [name for name in LISTED if name not in ("school.jsonl", "aptitude.jsonl")]
    for number, name in enumerate(others):
        write_lines(folder / "solvable" / name, own(36 + number % 2))
    test = {"id": "test-1", "text": "A bus drives 90 km in 2 hours. How fast is it?", "label": 1}
    write_lines(folder / "solvable" / "test-questions.jsonl", [test])
    return folder


def settings(**changes):
    sets = {"written": TextSet(texts=30), "single": TextSet(weight=3.0)}
    values = {
        "held_out": (),
        "families": FAMILIES,
        "harmless": ("Typography",),
        "train": sets,
        "validation": sets,
        "varied": 0.0,
    }
    return replace(load_recipe("solvable").data, **(values | changes))


@pytest.fixture(scope="module")
def corpus(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    return folder, make_question_texts(folder, settings(), data_dir=data)


def texts(corpus, part, name):
    return list(read_texts(getattr(corpus[1], part)[name]))


@pytest.mark.parametrize("part", ["train", "validation"])
def test_all_texts_of_a_problem_are_in_one_part(corpus, part):
    assert {written_split(text.id.partition("|")[0]) for text in texts(corpus, part, "written")} == {part}
    assert {written_question_part(text.id.partition("|")[0]) for text in texts(corpus, part, "single")} == {part}


def test_solvable_and_broken_texts_come_from_writers_and_operators(corpus):
    found = Counter((text.source, text.label) for text in texts(corpus, "train", "written"))
    assert found["written", 1] == 30
    assert found["complete-number_changed", 1] > 0  # another problem, but complete
    assert found["written-number_lost", 0] > 0
    for operator in ("LastSentenceDeletion", "VagueNumber"):
        assert found[operator, 0] > 0
    for operator in ("Typography", "VagueDetail"):
        assert found[operator, 1] > 0
    assert {label for (_, label) in found} == {0, 1}


def test_broken_texts_have_a_family_and_a_kind(corpus):
    for part in ("train", "validation"):
        for name in ("written", "single"):
            for text in texts(corpus, part, name):
                assert bool(text.kind) == (text.label == 0)
                if text.source == "VagueNumber":
                    assert (text.family, text.kind) == ("vague_numbers", "number_missing")
                assert bool(text.family) == (text.label == 0)
                # held out together with the family
                assert text.counterpart == ("vague_numbers" if text.source == "VagueDetail" else "")


@pytest.mark.parametrize("part", ["train", "validation"])
@pytest.mark.parametrize("name", ["written", "single"])
def test_a_harmless_change_says_nothing_about_the_label(corpus, part, name):
    found = texts(corpus, part, name)
    for operator in ("Typography", "VagueDetail"):
        labels = Counter(text.label for text in found if text.source == operator)
        assert 0.6 * labels[1] <= labels[0] <= labels[1]


def test_broken_texts_of_writers_and_of_operators_get_harmless_changes(corpus):
    written_families = {text.family for text in texts(corpus, "train", "written") if text.source == "VagueDetail"}
    assert {"", "lost_questions", "vague_numbers"} <= written_families
    single = [text for text in texts(corpus, "train", "single") if text.source == "VagueDetail"]
    assert any(text.family == "lost_numbers" and text.id.startswith("own-") for text in single)


def test_a_model_without_a_family_sees_none_of_its_texts(corpus):
    """Whatever is put on top of a broken text, it stays in its family."""
    tops = [text for text in texts(corpus, "train", "written") if text.source == "Typography" and not text.label]
    vague = [text for text in tops if "|VagueNumber|" in text.id]
    assert vague and {text.family for text in vague} == {"vague_numbers"}


def test_near_twins_of_test_questions_are_not_used_for_training(corpus, data, tmp_path):
    number = next(number for number in range(30) if written_question_part(f"own-{number}") == "train")
    name, text = f"own-{number}", own(number)[0]["text"]
    assert any(each.id.partition("|")[0] == name for each in texts(corpus, "train", "single"))
    copy = shutil.copytree(data, tmp_path / "data")
    twin = {"id": "test-1", "text": text.replace(str(number + 20), "99"), "label": 1}
    write_lines(copy / "solvable" / "test-questions.jsonl", [twin])
    only = {"single": TextSet()}
    made = make_question_texts(tmp_path / "out", settings(train=only, validation=only), data_dir=copy)
    assert not any(each.id.partition("|")[0] == name for each in read_texts(made.train["single"]))


def test_existing_texts_are_kept_unless_the_settings_differ(corpus, data):
    folder, made = corpus
    before = made.train["written"].stat().st_mtime_ns
    again = make_question_texts(folder, settings(held_out_families=("cuts",)), data_dir=data)
    assert again.train["written"].stat().st_mtime_ns == before  # held-out families are applied later
    with pytest.raises(DatasetError, match="other values of seed"):
        make_question_texts(folder, settings(seed=1), data_dir=data)


def test_an_unknown_family_is_refused():
    with pytest.raises(TrainingError, match="there is no family of faults 'odd'"):
        settings(families={"odd": ()})
    assert isinstance(settings(), SolvableData)
