"""Turn verdicts on paraphrases into rewards for training a paraphraser.

A reward is a number from -1 to 1:

- 1 for a valid paraphrase that is far enough from the question, and less for one that is closer;
- from 0 down to -1 for an invalid paraphrase, by the probability that it is valid;
- -1 for a copy, and for every other output that a guard catches (see `reward_guards`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from paraqd.errors import ArgumentError
from paraqd.integrations.reward_guards import COPIED, guard_fault
from paraqd.integrations.wording import distance
from paraqd.scoring.verdict import Verdict, probability_of

LOWEST = -1.0
INVALID = "invalid"  # the fault of an invalid paraphrase without evidence


class ScoresPairs(Protocol):
    """The part of the `paraqd.Scorer` interface that rewards need."""

    def score_pairs(self, pairs: Iterable[tuple[str, str]]) -> Sequence[Verdict]:
        """Return a verdict for each pair of a question and a paraphrase."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardSettings:
    """The distances that a reward asks for, as `wording.distance` measures them.

    Attributes
    ----------
    least_distance : float
        A paraphrase that is closer to its question counts as a copy.
    full_distance : float
        From this distance on, a valid paraphrase gets the full reward.

    """

    least_distance: float = 0.2
    full_distance: float = 0.4

    def __post_init__(self) -> None:
        if not 0 < self.least_distance <= self.full_distance <= 1:
            raise ArgumentError(
                f"least_distance and full_distance are {self.least_distance} and {self.full_distance}: they must be "
                "numbers above 0 and up to 1, and the first must not be larger"
            )


@dataclass(frozen=True, slots=True)
class Rating:
    """The reward for an output, and the reason for it.

    Attributes
    ----------
    reward : float
        A number from -1 to 1.
    fault : str
        Empty for a paraphrase that is valid and different. Otherwise the name of a guard, or the kind of evidence.
    distance : float
        The distance between the output and the question; 0 if a guard caught the output, because it was not measured.
    score : float, optional
        The scorer's score. None if a guard caught the output, because it was not scored then.

    """

    reward: float
    fault: str
    distance: float
    score: float | None = None

    @property
    def accepted(self) -> bool:
        """True if the output is a valid paraphrase that differs from the question."""
        return not self.fault


def rate_outputs(
    pairs: Sequence[tuple[str, str]],
    scorer: ScoresPairs,
    *,
    answers: Sequence[object] | None = None,
    settings: RewardSettings | None = None,
) -> list[Rating]:
    """Return a rating for each pair of a question and a model's output.

    Parameters
    ----------
    pairs : sequence of (str, str)
        The questions and the outputs.
    scorer : Scorer
        The scorer that judges outputs that pass the guards.
    answers : sequence, optional
        The answers to the questions, so that an output that gives the answer away is caught.
    settings : RewardSettings, optional
        The distances that the reward asks for.

    Examples
    --------
    >>> from paraqd import Scorer
    >>> question = "Tom has 5 pens and buys 3 more. How many pens does he have now?"
    >>> outputs = [question, "Tom buys 3 pens. Before that, he had 5 of them. What number of pens does he now own?"]
    >>> ratings = rate_outputs([(question, output) for output in outputs], Scorer.load(judge="small"))
    >>> [(rating.fault, rating.reward > 0) for rating in ratings]
    [('copied', False), ('', True)]

    """
    settings = settings or RewardSettings()
    known: Sequence[object] = [None] * len(pairs) if answers is None else answers
    caught = [_caught(*pair, answer, settings) for pair, answer in zip(pairs, known, strict=True)]
    passed = [place for place, rating in enumerate(caught) if not rating.fault]
    verdicts = scorer.score_pairs([pairs[place] for place in passed]) if passed else []
    for place, verdict in zip(passed, verdicts, strict=True):
        caught[place] = _judged(verdict, caught[place].distance, settings)
    return caught


def _caught(question: str, output: str, answer: object, settings: RewardSettings) -> Rating:
    """Return the rating of an output that a guard catches, or a rating without a fault."""
    if fault := guard_fault(question, output, answer=answer):
        return Rating(LOWEST, fault, 0.0)
    apart = distance(question, output)
    return Rating(LOWEST, COPIED if apart < settings.least_distance else "", apart)


def _judged(verdict: Verdict, apart: float, settings: RewardSettings) -> Rating:
    probability = probability_of(verdict.score)
    if verdict.valid:
        return Rating(probability * min(1.0, apart / settings.full_distance), "", apart, verdict.score)
    fault = verdict.evidence[0].kind.value if verdict.evidence else INVALID
    return Rating(min(0.0, 2 * probability - 1), fault, apart, verdict.score)
