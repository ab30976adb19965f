"""Test the suggestion of a threshold and a band from decisions."""

from __future__ import annotations

import json

import numpy as np
import pytest

from paraqd.evaluation.errors import EvaluationError
from paraqd.evaluation.suggestion import narrowest_band, suggest, wilson
from paraqd.scoring.decisions import Band
from paraqd.scoring.verdict import score_of


def calibrated(n: int, seed: int = 1) -> tuple[list[float], list[bool]]:
    """Return scores, and decisions that agree with the probabilities from which the scores come."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.4, 0.4, n)
    return [score_of(float(each)) for each in p], (rng.random(n) < p).tolist()


def test_a_stricter_editor_gets_a_higher_threshold():
    scores, _ = calibrated(300)
    found = suggest(scores, [score > 0.85 for score in scores])
    assert 0.75 < found.threshold < 0.92
    assert found.right_after > 0.95 > found.right_before
    assert found.decided == 300 and found.accepted == sum(score > 0.85 for score in scores)


def test_decisions_that_agree_with_the_model_do_not_move_the_threshold():
    moved = 0
    for seed in range(40):
        scores, accepted = calibrated(100, seed)
        moved += suggest(scores, accepted).threshold != 0.5
    assert moved <= 4  # chance alone hardly ever moves it


def test_the_band_leaves_the_uncertain_pairs_to_a_person():
    scores, accepted = calibrated(2000)
    found = suggest(scores, accepted)
    assert found.band is not None and found.threshold in found.band
    assert found.right_before < 0.9
    assert abs(found.right_after - 0.95) < 0.02  # measured on decisions that were left out
    assert 0.1 < found.review_share < 0.6
    fresh, truth = calibrated(5000, seed=2)
    outside = [i for i, score in enumerate(fresh) if score not in found.band]
    right = np.mean([(fresh[i] > found.threshold) == truth[i] for i in outside])
    assert abs(right - found.right_after) < 0.03  # what it promises holds for new pairs


def test_a_higher_aim_gives_a_wider_band():
    scores, accepted = calibrated(2000)
    wide, narrow = suggest(scores, accepted, right=0.97).band, suggest(scores, accepted, right=0.92).band
    assert wide.low < narrow.low and narrow.high < wide.high


@pytest.mark.parametrize(
    ("accepted", "words"),
    [
        ([True, False] * 5, "10 decisions"),
        ([True] * 50, "50 accept, 0 reject"),
        ([True] * 40 + [False] * 4, "4 reject"),
    ],
)
def test_too_few_decisions_give_no_suggestion(accepted, words):
    found = suggest([0.9 if each else -0.9 for each in accepted], accepted)
    assert not found.enough and found.threshold == 0.5 and found.band is None
    assert words in found.note and "too few" in found.note
    assert found.interval_before[0] < 1  # even if all of them are right


def test_few_decisions_are_said_to_be_few():
    scores, accepted = calibrated(60)
    found = suggest(scores, accepted)
    assert found.enough and "only 60 decisions" in found.note
    low, high = found.interval_after
    assert high - low > 0.1 and low < found.right_after < high


def test_random_decisions_get_no_band():
    rng = np.random.default_rng(5)
    found = suggest(rng.uniform(-1, 1, 400).tolist(), (rng.random(400) < 0.5).tolist())
    assert found.band is None and "No useful band" in found.note


def test_a_group_is_never_divided():
    """All copies of a pair carry the same decision. If copies could be on both sides, the measure would be too good."""
    rng = np.random.default_rng(3)
    scores = np.repeat(rng.uniform(0.3, 0.7, 12), 10)
    accepted = np.repeat(rng.random(12) < 0.5, 10)
    names = np.repeat(np.arange(12), 10).tolist()
    apart = suggest(scores.tolist(), accepted.tolist()).right_after
    together = suggest(scores.tolist(), accepted.tolist(), groups=names).right_after
    assert together < apart


def test_the_current_threshold_is_the_one_that_is_compared():
    scores = [0.9] * 40 + [0.6] * 40
    found = suggest(scores, [True] * 40 + [False] * 40, current=0.7)
    assert found.threshold == found.current == 0.7 and found.right_before == found.right_after == 1


def test_values_that_cannot_be_used_are_refused():
    for scores, accepted, settings in [
        ([], [], {}),
        ([0.5], [True, False], {}),
        ([float("nan")] * 40, [True, False] * 20, {}),
        ([1.5] * 40, [True, False] * 20, {}),
        ([0.5] * 40, [True, False] * 20, {"right": 1.0}),
        ([0.5] * 40, [True, False] * 20, {"current": 2.0}),
    ]:
        with pytest.raises(EvaluationError):
            suggest(scores, accepted, **settings)


def test_a_suggestion_is_json():
    scores, accepted = calibrated(500)
    shown = json.loads(json.dumps(suggest(scores, accepted).to_dict()))
    assert shown["accepted"] + shown["rejected"] == shown["decided"] == 500
    assert shown["band"][0] < shown["threshold"] < shown["band"][1]


def test_the_narrowest_band_is_even_in_log_odds():
    scores = [0.99] * 20 + [0.8, -0.4] * 5 + [-0.99] * 20
    accepted = [True] * 20 + [False, True] * 5 + [False] * 20
    assert narrowest_band(scores, accepted) == Band(-0.4, 0.8)  # the probabilities 0.2 and 0.8
    assert narrowest_band([0.9, -0.9] * 20, [True, False] * 20) == Band(0.5, 0.5)
    assert narrowest_band([0.9, -0.9] * 20, [False, True] * 20) is None


def test_the_interval_of_a_share_stays_within_0_and_1():
    assert 0.99 < wilson(10, 10)[1] <= 1.0 and 0.6 < wilson(10, 10)[0] < 0.8
    assert wilson(0, 10)[0] == 0.0
