"""The cross-encoder, with a tiny model that has learned nothing."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from paraqd import Scorer
from paraqd.errors import ModelError
from paraqd.model_folder import read_model_folder, write_facts
from paraqd.scoring.judge.cross_encoder import CrossEncoder
from paraqd.scoring.pair_preparation import prepare_pair

PAIRS = [
    ("Tom has 5 pens and Ann has 7. How many?", "Ann has 7 pens, Tom has 5. How many pens?"),
    ("Tom has 5 pens. How many?", "Tom has more pens."),
    ("He has half an hour. How much?", "He has 30 minutes. How much is it in hours, and how many boys?"),
    ("Ann has 12.", "Ann?"),
]


def judge(model, *pairs):
    return model.begin([prepare_pair(*pair) for pair in pairs])()


@pytest.fixture(scope="module")
def scorer(judge_folder):
    return Scorer.load(judge_folder)


def test_a_judgement_does_not_depend_on_the_others(judge_folder):
    model = CrossEncoder(judge_folder)
    together = judge(model, *PAIRS)
    for pair, found in zip(PAIRS, together, strict=True):
        (alone,) = judge(model, pair)
        assert alone.log_odds == pytest.approx(found.log_odds, abs=1e-5)
        assert [place[:2] for place in alone.paraphrase_places] == [place[:2] for place in found.paraphrase_places]
        assert sum(found.kind_probabilities) == pytest.approx(1)


def test_places_are_those_of_the_words(judge_folder):
    question, paraphrase = PAIRS[0]
    (found,) = judge(CrossEncoder(judge_folder), PAIRS[0])
    assert [question[place.start : place.end] for place in found.question_places][:4] == ["Tom", "has", "5", "pens"]
    assert [paraphrase[place.start : place.end] for place in found.paraphrase_places][:3] == ["Ann", "has", "7"]
    assert len(found.question_places) == 12 and len(found.paraphrase_places) == 13


def test_a_long_text_is_read_to_its_end(judge_folder):
    model = CrossEncoder(judge_folder)
    long = "Tom has 5 pens. " * 200
    (found,) = judge(model, (long, long + "How many?"))
    assert max(place.end for place in found.paraphrase_places) == len(long) + len("How many?")
    assert max(place.end for place in found.question_places) == len(long.rstrip())
    (other,) = judge(model, (long, long + "How much is the half?"))
    assert other.log_odds != found.log_odds


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


def test_a_model_that_gives_nan_is_refused(judge_folder, tmp_path):
    """A changed number once scored 1.0 with such a model."""
    onnx = pytest.importorskip("onnx")
    from onnx import numpy_helper

    folder = shutil.copytree(judge_folder, tmp_path / "judge")
    model = onnx.load(folder / "onnx" / "model.onnx")
    for place, weights in enumerate(model.graph.initializer):
        array = numpy_helper.to_array(weights)
        if array.dtype == np.float32:
            model.graph.initializer[place].CopyFrom(numpy_helper.from_array(array * np.float32("nan"), weights.name))
    onnx.save(model, folder / "onnx" / "model.onnx")
    write_facts(folder, read_model_folder(folder).facts)
    scorer = Scorer.load(folder)
    with pytest.raises(ModelError, match="values that are not finite"):
        scorer.score("Tom has 5 pens. How many?", "Tom has 7 pens. How many?")
    with pytest.raises(ModelError, match="values that are not finite"):
        scorer.score_pairs(PAIRS)


def test_a_model_with_another_number_of_kinds_than_its_facts_is_refused(judge_folder, tmp_path):
    folder = shutil.copytree(judge_folder, tmp_path / "judge")
    write_facts(folder, {**read_model_folder(folder).facts, "kinds": ["number_lost", "number_added"]})
    with pytest.raises(ModelError, match=r"has 11 kinds of evidence, but its paraqd\.json names 2"):
        Scorer.load(folder).score(*PAIRS[0])
