"""Test operators against annotators: counts, and the paper's three figures."""

import pytest

from paraqd.evaluation.errors import EvaluationError
from paraqd.lab.annotation.operator_statistics import average_statistics, operator_statistics


def rows(operator, intended, *, valid=0, invalid=0, paper_id=""):
    row = {"operator": operator, "paper_id": paper_id, "intended": intended}
    return [{**row, "label": 1}] * valid + [{**row, "label": 0}] * invalid


def test_counts_and_figures_by_hand():
    made = [
        *rows("RandomDeletion", 0, valid=1, invalid=9, paper_id="fd"),
        *rows("ActivePassive", 1, valid=6, invalid=2, paper_id="fa"),
        *rows("CorruptedReconstruction", 1, valid=2, invalid=10, paper_id="fb"),
        *rows("TfidfReplacement", 0, valid=2, invalid=8, paper_id="fc"),
    ]
    found = operator_statistics(made)
    assert [count.operator for count in found.operators] == [
        "ActivePassive",
        "CorruptedReconstruction",
        "TfidfReplacement",
        "RandomDeletion",
    ]
    assert found.matrix == ((17, 3), (12, 8))
    assert found.precision == pytest.approx(8 / 20)
    assert found.recall == pytest.approx(8 / 11)
    assert found.accuracy == pytest.approx(25 / 40)
    assert [count.accuracy for count in found.operators] == pytest.approx([6 / 8, 2 / 12, 8 / 10, 9 / 10])
    assert found.to_dict()["operators"][0] == {
        "operator": "ActivePassive",
        "paper_id": "fa",
        "intended": 1,
        "valid": 6,
        "invalid": 2,
        "n": 8,
        "accuracy": 0.75,
    }


def test_labels_as_files_hold_them():
    made = [
        {"operator": "A", "intended": "1", "label": "1"},
        {"operator": "A", "intended": 1.0, "label": "0.0"},
        {"operator": "A", "intended": True, "label": False},
        {"operator": "A", "intended": "1", "label": " "},
        {"operator": "A", "intended": "1", "label": None},
    ]
    found = operator_statistics(made)
    assert (found.operators[0].valid, found.operators[0].invalid, found.unlabelled) == (1, 2, 2)


def test_no_valid_operator_at_all():
    found = operator_statistics(rows("RandomDeletion", 0, invalid=3))
    assert (found.precision, found.recall, found.accuracy) == (0, 0, 1)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ([], "there are no rows"),
        ([{"operator": "A", "intended": 1, "label": ""}], "none of the 1 rows has an annotated label"),
        ([{"operator": "A", "intended": 1, "label": "yes"}], "row 1 has the label 'yes'; it must be 0 or 1"),
        ([{"operator": "A", "intended": 1, "label": 2}], "row 1 has the label 2"),
        ([{"operator": "A", "intended": 1, "label": float("nan")}], "row 1 has the label nan"),
        ([{"operator": "A", "intended": "", "label": 1}], "row 1 has no intended label"),
        ([{"operator": " ", "intended": 1, "label": 1}], "row 1 names no operator"),
    ],
)
def test_what_cannot_be_counted(made, message):
    with pytest.raises(EvaluationError, match=message):
        operator_statistics(made)


def test_the_average_is_over_data_sets_not_over_pairs():
    small = operator_statistics(rows("A", 1, valid=1))
    large = operator_statistics(rows("A", 1, invalid=99) + rows("B", 0, valid=1))
    assert average_statistics([small, large]) == {"precision": 0.5, "recall": 0.5, "accuracy": 0.5}
    with pytest.raises(EvaluationError, match="nothing to average"):
        average_statistics([])
