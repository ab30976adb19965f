"""What counts as a pass, and as the right evidence, with verdicts made by hand."""

import json

import pytest

from paraqd.evaluation.checklist import (
    Case,
    ChecklistError,
    first_of_each,
    judge_by,
    run_checklist,
    shows_the_fault,
)
from paraqd.scoring.verdict import Evidence, EvidenceKind, Verdict

LOST = EvidenceKind.NUMBER_LOST
QUESTION = "Ann has 4 red and 5 blue pens. How many has she?"
PARAPHRASE = "Ann has red and 5 blue pens. How many has she?"
KEPT = Case(capability="numbers", question=QUESTION, paraphrase=QUESTION, label=1)
FAULTY = Case(
    capability="numbers",
    question=QUESTION,
    paraphrase=PARAPHRASE,
    label=0,
    kinds=(LOST, EvidenceKind.CONTENT_LOST),
    question_spans=((8, 13),),
    paraphrase_spans=((8, 11),),
)
RIGHT = Evidence(LOST, ((8, 9),), (), "The paraphrase lost the number 4.")


def valid():
    return Verdict(0.9, True, (), "sig")


def invalid(*evidence):
    return Verdict(-0.9, False, evidence, "sig")


def run(*said):
    """Run a checklist of (case, verdict)."""
    return run_checklist(lambda pairs: [verdict for _, verdict in said], [case for case, _ in said])


@pytest.mark.parametrize(
    ("kind", "question_spans", "paraphrase_spans", "shown"),
    [
        (LOST, ((8, 9),), (), True),
        (EvidenceKind.CONTENT_LOST, ((8, 13),), (), True),
        (LOST, (), ((10, 20),), True),
        (LOST, ((30, 40), (12, 14)), (), True),
        (LOST, ((13, 17),), (), False),  # beside the words
        (LOST, ((0, 8),), (), False),
        (LOST, (), ((12, 14),), False),  # the right place, but of the other text
        (LOST, (), (), False),
        (LOST, ((9, 9),), (), False),  # marks nothing
        (EvidenceKind.NUMBER_CHANGED, ((8, 9),), (), False),
    ],
)
def test_evidence_must_name_the_fault_on_its_words(kind, question_spans, paraphrase_spans, shown):
    assert shows_the_fault(Evidence(kind, question_spans, paraphrase_spans, "…"), FAULTY) is shown


def test_one_right_piece_of_evidence_is_enough():
    wrong = Evidence(EvidenceKind.INCOHERENT, ((0, 3),), (), "…")
    assert run((FAULTY, invalid(wrong, RIGHT))).total.evidence_rate == 1
    assert run((FAULTY, invalid(wrong))).total.evidence_rate == 0


def test_two_wrong_halves_do_not_make_a_right_piece():
    place = Evidence(EvidenceKind.INCOHERENT, ((8, 9),), (), "…")
    kind = Evidence(LOST, ((20, 25),), (), "…")
    assert run((FAULTY, invalid(place, kind))).total.evidence_right == 0


def test_what_is_counted():
    report = run(
        (KEPT, valid()),
        (KEPT, invalid(RIGHT)),
        (FAULTY, invalid(RIGHT)),
        (FAULTY, invalid()),
        (FAULTY, valid()),
    )
    total = report.total
    assert (total.n, total.passed, total.pass_rate) == (5, 3, 0.6)
    assert (total.valid, total.valid_passed, total.invalid, total.invalid_passed) == (2, 1, 3, 2)
    assert (total.evidence_asked, total.evidence_right, total.evidence_rate) == (2, 1, 0.5)
    assert (total.rejected, total.rejected_with_evidence) == (3, 2)
    assert [result.case.label for result in report.failures] == [1, 0]
    assert [result.verdict.evidence for result in report.misplaced] == [()]
    assert report.signature == "sig"


def test_a_row_for_each_capability():
    other = Case(capability="units", question="Is 1 m more than 9 cm?", paraphrase="Is 9 m more?", label=0)
    report = run((KEPT, valid()), (other, valid()), (FAULTY, invalid(RIGHT)))
    assert [(row.capability, row.n, row.pass_rate) for row in report.capabilities] == [
        ("numbers", 2, 1),
        ("units", 1, 0),
    ]
    assert report.total.capability == "all"


def test_evidence_is_judged_only_where_a_fault_is_known_and_was_seen():
    unnamed = Case(capability="mine", question=QUESTION, paraphrase=PARAPHRASE, label=0)
    report = run((unnamed, invalid(RIGHT)), (KEPT, invalid(RIGHT)), (FAULTY, valid()))
    assert [result.evidence_right for result in report.results] == [None, None, None]
    assert report.total.evidence_rate is None


def test_a_report_can_be_written_as_json():
    report = run((KEPT, invalid()), (KEPT, invalid()), (FAULTY, invalid()))
    found = json.loads(json.dumps(report.to_dict()))
    assert (found["n"], found["pass_rate"], found["evidence_rate"]) == (3, pytest.approx(1 / 3), 0)
    assert found["capabilities"][0]["capability"] == "numbers"
    assert len(found["failures"]) == 2 and len(found["misplaced"]) == 1
    assert found["misplaced"][0]["where"] == {"question": ["4 red"], "paraphrase": ["red"]}
    assert found["failures"][0]["verdict"]["score"] == -0.9
    assert len(report.to_dict(failures=1)["failures"]) == 1
    assert report.to_dict(failures=0)["misplaced"] == []


def test_examples_are_limited_for_each_capability():
    other = Case(capability="units", question="?", paraphrase="?", label=1)
    results = run((KEPT, invalid()), (KEPT, invalid()), (other, invalid())).failures
    assert [each.case.capability for each in first_of_each(results, 1)] == ["numbers", "units"]
    assert len(first_of_each(results, None)) == 3


def test_the_judge_gets_the_pairs_in_their_order():
    asked = []

    def judge(pairs):
        asked.extend(pairs)
        return [valid() for _ in pairs]

    run_checklist(judge, [FAULTY, KEPT])
    assert asked == [(QUESTION, PARAPHRASE), (QUESTION, QUESTION)]


def test_plain_scores_make_a_judge():
    judge = judge_by(lambda pairs: [0.5, 0.51], threshold=0.5, signature="mine")
    first, second = judge([("a", "b"), ("c", "d")])
    assert (first.valid, second.valid) == (False, True)  # the threshold itself is not above it
    assert (second.score, second.evidence, second.signature) == (0.51, (), "mine")


def test_there_must_be_a_verdict_for_each_case():
    with pytest.raises(ChecklistError, match="2 cases but 1 verdicts"):
        run_checklist(lambda pairs: [valid()], [KEPT, FAULTY])
    with pytest.raises(ChecklistError, match="no cases"):
        run_checklist(lambda pairs: [], [])
