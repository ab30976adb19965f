from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from paraqd.lab.corpora.triplets import TripletSet
from paraqd.lab.training.batches import DeviceTexts, TokenStore, collate, plan_batches


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
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("batch_size", [1, 16, 50, 10_000])
def test_each_triplet_occurs_once_per_epoch(distinct_questions, grouped, batch_size):
    triplets = many(40, 6)
    kinds = {"distinct_questions": distinct_questions, "grouped": grouped}
    plan = plan_batches(triplets, lengths_of(triplets), batch_size=batch_size, epochs=2, seed=1, **kinds)
    start = 0
    for end in plan.epoch_ends:
        seen = sorted(int(i) for batch in plan.batches[start:end] for i in batch)
        assert seen == list(range(240))
        start = end
    assert all(len(batch) <= batch_size for batch in plan.batches)


@pytest.mark.parametrize("grouped", [False, True])
def test_no_question_occurs_twice_in_a_batch_with_in_batch_negatives(grouped):
    triplets, kinds = many(30, 5), {"distinct_questions": True, "grouped": grouped}
    plan = plan_batches(triplets, lengths_of(triplets), batch_size=16, epochs=3, seed=1, **kinds)
    for batch in plan.batches:
        questions = triplets.questions[batch]
        assert len(set(questions.tolist())) == len(questions)


def test_a_single_triplet_with_an_in_batch_negative_is_skipped():
    triplets = many(33, 1, in_batch=True)
    plan = plan_batches(triplets, lengths_of(triplets), batch_size=16, epochs=1, seed=1, distinct_questions=True)
    assert sorted(len(batch) for batch in plan.batches) == [16, 16]


def questions_per_batch(triplets, plan):
    return np.mean([len(set(triplets.questions[batch].tolist())) for batch in plan.batches])


def test_the_triplets_of_a_question_stay_together_in_grouped_batches():
    triplets, kinds = many(200, 6), {"distinct_questions": False, "grouped": True}
    plan = plan_batches(triplets, lengths_of(triplets), batch_size=48, epochs=1, seed=1, **kinds)
    assert questions_per_batch(triplets, plan) == 8  # 48 is a multiple of six, so no question is divided


def test_by_default_batches_have_triplets_of_many_questions_and_lengths():
    triplets = many(1000, 6)
    lengths = lengths_of(triplets)
    plan = plan_batches(triplets, lengths, batch_size=16, epochs=1, seed=1, distinct_questions=False)
    assert questions_per_batch(triplets, plan) > 15.8
    width = lengths[triplets.triplets].max(axis=1)
    assert np.mean([np.std(width[batch]) for batch in plan.batches]) == pytest.approx(np.std(width), rel=0.1)


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


def test_texts_in_a_grouped_batch_have_similar_lengths():
    triplets = many(2000, 1)
    lengths = lengths_of(triplets)
    width = lengths[triplets.triplets].max(axis=1)
    kinds = {"distinct_questions": False, "grouped": True}
    plan = plan_batches(triplets, lengths, batch_size=20, epochs=1, seed=1, **kinds)
    spread = np.mean([np.ptp(width[batch]) for batch in plan.batches])
    at_random = np.mean([np.ptp(chunk) for chunk in np.split(np.random.default_rng(1).permutation(width), 100)])
    assert spread < at_random / 5


def padded(texts, length):
    import torch

    tokens = TokenStore(ids=np.arange(10, dtype=np.int32), starts=np.array([0, 3, 4, 9, 10]), pad=0)
    return DeviceTexts(tokens, "cpu").padded(torch.from_numpy(texts), length)


def test_a_batch_contains_each_text_once_and_takes_negatives_from_the_next_question():
    rows = np.array([[0, 2, -1], [1, 3, -1], [2, 0, 3]], dtype=np.int32)
    triplets = TripletSet(("a", "b", "c", "d"), rows, np.arange(3, dtype=np.int32), (("", ""),) * 3)
    texts, places = collate([0, 1, 2], triplets)
    assert texts.tolist() == [0, 1, 2, 3]
    assert places.tolist() == [[0, 2, 1], [1, 3, 2], [2, 0, 3]]
    ids, mask = padded(texts, 5)
    assert ids.tolist() == [[0, 1, 2, 0, 0], [3, 0, 0, 0, 0], [4, 5, 6, 7, 8], [9, 0, 0, 0, 0]]
    assert mask.sum(dim=1).tolist() == [3, 1, 5, 1]


def test_a_valid_text_that_equals_its_question_is_encoded_twice():
    rows = np.array([[2, 2, 3], [2, 1, 0], [2, 2, 0]], dtype=np.int32)
    triplets = TripletSet(("a", "b", "c", "d"), rows, np.zeros(3, dtype=np.int32), (("", ""),) * 3)
    texts, places = collate([0, 1, 2], triplets)
    assert sorted(texts.tolist()) == [0, 1, 2, 2, 3]
    for anchor, valid, _ in places[[0, 2]].tolist():
        assert anchor != valid
        assert texts[anchor] == texts[valid] == 2


def test_dropout_produces_different_vectors_for_equal_texts():
    import torch

    from paraqd.lab.training.losses import triplet_loss

    rows = np.array([[2, 2, 3]], dtype=np.int32)
    triplets = TripletSet(("a", "b", "c", "d"), rows, np.zeros(1, dtype=np.int32), (("", ""),))
    texts, places = collate([0], triplets)
    torch.manual_seed(1)
    embedding, dropout = torch.nn.Embedding(10, 32), torch.nn.Dropout(0.5)
    vectors = dropout(embedding(padded(texts, 5)[0])).mean(dim=1)
    anchor, valid, _ = (vectors[column] for column in places.T)
    triplet_loss(anchor, valid, torch.zeros_like(valid), distance="cosine", margin=2.0).backward()
    assert float(embedding.weight.grad.abs().max()) > 0


@pytest.mark.parametrize("size", [2, 3, 5])
def test_processes_share_a_batch_and_its_negatives(size):
    rows = np.array([[0, 0, -1], [1, 3, -1], [2, 2, 3]], dtype=np.int32)
    triplets = TripletSet(("a", "b", "c", "d"), rows, np.arange(3, dtype=np.int32), (("", ""),) * 3)

    def read(batch):
        texts, places = batch
        return texts[places].tolist()

    shares = [collate([0, 1, 2], triplets, rank=rank, size=size) for rank in range(size)]
    assert [row for share in shares for row in read(share)] == read(collate([0, 1, 2], triplets))
    lengths = [len(places) for _, places in shares]
    assert max(lengths) - min(lengths) <= 1
    assert all(len(texts) for texts, _ in shares)  # a process without a triplet still encodes a text
