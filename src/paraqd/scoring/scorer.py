"""`Scorer` says whether a paraphrase is still the same problem."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from paraqd.reading import Problem, read
from paraqd.scoring.cross_model import CrossModel, Judgement, Mark
from paraqd.scoring.errors import ModelError
from paraqd.scoring.findings import READER
from paraqd.scoring.fusion import Fusion
from paraqd.scoring.harmony import Harmonised, harmonise
from paraqd.scoring.learned import learned_finding
from paraqd.scoring.quantities import match_quantities
from paraqd.scoring.signature import signature
from paraqd.scoring.verdict import THRESHOLD, Evidence, EvidenceKind, Verdict

OnProgress = Callable[[int, int], None]
FORMAT = 1
_DEFAULT = Path(__file__).parents[1] / "models" / "default"
_KEPT_READINGS = 4096
_CHUNK = 256


class Scorer:
    """Scores pairs of a question and a paraphrase; load one with `Scorer.load`. It may be used by several threads.

    Attributes
    ----------
    name : str
        The model's.
    mode : str
        ``fused``.
    threshold : float
        A pair is valid where its score is above.
    signature : str
        What made the scores, in one line.

    Examples
    --------
    >>> scorer = Scorer.load()
    >>> question = "Tom has 5 red and 3 blue pens. How many in all?"
    >>> verdict = scorer.score(question, "Tom has 5 red and some blue pens. How many in all?")
    >>> verdict.valid, verdict.evidence[0].kind.value, verdict.evidence[0].question_spans
    (False, 'number_lost', ((18, 19),))

    """

    def __init__(
        self,
        *,
        name: str,
        digest: str,
        fusion: Fusion,
        model: CrossModel | None = None,
        threshold: float = THRESHOLD,
    ) -> None:
        if not -1 <= threshold <= 1:
            raise ValueError(f"the threshold must lie between -1 and 1, not at {threshold}")
        self.name = name
        self.mode = "fused"
        self.threshold = threshold
        self.signature = signature(name, digest, self.mode, threshold)
        self._fusion = fusion
        self._model = model
        self._read = lru_cache(maxsize=_KEPT_READINGS)(read)

    @classmethod
    def load(cls, model: str | Path | None = None, *, mode: str = "fused", threshold: float | None = None) -> Scorer:
        """Load the model that comes with the package, or one from a folder.

        Parameters
        ----------
        model : str or Path, optional
            A model folder.
        mode : str
            ``fused``: reading and model together.
        threshold : float, optional
            Another than the model's own.

        Raises
        ------
        ModelError
            Where the folder holds no model that this version can use.

        """
        if mode != "fused":
            raise ModelError(f"mode {mode!r} is not known: choose fused")
        folder = _DEFAULT if model is None else Path(model).expanduser()
        facts, digest = _facts(folder)
        chosen = float(facts.get("threshold", THRESHOLD)) if threshold is None else threshold
        fusion = Fusion.from_dict(facts.get("fusion", {}))
        learned = None if facts.get("kind") == "reading" else CrossModel(folder)
        name = str(facts.get("name", folder.name))
        return cls(name=name, digest=digest, fusion=fusion, model=learned, threshold=chosen)

    def score(self, question: str, paraphrase: str) -> Verdict:
        """Score one pair.

        Raises
        ------
        ValueError
            Where the question is blank, or something is not a string.

        """
        return self.score_pairs([(question, paraphrase)])[0]

    def score_pairs(self, pairs: Sequence[tuple[str, str]], *, on_progress: OnProgress | None = None) -> list[Verdict]:
        """Score pairs; a pair's score does not depend on the others."""
        for number, pair in enumerate(pairs, start=1):
            _check(number, *pair)
        verdicts: list[Verdict] = []
        for start in range(0, len(pairs), _CHUNK):
            verdicts += self._chunk(pairs[start : start + _CHUNK])
            if on_progress is not None:
                on_progress(len(verdicts), len(pairs))
        return verdicts

    def _chunk(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        found: dict[int, Verdict] = {}
        open_: list[tuple[int, Problem, Problem]] = []
        for number, (question, paraphrase) in enumerate(pairs):
            if not paraphrase.strip():
                found[number] = self._made(-1.0, (_blank(question),))
            elif question.split() == paraphrase.split():
                found[number] = self._made(1.0, ())
            else:
                open_.append((number, self._read(question), self._read(paraphrase)))
        judgements = self._judged([(read_question, read_paraphrase) for _, read_question, read_paraphrase in open_])
        for (number, read_question, read_paraphrase), judgement in zip(open_, judgements, strict=True):
            found[number] = self._weighed(read_question, read_paraphrase, judgement)
        return [found[number] for number in range(len(pairs))]

    def _judged(self, pairs: Sequence[tuple[Problem, Problem]]) -> Sequence[Judgement | None]:
        """Ask the learned model, which sees the paraphrase's numbers as the question writes them."""
        if self._model is None:
            return [None] * len(pairs)
        made = [harmonise(q, p, match_quantities(q, p)) for q, p in pairs]
        told = self._model.judge([(q.text, each.text) for (q, _), each in zip(pairs, made, strict=True)])
        return [_placed_back(judgement, each) for judgement, each in zip(told, made, strict=True)]

    def _weighed(self, question: Problem, paraphrase: Problem, judgement: Judgement | None) -> Verdict:
        findings = READER.findings(question, paraphrase)
        logit = 0.0 if judgement is None else judgement.valid
        features = [finding.feature for finding in findings]
        score = self._fusion.score(features, logit)
        evidence = self._fusion.evidence(findings, logit)
        if judgement is not None and (logit < 0 or (score <= self.threshold and not evidence)):
            delta = min(0.0, score - self._fusion.score(features))
            finding = learned_finding(question, paraphrase, judgement)
            piece = Evidence(finding.kind, finding.question_spans, finding.paraphrase_spans, finding.message, delta)
            if not any(_overlap(piece, other) for other in evidence):
                evidence = tuple(sorted((*evidence, piece), key=lambda each: each.delta))
        return self._made(score, evidence)

    def _made(self, score: float, evidence: tuple[Evidence, ...]) -> Verdict:
        return Verdict(score, score > self.threshold, evidence, self.signature)


def _placed_back(judgement: Judgement, made: Harmonised) -> Judgement:
    """Give the marks of a rewritten paraphrase their places in the paraphrase as it was given."""
    marks = tuple(Mark(*made.back(mark.start, mark.end), mark.fault) for mark in judgement.paraphrase)
    return replace(judgement, paraphrase=marks)


def _overlap(a: Evidence, b: Evidence) -> bool:
    sides = ((a.question_spans, b.question_spans), (a.paraphrase_spans, b.paraphrase_spans))
    return any(x < w and u < y for mine, theirs in sides for x, y in mine for u, w in theirs)


def _check(number: int, question: object, paraphrase: object) -> None:
    for name, text in (("question", question), ("paraphrase", paraphrase)):
        if not isinstance(text, str):
            raise ValueError(f"pair {number}: the {name} is not text but {type(text).__name__}")
    if not str(question).strip():
        raise ValueError(f"pair {number}: the question is blank")


def _blank(question: str) -> Evidence:
    """Say of a blank paraphrase that everything is gone."""
    start = len(question) - len(question.lstrip())
    spans = ((start, len(question.rstrip())),)
    return Evidence(EvidenceKind.CONTENT_LOST, spans, (), "The paraphrase is blank.", -2.0)


def _facts(folder: Path) -> tuple[dict[str, Any], str]:
    """Return what a model folder says of itself, and eight digits that stand for it."""
    import hashlib

    path = folder / "paraqd.json"
    if not path.is_file():
        raise ModelError(f"{folder} is no model folder: it has no paraqd.json")
    try:
        raw = path.read_bytes()
        facts = json.loads(raw)
    except (OSError, ValueError):
        facts = None
    if not isinstance(facts, dict):
        raise ModelError(f"{path} cannot be read: train or install the model again")
    if facts.get("format") != FORMAT:
        raise ModelError(
            f"{folder} is of format {facts.get('format')}, and this version of paraqd reads format {FORMAT}: install "
            "the version it was made with, or train it again"
        )
    if "fusion" not in facts:
        raise ModelError(f"{folder} holds no fused scorer: its paraqd.json has no weights for the evidence")
    return facts, hashlib.sha256(raw).hexdigest()[:8]
