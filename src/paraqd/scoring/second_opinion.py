"""Ask a larger judge about the pairs of which the small judge is unsure, and weigh both answers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paraqd.errors import ModelError
from paraqd.scoring.fusion import Fusion
from paraqd.scoring.judge.base import Judge, Judgement

_LARGEST = 100.0


@dataclass(frozen=True)
class SecondOpinion:
    """A larger judge, and how its answer is used.

    Attributes
    ----------
    judge : Judge
        The larger judge.
    fusion : Fusion
        The fusion for pairs about which both judges were asked. Its weight for the model applies to `combine`.
    first_share : float
        The weight of the small judge's log-odds, relative to the larger judge's.
    low, high : float
        The larger judge is asked if the small judge's verdict has log-odds between these values.

    """

    judge: Judge
    fusion: Fusion
    first_share: float
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if not 0 <= self.first_share <= _LARGEST or not self.low < self.high:
            raise ModelError("the weights of the second judge cannot be used: install the model again")

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any], judge: Judge, *, always: bool = False) -> SecondOpinion:
        """Build the second opinion from its description in the larger judge's ``paraqd.json``.

        If ``always`` is True, the larger judge is asked about every pair.
        """
        try:
            share, low, high = (float(facts[name]) for name in ("first_share", "low", "high"))
            fusion = Fusion.from_dict(facts["fusion"])
        except (KeyError, TypeError, ValueError):
            raise ModelError("the weights of the second judge cannot be read: install the model again") from None
        return cls(judge, fusion, share) if always else cls(judge, fusion, share, low, high)

    def is_needed(self, log_odds: float) -> bool:
        """Return True if a pair is unsure, given the log-odds that follow from the rules and the small judge."""
        return self.low < log_odds < self.high

    def combine(self, first: Judgement, second: Judgement) -> float:
        """Return the log-odds that both judges give together."""
        return self.first_share * first.log_odds + second.log_odds

    def deciding(self, first: Judgement, second: Judgement) -> Judgement:
        """Return the judgement that speaks more strongly for the common answer. It provides the evidence."""
        sign = -1.0 if self.combine(first, second) < 0 else 1.0
        return max((second, first), key=lambda each: sign * each.log_odds * (1 if each is second else self.first_share))
