from __future__ import annotations

from functools import partial

import pytest

pytest.importorskip("torch")
pytest.importorskip("sentence_transformers")

import torch
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers.sentence_transformer import losses as st_losses

from paraqd.lab.training.losses import mnrl_loss, triplet_loss

ANGLES = st.floats(0, 3.1)
NEAR, FAR = torch.tensor([[0.99, 0.14]]), torch.tensor([[-0.6, 0.8]])
ANCHOR = torch.tensor([[1.0, 0.0]])


TRIPLET = [
    partial(triplet_loss, distance="cosine", margin=2.0),
    partial(triplet_loss, distance="euclidean", margin=5.0),
]
LOSSES = [*TRIPLET, partial(mnrl_loss, scale=20.0)]


@pytest.mark.parametrize("loss", LOSSES)
def test_the_loss_is_smaller_if_the_valid_text_is_closer(loss):
    assert loss(ANCHOR, NEAR, FAR) < loss(ANCHOR, FAR, NEAR)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_gradient_step_moves_the_valid_text_closer_and_the_invalid_text_away(loss):
    anchor = ANCHOR.clone()
    valid = torch.tensor([[0.6, 0.8]], requires_grad=True)
    invalid = torch.tensor([[0.6, -0.8]], requires_grad=True)
    loss(anchor, valid, invalid).backward()
    cosine = torch.nn.functional.cosine_similarity
    assert cosine(anchor, valid - 0.1 * valid.grad) > cosine(anchor, valid)
    assert cosine(anchor, invalid - 0.1 * invalid.grad) < cosine(anchor, invalid)


@pytest.mark.parametrize("loss", TRIPLET)
@given(near=ANGLES, far=ANGLES)
def test_the_margin_is_satisfied_only_by_scores_of_one_and_minus_one(loss, near, far):
    def at(angle):
        return torch.tensor([[torch.cos(torch.tensor(angle)), torch.sin(torch.tensor(angle))]])

    if near > 0.01 or far < 3.1:
        assert loss(ANCHOR, at(near), at(far)) > 0


def stock(name, settings, vectors):
    """Return sentence-transformers' value of the same loss for the given embeddings."""

    class Given(torch.nn.Module):
        def forward(self, features):
            return {"sentence_embedding": vectors[features["rows"]]}

        def get_embedding_dimension(self):
            return vectors.shape[1]

    features = [{"rows": torch.arange(start, start + 4)} for start in (0, 4, 8)]
    return getattr(st_losses, name)(Given(), **settings)(features, None)


@pytest.mark.parametrize("seed", range(3))
def test_losses_match_sentence_transformers(seed):
    vectors = torch.nn.functional.normalize(torch.randn(12, 8, generator=torch.Generator().manual_seed(seed)), dim=1)
    a, v, i = vectors[:4], vectors[4:8], vectors[8:]
    metric = st_losses.TripletDistanceMetric
    for distance, name, margin in (("cosine", metric.COSINE, 2.0), ("euclidean", metric.EUCLIDEAN, 5.0)):
        theirs = stock("TripletLoss", {"distance_metric": name, "triplet_margin": margin}, vectors)
        assert triplet_loss(a, v, i, distance=distance, margin=margin).item() == pytest.approx(theirs.item(), abs=1e-5)
    theirs = stock("MultipleNegativesRankingLoss", {"scale": 20.0}, vectors)
    assert mnrl_loss(a, v, i, scale=20.0).item() == pytest.approx(theirs.item(), abs=1e-5)
