"""Use the scorer as a scikit-learn classifier, for instance in a grid search over thresholds.

>>> from paraqd.integrations.sklearn_estimator import ParaphraseClassifier
>>> question = "Ann has 5 pens. How many?"
>>> pairs = [(question, question), (question, "Ann has 6 pens. How many?")]
>>> ParaphraseClassifier(model="reading").fit(pairs).predict(pairs)
array([1, 0])
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.errors import ArgumentError
from paraqd.evaluation.thresholds import best_threshold
from paraqd.extras import require_extra
from paraqd.integrations.scorer_handle import ScorerHandle
from paraqd.runs.score import Model
from paraqd.scoring.verdict import probability_of

require_extra("sklearn", "the scikit-learn estimator")
from sklearn.base import BaseEstimator, ClassifierMixin  # noqa: E402
from sklearn.utils.metaestimators import available_if  # noqa: E402
from sklearn.utils.validation import check_is_fitted  # noqa: E402

BEST = "best"


def _gives_probabilities(classifier: Any) -> bool:
    if classifier.mode != "fused":
        raise AttributeError(f"the mode {classifier.mode} gives no probabilities: use the mode fused")
    return True


class ParaphraseClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is not type-checked
    """A classifier of pairs: 1 for a valid paraphrase, 0 for an invalid one.

    The scorer is trained already. `fit` loads it, and can choose a threshold for your labels.

    Parameters
    ----------
    model, mode, skip, judge, threads
        Passed to `paraqd.Scorer.load`.
    threshold : float or "best", optional
        The score above which a pair is valid (default: the model's own threshold). ``"best"`` chooses the threshold
        with the highest macro F1 on the pairs and labels that are passed to `fit`.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The classes 0 and 1.
    threshold_ : float
        The threshold in use.
    scorer_ : ScorerHandle
        The loaded scorer.
    n_features_in_ : int
        Always 2: the question and the paraphrase.

    """

    def __init__(
        self,
        *,
        model: str | None = None,
        mode: str = "fused",
        threshold: float | str | None = None,
        skip: bool = True,
        judge: str | None = None,
        threads: int | None = None,
    ) -> None:
        self.model = model
        self.mode = mode
        self.threshold = threshold
        self.skip = skip
        self.judge = judge
        self.threads = threads

    def fit(self, X: Any, y: Any = None) -> ParaphraseClassifier:
        """Load the scorer and, with the threshold ``"best"``, choose the threshold.

        Parameters
        ----------
        X : array-like of shape (n, 2)
            The questions and the paraphrases: a list of pairs, an array, or a data frame with two columns.
        y : array-like of shape (n,), optional
            The labels, 1 for valid and 0 for invalid. Only the threshold ``"best"`` needs them.

        """
        pairs = _as_pairs(X)
        labels = [] if y is None else _as_labels(y, len(pairs))
        given = None if isinstance(self.threshold, str) else self.threshold
        if isinstance(self.threshold, str) and self.threshold != BEST:
            raise ArgumentError(f'the threshold is {self.threshold!r}: pass a number from -1 to 1, "best" or None')
        if self.threshold == BEST and len(set(labels)) < 2:
            raise ArgumentError('the threshold "best" needs labels of both classes: pass y with zeros and ones')
        self.scorer_ = ScorerHandle(Model(self.model, self.mode, given, self.skip, self.judge), self.threads)
        self.classes_ = np.array([0, 1])
        self.n_features_in_ = 2
        self.threshold_ = self.scorer_.scorer.threshold
        if self.threshold == BEST:
            self.threshold_ = best_threshold(labels, self._scores(pairs)).threshold
        return self

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return 1 for each valid pair and 0 for each invalid pair."""
        return (self.decision_function(X) > 0).astype(np.int64)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return how far each score is above the threshold."""
        check_is_fitted(self)
        return self._scores(_as_pairs(X)) - self.threshold_

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the calibrated probabilities of the classes. They do not depend on the threshold."""
        check_is_fitted(self)
        valid = np.array([probability_of(score) for score in self._scores(_as_pairs(X))], dtype=np.float64)
        return np.column_stack([1 - valid, valid])

    def _scores(self, pairs: list[tuple[Any, Any]]) -> NDArray[np.float64]:
        verdicts = self.scorer_.scorer.begin(pairs)() if pairs else []
        return np.array([verdict.score for verdict in verdicts], dtype=np.float64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # of numbers
        tags.input_tags.string = True
        tags.target_tags.required = False
        tags.classifier_tags.multi_class = False
        return tags


def _as_pairs(X: Any) -> list[tuple[Any, Any]]:
    table = np.asarray(X, dtype=object)
    if table.size == 0:
        return []
    if table.ndim != 2 or table.shape[1] != 2:
        raise ArgumentError(
            f"X has the shape {table.shape}: pass pairs of a question and a paraphrase, of shape (n, 2)"
        )
    return [(question, paraphrase) for question, paraphrase in table.tolist()]


def _as_labels(y: Any, size: int) -> list[int]:
    labels = np.asarray(y).ravel().tolist()
    if len(labels) != size:
        raise ArgumentError(f"there are {size} pairs and {len(labels)} labels: pass one label for each pair")
    wrong = [label for label in labels if label not in (0, 1)]
    if wrong:
        raise ArgumentError(f"{wrong[0]!r} is not a label: pass 1 for valid and 0 for invalid")
    return [int(label) for label in labels]
