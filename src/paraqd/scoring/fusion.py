"""From findings to a score: a sum of weights, never above 0 for a finding, through a calibrated logistic curve."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paraqd.errors import ModelError
from paraqd.scoring.evidence.finding import Finding
from paraqd.scoring.verdict import THRESHOLD, Evidence, score_of

_MOST = 3  # of one sort: a fourth lost number adds nothing


@dataclass(frozen=True)
class Fusion:
    """What each finding weighs.

    Attributes
    ----------
    bias : float
        The log-odds of a pair without findings (and, where a model takes part, an even answer of the model).
    weights : mapping
        Log-odds for the first finding of each feature; none is above 0, so that evidence never helps a paraphrase.
    model_weight : float
        What the log-odds of the learned model count; not below 0.
    ceiling : float
        Log-odds that the learned model is not expected to exceed for a pair whose findings weigh much.
    presumed : float
        The log-odds that it gives, in the mean, for pairs that are decided without it.

    """

    bias: float
    weights: Mapping[str, float] = field(default_factory=dict)
    model_weight: float = 0.0
    ceiling: float = math.inf
    presumed: float = 0.0

    def __post_init__(self) -> None:
        helping = [name for name, weight in self.weights.items() if weight > 0]
        if helping or self.model_weight < 0:
            raise ModelError(f"weights of the wrong sign: {', '.join(helping) or 'the model'}")

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Fusion:
        """Read it from a model folder's ``paraqd.json``."""
        try:
            weights = {str(name): float(weight) for name, weight in facts["weights"].items()}
            ceiling = float(facts.get("ceiling", math.inf))
            presumed = float(facts.get("presumed", 0.0))
            return cls(float(facts["bias"]), weights, float(facts.get("model_weight", 0.0)), ceiling, presumed)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise ModelError("the model's fusion cannot be read: train or install it again") from None

    def log_odds(self, features: Iterable[str], model: float = 0.0) -> float:
        """Return the log-odds that a pair with these features is valid."""
        counts = Counter(features)
        # the second finding of a sort counts half as much, the third a third
        spoken = sum(
            self.weights.get(name, 0.0) * sum(1 / (n + 1) for n in range(min(count, _MOST)))
            for name, count in counts.items()
        )
        return self.bias + spoken + self.model_weight * model

    def score(self, features: Iterable[str], model: float = 0.0) -> float:
        """Return the score from -1 to 1."""
        return score_of(1 / (1 + math.exp(-max(-60.0, min(60.0, self.log_odds(features, model))))))

    def decided(self, features: Iterable[str], threshold: float) -> bool:
        """Tell whether a pair with these features is taken for invalid without asking the learned model.

        That is where log-odds of the ceiling would not make it valid. The ceiling was found for the usual threshold:
        what is invalid there is so above it, too; below it the model is asked.
        """
        found = list(features)
        if threshold < THRESHOLD or not (found and self.model_weight and math.isfinite(self.ceiling)):
            return False
        return self.score(found, self.ceiling) <= THRESHOLD

    def evidence(self, findings: Sequence[Finding], model: float = 0.0) -> tuple[Evidence, ...]:
        """Return findings as evidence, each with how much higher the score were without it, the weightiest first."""
        features = [finding.feature for finding in findings]
        whole = self.score(features, model)
        found = []
        for place, finding in enumerate(findings):
            delta = whole - self.score(features[:place] + features[place + 1 :], model)
            found.append(
                Evidence(finding.kind, finding.question_spans, finding.paraphrase_spans, finding.message, delta)
            )
        order = sorted(range(len(found)), key=lambda i: (self.weights.get(features[i], 0.0), i))
        return tuple(found[i] for i in order)
