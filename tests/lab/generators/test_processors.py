"""The steps between logits and tokens, each against a plain computation."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from paraqd.paraphrasing.text_models.processors import (
    HammingDiversity,
    KeyedSampling,
    LengthLimit,
    gumbel,
    keep_top_p,
    row_key,
)


def test_gumbel_noise_of_a_row_is_its_own():
    keys = torch.tensor([row_key(1, "a", 0), row_key(1, "b", 0), row_key(1, "a", 1)])
    together = gumbel(keys, step=3, size=50)
    alone = gumbel(keys[1:2], step=3, size=50)
    assert torch.equal(together[1:2], alone)
    assert not torch.equal(together[0], together[2])
    assert not torch.equal(gumbel(keys, step=4, size=50), together)


def test_gumbel_noise_is_finite_and_distributed_as_it_should():
    noise = gumbel(torch.tensor([row_key(5, "x", 0)]), step=0, size=400_000)
    assert torch.isfinite(noise).all()
    assert noise.mean().item() == pytest.approx(0.5772, abs=0.01)
    assert noise.var().item() == pytest.approx(1.6449, abs=0.03)


def test_keyed_sampling_draws_from_the_distribution():
    probabilities = torch.tensor([0.5, 0.3, 0.15, 0.05])
    draws = 20_000
    process = KeyedSampling([row_key(0, str(i), 0) for i in range(draws)], start=0, temperature=1.0, top_p=1.0)
    chosen = process(torch.zeros(draws, 0), probabilities.log().expand(draws, 4)).argmax(dim=-1)
    shares = torch.bincount(chosen, minlength=4) / draws
    assert torch.allclose(shares, probabilities, atol=0.012)


def test_keyed_sampling_follows_temperature():
    process = KeyedSampling([row_key(0, str(i), 0) for i in range(500)], start=0, temperature=0.01, top_p=1.0)
    scores = torch.tensor([1.0, 2.0, 0.0]).expand(500, 3)
    assert (process(torch.zeros(500, 0), scores).argmax(dim=-1) == 1).all()


def test_top_p_keeps_the_smallest_set_that_holds_the_share():
    scores = torch.tensor([[0.15, 0.5, 0.05, 0.3]]).log()
    assert torch.isfinite(keep_top_p(scores, 0.6)).tolist() == [[False, True, False, True]]
    assert torch.isfinite(keep_top_p(scores, 0.01)).tolist() == [[False, True, False, False]]
    assert torch.equal(keep_top_p(scores, 1.0), scores)


def test_sampling_with_a_share_chooses_as_if_all_tokens_were_sorted():
    torch.manual_seed(1)
    scores = 4 * torch.randn(200, 3000)
    keys = [row_key(0, str(i), 0) for i in range(200)]
    process = KeyedSampling(keys, start=0, temperature=0.8, top_p=0.9)
    found = process(torch.zeros(200, 2), scores)
    noise = gumbel(torch.tensor(keys), step=2, size=3000)
    assert torch.equal(found.argmax(dim=-1), (keep_top_p(scores / 0.8, 0.9) + noise).argmax(dim=-1))
    assert (torch.isfinite(found).sum(dim=-1) < 500).all()


def test_sampling_with_a_share_respects_the_limit_of_a_row():
    limited = LengthLimit([0], start=0, eos=[7])(torch.zeros(1, 1), torch.randn(1, 900))
    found = KeyedSampling([5], start=0, temperature=1.0, top_p=0.9)(torch.zeros(1, 1), limited)
    assert torch.isfinite(found).nonzero().tolist() == [[0, 7]]


def test_each_row_ends_at_its_own_limit():
    process = LengthLimit([1, 3], start=2, eos=[4])
    scores = torch.zeros(4, 5)  # two beams for each of two texts
    after_one = process(torch.zeros(4, 3), scores)
    assert [row.isfinite().sum().item() for row in after_one] == [1, 1, 5, 5]
    assert after_one[0].argmax().item() == 4


def test_diversity_is_diverse_beam_search_with_groups_of_one():
    generator = torch.Generator().manual_seed(3)
    scores = torch.randn(6, 8, generator=generator)  # two texts, three groups
    process = HammingDiversity(3, penalty=1.5, start=1, eos=[0])
    found = process(torch.ones(6, 1, dtype=torch.long), scores)
    for text in range(2):
        counts = torch.zeros(8)
        for group in range(3):
            expected = scores[text * 3 + group] - 1.5 * counts
            assert torch.allclose(found[text * 3 + group], expected)
            counts[expected.argmax()] += 1


def test_a_group_that_has_ended_no_longer_counts():
    scores = torch.tensor([[0.0, 9.0], [0.0, 9.0]])
    process = HammingDiversity(2, penalty=20.0, start=1, eos=[0])
    running = process(torch.tensor([[1, 1], [1, 1]]), scores)
    ended = process(torch.tensor([[1, 0], [1, 1]]), scores)
    assert running[1].argmax().item() == 0
    assert ended[1].argmax().item() == 1
