"""Read and write labelled questions."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from paraqd.lab.corpora.question_texts import (
    FAMILIES,
    KINDS,
    QuestionText,
    read_texts,
    read_written_questions,
    write_texts,
    written_question_part,
    written_questions,
)
from paraqd.tables.table import TableError

ROW = {"id": "a", "text": "Tom has some pens. How many?", "label": 0, "family": "vague_numbers", "spans": [[8, 12]]}


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_every_family_has_a_kind():
    assert set(FAMILIES.values()) == set(KINDS)


def test_a_file_of_written_questions_is_read(tmp_path):
    path = write(tmp_path / "own.jsonl", ROW, {"id": "a", "text": "Tom has 5 pens. How many?", "label": 1})
    broken, whole = read_written_questions(path)
    assert (broken.kind, broken.family, broken.spans) == ("number_missing", "vague_numbers", ((8, 12),))
    assert (whole.label, whole.kind, whole.source, whole.placed) == (1, "", "own", True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": 2}, "the label must be 1, or 0 with a family of faults"),
        ({"family": ""}, "the label must be 1, or 0 with a family of faults"),
        ({"label": 1}, "the label must be 1, or 0 with a family of faults"),
        ({"spans": [[8, 99]]}, "'spans' must be a list of"),
        ({"spans": [8, 12]}, "'spans' must be a list of"),
        ({"label": True, "family": ""}, "the label must be 1, or 0 with a family of faults"),
        ({"family": ["cuts"]}, "the label must be 1, or 0 with a family of faults"),
        ({"spans": 5}, "'spans' must be a list of"),
        ({"spans": [["a", "b"]]}, "'spans' must be a list of"),
        ({"spans": [[0.5, 1.5]]}, "'spans' must be a list of"),
        ({"spans": [[0, 1, 2]]}, "'spans' must be a list of"),
        ({"text": " "}, "text"),
    ],
)
def test_a_wrong_row_is_named(tmp_path, change, message):
    path = write(tmp_path / "own.jsonl", ROW, ROW | change)
    with pytest.raises(TableError, match=rf"own\.jsonl, row 2.*{message}"):
        list(read_written_questions(path))


def test_texts_are_the_same_after_writing_and_reading(tmp_path):
    texts = [
        QuestionText("a", "Zoë has 5 pens.", 0, "question_missing", "lost_questions", "own", (), placed=False),
        QuestionText("b", "Tom has some pens. How many?", 0, "number_missing", "vague_numbers", "own", ((8, 12),)),
    ]
    assert write_texts(texts, tmp_path / "texts.jsonl.gz") == 2
    assert list(read_texts(tmp_path / "texts.jsonl.gz")) == texts


def test_the_written_questions_of_the_repository():
    train, test = written_questions("solvable"), written_questions("solvable_test")
    assert (len(train), len(test)) == (9734, 300)
    assert Counter(text.label for text in test) == {1: 149, 0: 151}
    assert not {text.id for text in train} & {text.id for text in test}
    assert not {text.text for text in train} & {text.text for text in test}
    parts = Counter(written_question_part(name) for name in {text.id for text in train})
    assert 0.1 < parts["validation"] / sum(parts.values()) < 0.3
