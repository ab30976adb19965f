"""The language-model judge is asked about unsure pairs, and the judge that decided gives the evidence."""

from __future__ import annotations

import math
import multiprocessing
import random
import re
from dataclasses import dataclass

import language_judge
import pytest

from paraqd import EvidenceKind, ModelError, Scorer
from paraqd.model_folder import write_facts
from paraqd.scoring.fused import FusedMethod
from paraqd.scoring.fusion import Fusion
from paraqd.scoring.judge.base import Place
from paraqd.scoring.pair_preparation import prepare_pair
from paraqd.scoring.second_opinion import SecondOpinion
from paraqd.scoring.signature import difference

QUESTION = "Tom has 5 red pens and 3 blue pens. He gives 2 pens to Ann. How many pens does he have now?"
PAIRS = [
    (QUESTION, paraphrase)
    for paraphrase in (
        "Tom owns 5 red pens and 3 blue pens. After he hands 2 pens to Ann, how many pens does he have?",
        "Tom has 5 red pens and 3 blue pens. Ann gives 2 pens to Tom. How many pens does he have now?",
        "Tom has 5 red pens and 3 blue ones, and gives 2 to Ann. How many pens does she have now?",
        "There are 5 red pens and 3 blue pens. How many pens are there once 2 are gone?",
        "Tom has 5 red pens and 4 blue pens. He gives 2 pens to Ann. How many pens does he have now?",
        "Tom has 15 red pens and 30 blue kg.",
        QUESTION,
        "",
    )
] + [
    ("A train travels 120 km in 2 hours. How fast is it?", "In 2 hours, a train covers 120 km. What is its speed?"),
    ("A train travels 120 km in 2 hours. How fast is it?", "A train needs 2 hours. How fast is it over 120 km?"),
    ("Ann reads 7 pages a day for 3 days. How many pages?", "For 3 days, Ann writes 7 pages a day. How many pages?"),
]


@dataclass(frozen=True)
class Answer:
    """A judgement whose kind tells which judge gave it."""

    log_odds: float
    kind: EvidenceKind = EvidenceKind.INCOHERENT
    question_places: tuple[Place, ...] = ()
    paraphrase_places: tuple[Place, ...] = ()


def opinion(share, **bounds):
    return SecondOpinion(None, Fusion(0.0, {}, 1.0), share, **bounds)


class TestWeighing:
    def test_the_answers_are_added(self):
        assert opinion(0.5).combine(Answer(2.0), Answer(-3.0)) == -2.0

    @pytest.mark.parametrize(
        ("first", "second", "share", "winner"),
        [(2, -3, 0.5, 1), (-2, 0.5, 1, 0), (-2, -1, 1, 0), (-2, -1, 0.4, 1), (3, 1, 1, 0), (0, 0, 1, 1), (-9, 1, 0, 1)],
    )
    def test_the_stronger_answer_on_the_common_side_decides(self, first, second, share, winner):
        both = Answer(first), Answer(second)
        assert opinion(share).deciding(*both) is both[winner]

    def test_only_unsure_pairs_are_asked_about(self):
        assert [opinion(1, low=-1, high=2).is_needed(each) for each in (-1.1, -1, 0, 1.9, 2)] == [
            False,
            False,
            True,
            True,
            False,
        ]
        assert opinion(1).is_needed(1e9) and opinion(1).is_needed(-1e9)

    @pytest.mark.parametrize(
        ("share", "low", "high"), [(math.nan, 0, 1), (-1, 0, 1), (1, 1, 1), (1, math.nan, 1), (101, 0, 1)]
    )
    def test_numbers_that_cannot_be_used(self, share, low, high):
        with pytest.raises(ModelError, match="cannot be used"):
            opinion(share, low=low, high=high)


@dataclass(frozen=True)
class Fixed:
    """A judge that always gives the same answer."""

    answer: Answer

    def begin(self, pairs):
        return lambda: [self.answer] * len(pairs)


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (-1, -3, EvidenceKind.ENTITY_CHANGED),
        (-3, -1, EvidenceKind.UNIT_CHANGED),
        (2, -3, EvidenceKind.ENTITY_CHANGED),
        (-3, 2, EvidenceKind.UNIT_CHANGED),
        (-3, 4, None),
        (-9, -1, EvidenceKind.UNIT_CHANGED),  # the larger judge is not asked
    ],
)
def test_the_evidence_comes_from_the_judge_that_decided(first, second, kind):
    fusion = Fusion(0.0, {"number_lost": -1.0}, 1.0)
    larger = Fixed(Answer(second, EvidenceKind.ENTITY_CHANGED))
    method = FusedMethod(fusion, Fixed(Answer(first, EvidenceKind.UNIT_CHANGED)))
    method.second = SecondOpinion(larger, fusion, 1.0, low=-5.0, high=5.0)
    scorer = Scorer(name="fixed", digest="0", method=method)
    verdict = scorer.score("Tom walks home. How far?", "Tom runs home. How far?")
    assert [piece.kind for piece in verdict.evidence] == ([] if kind is None else [kind])
    assert verdict.valid == (kind is None)


def asked_about(scorer, pairs):
    """Score pairs, and return the verdicts and the pairs about which the larger judge was asked."""
    judge, seen = scorer.method.second.judge, []
    begin = judge.begin
    judge.begin = lambda some: seen.extend(pair.texts for pair in some) or begin(some)
    try:
        return scorer.score_pairs(pairs), seen
    finally:
        del judge.begin


def shown(verdicts):
    return [(each.score, each.evidence, each.warnings) for each in verdicts]


@pytest.mark.usefixtures("installed")
class TestScorer:
    def test_the_default_is_the_cascade(self):
        assert Scorer.load().signature == Scorer.load(judge="cascade").signature
        assert re.search(r"\|judge:cascade:tiny-lm@[0-9a-f]{8}$", Scorer.load().signature)
        assert re.search(
            r"\|judge:large:tiny-lm@[0-9a-f]{8}\|skip:no$", Scorer.load(judge="large", skip=False).signature
        )

    def test_the_signature_names_both_judges(self, installed):
        before = Scorer.load().signature
        write_facts(installed, language_judge.facts_of_judge(low=-3.0))
        after = Scorer.load().signature
        assert difference(before, after) == ["judge"]
        assert difference(before, Scorer.load(judge="small").signature) == ["judge"]
        assert "model:default@" in before

    def test_sure_pairs_keep_the_score_of_the_small_judge(self):
        small = Scorer.load(judge="small").score_pairs(PAIRS)
        verdicts, asked = asked_about(Scorer.load(judge="cascade"), PAIRS)
        assert 0 < len(asked) < len(PAIRS) - 2
        for pair, mine, theirs in zip(PAIRS, verdicts, small, strict=True):
            same = shown([mine]) == shown([theirs])
            assert same != (prepare_pair(*pair).texts in asked) if pair[1].strip() else same

    def test_large_asks_about_every_pair_that_the_rules_do_not_decide(self):
        _, asked = asked_about(Scorer.load(judge="large"), PAIRS)
        _, all_asked = asked_about(Scorer.load(judge="large", skip=False), PAIRS)
        assert len(all_asked) == len(PAIRS) - 2  # one pair has the same text twice, and one paraphrase is blank
        assert len(asked) < len(all_asked)

    @pytest.mark.parametrize("judge", ["cascade", "large"])
    def test_a_score_does_not_depend_on_company_order_or_threads(self, judge):
        scorer = Scorer.load(judge=judge, threads=1)
        alone = shown([scorer.score(*pair) for pair in PAIRS])
        order = list(range(len(PAIRS))) * 4
        for threads in (1, 2, 3):
            random.Random(threads).shuffle(order)
            scorer = Scorer.load(judge=judge, threads=threads)
            assert shown(scorer.score_pairs([PAIRS[n] for n in order])) == [alone[n] for n in order]

    def test_a_fork_after_loading(self):
        scorer = Scorer.load(judge="large", threads=2)
        before = shown(scorer.score_pairs(PAIRS))
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=lambda: queue.put(shown(scorer.score_pairs(PAIRS))), daemon=True)
        child.start()
        assert queue.get(timeout=60) == before
        child.join(60)

    def test_the_threshold_does_not_change_a_score(self):
        scores = [[v.score for v in Scorer.load(threshold=t).score_pairs(PAIRS)] for t in (-0.5, 0.5, 0.9)]
        assert scores[0] == scores[1] == scores[2]
