"""A candidate with one fault that has a name is mended from the evidence, and passes the gate."""

import pytest

from paraqd.paraphrasing.repair import repair

QUESTION = "Asha cycles 3 km in 12 minutes and Tom cycles 5 km in 20 minutes. What is her speed in km per hour?"


@pytest.mark.parametrize(
    ("broken", "kind", "mended"),
    [
        (
            "Asha cycles 3 m in 12 minutes and Tom cycles 5 km in 20 minutes. Find her speed in km per hour.",
            "unit_changed",
            "Asha cycles 3 km in 12 minutes and Tom cycles 5 km in 20 minutes. Find her speed in km per hour.",
        ),
        (
            "In twelve minutes Asha cycles 3 km and Tom cycles 5 km in 25 minutes. Find her speed in km per hour.",
            "number_changed",
            "In twelve minutes Asha cycles 3 km and Tom cycles 5 km in 20 minutes. Find her speed in km per hour.",
        ),
        (
            "Asha cycles 3 km in some minutes and Tom cycles 5 km in 20 minutes. Find her speed in km per hour.",
            "number_lost",
            "Asha cycles 3 km in 12 minutes and Tom cycles 5 km in 20 minutes. Find her speed in km per hour.",
        ),
        (
            "Asha cycles 3 km and Tom cycles 5 km in 20 minutes. Find her speed in km per hour.",
            "number_lost",
            "Asha cycles 3 km in 12 minutes and Tom cycles 5 km in 20 minutes. Find her speed in km per hour.",
        ),
        (
            "In 12 minutes Asha cycles 3 km, and in 20 minutes Tom cycles 5 km. What is her",
            "question_lost",
            "In 12 minutes Asha cycles 3 km, and in 20 minutes Tom cycles 5 km. What is her speed in km per hour?",
        ),
        (
            "In 12 minutes Asha cycles 3 km, and in 20 minutes Tom cycles 5 km.",
            "question_lost",
            "In 12 minutes Asha cycles 3 km, and in 20 minutes Tom cycles 5 km. What is her speed in km per hour?",
        ),
    ],
)
def test_one_fault_is_mended(scorer, broken, kind, mended):
    verdict = scorer.score(QUESTION, broken)
    assert not verdict.valid
    assert repair(QUESTION, broken, verdict) == (mended, kind)
    assert scorer.score(QUESTION, mended).valid


def test_a_valid_candidate_is_left_alone(scorer):
    good = "In 12 minutes Asha cycles 3 km and in 20 minutes Tom cycles 5 km. Find her speed in km per hour."
    assert repair(QUESTION, good, scorer.score(QUESTION, good)) is None


def test_two_faults_are_not_mended(scorer):
    broken = "Asha cycles 4 km in 12 minutes and Tom cycles 6 km in 20 minutes. Find her speed in km per hour."
    verdict = scorer.score(QUESTION, broken)
    assert len(verdict.evidence) == 2
    assert repair(QUESTION, broken, verdict) is None


def test_a_lost_number_without_a_place_is_not_mended(scorer):
    broken = "Tom is fast: he needs 20 minutes for 5 km, and Asha rides 3 km. What is her speed in km per hour?"
    verdict = scorer.score(QUESTION, broken)
    assert not verdict.valid
    new = repair(QUESTION, broken, verdict)
    assert new is None or "12" in new[0]
