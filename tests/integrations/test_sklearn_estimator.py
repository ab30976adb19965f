"""The classifier follows scikit-learn's conventions."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from paraqd import ParaqdError, Scorer

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator

from paraqd.integrations.sklearn_estimator import ParaphraseClassifier

QUESTION = "Tom has 5 pens and buys 3 more. How many pens does he have now?"
PAIRS = [(QUESTION, QUESTION.replace("buys", "purchases")), (QUESTION, QUESTION.replace("5", "6"))]
LABELS = [1, 0]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_checks_that_scikit_learn_chooses_for_texts():
    results = check_estimator(ParaphraseClassifier(model="reading"), on_fail=None)
    assert {result["status"] for result in results} == {"passed"}


# these need no data, or fit; the other checks of scikit-learn fit the estimator to numbers
@pytest.mark.parametrize(
    "check",
    [
        "check_do_not_raise_errors_in_init_or_set_params",
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_estimator_tags_renamed",
        "check_get_params_invariance",
        "check_mixin_order",
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_set_params",
        "check_valid_tag_types",
    ],
)
def test_the_checks_of_scikit_learn_that_need_no_numbers(check):
    getattr(estimator_checks, check)("ParaphraseClassifier", ParaphraseClassifier())


def test_parameters_are_stored_as_given():
    given = {"model": "reading", "mode": "fused", "threshold": "best", "skip": False, "judge": None, "threads": 1}
    classifier = ParaphraseClassifier(**given)
    assert classifier.get_params() == given
    assert clone(classifier).get_params() == given


def test_predictions_agree_with_the_scorer():
    classifier = ParaphraseClassifier(model="reading").fit(PAIRS)
    scores = [verdict.score for verdict in Scorer.load("reading").score_pairs(PAIRS)]
    assert classifier.predict(PAIRS).tolist() == LABELS
    assert classifier.decision_function(PAIRS) == pytest.approx([score - 0.5 for score in scores])
    chances = classifier.predict_proba(PAIRS)
    assert chances.sum(axis=1) == pytest.approx([1, 1]) and chances[0, 1] == pytest.approx(scores[0])
    assert classifier.score(PAIRS, LABELS) == 1


def test_only_the_mode_fused_has_probabilities():
    assert hasattr(ParaphraseClassifier(), "predict_proba")
    assert not hasattr(ParaphraseClassifier(mode="encoder"), "predict_proba")


def test_a_pair_that_cannot_be_scored_is_an_error():
    with pytest.raises(ValueError, match="question"):
        ParaphraseClassifier(model="reading").fit(PAIRS).predict([("", "Tom has 5 pens.")])


def test_arrays_and_data_frames_are_pairs_too():
    pd = pytest.importorskip("pandas")
    classifier = ParaphraseClassifier(model="reading").fit(PAIRS)
    for table in (np.array(PAIRS), pd.DataFrame(PAIRS, columns=["question", "paraphrase"])):
        assert classifier.predict(table).tolist() == LABELS
    assert classifier.predict([]).tolist() == []


def test_the_best_threshold_is_learned():
    scores = [verdict.score for verdict in Scorer.load("reading").score_pairs(PAIRS)]
    classifier = ParaphraseClassifier(model="reading", threshold="best").fit(PAIRS, LABELS)
    assert scores[1] <= classifier.threshold_ < scores[0]
    with pytest.raises(ParaqdError, match="needs labels of both classes"):
        ParaphraseClassifier(model="reading", threshold="best").fit(PAIRS)


def test_a_grid_search_and_cross_validation():
    search = GridSearchCV(ParaphraseClassifier(model="reading"), {"threshold": [-1.0, 0.5]}, cv=2)
    search.fit(PAIRS * 4, LABELS * 4)
    assert search.best_params_ == {"threshold": 0.5}
    assert cross_val_score(ParaphraseClassifier(model="reading"), PAIRS * 4, LABELS * 4, cv=2).tolist() == [1, 1]


def test_a_fitted_classifier_can_be_pickled():
    copy = pickle.loads(pickle.dumps(ParaphraseClassifier(model="reading").fit(PAIRS)))
    assert copy.predict(PAIRS).tolist() == LABELS


@pytest.mark.parametrize(
    ("pairs", "labels", "options", "message"),
    [
        (["a", "b"], None, {}, "X has the shape"),
        ([("a", "b", "c")], None, {}, "X has the shape"),
        (PAIRS, [1], {}, "2 pairs and 1 labels"),
        (PAIRS, [1, 2], {}, "2 is not a label"),
        (PAIRS, None, {"threshold": "high"}, "the threshold is 'high'"),
        (PAIRS, None, {"threshold": 7}, "from -1 to 1"),
    ],
)
def test_input_that_cannot_be_used_is_one_clear_line(pairs, labels, options, message):
    with pytest.raises(ParaqdError, match=message):
        ParaphraseClassifier(model="reading", **options).fit(pairs, labels)


def test_an_unfitted_classifier_says_so():
    with pytest.raises(NotFittedError):
        ParaphraseClassifier().predict(PAIRS)
