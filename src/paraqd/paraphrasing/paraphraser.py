"""Paraphrase questions: ask a source for candidates, judge them, mend some of them, and choose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from paraqd.errors import ArgumentError
from paraqd.parameters import named, truth, whole_number
from paraqd.paraphrasing.choice import LIMITS, METHODS, Judged, Limits, Method, choose, why_few
from paraqd.paraphrasing.repair import repair as mend
from paraqd.paraphrasing.search import anneal
from paraqd.paraphrasing.sources.base import Candidate, CandidateSource, Found
from paraqd.paraphrasing.sources.loading import load_source
from paraqd.plural import counted
from paraqd.progress import Progress, silent
from paraqd.runs.score_rows import PairScorer
from paraqd.scoring.pair_errors import PairError, results_of
from paraqd.scoring.same_text import same_text
from paraqd.scoring.scorer import Scorer
from paraqd.scoring.verdict import Evidence, Verdict
from paraqd.tables.questions import Question
from paraqd.tables.table import default_id
from paraqd.text_check import text_problem

Search = Literal["sample", "anneal"]
SEARCHES: tuple[Search, ...] = ("sample", "anneal")
_SEED = 3407
_MOST = 1000  # paraphrases of one question
_PER_PARAPHRASE = 8  # candidates for each paraphrase
_AT_ONCE = 256  # pairs that are scored at a time
Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings on which the paraphrases of a question depend.

    Attributes
    ----------
    n : int
        The number of paraphrases per question, at most 1,000.
    styles : tuple of str
        The wanted styles, such as ``plain`` or ``exam`` (default: no style).
    choice : {"mmr", "pareto"}
        The method of choice; see `choose`.
    repair : bool
        Mend candidates that have one fault with a name, and judge them again.
    gate : bool
        Take only candidates that the scorer calls valid and whose score is high enough. Turn it off only to measure
        what the gate does.
    search : {"sample", "anneal"}
        ``sample`` draws many candidates. ``anneal`` also improves texts step by step with the score as the objective;
        it cannot be used with an endpoint.
    candidates : int, optional
        The number of candidates per question, at most 8,000 (default: eight for each paraphrase).
    limits : Limits
        The limits on the overlap of words and on the score.
    seed : int
        The seed for random choices.

    """

    n: int = 5
    styles: tuple[str, ...] = ()
    choice: Method = "mmr"
    repair: bool = True
    gate: bool = True
    search: Search = "sample"
    candidates: int | None = None
    limits: Limits = LIMITS
    seed: int = _SEED

    def __post_init__(self) -> None:
        # numbers of numpy and lists of any kind become what JSON and other processes take
        plain: dict[str, Any] = {name: truth(name, getattr(self, name)) for name in ("repair", "gate")}
        plain |= {name: whole_number(name, getattr(self, name)) for name in ("n", "seed")}
        if self.candidates is not None:
            plain["candidates"] = whole_number("candidates", self.candidates)
        for name, value in {**plain, "styles": _style_names(self.styles)}.items():
            object.__setattr__(self, name, value)
        if self.n < 1:
            raise ArgumentError(f"n is {self.n}: ask for at least 1 paraphrase")
        if self.n > _MOST:
            raise ArgumentError(f"n is {self.n:,}: ask for at most {_MOST:,} paraphrases of a question")
        if self.candidates is not None and self.candidates > _PER_PARAPHRASE * _MOST:
            most = f"{_PER_PARAPHRASE * _MOST:,}"
            raise ArgumentError(f"candidates is {self.candidates:,}: ask for at most {most} per question")
        if self.candidates is not None and self.candidates < self.n:
            few = counted(self.candidates, "candidate")
            raise ArgumentError(f"{few} cannot give {counted(self.n, 'paraphrase')}: ask for more candidates")
        if not isinstance(self.limits, Limits):
            raise ArgumentError(
                f"limits is {self.limits!r}: pass Limits(question=0.8, others=0.8, score=0.95) or other limits"
            )
        if self.choice not in METHODS:
            raise ArgumentError(f"unknown choice {self.choice!r}: choose {' or '.join(METHODS)}")
        if self.search not in SEARCHES:
            raise ArgumentError(f"unknown search {self.search!r}: choose {' or '.join(SEARCHES)}")

    @property
    def count(self) -> int:
        """The number of candidates to ask for."""
        return _PER_PARAPHRASE * self.n if self.candidates is None else self.candidates

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as a JSON-serialisable dictionary."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """A chosen paraphrase with its verdict and its origin.

    ``rank`` is 1 for the paraphrase that was chosen first. ``edits`` are the operators and rules that made it.
    ``repaired`` is the kind of the fault that was mended, or an empty string.
    """

    text: str
    score: float
    valid: bool
    evidence: tuple[Evidence, ...]
    source: str
    style: str
    edits: tuple[str, ...]
    repaired: str
    rank: int
    signature: str

    def to_dict(self) -> dict[str, Any]:
        """Return the paraphrase as a JSON-serialisable dictionary, as in the output of ``paraqd paraphrase``."""
        return {
            "paraphrase": self.text,
            "score": self.score,
            "valid": self.valid,
            "evidence": [piece.to_dict() for piece in self.evidence],
            "source": self.source,
            "style": self.style,
            "edits": list(self.edits),
            "repaired": self.repaired,
            "rank": self.rank,
            "signature": self.signature,
        }


@dataclass(frozen=True)
class Paraphrased:
    """The paraphrases of one question. ``reason`` says why there are fewer than wanted, or is empty.

    ``counts`` has the number of different ``candidates``, how many of them ``passed`` the gate, how many other texts
    were ``mended``, and how many of those passed (``repaired``).
    """

    question: Question
    paraphrases: tuple[Paraphrase, ...] = ()
    reason: str = ""
    counts: dict[str, int] = field(default_factory=dict)


def paraphrase(
    question: str,
    *,
    n: int = 5,
    source: str | CandidateSource = "rules",
    styles: Sequence[str] = (),
    choice: Method = "mmr",
    repair: bool = True,
    search: Search = "sample",
    limits: Limits = LIMITS,
    seed: int = _SEED,
    scorer: PairScorer | None = None,
    judge: str | None = None,
) -> list[Paraphrase]:
    """Return up to ``n`` paraphrases of a question that pass the scorer and that differ from each other.

    Parameters
    ----------
    question : str
        The question.
    n : int
        The number of paraphrases, at most 1,000. Fewer are returned if the source does not find enough.
    source : str or CandidateSource
        ``rules``, a model's folder or name, the address of an OpenAI-compatible endpoint, or a source of your own.
    styles : sequence of str
        The wanted styles, such as ``plain``, ``exam`` or ``engaging``.
    choice, repair, search, limits, seed
        See `Settings`.
    scorer : Scorer, optional
        The scorer that serves as the gate (default: the shipped model).
    judge : str, optional
        ``small``, ``cascade`` or ``large``, as in `Scorer.load`. Only without ``scorer``.

    Examples
    --------
    >>> found = paraphrase("Ann has 12 pens and buys 3 more. How many pens does she have?", n=2, judge="small")
    >>> len(found), all(each.valid for each in found)
    (2, True)

    """
    if problem := text_problem(question, "question", unicode=True):
        raise ArgumentError(problem)
    if scorer is not None and judge is not None:
        raise ArgumentError("judge cannot be combined with a loaded scorer, which has its own")
    if scorer is not None and not hasattr(scorer, "begin"):
        raise ArgumentError(f"scorer is {scorer!r}: pass a loaded scorer, such as paraqd.Scorer.load()")
    if not isinstance(source, str) and not hasattr(source, "candidates"):
        raise ArgumentError(f"source is {source!r}: pass a name, an address, or an object with the method candidates")
    settings = Settings(
        n=n, styles=_style_names(styles), choice=choice, repair=repair, search=search, limits=limits, seed=seed
    )
    loaded = load_source(source) if isinstance(source, str) else source
    gate = Scorer.load(judge=judge) if scorer is None else scorer
    return list(paraphrase_text(question, loaded, gate, settings).paraphrases)


def _style_names(styles: Sequence[str]) -> tuple[str, ...]:
    """Return the names of styles, or raise an `ArgumentError` if they are no list of names."""
    if isinstance(styles, str) or not isinstance(styles, Iterable):
        raise ArgumentError(f"styles is {styles!r}: pass a list of names, such as ['exam']")
    names = tuple(styles)
    for name in names:
        if text_problem(name, allow_blank=name == "", unicode=True):
            raise ArgumentError(f"styles has {name!r}, which is not the name of a style")
    return names


def paraphrase_text(question: str, source: CandidateSource, scorer: PairScorer, settings: Settings) -> Paraphrased:
    """Paraphrase one question, and say why if there are fewer paraphrases than wanted."""
    [found] = paraphrase_questions([Question(default_id(question), question)], source, scorer, settings)
    return found


def paraphrase_questions(
    questions: Sequence[Question],
    source: CandidateSource,
    scorer: PairScorer,
    settings: Settings,
    *,
    progress: Progress = silent,
) -> list[Paraphrased]:
    """Paraphrase several questions. The paraphrases of a question do not depend on the other questions."""
    check_search(source, settings)
    written = source.candidates(questions, count=settings.count, seed=settings.seed, styles=settings.styles)
    pairs = [
        (question.text, candidate.text)
        for question, found in zip(questions, written, strict=True)
        for candidate in _new(question.text, found.candidates)
    ]
    verdicts = iter(_scores(scorer)(pairs))
    results = []
    for number, (question, found) in enumerate(zip(questions, written, strict=True)):
        judged = [Judged(each, next(verdicts)) for each in _new(question.text, found.candidates)]
        results.append(_finish(question, found, judged, source, scorer, settings))
        progress("paraphrasing", number + 1, len(questions))
    return results


def check_search(source: CandidateSource, settings: Settings) -> None:
    """Raise an `ArgumentError` if the search does not fit the source.

    Annealing asks the source again after every step. With an endpoint, this would be a request for each step.
    """
    from paraqd.paraphrasing.sources.endpoint import EndpointSource

    if settings.search == "anneal" and isinstance(source, EndpointSource):
        raise ArgumentError(
            f"{named('search', 'anneal')} cannot be used with an endpoint, because it would send many requests for "
            f"each question: choose {named('search', 'sample')}, or rules or a model as the source"
        )


def _scores(scorer: PairScorer) -> Callable[[Pairs], list[Verdict]]:
    """Return a function that scores any number of pairs. A pair that cannot be scored gets the lowest score."""
    return lambda pairs: [
        Verdict(-1.0, False, (), scorer.signature, (str(each),)) if isinstance(each, PairError) else each
        for start in range(0, len(pairs), _AT_ONCE)
        for each in results_of(scorer.begin(pairs[start : start + _AT_ONCE]))
    ]


def _finish(
    question: Question,
    found: Found,
    judged: list[Judged],
    source: CandidateSource,
    scorer: PairScorer,
    settings: Settings,
) -> Paraphrased:
    """Mend, search and choose for one question."""
    score = _scores(scorer)
    mended = _mended(question.text, judged, score) if settings.repair else []
    judged = [*judged, *mended]
    if settings.search == "anneal":
        judged += _annealed(question, judged, source, score, settings)
    pool = judged if settings.gate else [_passed(each) for each in judged]
    chosen = choose(question.text, pool, settings.n, method=settings.choice, limits=settings.limits)
    real = {each.text: each for each in judged}
    reason = ""
    if len(chosen) < settings.n:
        few = why_few(question.text, pool, settings.limits, len(chosen))
        repeated = bool(found.candidates) and not judged
        reason = found.problem or ("the source only repeats the question" if repeated else few)
    return Paraphrased(
        question,
        tuple(_result(real[each.text], rank) for rank, each in enumerate(chosen, start=1)),
        reason,
        {
            "candidates": len(judged) - len(mended),
            "passed": sum(settings.limits.admit(each.verdict) for each in judged if not each.repaired),
            "mended": len(mended),
            "repaired": sum(settings.limits.admit(each.verdict) for each in mended),
        },
    )


def _mended(question: str, judged: Sequence[Judged], score: Callable[[Pairs], list[Verdict]]) -> list[Judged]:
    """Mend the candidates that can be mended, and judge the texts that are new."""
    known = {_plain(each.text) for each in judged}
    found: list[tuple[Candidate, str]] = []
    for each in judged:
        new = mend(question, each.text, each.verdict)
        if new is not None and _plain(new[0]) not in known and not same_text(question, new[0]):
            known.add(_plain(new[0]))
            found.append((replace(each.candidate, text=new[0]), new[1]))
    verdicts = score([(question, candidate.text) for candidate, _ in found])
    return [Judged(each, verdict, kind) for (each, kind), verdict in zip(found, verdicts, strict=True)]


def _annealed(
    question: Question,
    judged: Sequence[Judged],
    source: CandidateSource,
    score: Callable[[Pairs], list[Verdict]],
    settings: Settings,
) -> list[Judged]:
    """Search once for each wanted paraphrase, in the wanted styles by turns, and return the texts that are new."""
    styles = settings.styles or ("",)
    known = {_plain(each.text) for each in judged}
    found = []
    for run in range(settings.n):
        new = anneal(
            question,
            source,
            score,
            limits=settings.limits,
            seed=settings.seed,
            run=run,
            style=styles[run % len(styles)],
        )
        if new is not None and _plain(new.text) not in known and not same_text(question.text, new.text):
            known.add(_plain(new.text))
            found.append(new)
    return found


def _plain(text: str) -> str:
    """Return a text with single spaces, so that equal texts are recognised."""
    return " ".join(text.split())


def _new(question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the distinct candidates that do not merely repeat the question."""
    distinct = {_plain(each.text): each for each in reversed(candidates)}
    return [each for each in reversed(distinct.values()) if each.text.strip() and not same_text(question, each.text)]


def _passed(judged: Judged) -> Judged:
    """Return a candidate as if it had passed the gate, with the same score for all."""
    return Judged(judged.candidate, Verdict(1.0, True, (), judged.verdict.signature), judged.repaired)


def _result(judged: Judged, rank: int) -> Paraphrase:
    candidate, verdict = judged.candidate, judged.verdict
    return Paraphrase(
        text=candidate.text,
        score=verdict.score,
        valid=verdict.valid,
        evidence=verdict.evidence,
        source=candidate.source,
        style=candidate.style,
        edits=candidate.edits,
        repaired=judged.repaired,
        rank=rank,
        signature=verdict.signature,
    )
