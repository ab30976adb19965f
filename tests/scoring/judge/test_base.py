"""Any object that follows the protocol can judge, such as a language model without places."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

import paraqd.scoring.scorer as scorer_module
from paraqd import EvidenceKind, Scorer
from paraqd.errors import ModelError
from paraqd.model_folder import find_model_folder, read_model_folder, write_facts
from paraqd.scoring.fused import FusedMethod
from paraqd.scoring.fusion import Fusion
from paraqd.scoring.judge.base import Judge, Judgement, Place
from paraqd.scoring.judge.cross_encoder import CrossEncoder
from paraqd.scoring.pair_preparation import PreparedPair


@dataclass(frozen=True)
class WordCount:
    """A judgement by the difference in the number of words; it names no places."""

    log_odds: float
    kind: EvidenceKind = EvidenceKind.CONTENT_LOST
    question_places: tuple[Place, ...] = ()
    paraphrase_places: tuple[Place, ...] = ()


class WordCounter:
    """A judge that compares the lengths of two texts."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []

    def begin(self, pairs: Sequence[PreparedPair]):
        self.seen += [pair.texts for pair in pairs]
        answers: list[Judgement] = [WordCount(2.0 - abs(len(q.split()) - len(p.split()))) for q, p in self.seen]
        return lambda: answers


def test_another_judge_takes_the_place_of_the_cross_encoder():
    judge: Judge = WordCounter()
    fusion = Fusion(0.0, {"number_changed": -3.0}, model_weight=1.0)
    scorer = Scorer(name="toy", digest="00000000", method=FusedMethod(fusion, judge))
    question = "It takes 30 minutes to walk home. How long is that?"
    good, bad = scorer.score_pairs(
        [(question, "To walk home takes half an hour. How long is that?"), (question, "To walk takes 30 minutes.")]
    )
    assert good.valid and not good.evidence
    assert not bad.valid and bad.evidence[-1].kind is EvidenceKind.QUESTION_LOST
    assert judge.seen[0] == (question, "To walk home takes 30 minutes. How long is that?")


def test_another_kind_of_model_has_another_judge_and_another_signature(tmp_path, monkeypatch):
    folders = {kind: shutil.copytree(find_model_folder("default"), tmp_path / kind) for kind in ("fused", "counted")}
    facts = read_model_folder("default").facts
    write_facts(folders["counted"], {**facts, "kind": "counted"})
    with pytest.raises(ModelError, match=r"kind 'counted', .* version of paraqd that wrote the model") as caught:
        Scorer.load(folders["counted"])
    assert "\n" not in str(caught.value)
    monkeypatch.setitem(scorer_module._JUDGES, "counted", lambda folder, **_: WordCounter())
    scorers = {kind: Scorer.load(folder) for kind, folder in folders.items()}
    assert isinstance(scorers["counted"].method.judge, WordCounter)
    assert isinstance(scorers["fused"].method.judge, CrossEncoder)
    assert scorers["fused"].signature == Scorer.load().signature != scorers["counted"].signature


def test_a_pair_that_the_judge_skips_is_invalid_whatever_is_presumed():
    fusion = Fusion(0.0, {"number_replaced": -9.0}, model_weight=1.0, ceiling=2.0, presumed=90.0)
    scorer = Scorer(name="toy", digest="0", method=FusedMethod(fusion, WordCounter()))
    verdict = scorer.score("Tom has 5 pens. How many?", "Tom has 6 pens. How many?")
    assert not verdict.valid and verdict.score < 0


def test_a_judge_without_places_blames_the_whole_paraphrase():
    scorer = Scorer(name="toy", digest="0", method=FusedMethod(Fusion(0.0, {}, model_weight=1.0), WordCounter()))
    paraphrase = "He walks all the way back home from his school in the town."
    verdict = scorer.score("He walks home.", paraphrase)
    (piece,) = verdict.evidence
    assert not verdict.valid and piece.kind is EvidenceKind.CONTENT_LOST
    assert piece.paraphrase_spans == ((0, len(paraphrase)),)
    assert piece.message == f'Something important may be missing: the paraphrase says "{paraphrase}"'


def test_an_older_model_gives_a_split_feature_the_weight_of_the_whole():
    older = Fusion.from_dict({"bias": 1.0, "weights": {"number_replaced": -3.0, "numbers_exchanged": -2.0}})
    assert older.log_odds(["only_number_changed"]) == -2.0 and older.log_odds(["numbers_swapped"]) == -1.0
    newer = Fusion.from_dict({"bias": 1.0, "weights": {"number_replaced": -3.0, "only_number_changed": -0.5}})
    assert newer.log_odds(["only_number_changed"]) == 0.5
