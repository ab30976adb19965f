"""Test that the two judges in the repository belong together and can be used together."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraqd import ModelError, Scorer
from paraqd.model_folder import read_model_folder

LARGE = Path(__file__).parents[1] / "models" / "paraqd-judge-lm" / "src" / "paraqd_judge_lm" / "model"
QUESTION = "Mia has 12 shells. She gives a third of them to her brother Leo. How many shells does Mia have left?"
STORY = (
    "The tide has left Mia a dozen gleaming shells. One out of every three goes straight into the eager hands of Leo, "
    "her brother. How many does she still have?"
)
TURNED = STORY.replace("Leo, her brother. How many does she", "Leo, her brother. How many does he")


@pytest.fixture
def shipped(site, monkeypatch):
    """Use the package in the repository as the installed one, and return its model folder."""
    folder = read_model_folder(LARGE)
    monkeypatch.setattr("paraqd.scoring.second_opinion.installed_judge", lambda: folder)
    monkeypatch.setattr("paraqd.scoring.second_opinion.required_judge", lambda: folder)
    return folder


def test_the_larger_judge_belongs_to_the_default_model(shipped):
    default = read_model_folder("default")
    assert shipped.facts["cascade"]["model"] == f"default@{default.hash8(default.verified_hashes())}"
    assert set(shipped.verified_hashes()) == set(shipped.files)
    size = sum((shipped.path / name).stat().st_size for name in shipped.files)
    assert size <= 80_000_000


def test_both_judges_score_a_pair(shipped):
    scorer = Scorer.load(judge="large")
    assert "|judge:large:paraqd-judge-lm@" in scorer.signature
    good, bad = scorer.score_pairs([(QUESTION, STORY), (QUESTION, TURNED)])
    assert good.valid and not bad.valid and bad.evidence
    assert Scorer.load(judge="small").score(QUESTION, STORY).score != good.score


def test_the_environment_sets_the_default(shipped, monkeypatch):
    assert "|judge:cascade:" in Scorer.load().signature
    for name in ("cascade", "large"):
        monkeypatch.setenv("PARAQD_JUDGE", name)
        assert f"|judge:{name}:" in Scorer.load().signature
        assert "judge" not in Scorer.load(judge="small").signature
    monkeypatch.setenv("PARAQD_JUDGE", "small")
    assert "judge" not in Scorer.load().signature
    assert "|judge:cascade:" in Scorer.load(judge="cascade").signature
    monkeypatch.setenv("PARAQD_JUDGE", "")
    assert "|judge:cascade:" in Scorer.load().signature
    monkeypatch.setenv("PARAQD_JUDGE", "big")
    with pytest.raises(ModelError, match="PARAQD_JUDGE=big: choose small, cascade or large"):
        Scorer.load()
