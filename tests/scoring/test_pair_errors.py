"""A fault in the comparison of one pair is the error of this pair, and costs no other pair its verdict."""

from __future__ import annotations

import pickle

import pytest

import paraqd.scoring.fused
from paraqd import ModelError, PairError, PairsError, Scorer
from paraqd.errors import ParaqdError

GOOD = ("Tom has 5 red and 3 blue pens. How many?", "Tom has 5 red and 4 blue pens. How many?")
OTHER = ("A train runs 40 km in 30 minutes. How fast is it?", "In half an hour, a train runs 40 km. How fast is it?")
FAULTY = ("Ann has 5 faulty pens. How many?", "Ann has 6 faulty pens. How many?")
PAIRS = [GOOD, FAULTY, OTHER, FAULTY, GOOD]


@pytest.fixture(scope="module")
def scorer():
    return Scorer.load(judge="small")


either_step = pytest.mark.parametrize("faulty_rule", ["first", "last"], indirect=True)


@pytest.mark.parametrize("digits", [4_299, 4_301, 5_000, 100_000])
def test_numbers_of_any_length(scorer, digits):
    number = "9" * digits
    pairs = [(f"Find {number} + 7.", f"Find 8{number[1:]} + 7."), GOOD, (f"Find {number} + 7.", f"Add 7 to {number}.")]
    changed, good, _ = scorer.score_pairs(pairs)
    assert not changed.valid and "number_changed" in {piece.kind for piece in changed.evidence}
    assert good == scorer.score(*GOOD)


@either_step
def test_the_other_pairs_keep_their_verdicts(scorer, faulty_rule):
    expected = scorer.score_pairs([GOOD, OTHER])
    with pytest.raises(PairsError, match=r"^2 pairs of 5 could not be scored \(pair 2: .*ZeroDivisionError") as failed:
        scorer.score_pairs(PAIRS)
    results = failed.value.results
    assert [results[0], results[2], results[4]] == [expected[0], expected[1], expected[0]]
    assert [type(results[1]), type(results[3])] == [PairError, PairError]
    with pytest.raises(PairsError) as again:
        scorer.begin(PAIRS)()
    assert again.value.results[0] == expected[0] and len(again.value.results) == 5
    copy = pickle.loads(pickle.dumps(failed.value))
    assert str(copy) == str(failed.value) and copy.results[0] == results[0]


@either_step
def test_a_single_pair_raises_its_own_error(scorer, faulty_rule):
    with pytest.raises(PairError) as failed:
        scorer.score(*FAULTY)
    assert isinstance(failed.value, ParaqdError) and isinstance(failed.value.__cause__, ZeroDivisionError)
    assert "ZeroDivisionError: a [31mrule failed" in str(failed.value)  # one line that a terminal can show


def test_an_unusable_model_is_no_error_of_a_pair(scorer, monkeypatch):
    def failing(*arguments):
        raise ModelError("the model gave the score nan")

    monkeypatch.setattr(paraqd.scoring.fused.FusedMethod, "_conclude", failing)
    with pytest.raises(ModelError, match="score nan"):
        scorer.score_pairs(PAIRS)
