"""Choose paraphrases among candidates that passed the gate.

The gate comes first: a candidate that the scorer calls invalid, or that has a low score, is never chosen. Nor is one
that shares no word with the question. Two limits on the overlap of words also hold for every choice. Within these
limits, the candidates are chosen by maximal marginal relevance (Carbonell and Goldstein, 1998) or from a Pareto front.
Two texts that differ only in their frames (*We know that …*, *Suppose …*) or in how they write numbers count as near,
so both are chosen only if nothing else is left.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Literal

from paraqd.errors import ArgumentError
from paraqd.paraphrasing.distance import Wording, overlap
from paraqd.paraphrasing.sources.base import Candidate
from paraqd.plural import counted
from paraqd.scoring.verdict import Verdict

Method = Literal["mmr", "pareto"]
METHODS: tuple[Method, ...] = ("mmr", "pareto")


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate with its verdict. ``repaired`` says what was mended, or is empty."""

    candidate: Candidate
    verdict: Verdict
    repaired: str = ""

    @property
    def text(self) -> str:
        """The candidate's text."""
        return self.candidate.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits on the overlap of words (Jaccard, from 0 to 1) and on the score.

    ``question`` limits the overlap of a paraphrase with the question, and ``others`` limits the overlap of any two
    paraphrases of a question. ``score`` is the lowest score of a paraphrase.
    """

    question: float = 0.80
    others: float = 0.80
    score: float = 0.95

    def __post_init__(self) -> None:
        for name in ("question", "others", "score"):
            given = getattr(self, name)
            number = isinstance(given, Real) and not isinstance(given, bool)
            if name == "score" and not (number and -1 <= float(given) <= 1):
                raise ArgumentError(f"the limit score must be from -1 to 1, not {given!r}")
            if name != "score" and not (number and 0 < float(given) <= 1):
                raise ArgumentError(f"the limit {name} must be above 0 and at most 1, not {given!r}")
            object.__setattr__(self, name, float(given))  # JSON takes no float of numpy

    def admit(self, verdict: Verdict) -> bool:
        """Return True if a candidate with this verdict passes the gate."""
        return verdict.valid and verdict.score >= self.score


LIMITS = Limits()
_FAR = 0.5  # a distance beyond this counts no more, so that plain texts are not beaten by contorted ones


@dataclass(slots=True)
class _Option:
    """A candidate that can still be chosen, with its distances. Each text is split into words only once."""

    judged: Judged
    wording: Wording
    content: Wording
    far: float  # the distance from the question
    near: float = 1.0  # the distance from the nearest text that was chosen before

    @property
    def style(self) -> str:
        return self.judged.candidate.style


Pick = Callable[[Sequence[_Option]], _Option]


def choose(
    question: str,
    judged: Iterable[Judged],
    n: int,
    *,
    method: Method = "mmr",
    limits: Limits = LIMITS,
    faithfulness: float = 0.5,
) -> list[Judged]:
    """Choose up to ``n`` candidates that pass the gate, the best first.

    If the candidates are in several styles, each choice is made among those of the styles that were chosen least often.

    Parameters
    ----------
    question : str
        The question.
    judged : iterable of Judged
        The candidates with their verdicts. Invalid candidates, those with a low score, and those that share no word
        with the question are ignored.
    n : int
        The number of paraphrases.
    method : {"mmr", "pareto"}
        ``mmr`` weighs the score against the distance from the question and from the paraphrases chosen before.
        ``pareto`` chooses only among candidates that no other candidate beats in all three respects.
    limits : Limits
        The limits on the overlap of words and on the score.
    faithfulness : float
        The weight of the score for ``mmr``, from 0 (only distance) to 1 (only score).

    Examples
    --------
    >>> verdict = Verdict(0.98, True, (), "")
    >>> texts = "Tom owns five pens. Count them.", "Tom owns five pens. Count those.", "Five pens: Tom has these."
    >>> judged = [Judged(Candidate(text, "rules"), verdict) for text in texts]
    >>> [each.text for each in choose("Tom has 5 pens. How many?", judged, 3, limits=Limits(others=0.6))]
    ['Tom owns five pens. Count them.', 'Five pens: Tom has these.']

    """
    if method not in METHODS:
        raise ArgumentError(f"unknown method of choice {method!r}: choose {' or '.join(METHODS)}")
    asked = Wording.of(question)
    wordings = ((each, Wording.of(each.text)) for each in judged if limits.admit(each.verdict))
    left = [
        _Option(each, wording, Wording.of_content(each.text), asked.distance(wording))
        for each, wording in wordings
        if 0 < asked.overlap(wording) <= limits.question
    ]
    pick = _pareto if method == "pareto" else _marginal(faithfulness)
    chosen: list[Judged] = []
    used: Counter[str] = Counter()
    while left and len(chosen) < n:
        least = min(used[each.style] for each in left)
        best = pick([each for each in left if used[each.style] == least])
        chosen.append(best.judged)
        used[best.style] += 1
        left = [each for each in left if each is not best and best.wording.overlap(each.wording) <= limits.others]
        for each in left:
            each.near = min(each.near, best.wording.distance(each.wording), best.content.distance(each.content))
    return chosen


def _marginal(faithfulness: float) -> Pick:
    """Return the pick by maximal marginal relevance."""

    def worth(each: _Option) -> tuple[float, int]:
        apart = min(each.far, each.near, _FAR)
        worth = faithfulness * each.judged.verdict.score + (1 - faithfulness) * apart
        return round(worth, 2), -len(each.judged.candidate.edits)

    return lambda left: max(left, key=worth)  # the first of several with the same worth


def _pareto(left: Sequence[_Option]) -> _Option:
    """Pick from the Pareto front the candidate with the largest product of its ranks' shares."""
    values = [(each.judged.verdict.score, each.far, each.near) for each in left]
    columns = [sorted(column) for column in zip(*values, strict=True)]

    def balance(number: int) -> float:
        share = 1.0
        for column, value in zip(columns, values[number], strict=True):
            share *= bisect_right(column, value) / len(values)
        return share

    return left[max(_front(values), key=balance)]


def _front(values: Sequence[tuple[float, ...]]) -> list[int]:
    """Return the positions of the values that no other value beats.

    >>> _front([(1, 2), (2, 1), (1, 1)])
    [0, 1]
    """
    front: list[int] = []
    for number in sorted(range(len(values)), key=lambda number: values[number], reverse=True):
        # whatever beats a value comes before it in this order, so it is enough to look at the front
        if not any(_beats(values[other], values[number]) for other in front):
            front.append(number)
    return sorted(front)


def _beats(one: Sequence[float], two: Sequence[float]) -> bool:
    """Return True if one candidate is at least as good in all respects and better in one.

    >>> _beats((1, 2, 3), (1, 2, 2)), _beats((1, 2, 3), (2, 1, 3))
    (True, False)
    """
    return one != two and all(a >= b for a, b in zip(one, two, strict=True))


def why_few(question: str, judged: Sequence[Judged], limits: Limits, chosen: int) -> str:
    """Return the reason why fewer paraphrases than wanted were chosen.

    >>> why_few("How many?", [], LIMITS, 0)
    'the source wrote nothing'
    """
    passed = [each for each in judged if limits.admit(each.verdict)]
    overlaps = [overlap(question, each.text) for each in passed]
    foreign = overlaps.count(0)
    different = sum(0 < share <= limits.question for share in overlaps)
    tried = counted(len(judged), "candidate")
    if not judged:
        return "the source wrote nothing"
    if not passed:
        low = sum(each.verdict.valid for each in judged)
        beside = f"; {low} valid with a score below {limits.score:g}" if low else ""
        return f"no candidate passed the gate ({len(judged)} tried{beside})"
    if not different:
        why = "none differs enough from the question"
        if foreign:
            why = "none shares a word with the question"
        if 0 < foreign < len(passed):
            why = "they share no word with the question or do not differ enough from it"
        return f"{len(passed)} of {tried} passed the gate, but {why}"
    if different > chosen:
        return f"{counted(different, 'candidate')} fit, but the others are too close to those chosen"
    beside = f" (without {foreign} that passed but shared no word with the question)" if foreign else ""
    return f"only {different} of {tried} passed the gate and differed enough{beside}"
