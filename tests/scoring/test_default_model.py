"""The model that comes with the package, on pairs that it was not trained on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import paraqd
from paraqd import EvidenceKind, Scorer
from paraqd.errors import ModelError
from paraqd.evaluation.checklist import load_cases
from paraqd.scoring.markup import remove_markup

FOLDER = Path(paraqd.__file__).parent / "models" / "default"
BUS = "A bus drove 150 km from Lyon at a steady speed of 50 km/h. How many hours did the ride take in all?"
PEARS = "A crate of 30 pears is shared out among 6 children. How many pears does each child get?"
PLACES = "harbour market station library river castle museum bakery school park".split()
THINGS = "boats birds trees books clouds".split()
FAULTS = [
    (BUS, "A bus drove some km from Lyon at a steady speed. How many hours did the ride take in all?", "number_lost"),
    (
        BUS,
        "A bus drove 150 m from Lyon at a steady speed of 50 km/h. How many hours did the ride take?",
        "unit_changed",
    ),
    (BUS, "A bus drove 150 km from Lyon at a steady speed of 50 km/h.", "question_lost"),
    (BUS, "A bus drove 150 km from at a steady speed of 50 km/h. How many hours did the ride take?", "incoherent"),
    (BUS, "A bus drove 510 km from Lyon at a steady speed of 50 km/h. How many hours did it take?", "number_changed"),
    (
        PEARS,
        "30 caps in a crate are shared out among 6 children. How many pears does each child get?",
        "entity_changed",
    ),
]
GOOD = [
    (BUS, "At a constant 50 kmph, a bus went 150 kilometres from Lyon. How long, in hours, was the ride?"),
    (
        BUS,
        "A bus drove one hundred and fifty km from Lyon at a steady speed of fifty km/h. "
        "How many hours, in all, did the ride take?",
    ),
    (PEARS, "A crate of 30 caps is shared out among 6 children. How many caps does each child get?"),
    (PEARS, "Six children share a crate of thirty pears. How many pears are there for each of them?"),
]


@pytest.fixture(scope="module")
def scorer():
    return Scorer.load()


@pytest.fixture(scope="module")
def judged(scorer):
    cases = load_cases()
    return cases, scorer.score_pairs([(case.question, case.paraphrase) for case in cases])


@pytest.mark.parametrize(("question", "paraphrase", "kind"), FAULTS)
def test_a_fault_is_seen_and_named(scorer, question, paraphrase, kind):
    verdict = scorer.score(question, paraphrase)
    assert not verdict.valid
    assert EvidenceKind(kind) in {piece.kind for piece in verdict.evidence}


@pytest.mark.parametrize(("question", "paraphrase"), GOOD)
def test_another_wording_passes(scorer, question, paraphrase):
    assert scorer.score(question, paraphrase).valid


def test_every_invalid_verdict_has_evidence_that_shows_where(judged):
    cases, verdicts = judged
    for case, verdict in zip(cases, verdicts, strict=True):
        assert verdict.valid or verdict.evidence, case.paraphrase
        for piece in verdict.evidence:
            sides = ((case.question, piece.question_spans), (case.paraphrase, piece.paraphrase_spans))
            assert any(spans for _, spans in sides), piece
            assert all(0 <= start < end <= len(text) for text, spans in sides for start, end in spans), piece


def test_the_words_of_a_sentence_that_quotes_stand_in_its_texts(judged):
    cases, verdicts = judged
    seen = 0
    for case, verdict in zip(cases, verdicts, strict=True):
        texts = " ".join(f"{remove_markup(case.question).text} {remove_markup(case.paraphrase).text}".split())
        for piece in verdict.evidence:
            for quoted in re.findall(r'"([^"]+)"', piece.message):
                assert quoted.strip("… ") in texts, piece
                seen += 1
    assert seen > 100


def test_scores_do_not_depend_on_the_company(scorer, judged):
    cases, verdicts = judged
    some = range(0, len(cases), 16)
    alone = [scorer.score(cases[i].question, cases[i].paraphrase + " \n").score for i in some]
    assert alone == pytest.approx([verdicts[i].score for i in some], abs=1e-3)
    backwards = scorer.score_pairs([(case.question, case.paraphrase) for case in cases[:120][::-1]])
    assert [v.score for v in backwards] == pytest.approx([v.score for v in verdicts[:120][::-1]], abs=1e-3)


def test_the_folder_is_whole_and_small():
    facts = json.loads((FOLDER / "paraqd.json").read_text("utf-8"))
    assert facts["kind"] == "fused"
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 30e6
    card = (FOLDER / "README.md").read_text("utf-8")
    assert "license:" in card and "Limits" in card


def test_long_texts_are_judged_in_windows(scorer):
    story = " ".join(f"Ann walks to the {place} and looks at the {thing}." for place in PLACES for thing in THINGS)
    question = f"{story} Ann has 7 red pens and 9 blue pens. How many pens has she?"
    lost = scorer.score(question, question.replace("7 red", "some red"))
    assert EvidenceKind.NUMBER_LOST in {piece.kind for piece in lost.evidence}
    assert not lost.valid
    # what the reading cannot see, at the very end: the learned judge must have read so far
    broken = scorer.score(question, question.replace("How many pens has she?", "How many pens sleeps blue?"))
    assert any(start > len(story) for piece in broken.evidence for start, _ in piece.paraphrase_spans)


@pytest.fixture(scope="module")
def pairs():
    """Pairs of many lengths: some decided by the reading, most not."""
    cases = load_cases()[::5]
    return [(case.question, case.paraphrase) for case in cases]


def test_a_score_does_not_depend_on_neighbours_order_or_threads(scorer, pairs):
    together = [verdict.score for verdict in scorer.score_pairs(pairs)]
    assert [verdict.score for verdict in scorer.score_pairs(pairs[::-1])][::-1] == together
    assert [verdict.score for verdict in Scorer.load(threads=1).score_pairs(pairs)] == together
    assert [scorer.score(*pair).score for pair in pairs[:40]] == together[:40]  # to the last bit


def test_pairs_that_the_reading_decides_have_the_same_verdict_without_skipping(scorer, pairs):
    asked = []
    judge = scorer.method.judge
    begin = judge.begin
    judge.begin = lambda texts: asked.append(len(texts)) or begin(texts)
    try:
        skipped = scorer.score_pairs(pairs)
    finally:
        del judge.begin
    every = Scorer.load(skip=False)
    whole = every.score_pairs(pairs)
    assert sum(asked) < 0.95 * len(pairs)
    assert [verdict.valid for verdict in skipped] == [verdict.valid for verdict in whole]
    same = [a.score == b.score for a, b in zip(skipped, whole, strict=True)]
    assert sum(same) == sum(asked) + sum(verdict.score in (1.0, -1.0) for verdict in whole)
    assert every.signature == f"{scorer.signature}|skip:no"
    assert all(verdict.evidence for verdict in skipped if not verdict.valid)


def test_work_begun_is_the_work_done_at_once(scorer, pairs):
    some = pairs[:30]
    wait = scorer.begin(some)
    other = scorer.score_pairs(pairs[30:60])  # meanwhile
    assert wait() == scorer.score_pairs(some)
    assert other == scorer.score_pairs(pairs[30:60])
    with pytest.raises(ValueError, match="pair 2: blank question"):
        scorer.begin([some[0], (" ", "Five?")])


def test_no_thread_is_no_number_of_threads():
    with pytest.raises(ModelError, match="pass 1 or more"):
        Scorer.load(threads=0)


def test_the_judge_multiplies_integers_and_pads_nothing():
    """What makes it fast, and its scores independent of a batch: there is no mask, and no range is taken from it."""
    onnx = pytest.importorskip("onnx")

    graph = onnx.load(FOLDER / "onnx" / "model.onnx").graph
    operators = [node.op_type for node in graph.node]
    assert {each.name for each in graph.input} == {"input_ids", "token_type_ids"}
    assert operators.count("MatMulIntegerToFloat") == 6 * 3
    assert operators.count("QAttention") == 6
    assert operators.count("LayerNormalization") == 1 + 6 * 2
    assert not {"DynamicQuantizeLinear", "DequantizeLinear", "ReduceMean"} & set(operators)


@pytest.mark.parametrize("skip", [True, False])
def test_a_score_never_depends_on_the_threshold(pairs, skip):
    """The judge was once asked about more pairs if the threshold was below 0.5."""
    scores = [
        [verdict.score for verdict in Scorer.load(threshold=threshold, skip=skip).score_pairs(pairs)]
        for threshold in (-0.9, 0.3, 0.5, 0.9)
    ]
    assert scores[1:] == scores[:1] * 3


@pytest.mark.parametrize("threshold", [0.5, 0.9, 0.97])
def test_skipping_changes_no_verdict_at_the_default_threshold_or_above(pairs, threshold):
    skipped = Scorer.load(threshold=threshold).score_pairs(pairs)
    whole = Scorer.load(threshold=threshold, skip=False).score_pairs(pairs)
    assert [verdict.valid for verdict in skipped] == [verdict.valid for verdict in whole]
    assert all(verdict.evidence for verdict in skipped if not verdict.valid)
