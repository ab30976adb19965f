"""Search for paraphrases with the score as the objective: best of n, and simulated annealing.

Both rewrite a question with rules and keep the text with the highest *worth*: the score if the text is valid, plus its
distance from the question. An invalid text is worth less than every valid text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from paraqd.operators import derive_rng
from paraqd.operators.apply import Question
from paraqd.paraphrasing.choice import Judged
from paraqd.paraphrasing.distance import distance
from paraqd.paraphrasing.sources.base import Candidate, CandidateSource
from paraqd.scoring.verdict import Verdict

Score = Callable[[Sequence[tuple[str, str]]], list[Verdict]]
_HOTTEST, _COLDEST = 0.3, 0.02
_NEIGHBOURS = 4  # texts that are tried in each step of the annealing


def worth(question: str, judged: Judged) -> float:
    """Return the worth of a text: its score, plus its distance from the question if it is valid.

    >>> valid = Judged(Candidate("Find x.", "rules"), Verdict(0.8, True, (), ""))
    >>> worth("Find x.", valid)
    0.8
    """
    score = judged.verdict.score
    return score + distance(question, judged.text) if judged.verdict.valid else score - 1


def best_of(
    question: Question, source: CandidateSource, score: Score, *, count: int = 16, seed: int = 0
) -> Judged | None:
    """Return the candidate with the highest worth among ``count`` candidates; None if the source wrote nothing."""
    found = source.candidates([question], count=count, seed=seed)[0].candidates
    return _best(question.text, _judge(question.text, found, score))


def anneal(
    question: Question, source: CandidateSource, score: Score, *, steps: int = 12, seed: int = 0
) -> Judged | None:
    """Rewrite a text again and again, and return the best text that was met (simulated annealing).

    In each step, the source rewrites the current text. A better text is always taken; a worse one is taken with a
    probability that falls with the loss and with the temperature, which falls from step to step. Every text is judged
    against the question, so that small faults cannot add up.
    """
    rng = derive_rng(seed, question.id, "anneal")
    current: Judged | None = None
    best: Judged | None = None
    for step in range(steps):
        text = question.text if current is None else current.text
        before = () if current is None else current.candidate.edits
        found = source.candidates([Question(question.id, text)], count=_NEIGHBOURS, seed=seed + step)[0].candidates
        grown = [replace(each, edits=(*before, *each.edits)) for each in found]
        new = _best(question.text, _judge(question.text, grown, score))
        if new is None:
            continue
        gain = worth(question.text, new) - (worth(question.text, current) if current else -math.inf)
        heat = _HOTTEST * (_COLDEST / _HOTTEST) ** (step / max(steps - 1, 1))
        if gain >= 0 or rng.random() < math.exp(gain / heat):
            current = new
        if best is None or worth(question.text, new) > worth(question.text, best):
            best = new
    return best


def _judge(question: str, candidates: Sequence[Candidate], score: Score) -> list[Judged]:
    verdicts = score([(question, each.text) for each in candidates])
    return [Judged(each, verdict) for each, verdict in zip(candidates, verdicts, strict=True)]


def _best(question: str, judged: Sequence[Judged]) -> Judged | None:
    return max(judged, key=lambda each: worth(question, each), default=None)
