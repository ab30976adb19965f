"""Cohen's κ: values worked out by hand, and what happens at the edges."""

import math

import pytest

from paraqd.evaluation.agreement import cohen_kappa
from paraqd.evaluation.errors import EvaluationError


def labels(table):
    """Spread a 2 × 2 table [[both 0, only second 1], [only first 1, both 1]] into two lists of labels."""
    cells = [((i, j), table[i][j]) for i in (0, 1) for j in (0, 1)]
    pairs = [pair for pair, times in cells for _ in range(times)]
    return [a for a, _ in pairs], [b for _, b in pairs]


def test_a_textbook_table():
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: agree 0.7, by chance 0.5, so κ = 0.2 / 0.5
    found = cohen_kappa(*labels([[15, 10], [5, 20]]))
    assert found.n == 50
    assert found.observed == pytest.approx(0.7)
    assert found.expected == pytest.approx(0.5)
    assert found.kappa == pytest.approx(0.4)
    assert found.table == ((15, 10), (5, 20))
    assert found.word == "fair"


def test_the_interval_by_hand():
    # shares 0.3 0.2 / 0.1 0.4; first uses 0: 0.5, 1: 0.5; second 0: 0.4, 1: 0.6; κ = 0.4, expected 0.5
    found = cohen_kappa(*labels([[15, 10], [5, 20]]))
    agreeing = 0.3 * (1 - 0.9 * 0.6) ** 2 + 0.4 * (1 - 1.1 * 0.6) ** 2
    differing = 0.6**2 * (0.2 * (0.4 + 0.5) ** 2 + 0.1 * (0.6 + 0.5) ** 2)
    error = math.sqrt((agreeing + differing - (0.4 - 0.5 * 0.6) ** 2) / (50 * 0.5**2))
    assert found.low == pytest.approx(0.4 - 1.959964 * error, abs=1e-6)
    assert found.high == pytest.approx(0.4 + 1.959964 * error, abs=1e-6)
    assert cohen_kappa(*labels([[15, 10], [5, 20]]), confidence=0.9).low > found.low


def test_the_interval_covers_what_a_bootstrap_finds():
    import numpy as np

    first, second = (np.array(side) for side in labels([[90, 12], [20, 98]]))
    rng = np.random.default_rng(7)
    draws = [cohen_kappa(first[at].tolist(), second[at].tolist()).kappa for at in rng.integers(0, 220, (800, 220))]
    found = cohen_kappa(first.tolist(), second.tolist())
    low, high = np.quantile(draws, [0.025, 0.975])
    assert found.low == pytest.approx(low, abs=0.02)
    assert found.high == pytest.approx(high, abs=0.02)


def test_full_agreement_and_full_disagreement():
    same = cohen_kappa([0, 1, 1, 0], [0, 1, 1, 0])
    assert (same.kappa, same.low, same.high, same.word) == (1, 1, 1, "almost perfect")
    assert cohen_kappa([0, 1, 1, 0], [1, 0, 0, 1]).kappa == -1


def test_swapping_the_annotators_changes_nothing_but_the_table():
    first, second = labels([[30, 4], [9, 17]])
    one, other = cohen_kappa(first, second), cohen_kappa(second, first)
    assert one.kappa == pytest.approx(other.kappa)
    assert one.low == pytest.approx(other.low)
    assert one.table[0][1] == other.table[1][0] == 4


@pytest.mark.parametrize("n", [1, 3, 7, 49])
@pytest.mark.parametrize("label", [0, 1])
def test_one_label_throughout_by_both_is_not_defined(n, label):
    found = cohen_kappa([label] * n, [label] * n)
    assert found.kappa is found.low is found.high is None
    assert found.observed == 1
    assert found.word == "not defined"


def test_one_label_throughout_by_one_of_them_is_chance():
    found = cohen_kappa([1, 1, 1, 1], [1, 0, 1, 0])
    assert found.kappa == 0
    assert found.low <= 0 <= found.high


def test_more_than_two_categories():
    found = cohen_kappa(["a", "b", "c", "a"], ["a", "b", "b", "a"], categories=["a", "b", "c"])
    # agree 3/4; by chance 1/2·1/2 + 1/4·1/2 + 1/4·0 = 3/8
    assert found.kappa == pytest.approx((3 / 4 - 3 / 8) / (5 / 8))


def test_what_cannot_be_compared():
    with pytest.raises(EvaluationError, match="3 and 2 labels"):
        cohen_kappa([1, 0, 1], [1, 0])
    with pytest.raises(EvaluationError, match="nothing to compare"):
        cohen_kappa([], [])
    with pytest.raises(EvaluationError, match="pair 2 has the label 2; it must be 0 or 1"):
        cohen_kappa([1, 2], [1, 0])
    with pytest.raises(EvaluationError, match="confidence"):
        cohen_kappa([1], [0], confidence=1)
