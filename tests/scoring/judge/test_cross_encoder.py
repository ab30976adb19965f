"""The learned judge's machinery, with a tiny judge that has learned nothing."""

from __future__ import annotations

import shutil

import pytest

from paraqd import Scorer
from paraqd.errors import ModelError
from paraqd.reading import read
from paraqd.scoring.evidence.quantities import match_quantities
from paraqd.scoring.judge.cross_encoder import CrossModel
from paraqd.scoring.normalise_quantities import harmonise

PAIRS = [
    ("Tom has 5 pens and Ann has 7. How many?", "Ann has 7 pens, Tom has 5. How many pens?"),
    ("Tom has 5 pens. How many?", "Tom has more pens."),
    ("He has half an hour. How much?", "He has 30 minutes. How much is it in hours, and how many boys?"),
    ("Ann has 12.", "Ann?"),
]


@pytest.fixture(scope="module")
def scorer(judge_folder):
    return Scorer.load(judge_folder)


def test_a_judgement_does_not_depend_on_the_others(judge_folder):
    model = CrossModel(judge_folder)
    together = model.judge(PAIRS)
    for pair, found in zip(PAIRS, together, strict=True):
        (alone,) = model.judge([pair])
        assert alone.valid == pytest.approx(found.valid, abs=1e-5)
        assert [mark[:2] for mark in alone.paraphrase] == [mark[:2] for mark in found.paraphrase]
        assert sum(found.kinds) == pytest.approx(1)


def test_marks_stand_where_their_words_do(judge_folder):
    question, paraphrase = PAIRS[0]
    (found,) = CrossModel(judge_folder).judge([PAIRS[0]])
    assert [question[mark.start : mark.end].lower() for mark in found.question][:4] == ["tom", "has", "5", "pens"]
    assert [paraphrase[mark.start : mark.end] for mark in found.paraphrase][:3] == ["Ann", "has", "7"]


def test_a_long_text_is_read_to_its_end(judge_folder):
    model = CrossModel(judge_folder)
    long = "Tom has 5 pens. " * 200
    (found,) = model.judge([(long, long + "How many?")])
    assert max(mark.end for mark in found.paraphrase) == len(long) + len("How many?")
    assert max(mark.end for mark in found.question) == len(long.rstrip())
    (other,) = model.judge([(long, long + "How much is the half?")])
    assert other.valid != found.valid


def test_scores_with_a_model_depend_on_nothing_but_the_pair(scorer):
    together = [verdict.score for verdict in scorer.score_pairs(PAIRS)]
    assert [scorer.score(*pair).score for pair in PAIRS] == pytest.approx(together, abs=1e-3)
    assert scorer.score_pairs(PAIRS[::-1])[0].score == pytest.approx(together[-1], abs=1e-3)


def test_every_invalid_verdict_has_evidence_with_spans(scorer):
    for (question, paraphrase), verdict in zip(PAIRS, scorer.score_pairs(PAIRS), strict=True):
        assert verdict.valid or verdict.evidence
        for piece in verdict.evidence:
            assert piece.question_spans or piece.paraphrase_spans
            assert all(0 <= a < b <= len(question) for a, b in piece.question_spans)
            assert all(0 <= a < b <= len(paraphrase) for a, b in piece.paraphrase_spans)


def test_places_in_the_harmonised_text_lead_back_to_the_paraphrase_as_it_was_given():
    question, paraphrase = (
        read("It takes 30 minutes and he has 5 pens."),
        read("Half an hour it takes, and he has 5 pens."),
    )
    made = harmonise(question, paraphrase, match_quantities(question, paraphrase))
    assert made.text == "30 minutes it takes, and he has 5 pens."
    for word in ("takes", "he", "pens"):
        start = made.text.index(word)
        assert paraphrase.text[slice(*made.back(start, start + len(word)))] == word
    assert paraphrase.text[slice(*made.back(3, 10))] == "Half an hour"


@pytest.mark.parametrize("gone", ["tokenizer.json", "onnx/model.onnx"])
def test_a_folder_that_is_not_whole_is_one_line(judge_folder, tmp_path, gone):
    folder = tmp_path / "judge"
    shutil.copytree(judge_folder, folder)
    (folder / gone).unlink()
    with pytest.raises(ModelError, match=f"has no {gone}"):
        Scorer.load(folder)
    (folder / gone).write_text("broken")
    with pytest.raises(ModelError, match="cannot be loaded"):
        Scorer.load(folder).score("Tom has 5.", "Tom has 6.")


@pytest.mark.parametrize(("one", "two"), [(300, 20), (1000, 10), (2000, 400), (160, 160), (5, 900)])
def test_every_token_of_a_long_pair_is_in_a_window_and_none_is_too_long(one, two):
    from types import SimpleNamespace

    from paraqd.scoring.judge.cross_encoder import _SPECIAL, LONGEST, _windows

    windows = _windows(SimpleNamespace(ids=[0] * one), SimpleNamespace(ids=[0] * two))
    assert {int(t) for first, _ in windows for t in first} == set(range(one))
    assert {int(t) for _, second in windows for t in second} == set(range(two))
    assert all(first.size + second.size + _SPECIAL <= LONGEST for first, second in windows)
