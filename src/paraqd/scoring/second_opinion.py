"""Ask a larger judge about the pairs of which the small judge is unsure, and weigh both answers."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paraqd.errors import ModelError
from paraqd.judge_package import JUDGE
from paraqd.model_folder import DEFAULT_MODEL, FACTS_FILE, ModelFolder
from paraqd.parameters import named
from paraqd.scoring.fusion import Fusion, checked_number
from paraqd.scoring.judge.base import Judge, Judgement
from paraqd.scoring.judge.installed import REINSTALL, installed_judge, required_judge
from paraqd.scoring.judge.language_model import LanguageModel

JUDGES = ("small", "cascade", "large")
JUDGE_VARIABLE = "PARAQD_JUDGE"
_LARGEST = 100.0  # larger weights occur only in a damaged file


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
        The larger judge is asked if the log-odds that follow from the rules and the small judge lie between these
        values.

    """

    judge: Judge
    fusion: Fusion
    first_share: float
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if not 0 <= self.first_share <= _LARGEST or not self.low < self.high:  # these conditions also reject NaN
            raise ModelError(f"the weights of the language-model judge cannot be used: {REINSTALL}")

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any], judge: Judge, *, always: bool = False) -> SecondOpinion:
        """Build the second opinion from its description in the larger judge's ``paraqd.json``.

        If ``always`` is True, the larger judge is asked about every pair.

        Raises
        ------
        ModelError
            If the description cannot be read.

        """
        try:
            share, low, high = (checked_number(facts[name]) for name in ("first_share", "low", "high"))
            fusion = Fusion.from_dict(facts["fusion"])
        except (KeyError, TypeError, ValueError, OverflowError):
            raise ModelError(f"the weights of the language-model judge cannot be read: {REINSTALL}") from None
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
        return second if sign * second.log_odds >= sign * self.first_share * first.log_odds else first


def default_judge() -> str | None:
    """Return the judge that the environment variable ``PARAQD_JUDGE`` names, or None if it is not set.

    Raises
    ------
    ModelError
        If the variable names no judge.

    """
    name = os.environ.get(JUDGE_VARIABLE) or None
    if name is not None and name not in JUDGES:
        raise ModelError(f"{JUDGE_VARIABLE}={name}: choose {', '.join(JUDGES[:-1])} or {JUDGES[-1]}")
    return name


def load_second_opinion(
    model: ModelFolder, digest: str, wanted: str | None, threads: int | None
) -> tuple[SecondOpinion, str] | None:
    """Load the installed language-model judge for a model, and return it with its description for the signature.

    Parameters
    ----------
    model : ModelFolder
        The model with the rules' weights and the small judge.
    digest : str
        The model's hash, as in its signature.
    wanted : {"cascade", "large"}, optional
        How the judge is used. If None, the result is a cascade, or None if the package is not installed or belongs to
        another model than ``model``. The default model never gets a package that does not fit: this is an error,
        because a wrong version would otherwise go unnoticed.
    threads : int, optional
        The number of threads (default: one per core).

    Raises
    ------
    ModelError
        If the judge is wanted but not installed, if it does not fit the model, or if its files are damaged.

    """
    larger = required_judge() if wanted is not None else installed_judge()
    if larger is None:
        return None
    facts = larger.facts.get("cascade")
    if not isinstance(facts, Mapping) or not isinstance(facts.get("model"), str):
        raise ModelError(f"{larger.path / FACTS_FILE} does not say how the judge is used: {REINSTALL}")
    if facts["model"] != f"{model.name}@{digest}":
        if wanted is None and model.path != DEFAULT_MODEL:
            return None
        raise ModelError(
            f"the installed language-model judge belongs to the model {facts['model']}, not to {model.name}@{digest}: "
            f"install the version of {JUDGE.name} that belongs to this version of paraqd, or pass "
            f"{named('judge', 'small')}"
        )
    hashes = larger.verified_hashes()
    judge = LanguageModel(larger.path, threads=threads, kinds=larger.evidence_kinds, hashes=hashes)
    opinion = SecondOpinion.from_dict(facts, judge, always=wanted == "large")
    return opinion, f"{wanted or 'cascade'}:{larger.name}@{larger.hash8(hashes)}"
