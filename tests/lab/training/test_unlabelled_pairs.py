"""Pairs without labels: how they are made, weighed and learned from."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from paraqd.lab.corpora.faulty_pairs import UNLABELLED, FaultyPair
from paraqd.lab.corpora.synthetic import InvalidParaphrase, SyntheticProblem
from paraqd.lab.training.foreign_pairs import appended_questions
from paraqd.lab.training.judge_corpus import pair_weights
from paraqd.lab.training.language_judge import draw_rows
from paraqd.lab.training.losses import judge_loss
from paraqd.lab.training.settings import JudgeSettings
from paraqd.lab.training.unlabelled_pairs import (
    harmless_sentences,
    pairs_of_faulty_texts,
    with_inserted_sentences,
    without_labels,
)

FAULTY = [InvalidParaphrase(f"Has Tom {n} pens?", "number_changed", (), ()) for n in (6, 7)]
PROBLEM = SyntheticProblem(
    "a-1",
    "Has Tom 5 pens?",
    ("The wind blew over the hill. Are 5 pens Tom's?", "Two 5s? Are 5 pens his?"),
    tuple(FAULTY),
)


def test_faulty_texts_are_paired_with_all_other_texts():
    pairs = list(pairs_of_faulty_texts([PROBLEM]))
    assert len(pairs) == len({(pair.question, pair.paraphrase) for pair in pairs}) == 2 * 3 + 2
    assert {pair.question for pair in pairs} == {each.text for each in FAULTY}
    assert all(pair.label == UNLABELLED and not pair.placed and not pair.kind for pair in pairs)


def test_harmless_sentences_have_no_number_and_ask_nothing():
    assert harmless_sentences([PROBLEM]) == ["The wind blew over the hill."]


def test_a_sentence_is_inserted_between_sentences():
    question = "Tom has 5 pens. He buys 3. How many has he?"
    made = list(with_inserted_sentences([("q", question)], ["It rains."], count=40, seed=1))
    assert {pair.paraphrase.replace("It rains.", "").replace("  ", " ").strip() for pair in made} == {question}
    assert len({pair.paraphrase for pair in made}) == 4  # before each sentence and at the end
    lower = list(with_inserted_sentences([("q", question.lower())], ["It rains."], count=3, seed=1))
    assert all(pair.paraphrase.islower() for pair in lower)
    assert not list(with_inserted_sentences([], ["It rains."], count=3, seed=1))


def test_labels_and_faults_are_removed():
    (pair,) = without_labels([FaultyPair("a", "q", "p", 0, "number_lost", "rules", ((0, 1),), ((0, 1),))])
    assert pair == FaultyPair("a", "q", "p", UNLABELLED, source="unlabelled", placed=False)


def test_a_pair_without_a_label_has_the_mean_weight():
    pairs = [FaultyPair("a", "q", "p", label) for label in (1, 0, 0, 0, UNLABELLED)]
    assert pair_weights(pairs, 1.0) == pytest.approx([2.0, 2 / 3, 2 / 3, 2 / 3, 1.0])


def test_a_set_with_the_share_0_is_left_out():
    rows = draw_rows({"a": 2, "b": 100}, {"b": 0.0}, 10)(np.random.default_rng(1))
    assert rows.tolist() == [0, 1]


def loss_of(labels, teacher=None, **settings):
    """Return the loss of some pairs, and its gradient for their log-odds."""
    valid = torch.zeros(len(labels), requires_grad=True)
    batch = {
        "labels": torch.tensor(labels),
        "weights": torch.ones(len(labels)),
        "kinds": torch.full((len(labels),), -1),
        "faults": torch.full((len(labels), 2), -1),
        "teacher": None if teacher is None else torch.tensor(teacher),
    }
    outputs = (valid, torch.zeros(len(labels), 3), torch.zeros(len(labels), 2))
    loss = judge_loss(outputs, batch, JudgeSettings(**settings))
    loss.backward()
    return float(loss.detach()), valid.grad


def test_without_a_teacher_nothing_is_learned_from_a_pair_without_a_label():
    loss, slopes = loss_of([1.0, -1.0], smoothing=0.0)
    assert slopes[1] == 0 and slopes[0] < 0
    assert loss == pytest.approx(loss_of([1.0], smoothing=0.0)[0])


def test_the_teacher_alone_is_the_target_of_a_pair_without_a_label():
    slopes = [loss_of([-1.0], [3.0], smoothing=s, teacher_share=share)[1] for s, share in ((0.0, 0.1), (0.2, 0.9))]
    assert slopes[0] == slopes[1] == pytest.approx(0.5 - 1 / (1 + np.exp(-3.0)), abs=1e-6)


def test_an_appended_question_is_at_the_end_and_about_something_else():
    texts = ["Tom has 5 pens. How many pens has he?", "A car drives 2 hours. How far does it go?", ""]
    made = list(appended_questions(texts, count=60, seed=1))
    assert {pair.paraphrase for pair in made} == {
        "Tom has 5 pens. How many pens has he? How far does it go?",
        "A car drives 2 hours. How far does it go? How many pens has he?",
    }
    for pair in made:
        (span,) = pair.paraphrase_spans
        assert pair.paraphrase[: span[0]].rstrip() == pair.question and span[1] == len(pair.paraphrase)
