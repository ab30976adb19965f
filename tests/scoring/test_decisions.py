"""Test decisions, bands and the measured bands of the shipped models."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraqd import Scorer
from paraqd.errors import ArgumentError
from paraqd.model_folder import read_model_folder
from paraqd.scoring.decisions import BANDS, Band, Decision, band_for, decide, default_band

LARGE = Path(__file__).parents[2] / "models" / "paraqd-judge-lm" / "src" / "paraqd_judge_lm" / "model"


def test_a_score_inside_the_band_is_for_review_with_both_ends():
    band = Band(0.2, 0.8)
    assert [decide(score, 0.5, band) for score in (0.1999, 0.2, 0.5, 0.8, 0.8001)] == [
        Decision.INVALID,
        Decision.REVIEW,
        Decision.REVIEW,
        Decision.REVIEW,
        Decision.VALID,
    ]


def test_without_a_band_the_decision_is_the_verdict():
    assert decide(0.5, 0.5) == "invalid" and decide(0.5001, 0.5) == "valid"


def test_a_score_that_is_not_a_number_is_never_decided():
    with pytest.raises(ArgumentError, match="not a number"):
        decide(float("nan"), 0.5, Band(0, 1))


@pytest.mark.parametrize("text", ["0.3,0.7", " 0.3 , 0.7 ", "+.3,7e-1"])
def test_a_band_is_read_from_a_text(text):
    assert Band.parse(text) == Band(0.3, 0.7)


@pytest.mark.parametrize("text", ["", "0.3", "0.3;0.7", "0,3,0,7", "a,b", "0.1,0.2,0.3", "low,0.7"])
def test_a_text_that_is_no_band_is_refused_in_one_line(text):
    with pytest.raises(ArgumentError, match="is not a band: write two numbers from -1 to 1") as error:
        Band.parse(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("low", "high"), [(0.7, 0.3), (-1.1, 0.5), (0.5, 1.01), (float("nan"), 0.5)])
def test_a_band_that_cannot_be_used_is_refused(low, high):
    with pytest.raises(ArgumentError, match="two numbers from -1 to 1, the lower one first"):
        Band(low, high)


def test_a_text_of_a_band_is_read_back():
    assert Band.parse(str(Band(-0.63, 0.88))) == Band(-0.63, 0.88)


def test_the_bands_belong_to_the_shipped_weights():
    """If this fails, the weights have changed: measure the bands again with bench/review_bands.py."""
    folders = [read_model_folder("default"), read_model_folder(LARGE)]
    default, large = (f"{folder.name}@{folder.hash8(folder.verified_hashes())}" for folder in folders)
    measured = {(each.model, each.judge) for each in BANDS}
    assert measured == {(default, ""), (default, f"cascade:{large}"), (default, f"large:{large}")}, (
        "the shipped weights have changed: run bench/review_bands.py and copy the bands into scoring/decisions.py"
    )


def test_the_small_judge_has_a_band_around_its_threshold():
    scorer = Scorer.load(judge="small")
    band = default_band(scorer)
    assert band is not None and scorer.threshold in band and band == default_band(scorer.signature)


def test_the_model_without_a_judge_and_other_models_have_no_band():
    assert default_band(Scorer.load("reading")) is None
    signature = Scorer.load(judge="small").signature
    assert default_band(signature.replace("model:default@", "model:mine@")) is None
    assert default_band(signature.replace("mode:fused", "mode:encoder")) is None
    assert default_band("") is None


def test_the_band_that_is_asked_for():
    signature = Scorer.load(judge="small").signature
    assert band_for(None, signature, 0.5) is None and band_for(False, signature, 0.5) is None
    assert band_for(True, signature, 0.5) == default_band(signature)
    for review in (Band(0.3, 0.7), (0.3, 0.7), [0.3, 0.7], "0.3,0.7"):
        assert band_for(review, "", 0.5) == Band(0.3, 0.7)


def test_a_band_that_cannot_be_given_is_explained():
    with pytest.raises(ArgumentError, match="no band for review was measured for this model: pass review"):
        band_for(True, Scorer.load("reading"), 0.5)
    with pytest.raises(ArgumentError, match=r"threshold 0\.99 lies outside the measured band"):
        band_for(True, Scorer.load(judge="small"), 0.99)
    with pytest.raises(ArgumentError, match=r"0\.6,0\.8, does not contain the threshold 0\.5"):
        band_for((0.6, 0.8), "", 0.5)
    for review in (1, (0.3,), "x"):
        with pytest.raises(ArgumentError):
            band_for(review, "", 0.5)
