"""Turn verdicts on paraphrases into rewards for training a paraphraser.

A reward is a number from -1 to 1:

- from 0.5 to 1 for a valid paraphrase that is far enough from the question, by its score, and less for a closer one;
- half of that for each sentence that has little to do with the question (an addition);
- from 0 down to -1 for an invalid paraphrase, by its score;
- -1 for a copy, and for every other output that a guard catches (see `reward_guards`).

What counts is where a score lies between -1, the scorer's threshold and 1. With the threshold 0.5 of the shipped model,
a valid paraphrase that is far enough earns exactly the probability that it is valid.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from paraqd.errors import ArgumentError
from paraqd.integrations.faults import fault_of
from paraqd.integrations.reward_guards import COPIED, check_output
from paraqd.integrations.wording import distance
from paraqd.scoring.pair_errors import PairError, results_of
from paraqd.scoring.verdict import THRESHOLD, Verdict

LOWEST = -1.0
UNSCORED = "unscored"
_ADDITION = 0.5  # each addition multiplies the reward by this factor


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
        Empty for a paraphrase that is valid and different. Otherwise the name of a guard, the kind of evidence, or
        ``unscored`` if a fault in the scorer left the pair without a verdict.
    distance : float, optional
        The distance between the output and the question. None if it was not measured, because a guard caught the
        output before.
    score : float, optional
        The scorer's score. None if a guard caught the output, because it was not scored then.
    additions : int
        The number of sentences that have little to do with the question. Each one halves the reward.

    """

    reward: float
    fault: str
    distance: float | None = None
    score: float | None = None
    additions: int = 0

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
        The scorer that judges outputs that pass the guards. If it has no attribute ``threshold``, 0.5 is assumed.
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
    if len(known) != len(pairs):
        raise ArgumentError(f"there are {len(pairs)} pairs and {len(known)} answers: pass one answer for each pair")
    caught = [_caught(*pair, answer, settings) for pair, answer in zip(pairs, known, strict=True)]
    passed = [place for place, rating in enumerate(caught) if not rating.fault]
    verdicts = results_of(lambda: scorer.score_pairs([pairs[place] for place in passed])) if passed else []
    threshold = getattr(scorer, "threshold", THRESHOLD)
    for place, verdict in zip(passed, verdicts, strict=True):
        caught[place] = _judged(verdict, threshold, caught[place], settings)
    return caught


def mean_distance(ratings: Iterable[Rating]) -> float | None:
    """Return the mean distance of the outputs whose distance was measured, or None if there are none.

    >>> mean_distance([Rating(0.9, "", 0.5, 0.9), Rating(-1.0, "copied", 0.1), Rating(-1.0, "empty")])
    0.3
    """
    measured = [rating.distance for rating in ratings if rating.distance is not None]
    return sum(measured) / len(measured) if measured else None


def _caught(question: str, output: str, answer: object, settings: RewardSettings) -> Rating:
    """Return the rating of an output that a guard catches, or a rating without a fault."""
    fault, additions = check_output(question, output, answer=answer)
    if fault:
        return Rating(LOWEST, fault)
    apart = distance(question, output)
    return Rating(LOWEST, COPIED if apart < settings.least_distance else "", apart, None, additions)


def _judged(verdict: Verdict | PairError, threshold: float, passed: Rating, settings: RewardSettings) -> Rating:
    """Return the rating of an output that passed the guards."""
    if isinstance(verdict, PairError):
        return replace(passed, reward=LOWEST, fault=UNSCORED)
    assert passed.distance is not None
    quality = _quality(verdict.score, threshold)
    reward = min(0.0, 2 * quality - 1)
    if verdict.valid:
        reward = quality * min(1.0, passed.distance / settings.full_distance) * _ADDITION**passed.additions
    return Rating(reward, fault_of(verdict), passed.distance, verdict.score, passed.additions)


def _quality(score: float, threshold: float) -> float:
    """Return a number from 0 to 1 for a score from -1 to 1; it is 0.5 at the threshold.

    With the threshold 0.5, it is the calibrated probability of a score in the mode ``fused``.

    >>> [_quality(score, 0.5) for score in (-1, 0.5, 0.75, 1)], [_quality(score, 0.8) for score in (-0.1, 0.8, 0.9)]
    ([0.0, 0.5, 0.75, 1.0], [0.25, 0.5, 0.75])
    """
    if score > threshold:
        return 0.5 + 0.5 * (score - threshold) / (1 - threshold)
    return 0.5 * (score + 1) / (threshold + 1) if threshold > -1 else 0.5
