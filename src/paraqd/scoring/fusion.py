"""Combine findings and a learned judge's answer into a score, as the logistic function of a weighted sum."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paraqd.errors import ModelError
from paraqd.scoring.evidence.finding import FEATURES, Finding
from paraqd.scoring.verdict import THRESHOLD, Evidence, score_of_log_odds

_MOST_COUNTED = 3  # findings per feature that affect the score
# features that were once part of another feature, whose weight they have in an older model
_SPLIT = {"only_number_changed": "number_replaced", "numbers_swapped": "numbers_exchanged"}
_LARGEST = 100.0  # larger weights and log-odds occur only in a damaged file
_LARGEST_CEILING = 1e6  # the ceiling is large if the fusion was fitted to few pairs and hardly uses the judge


@dataclass(frozen=True)
class Fusion:
    """The weights of the findings and of the learned judge.

    Attributes
    ----------
    bias : float
        The log-odds that a pair is valid if there are no findings and the judge is undecided.
    weights : mapping
        For each feature, the log-odds that its first finding adds. No weight is above 0, so evidence never raises a
        score.
    model_weight : float
        The weight of the judge's log-odds; never below 0.
    ceiling : float
        The highest log-odds that can be expected from the judge for a pair with strong findings.
    presumed : float
        The judge's mean log-odds for pairs whose findings already decide the verdict.

    """

    bias: float
    weights: Mapping[str, float] = field(default_factory=dict)
    model_weight: float = 0.0
    ceiling: float = math.inf
    presumed: float = 0.0

    def __post_init__(self) -> None:
        numbers = {"bias": self.bias, "model_weight": self.model_weight, "presumed": self.presumed, **self.weights}
        bad = [(name, _LARGEST) for name, value in numbers.items() if not abs(value) <= _LARGEST]  # also rejects NaN
        if self.ceiling != math.inf and not abs(self.ceiling) <= _LARGEST_CEILING:
            bad.append(("ceiling", _LARGEST_CEILING))
        if bad:
            name, most = bad[0]
            raise ModelError(
                f"the model's value for {name} is not a number from {-most:,.0f} to {most:,.0f}: install or train the "
                "model again"
            )
        positive = [name for name, weight in self.weights.items() if weight > 0]
        if positive or self.model_weight < 0:
            raise ModelError(
                f"the model has a weight with the wrong sign ({', '.join(positive) or 'the judge'}): install or train "
                "the model again"
            )

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Fusion:
        """Build the fusion from its description in a model folder's ``paraqd.json``.

        Raises
        ------
        ModelError
            If the description cannot be read, contains an unknown feature, or has no weights at all.

        """
        try:
            weights = {str(name): checked_number(weight) for name, weight in facts["weights"].items()}
            weights = {new: weights[old] for new, old in _SPLIT.items() if old in weights} | weights
            given = {
                name: checked_number(facts[name]) for name in ("model_weight", "ceiling", "presumed") if name in facts
            }
            fusion = cls(checked_number(facts["bias"]), weights, **given)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            raise ModelError("the model's fusion cannot be read: install or train the model again") from None
        if given.get("ceiling") == math.inf:  # JSON has no infinity, but 1e999 is read as one
            raise ModelError("the model's value for ceiling is not a finite number: install or train the model again")
        if unknown := sorted(weights.keys() - FEATURES):
            raise ModelError(
                f"the model has a weight for {unknown[0]!r}, which this version does not know: install the version "
                "that wrote it, or train the model again"
            )
        if not any(weights.values()) and not fusion.model_weight:  # every pair would get the same score
            raise ModelError("the model has no weights for evidence: install or train the model again")
        return fusion

    def log_odds(self, features: Iterable[str], model: float = 0.0) -> float:
        """Return the log-odds that a pair is valid, given the features of its findings and the judge's log-odds."""
        counts = Counter(features)
        # the second finding with the same feature counts half as much as the first, and the third counts a third
        found = sum(
            self.weights.get(name, 0.0) * sum(1 / (n + 1) for n in range(min(count, _MOST_COUNTED)))
            for name, count in counts.items()
        )
        return self.bias + found + self.model_weight * model

    def score(self, features: Iterable[str], model: float = 0.0) -> float:
        """Return the score, from -1 to 1.

        Raises
        ------
        ModelError
            If the log-odds are not finite.

        """
        return score_of_log_odds(self.log_odds(features, model))

    def decided(self, features: Iterable[str]) -> bool:
        """Return True if a pair with the given features is invalid regardless of the judge's answer.

        Such a pair would be invalid even if the judge's log-odds were at the ceiling. The default threshold is used, so
        scores do not depend on the scorer's threshold.
        """
        found = list(features)
        if not (found and self.model_weight and math.isfinite(self.ceiling)):
            return False
        return self.score(found, self.ceiling) <= THRESHOLD

    def evidence(self, findings: Sequence[Finding], model: float = 0.0) -> tuple[Evidence, ...]:
        """Return the findings as evidence, strongest first.

        The ``delta`` of a finding is the score minus the score that the pair would have without the finding.
        """
        features = [finding.feature for finding in findings]
        whole = self.score(features, model)
        found = []
        deltas: dict[tuple[str, bool], float] = {}
        for place, finding in enumerate(findings):
            # findings of one feature have the same delta, but sums are rounded by the order of the features, which the
            # first finding of a feature sets
            kind = finding.feature, (finding.feature, True) not in deltas
            if kind not in deltas:
                deltas[kind] = whole - self.score(features[:place] + features[place + 1 :], model)
            found.append(
                Evidence(finding.kind, finding.question_spans, finding.paraphrase_spans, finding.message, deltas[kind])
            )
        order = sorted(range(len(found)), key=lambda i: (self.weights.get(features[i], 0.0), i))
        return tuple(found[i] for i in order)


def checked_number(value: object) -> float:
    """Return a number from a JSON file as a float, or raise a TypeError if the value is not a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{value!r} is not a number")
    return float(value)
