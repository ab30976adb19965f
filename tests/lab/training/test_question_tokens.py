"""Single questions become rows of tokens with marked faults."""

from __future__ import annotations

import numpy as np
import pytest

from paraqd.lab.corpora.question_texts import KINDS, QuestionText
from paraqd.lab.training.question_tokens import (
    balanced,
    join_questions,
    read_question_tokens,
    tokenize_texts,
    write_question_tokens,
)

TEXTS = (
    QuestionText("a", "tom has 5 pens. how many?", 1, source="own"),
    QuestionText("b", "<b>ann has minutes</b> pens?", 0, "incoherent", "misplaced_words", "own", ((11, 18),)),
    QuestionText("c", "bob has pens.", 0, "question_missing", "lost_questions", "own", (), placed=False),
)


@pytest.fixture(scope="module")
def tokenizer(word_tokenizer, judge_words):
    return word_tokenizer(judge_words)


@pytest.fixture(scope="module")
def questions(tokenizer):
    return tokenize_texts(TEXTS, tokenizer.backend_tokenizer, [1.0, 2.0, 1.0])


def row(questions, number, name):
    tokens = questions.tokens
    return getattr(tokens, name)[tokens.offsets[number] : tokens.offsets[number + 1]].tolist()


def test_a_text_is_framed_and_its_faults_are_marked(questions, tokenizer):
    words = tokenizer.convert_ids_to_tokens(row(questions, 1, "ids"))
    assert words == ["[CLS]", "ann", "has", "minutes", "pens", "?", "[SEP]"]  # without markup
    assert row(questions, 1, "faults") == [-1, 0, 0, 1, 0, 0, -1]
    assert set(row(questions, 0, "faults")[1:-1]) == {0}
    assert set(row(questions, 2, "faults")) == {-1}  # the place of the fault is not known
    assert questions.tokens.kinds.tolist() == [-1, KINDS.index("incoherent"), KINDS.index("question_missing")]
    assert questions.tokens.labels.tolist() == [1, 0, 0]


def test_families_can_be_left_out(questions):
    kept = questions.without(["misplaced_words"])
    assert kept.families.tolist() == ["", "lost_questions"]
    assert row(kept, 1, "ids") == row(questions, 2, "ids")
    assert len(kept) == 2


def test_counterparts_of_a_family_are_left_out_with_it(tokenizer):
    texts = [
        QuestionText("a", "tom has 5 pens. how many?", 1, counterpart="vague_numbers"),
        QuestionText("b", "bob has pens.", 0, "question_missing", "lost_questions", counterpart="vague_numbers"),
        QuestionText("c", "bob has pens.", 0, "question_missing", "lost_questions"),
    ]
    kept = tokenize_texts(texts, tokenizer.backend_tokenizer, [1.0, 1.0, 1.0]).without(["vague_numbers"])
    assert (kept.families.tolist(), kept.counterparts.tolist()) == (["lost_questions"], [""])


def test_both_classes_get_the_same_weight(questions):
    weights = balanced(questions.tokens).weights
    assert weights.tolist() == pytest.approx([1.5, 1.0, 0.5])


def test_a_long_text_is_cut_for_training(tokenizer):
    long = QuestionText("d", "tom has 5 pens. " * 200, 1)
    assert tokenize_texts([long], tokenizer.backend_tokenizer, [1.0]).tokens.lengths.tolist() == [320]


def test_tokens_are_the_same_after_writing_and_reading(questions, tmp_path):
    write_question_tokens(join_questions([questions, questions]), tmp_path / "tokens.npz")
    found = read_question_tokens(tmp_path / "tokens.npz")
    assert len(found) == 6
    for number in range(3):
        for name in ("ids", "faults"):
            assert row(found, number + 3, name) == row(questions, number, name)
    assert np.array_equal(found.families, np.tile(questions.families, 2))
    assert found.tokens.weights.tolist() == [1, 2, 1, 1, 2, 1]
