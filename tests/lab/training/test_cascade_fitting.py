"""Test the fitting of the cascade to synthetic answers of two judges."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

pytest.importorskip("scipy")

from paraqd.lab.corpora.faulty_pairs import FaultyPair
from paraqd.lab.training.cascade_fitting import (
    FirstOpinions,
    SmallScorer,
    first_opinions,
    fit_cascade,
    read_opinions,
    write_opinions,
)
from paraqd.lab.training.recipes import load_judge_recipe
from paraqd.lab.training.settings import TrainingError
from paraqd.model_folder import read_model_folder
from paraqd.scoring.fusion import Fusion
from paraqd.scoring.scorer import Scorer
from paraqd.scoring.second_opinion import SecondOpinion

RECIPE = load_judge_recipe("default")
SMALL = Fusion(0.0, {"number_lost": -1.0, "unit_changed": -9.0}, 1.0, ceiling=4.0, presumed=-3.0)


def answers(noise_small, noise_large, *, size=400, seed=0):
    """Return the opinions of a small judge and the log-odds of a larger judge, which err independently."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, size)
    truth = 2.0 * (2 * labels - 1)
    features = [("number_lost",) if not label and rng.random() < 0.2 else () for label in labels]
    opinions = FirstOpinions(
        tuple(range(size)),
        tuple(labels.tolist()),
        tuple(f"q{number // 2}" for number in range(size)),
        tuple(features),
        tuple((truth + rng.normal(0, noise_small, size)).tolist()),
    )
    return {"written": opinions}, {"written": (truth + rng.normal(0, noise_large, size)).astype(np.float32)}


def fit(opinions, large, **settings):
    return fit_cascade(opinions, large, SMALL, dataclasses.replace(RECIPE.cascade, **settings), RECIPE.fusion)


def test_the_better_judge_gets_the_larger_weight():
    good_large = fit(*answers(4.0, 1.0))["cascade"]["first_share"]
    equal = fit(*answers(2.0, 2.0))["cascade"]["first_share"]
    good_small = fit(*answers(1.0, 4.0))["cascade"]["first_share"]
    assert good_large < 0.5 <= equal <= 1.5 < good_small


def test_a_larger_judge_that_knows_nothing_does_no_harm():
    opinions, large = answers(2.0, 2.0)
    rng = np.random.default_rng(1)
    found = fit(opinions, {"written": rng.normal(0, 2, len(large["written"])).astype(np.float32)})
    assert found["cascade"]["first_share"] == max(RECIPE.cascade.first_share)
    measured = found["validation"]["written"]
    assert measured["large"]["auc"] < 0.65
    assert measured["cascade"]["auc"] > measured["small"]["auc"] - 0.02


def test_the_cascade_is_better_than_the_small_judge_and_asks_about_some_pairs():
    found = fit(*answers(3.0, 1.5))
    measured = found["validation"]["written"]
    assert 0.1 < measured["asked"] < 0.6
    assert measured["small"]["auc"] + 0.02 < measured["cascade"]["auc"] <= measured["both"]["auc"]
    everything = fit(*answers(3.0, 1.5), low=-1000.0, high=1000.0)["validation"]["written"]
    assert everything["asked"] == 1.0
    assert everything["cascade"] == everything["both"]


def test_the_larger_judge_is_not_asked_about_pairs_that_the_rules_decide():
    opinions, large = answers(2.0, 2.0)
    decided = dataclasses.replace(
        opinions["written"], features=tuple(("unit_changed",) for _ in opinions["written"].rows)
    )
    both = {**opinions, "composed": decided}
    found = fit(both, {**large, "composed": large["written"]})["validation"]
    assert found["composed"]["asked"] == 0
    assert found["composed"]["cascade"] == found["composed"]["both"] == found["composed"]["small"]


def test_the_fit_can_be_loaded_and_weighs_as_it_was_fitted():
    opinions, large = answers(2.0, 2.0)
    facts = fit(opinions, large)["cascade"]
    second = SecondOpinion.from_dict(facts, judge=None)
    assert second.first_share == facts["first_share"]
    assert second.is_needed(0.0) and not second.is_needed(-2.6) and not second.is_needed(2.6)
    sure = second.fusion.log_odds([], (second.first_share + 1) * 2.0)
    assert second.fusion.log_odds(["number_lost"], (second.first_share + 1) * 2.0) <= sure
    assert sure > 1 and second.fusion.log_odds([], -(second.first_share + 1) * 2.0) < -1


def test_one_label_is_not_enough():
    opinions, large = answers(1.0, 1.0)
    only = dataclasses.replace(opinions["written"], labels=(1,) * len(opinions["written"].rows))
    with pytest.raises(TrainingError, match="one label does not occur"):
        fit({"written": only}, large)


def test_first_opinions_are_the_scorers_own(tmp_path, pairs):
    small = SmallScorer.load("default")
    across = FaultyPair("x", "Tom has 5 pens.", "Tom owns 5 pens.", 1, source="synthetic-across")
    made = [across, *pairs(6)]
    opinions = {"synthetic": first_opinions(small, made)}
    write_opinions(opinions, tmp_path / "opinions.json.gz")
    found = read_opinions(tmp_path / "opinions.json.gz")
    assert found == opinions
    assert found["synthetic"].rows == tuple(range(1, 7))  # pairs of two rewrites are left out
    scorer = Scorer.load("default", judge="small", skip=False)
    verdicts = scorer.score_pairs([(pair.question, pair.paraphrase) for pair in made[1:]])
    mine = [
        small.fusion.score(features, odds)
        for features, odds in zip(found["synthetic"].features, found["synthetic"].odds, strict=True)
    ]
    assert mine == pytest.approx([verdict.score for verdict in verdicts], abs=2e-3)


def test_only_a_scorer_with_a_small_judge_can_be_fitted(tmp_path):
    with pytest.raises(TrainingError, match="does not hold a scorer with a small judge"):
        SmallScorer.load("reading")
    folder = read_model_folder("default")
    assert SmallScorer.load("default").name == f"default@{folder.hash8(folder.verified_hashes())}"
