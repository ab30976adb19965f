"""Search for paraphrases by simulated annealing, with the score as the objective.

The search has a source rewrite a question, and keeps the text with the highest *worth*: the score, plus its distance
from the question if it passes the gate. A text that does not pass is worth less than every text that does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from paraqd.paraphrasing.choice import LIMITS, Judged, Limits
from paraqd.paraphrasing.distance import distance
from paraqd.paraphrasing.sources.base import Candidate, CandidateSource
from paraqd.rewriting import derive_rng
from paraqd.scoring.verdict import Verdict
from paraqd.tables.questions import Question

Score = Callable[[Sequence[tuple[str, str]]], list[Verdict]]
_HOTTEST, _COLDEST = 0.3, 0.02
_NEIGHBOURS = 4  # texts that are tried in each step of the annealing


def worth(question: str, judged: Judged, limits: Limits = LIMITS) -> float:
    """Return the worth of a text: its score, plus its distance from the question if it passes the gate.

    >>> good, doubtful = (Judged(Candidate("Find x.", "rules"), Verdict(score, True, (), "")) for score in (0.98, 0.8))
    >>> worth("Find x.", good), round(worth("Find x.", doubtful), 2)
    (0.98, -0.2)
    """
    score = judged.verdict.score
    return score + distance(question, judged.text) if limits.admit(judged.verdict) else score - 1


def anneal(
    question: Question,
    source: CandidateSource,
    score: Score,
    *,
    steps: int = 12,
    limits: Limits = LIMITS,
    seed: int = 0,
    run: int = 0,
    style: str = "",
) -> Judged | None:
    """Rewrite a text again and again, and return the best text that was met (simulated annealing).

    In each step, the source rewrites the current text. A better text is always taken; a worse one is taken with a
    probability that falls with the loss and with the temperature, which falls from step to step. Every text is judged
    against the question, so that small faults cannot add up.

    Parameters
    ----------
    question : Question
        The question.
    source : CandidateSource
        The source that rewrites texts.
    score : callable
        The function that scores pairs.
    steps : int
        The number of steps.
    limits : Limits
        The limits, of which the one on the score is the gate.
    seed, run : int
        The seed, and the number of the run. Runs with different numbers have independent random numbers.
    style : str
        The wanted style. Only the last step writes in this style, because a source may frame a text each time it is
        asked. It rewrites the best text, or the question if the best text does not suit the style.

    """
    rng = derive_rng(seed, question.id, f"anneal/{run}")
    current: Judged | None = None
    best: Judged | None = None
    free = steps - 1 if style else steps
    for step in range(free):
        new = _next(question, current, source, score, limits, seed=_seed(seed, question, run, step))
        if new is None:
            continue
        gain = worth(question.text, new, limits) - (worth(question.text, current, limits) if current else -math.inf)
        heat = _HOTTEST * (_COLDEST / _HOTTEST) ** (step / max(free - 1, 1))
        if gain >= 0 or rng.random() < math.exp(gain / heat):
            current = new
        if best is None or worth(question.text, new, limits) > worth(question.text, best, limits):
            best = new
    if not style:
        return best
    last = _seed(seed, question, run, free)
    styled = (_next(question, start, source, score, limits, seed=last, styles=[style]) for start in (best, None))
    return next((each for each in styled if each is not None), None)


def _next(
    question: Question,
    current: Judged | None,
    source: CandidateSource,
    score: Score,
    limits: Limits,
    *,
    seed: int,
    styles: Sequence[str] = (),
) -> Judged | None:
    """Return the best of a few rewrites of the current text, which is the question itself at first."""
    text, before = (question.text, ()) if current is None else (current.text, current.candidate.edits)
    [found] = source.candidates([Question(question.id, text)], count=_NEIGHBOURS, seed=seed, styles=styles)
    grown = [replace(each, edits=(*before, *each.edits)) for each in found.candidates]
    return _best(question.text, _judge(question.text, grown, score), limits)


def _seed(seed: int, question: Question, run: int, step: int) -> int:
    """Return the seed for one step of one run."""
    return derive_rng(seed, question.id, f"anneal/{run}/{step}").getrandbits(32)


def _judge(question: str, candidates: Sequence[Candidate], score: Score) -> list[Judged]:
    verdicts = score([(question, each.text) for each in candidates])
    return [Judged(each, verdict) for each, verdict in zip(candidates, verdicts, strict=True)]


def _best(question: str, judged: Sequence[Judged], limits: Limits) -> Judged | None:
    return max(judged, key=lambda each: worth(question, each, limits), default=None)
