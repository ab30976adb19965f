"""The mixture is clean, without repeats and test questions, and the same whenever it is built."""

import json
import random
import zipfile

import pytest

from paraqd.lab.corpora.mixture import (
    build_mixture,
    is_multiple_choice,
    paper_training,
    paper_validation,
    skeleton,
    split_of,
    write_mixture,
)
from paraqd.tables.datasets import DatasetError, load_questions
from paraqd.tables.formats import TableError

APPLES = "Tom has 5 apples and buys 3 more. How many has he now?"
TRAIN = "A train runs 120 km in 2 hours. What is its speed in kmph?"
PENS = "asha paid rs . 40 for 8 pens . how much does one pen cost ?"


@pytest.fixture
def corpora(tmp_path):
    """Three small corpora in the shapes in which the real ones are published."""
    aqua = [
        APPLES,
        "Tom has  5 apples and buys 3 more.\nHow many has he now?",
        "tom has 5 apples and buys 3 more; how many has he now",
        "Tom has 6 apples and buys 4 more. How many has he now?",
        "What is 2?",
        "How many " + "very " * 130 + "long words are there?",
        "Which of the following numbers is the largest prime under 100?",
        "What is the sum of 2 and 7 in all? A)8 B)9 C)10",
        "A test question with the number 17: how many are there?",
    ]
    (tmp_path / "aqua.json").write_text(
        "\n".join(json.dumps({"question": q, "options": [], "rationale": "", "correct": "A"}) for q in aqua)
    )
    problems = [
        {"Problem": PENS, "annotated_formula": "divide(40, 8)"},
        {"Problem": APPLES.lower().replace(".", " .").replace("?", " ?"), "annotated_formula": "add(5, 3)"},
        {"Problem": "what is the value of x in that equation ?", "annotated_formula": "solve(x)"},
    ]
    with zipfile.ZipFile(tmp_path / "MathQA.zip", "w") as archive:
        archive.writestr("train.json", json.dumps(problems))
    (tmp_path / "gsm8k.jsonl").write_text(json.dumps({"question": TRAIN, "answer": "60\n#### 60"}))
    return {
        "aqua_rat": tmp_path / "aqua.json",
        "mathqa": tmp_path / "MathQA.zip",
        "gsm8k": tmp_path / "gsm8k.jsonl",
    }


def test_the_three_corpora_become_one(corpora):
    mixture = build_mixture(corpora, test_questions=["A test question with the number 99: how many are there?"])
    shown = [(row["id"], row["question"], row["source"], row["cased"], row["skeleton"]) for row in mixture.rows]
    assert shown == [
        ("aqua-00000", APPLES, "aqua", True, 0),
        ("aqua-00001", "Tom has 6 apples and buys 4 more. How many has he now?", "aqua", True, 0),
        ("mathqa-00002", "asha paid rs. 40 for 8 pens. how much does one pen cost?", "mathqa", False, 1),
        ("mathqa-00003", "what is the value of x in that equation?", "mathqa", False, 2),
        ("gsm8k-00004", TRAIN, "gsm8k", True, 3),
    ]
    assert [(row["formula"], row["answer"]) for row in mixture.rows] == [
        (None, None),
        (None, None),
        ("40 / 8", "5"),
        (None, None),
        (None, None),
    ]
    assert {row["split"] for row in mixture.rows} <= {"train", "validation"}


def test_what_was_left_out_is_counted_by_reason(corpora):
    mixture = build_mixture(corpora, test_questions=["A test question with the number 99: how many are there?"])
    aqua, mathqa, gsm8k = mixture.corpora
    assert (aqua.read, aqua.kept) == (9, 2)
    assert aqua.left_out == {
        "multiple choice": 2,
        "repeated": 1,
        "repeated apart from case and punctuation": 1,
        "shorter than 6 words": 1,
        "longer than 120 words": 1,
        "in a test set, apart from numbers": 1,
    }
    assert (mathqa.read, mathqa.kept, mathqa.formulas) == (3, 2, 1)
    assert mathqa.left_out == {"repeated apart from case and punctuation": 1}
    assert mixture.to_dict()["rows"] == 5 and gsm8k.left_out == {}


def test_without_test_sets_the_question_stays(corpora):
    texts = [row["question"] for row in build_mixture(corpora, test_questions=[]).rows]
    assert "A test question with the number 17: how many are there?" in texts


@pytest.mark.parametrize("name", ["q.jsonl.gz", "q.parquet", "q.csv"])
def test_the_same_bytes_every_time_and_readable_by_other_commands(corpora, tmp_path, name):
    (tmp_path / "again").mkdir()
    mixture = build_mixture(corpora, test_questions=[])
    first = write_mixture(mixture, tmp_path / name)
    second = write_mixture(build_mixture(corpora, test_questions=[]), tmp_path / "again" / name)
    assert first.read_bytes() == second.read_bytes()
    assert [row["question"] for row in load_questions(first)] == [row["question"] for row in mixture.rows]


def test_questions_that_differ_only_in_numbers_are_in_one_split():
    texts = [f"Box {letter} holds 1 pen. How many pens?" for letter in map(str.upper, "abcdefghijklmnopqrstuvwxyz")]
    for text in texts:
        assert skeleton(text) == skeleton(text.replace("1", "2,500.75")) == skeleton(text.replace("1", "3/4"))
    assert len({skeleton(text) for text in texts}) == len(texts)


def test_about_two_percent_are_for_validation():
    splits = [split_of(f"question {number}") for number in range(5000)]
    assert 60 < splits.count("validation") < 140


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What is 2 + 2? (A) 3 (B) 4 (C) 5", True),
        ("what is the sum ? a ) 3 b ) 4 c ) 5", True),
        ("Which one of the following is prime?", True),
        ("Pick from the answer choices the largest number.", True),
        ("None of the above is right; what is x?", True),
        ("If P(A) = 0.1, P(B) = 0.2 and P(C) = 0.3, what is their sum?", False),
        ("Solve (x - a) = (x - b) + (x - c) for x.", False),
        ("In the following week he sold 5 more. How many did he sell?", False),
    ],
)
def test_multiple_choice(text, found):
    assert is_multiple_choice(text) is found


def test_flaws(corpora, tmp_path):
    with pytest.raises(DatasetError, match="there is no corpus 'svamp'; choose from aqua_rat, mathqa, gsm8k"):
        build_mixture({"svamp": corpora["gsm8k"]}, test_questions=[])
    (tmp_path / "other.json").write_text('{"Problem": "how many are there ?"}')
    with pytest.raises(TableError, match="check that this is the right corpus"):
        build_mixture({"aqua_rat": tmp_path / "other.json"}, test_questions=[])
    with pytest.raises(TableError, match="cannot tell the format"):
        write_mixture(build_mixture(corpora, test_questions=[]), tmp_path / "q.txt")


# --- the paper's selection ----------------------------------------------------------------------


def some_rows():
    sources = ["aqua"] * 20 + ["mathqa"] * 100 + ["gsm8k"] * 10
    return [
        {"id": f"{source}-{number}", "source": source, "split": "validation" if number % 10 == 0 else "train"}
        for number, source in enumerate(sources)
    ]


def test_paper_training_is_all_of_aqua_and_a_draw_from_mathqa():
    rows = some_rows()
    chosen = paper_training(rows, size=50, seed=3407)
    aqua = [row for row in rows if row["source"] == "aqua" and row["split"] == "train"]
    mathqa = [row for row in rows if row["source"] == "mathqa" and row["split"] == "train"]
    pick = {row["id"] for row in random.Random(3407).sample(mathqa, 50 - len(aqua))}
    assert chosen == [row for row in rows if row in aqua or row["id"] in pick]
    assert len(chosen) == 50 and all(row["split"] == "train" for row in chosen)
    assert chosen != paper_training(rows, size=50, seed=1)


def test_a_small_size_is_drawn_from_aqua_alone():
    chosen = paper_training(some_rows(), size=5)
    assert len(chosen) == 5 and {row["source"] for row in chosen} == {"aqua"}
    assert [row["id"] for row in chosen] == sorted((row["id"] for row in chosen), key=lambda i: int(i.split("-")[1]))


def test_more_than_there_is():
    with pytest.raises(
        DatasetError, match="aqua and mathqa have 108 training questions together, which is fewer than 500"
    ):
        paper_training(some_rows(), size=500)


def test_paper_validation():
    assert [row["id"] for row in paper_validation(some_rows())][:3] == ["aqua-0", "aqua-10", "mathqa-20"]
    assert "gsm8k" not in {row["source"] for row in paper_validation(some_rows())}
