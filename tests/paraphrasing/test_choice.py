"""The gate comes first; then the choice keeps the limits and prefers texts that are far apart."""

import random
from collections import Counter

import pytest

from paraqd.errors import ArgumentError
from paraqd.paraphrasing import distance
from paraqd.paraphrasing.choice import Judged, Limits, _beats, _front, choose, why_few
from paraqd.paraphrasing.distance import overlap, words
from paraqd.paraphrasing.sources.base import Candidate
from paraqd.scoring.verdict import Verdict

QUESTION = "Tom has 5 red pens and 3 blue pens. How many pens does Tom have?"
FAR = "Find the number of pens that Tom owns, given five red ones and three blue ones."
OTHER = "Tom keeps three blue pens beside his five red pens. Work out his total."
NEAR = "Tom has 5 red pens and 3 blue pens. How many pens does he have?"


def judged(text, score=0.98):
    return Judged(Candidate(text, "test"), Verdict(score, score > 0.5, (), "signature"))


@pytest.mark.parametrize("method", ["mmr", "pareto"])
def test_an_invalid_candidate_is_never_chosen(method):
    chosen = choose(QUESTION, [judged(FAR, -0.9), judged(OTHER)], 5, method=method)
    assert [each.text for each in chosen] == [OTHER]


@pytest.mark.parametrize("method", ["mmr", "pareto"])
def test_a_candidate_too_close_to_the_question_is_not_chosen(method):
    assert overlap(QUESTION, NEAR) > 0.80
    assert choose(QUESTION, [judged(NEAR)], 5, method=method) == []
    assert choose(QUESTION, [judged(NEAR)], 5, method=method, limits=Limits(question=1.0))


@pytest.mark.parametrize("method", ["mmr", "pareto"])
def test_two_candidates_that_are_nearly_the_same_are_not_both_chosen(method):
    twin = FAR.replace("Find", "State")
    chosen = choose(QUESTION, [judged(FAR), judged(twin), judged(OTHER)], 5, method=method)
    assert len(chosen) == 2
    assert OTHER in {each.text for each in chosen}


def test_the_weight_of_the_score_decides_between_a_safe_and_a_distant_text():
    safe, distant, limits = judged(OTHER, 0.99), judged(FAR, 0.55), Limits(score=0)
    assert choose(QUESTION, [distant, safe], 1, faithfulness=1.0, limits=limits)[0] is safe
    assert choose(QUESTION, [distant, safe], 1, faithfulness=0.0, limits=limits)[0] is not safe


def test_a_candidate_that_another_beats_in_every_respect_is_not_the_first_of_a_pareto_choice():
    worse = judged(NEAR, 0.96)
    assert choose(QUESTION, [worse, judged(FAR)], 1, method="pareto", limits=Limits(question=1.0))[0].text == FAR


@pytest.mark.parametrize("method", ["mmr", "pareto"])
def test_the_styles_take_turns(method):
    made = [
        Judged(
            Candidate(f"Tom owns {n} pens, {n + 1} caps and {n + 2} cups.", "test", style), Verdict(score, True, (), "")
        )
        for style, score, first in (("exam", 0.99, 0), ("plain", 0.96, 50))
        for n in range(first, first + 12, 3)
    ]
    chosen = choose(QUESTION, made, 4, method=method)
    assert sorted(each.candidate.style for each in chosen) == ["exam", "exam", "plain", "plain"]


def test_the_second_choice_is_the_text_farthest_from_the_first():
    twin = FAR.replace("Find the number of", "Count all the")
    for texts in ([FAR, twin, OTHER], [FAR, OTHER, twin]):
        chosen = choose(QUESTION, map(judged, texts), 3, faithfulness=0.0, limits=Limits(others=1.0))
        assert [each.text for each in chosen] == [FAR, OTHER, twin]


@pytest.mark.parametrize("method", ["mmr", "pareto"])
def test_each_text_is_split_into_words_once(monkeypatch, method):
    split = Counter()

    def counting(text):
        split[text] += 1
        return words(text)

    monkeypatch.setattr(distance, "words", counting)
    texts = [f"Tom owns {n} pens, {n + 1} caps and {n + 2} cups. Count them." for n in range(0, 120, 3)]
    chosen = choose(QUESTION, map(judged, texts), 20, method=method)
    assert len(chosen) == 20
    assert {QUESTION, *texts} <= set(split)
    assert set(split.values()) == {1}  # also of the texts with numbers in one form


def test_texts_that_differ_only_in_their_frames_are_not_chosen_before_others():
    told = "You are told that the train is delayed by twelve minutes and should arrive at 10:20. When does it arrive?"
    known = "We know the train is delayed by 12 min and should arrive at 10:20. Based on this, when does it arrive?"
    turned = "When does the train arrive, which should arrive at 10:20 and is delayed by twelve minutes?"
    question = "A train that should arrive at 10:20 is late by 12 minutes. At which time will it be here?"
    chosen = choose(question, map(judged, (told, known, turned)), 2)
    assert turned in [each.text for each in chosen]
    assert len(choose(question, map(judged, (told, known)), 2)) == 2  # if nothing else is left


def test_a_pareto_front_has_what_nothing_beats():
    rng = random.Random(1)
    values = [tuple(rng.randint(0, 4) for _ in range(3)) for _ in range(60)]
    unbeaten = [number for number, value in enumerate(values) if not any(_beats(other, value) for other in values)]
    assert _front(values) == unbeaten


@pytest.mark.parametrize("method", ["mmr", "pareto"])
def test_a_valid_candidate_with_a_low_score_is_not_chosen(method):
    unsure = judged(FAR, 0.94)
    assert unsure.verdict.valid
    assert choose(QUESTION, [unsure, judged(OTHER, 0.95)], 5, method=method) == [judged(OTHER, 0.95)]
    assert unsure in choose(QUESTION, [unsure, judged(OTHER)], 5, method=method, limits=Limits(score=-1))
    assert why_few(QUESTION, [unsure, judged(OTHER, -1)], Limits(), 0) == (
        "no candidate passed the gate (2 tried; 1 valid with a score below 0.95)"
    )


def test_limits_and_methods_are_checked():
    with pytest.raises(ArgumentError, match="others must be above 0"):
        Limits(others=0)
    for given in (1.1, float("nan"), "0.9", True):
        with pytest.raises(ArgumentError, match="score must be from -1 to 1"):
            Limits(score=given)
    with pytest.raises(ArgumentError, match="mmr or pareto"):
        choose(QUESTION, [], 1, method="best")


def test_a_text_that_shares_no_word_with_the_question_has_its_own_reason():
    limits, foreign = Limits(), judged("Zwei und drei Stifte: wie viele?")
    assert overlap(QUESTION, foreign.text) == 0
    assert choose(QUESTION, [foreign], 5) == []
    assert why_few(QUESTION, [foreign], limits, 0) == (
        "1 of 1 candidate passed the gate, but none shares a word with the question"
    )
    assert why_few(QUESTION, [foreign, judged(NEAR)], limits, 0) == (
        "2 of 2 candidates passed the gate, but they share no word with the question or do not differ enough from it"
    )
    assert why_few(QUESTION, [foreign, judged(FAR)], limits, 1) == (
        "only 1 of 2 candidates passed the gate and differed enough (without 1 that passed but shared no word with the "
        "question)"
    )


def test_the_reason_for_few_paraphrases_says_where_the_candidates_went():
    limits = Limits()
    assert why_few(QUESTION, [judged(FAR, -1)], limits, 0) == "no candidate passed the gate (1 tried)"
    assert why_few(QUESTION, [judged(NEAR)], limits, 0) == (
        "1 of 1 candidate passed the gate, but none differs enough from the question"
    )
    assert why_few(QUESTION, [judged(FAR), judged(NEAR)], limits, 1) == (
        "only 1 of 2 candidates passed the gate and differed enough"
    )
    assert "too close to those chosen" in why_few(QUESTION, [judged(FAR), judged(OTHER)], limits, 1)
