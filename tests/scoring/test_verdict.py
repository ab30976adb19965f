"""Log-odds become scores."""

from __future__ import annotations

import math

import pytest

from paraqd.errors import ModelError
from paraqd.scoring.verdict import score_of_log_odds


def test_scores_rise_with_the_log_odds_and_are_never_out_of_range():
    scores = [score_of_log_odds(each) for each in (-1e308, -60.0, -1.0, 0.0, 1.0, 60.0, 1e308)]
    assert scores == sorted(scores)
    assert (scores[0], scores[3], scores[-1]) == (-1.0, 0.5, 1.0)


@pytest.mark.parametrize("log_odds", [math.nan, math.inf, -math.inf])
def test_log_odds_that_are_not_finite_are_an_error(log_odds):
    with pytest.raises(ModelError, match="the model gave a score that is not a number"):
        score_of_log_odds(log_odds)
