from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from paraqd.data.triplets import TripletSet
from paraqd.training.batches import TokenStore, collate, plan_batches


def many(questions, per_question, in_batch=False):
    """Return a set of triplets with texts 0 … n, in which text q is question q."""
    n = questions * per_question
    which = np.repeat(np.arange(questions), per_question)
    rows = np.stack([which, which, np.full(n, -1) if in_batch else questions + np.arange(n)], axis=1)
    texts = tuple(str(i) for i in range(questions + n))
    return TripletSet(texts, rows.astype(np.int32), which.astype(np.int32), (("", ""),) * n)


def lengths_of(triplets):
    return np.random.default_rng(0).integers(5, 80, size=len(triplets.texts))


@pytest.mark.parametrize("distinct_questions", [False, True])
@pytest.mark.parametrize("batch_size", [1, 16, 50, 10_000])
def test_each_triplet_occurs_once_per_epoch(distinct_questions, batch_size):
    triplets = many(40, 6)
    plan = plan_batches(
        triplets, lengths_of(triplets), batch_size=batch_size, epochs=2, seed=1, distinct_questions=distinct_questions
    )
    start = 0
    for end in plan.epoch_ends:
        seen = sorted(int(i) for batch in plan.batches[start:end] for i in batch)
        assert seen == list(range(240))
        start = end
    assert all(len(batch) <= batch_size for batch in plan.batches)


def test_no_question_occurs_twice_in_a_batch_with_in_batch_negatives():
    triplets = many(30, 5)
    plan = plan_batches(triplets, lengths_of(triplets), batch_size=16, epochs=3, seed=1, distinct_questions=True)
    for batch in plan.batches:
        questions = triplets.questions[batch]
        assert len(set(questions.tolist())) == len(questions)


def test_a_single_triplet_with_an_in_batch_negative_is_skipped():
    triplets = many(33, 1, in_batch=True)
    plan = plan_batches(triplets, lengths_of(triplets), batch_size=16, epochs=1, seed=1, distinct_questions=True)
    assert sorted(len(batch) for batch in plan.batches) == [16, 16]


def test_the_triplets_of_a_question_stay_together():
    triplets = many(200, 6)
    plan = plan_batches(triplets, lengths_of(triplets), batch_size=48, epochs=1, seed=1, distinct_questions=False)
    anchors = sum(len(set(triplets.questions[batch].tolist())) for batch in plan.batches)
    assert anchors == 200  # 48 is a multiple of six, so no question is divided


def test_plans_depend_on_the_epoch_and_the_seed():
    triplets = many(50, 4)

    def plan(seed):
        return [
            b.tolist()
            for b in plan_batches(
                triplets, lengths_of(triplets), batch_size=16, epochs=2, seed=seed, distinct_questions=False
            ).batches
        ]

    assert plan(1) == plan(1)
    assert plan(1) != plan(2)
    half = len(plan(1)) // 2
    assert plan(1)[:half] != plan(1)[half:]


def test_texts_in_a_batch_have_similar_lengths():
    triplets = many(2000, 1)
    lengths = lengths_of(triplets)
    width = lengths[triplets.triplets].max(axis=1)
    plan = plan_batches(triplets, lengths, batch_size=20, epochs=1, seed=1, distinct_questions=False)
    spread = np.mean([np.ptp(width[batch]) for batch in plan.batches])
    at_random = np.mean([np.ptp(chunk) for chunk in np.split(np.random.default_rng(1).permutation(width), 100)])
    assert spread < at_random / 5


def store():
    return TokenStore(ids=np.arange(10, dtype=np.int32), starts=np.array([0, 3, 4, 9, 10]), pad=0)


def test_a_batch_contains_each_text_once_and_takes_negatives_from_the_next_question():
    rows = np.array([[0, 2, -1], [1, 3, -1], [2, 0, 3]], dtype=np.int32)
    triplets = TripletSet(("a", "b", "c", "d"), rows, np.arange(3, dtype=np.int32), (("", ""),) * 3)
    batch = collate([0, 1, 2], triplets, store())
    assert batch["text_input_ids"].tolist() == [[0, 1, 2, 0, 0], [3, 0, 0, 0, 0], [4, 5, 6, 7, 8], [9, 0, 0, 0, 0]]
    assert batch["text_attention_mask"].sum(dim=1).tolist() == [3, 1, 5, 1]
    assert batch["label"].tolist() == [[0, 2, 1], [1, 3, 2], [2, 0, 3]]


def test_a_valid_text_that_equals_its_question_is_encoded_twice():
    rows = np.array([[2, 2, 3], [2, 1, 0], [2, 2, 0]], dtype=np.int32)
    triplets = TripletSet(("a", "b", "c", "d"), rows, np.zeros(3, dtype=np.int32), (("", ""),) * 3)
    batch = collate([0, 1, 2], triplets, store())
    texts = [tuple(row) for row in batch["text_input_ids"].tolist()]
    assert texts.count((4, 5, 6, 7, 8)) == 2
    assert len(texts) == 5  # the other three texts occur once each
    for anchor, valid, _ in batch["label"][[0, 2]].tolist():
        assert anchor != valid
        assert texts[anchor] == texts[valid] == (4, 5, 6, 7, 8)


def test_dropout_produces_different_vectors_for_equal_texts():
    import torch

    from paraqd.training.losses import triplet_loss

    rows = np.array([[2, 2, 3]], dtype=np.int32)
    triplets = TripletSet(("a", "b", "c", "d"), rows, np.zeros(1, dtype=np.int32), (("", ""),))
    batch = collate([0], triplets, store())
    torch.manual_seed(1)
    embedding, dropout = torch.nn.Embedding(10, 32), torch.nn.Dropout(0.5)
    vectors = dropout(embedding(batch["text_input_ids"])).mean(dim=1)
    anchor, valid, _ = (vectors[column] for column in batch["label"].T)
    triplet_loss(anchor, valid, torch.zeros_like(valid), distance="cosine", margin=2.0).backward()
    assert float(embedding.weight.grad.abs().max()) > 0


@pytest.mark.parametrize("size", [2, 3, 5])
def test_processes_share_a_batch_and_its_negatives(size):
    tokens = store()
    rows = np.array([[0, 0, -1], [1, 3, -1], [2, 2, 3]], dtype=np.int32)
    triplets = TripletSet(("a", "b", "c", "d"), rows, np.arange(3, dtype=np.int32), (("", ""),) * 3)

    def read(batch):
        lengths = batch["text_attention_mask"].sum(dim=1).tolist()
        texts = [row[:n] for row, n in zip(batch["text_input_ids"].tolist(), lengths, strict=True)]
        return [[texts[place] for place in row] for row in batch["label"].tolist()]

    shares = [collate([0, 1, 2], triplets, tokens, rank=rank, size=size) for rank in range(size)]
    assert [row for share in shares for row in read(share)] == read(collate([0, 1, 2], triplets, tokens))
    assert max(len(share["label"]) for share in shares) - min(len(share["label"]) for share in shares) <= 1
    assert all(len(share["text_input_ids"]) for share in shares)  # a process without a triplet still encodes a text
