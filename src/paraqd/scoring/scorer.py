"""`Scorer` says whether a paraphrase is still the same problem."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from paraqd.errors import ModelError
from paraqd.model_folder import ModelFolder, read_model_folder
from paraqd.scoring.cosine import begin_cosines
from paraqd.scoring.fused import FusedJudge, Told
from paraqd.scoring.fusion import Fusion
from paraqd.scoring.judge.bi_encoder import BiEncoder
from paraqd.scoring.judge.cross_encoder import CrossModel
from paraqd.scoring.markup import plain
from paraqd.scoring.signature import signature
from paraqd.scoring.verdict import THRESHOLD, Evidence, EvidenceKind, Verdict
from paraqd.text_check import is_blank, pair_problem


class Judge(Protocol):
    """Scores pairs of texts that are neither blank nor the same."""

    def begin(self, pairs: Sequence[tuple[str, str]], threshold: float) -> Callable[[], list[Told]]:
        """Begin to score pairs, and return what waits for each pair's score and evidence."""
        ...


MODES = ("fused", "encoder")
OnProgress = Callable[[int, int], None]
_MOSTLY, _HARDLY, _FEW_LETTERS = 0.8, 0.2, 8
_FIRST, _CHUNK = 16, 256  # pairs that are read while those before them are judged: few at first, then more


class Scorer:
    """Scores pairs of a question and a paraphrase; load one with `Scorer.load`. It may be used by several threads.

    Attributes
    ----------
    name : str
        The model's.
    mode : str
        ``fused`` or ``encoder``.
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
        judge: Judge,
        mode: str = "fused",
        threshold: float = THRESHOLD,
        skip: bool = True,
    ) -> None:
        if not -1 <= threshold <= 1:
            raise ValueError(f"the threshold must lie between -1 and 1, not at {threshold}")
        self.name = name
        self.mode = mode
        self.threshold = threshold
        self.signature = signature(name, digest, self.mode, threshold, skip=skip)
        self._judge = judge

    @classmethod
    def load(
        cls,
        model: str | Path | None = None,
        *,
        mode: str = "fused",
        threshold: float | None = None,
        threads: int | None = None,
        skip: bool = True,
    ) -> Scorer:
        """Load the model that comes with the package, or one from a folder.

        Parameters
        ----------
        model : str or Path, optional
            A model folder, ``default``, or ``reading``, which has no learned part and is as fast as reading is.
        mode : str
            ``fused``: reading and model together. ``encoder``: the paper's plain cosine, over the folder of a
            bi-encoder.
        threshold : float, optional
            Another than the model's own.
        threads : int, optional
            How many threads the model may use, one for each core unless given; scores do not depend on it.
        skip : bool
            Do not ask the model about pairs that the reading alone decides. They are invalid with what it found; asked,
            the model would hardly ever say otherwise (on no validation pair it did), but their score would be another.

        Raises
        ------
        ModelError
            Where the folder holds no model that this version can use.

        """
        if mode not in MODES:
            raise ModelError(f"mode {mode!r} is not known: choose {' or '.join(MODES)}")
        folder = read_model_folder("default" if model is None else model)
        if threads is not None and threads < 1:
            raise ModelError(f"{threads} threads cannot work: give 1 or more")
        judge = _encoder(folder, threads) if mode == "encoder" else _fused(folder, threads, skip=skip)
        digest = folder.verified_hash8(files=()) if folder.kind == "reading" else folder.verified_hash8()
        chosen = float(folder.facts.get("threshold", THRESHOLD)) if threshold is None else threshold
        asked = skip or mode == "encoder" or folder.kind == "reading"  # there is nothing to skip
        return cls(name=folder.name, digest=digest, judge=judge, mode=mode, threshold=chosen, skip=asked)

    def score(self, question: str, paraphrase: str) -> Verdict:
        """Score one pair.

        Raises
        ------
        ValueError
            Where the question is blank, or something is not a string.

        """
        return self.score_pairs([(question, paraphrase)])[0]

    def score_pairs(self, pairs: Iterable[tuple[str, str]], *, on_progress: OnProgress | None = None) -> list[Verdict]:
        """Score pairs; a pair's score does not depend on the others.

        Raises
        ------
        ValueError
            Where one of the pairs is no pair of texts or has a blank question: none is scored then.

        """
        pairs = list(pairs)
        _check(pairs)
        verdicts: list[Verdict] = []
        waiting: list[Callable[[], list[Verdict]]] = []
        for chunk in _chunks(pairs):
            waiting.append(self._begin(chunk))
            if len(waiting) > 1:  # these are judged while the next are read
                verdicts += waiting.pop(0)()
                if on_progress is not None:
                    on_progress(len(verdicts), len(pairs))
        for wait in waiting:
            verdicts += wait()
            if on_progress is not None:
                on_progress(len(verdicts), len(pairs))
        return verdicts

    def begin(self, pairs: Sequence[tuple[str, str]]) -> Callable[[], list[Verdict]]:
        """Begin to score some hundred pairs, and return what waits for their verdicts.

        For a caller who has other work meanwhile, such as reading the next pairs from a file.
        """
        _check(pairs)
        return self._begin(pairs)

    def _begin(self, pairs: Sequence[tuple[str, str]]) -> Callable[[], list[Verdict]]:
        found: dict[int, Verdict] = {}
        for number, (question, paraphrase) in enumerate(pairs):
            if is_blank(paraphrase):
                found[number] = self._made(-1.0, (_blank(question),))
            elif question.split() == paraphrase.split():
                found[number] = self._made(1.0, ())
            elif _other_script(question, paraphrase):
                found[number] = self._made(-1.0, (_unreadable(question, paraphrase),))
        others = [number for number in range(len(pairs)) if number not in found]
        wait = self._judge.begin([pairs[number] for number in others], self.threshold) if others else list

        def finish() -> list[Verdict]:
            for number, (score, evidence) in zip(others, wait(), strict=True):
                found[number] = self._made(score, evidence)
            return [found[number] for number in range(len(pairs))]

        return finish

    def _made(self, score: float, evidence: tuple[Evidence, ...]) -> Verdict:
        return Verdict(score, score > self.threshold, evidence, self.signature)


def _chunks(pairs: Sequence[tuple[str, str]]) -> Iterator[Sequence[tuple[str, str]]]:
    """Cut pairs into chunks; the first are short, for the model has nothing to do until one is read.

    So are the last: while they are weighed it has nothing to do either. A rest of a few is no chunk of its own.

    >>> [len(chunk) for chunk in _chunks([("", "")] * 900)]
    [16, 32, 64, 128, 256, 202, 101, 50, 32, 19]
    >>> [len(chunk) for chunk in _chunks([("", "")] * 17)]
    [17]
    """
    start, size = 0, _FIRST
    while left := len(pairs) - start:
        taken = min(size, max(2 * _FIRST, left // 2))
        if left - taken < _FIRST:
            taken = left
        yield pairs[start : start + taken]
        start, size = start + taken, min(2 * size, _CHUNK)


def holds_scorer(name_or_folder: str | Path) -> bool:
    """Return True if a name or folder holds a fused scorer.

    >>> holds_scorer("default"), holds_scorer("all-MiniLM-L6-v2")
    (True, False)
    """
    try:
        return "fusion" in read_model_folder(name_or_folder).facts
    except ModelError:
        return False


class EncoderJudge:
    """The paper's score: the cosine, without evidence."""

    def __init__(self, encoder: BiEncoder) -> None:
        self._encoder = encoder

    def begin(self, pairs: Sequence[tuple[str, str]], threshold: float) -> Callable[[], list[Told]]:
        """Return what waits for each pair's cosine."""
        del threshold
        wait = begin_cosines(self._encoder.begin, pairs)
        return lambda: [(float(score), ()) for score in wait()]


def _fused(folder: ModelFolder, threads: int | None, *, skip: bool) -> FusedJudge:
    if "fusion" not in folder.facts:
        hint = " (for its cosine choose the mode encoder)" if folder.kind == "bi-encoder" else ""
        raise ModelError(f"{folder.path} holds no fused scorer: its paraqd.json has no weights for the evidence{hint}")
    fusion = Fusion.from_dict(folder.facts["fusion"])
    model = None if folder.kind == "reading" else CrossModel(folder.path, threads=threads, kinds=folder.evidence_kinds)
    return FusedJudge(fusion, model, skip=skip)


def _encoder(folder: ModelFolder, threads: int | None) -> EncoderJudge:
    if folder.kind != "bi-encoder":
        raise ModelError(f"{folder.path} holds no bi-encoder: the mode encoder needs the folder of one")
    return EncoderJudge(BiEncoder(folder.path, threads=threads))


def _check(pairs: Sequence[tuple[object, object]]) -> None:
    for number, pair in enumerate(pairs, start=1):
        if isinstance(pair, str) or len(pair) != 2:
            raise ValueError(f"pair {number} is no pair: (question, paraphrase) is wanted")
        question, paraphrase = pair
        if problem := pair_problem(question, paraphrase, longest=None, unicode=False):
            raise ValueError(f"pair {number}: {problem}")


def _blank(question: str) -> Evidence:
    """Say of a blank paraphrase that everything is gone."""
    start = len(question) - len(question.lstrip())
    spans = ((start, len(question.rstrip())),)
    return Evidence(EvidenceKind.CONTENT_LOST, spans, (), "The paraphrase is blank.", -2.0)


def _other_script(question: str, paraphrase: str) -> bool:
    """Tell whether one text is written in Latin letters and the other is not: nobody here can compare them."""
    if question.isascii() and paraphrase.isascii():
        return False
    shares = [_latin(text) for text in (question, paraphrase)]
    return max(shares) >= _MOSTLY and min(shares) <= _HARDLY


def _latin(text: str) -> float:
    """Return the share of Latin letters among the letters of a text; of a text with hardly any letters 0.5."""
    letters = [sign for sign in unicodedata.normalize("NFKC", plain(text).text) if sign.isalpha()]
    if len(letters) < _FEW_LETTERS:
        return 0.5
    return sum(sign < "\u0250" or "\u1e00" <= sign < "\u1f00" for sign in letters) / len(letters)


def _unreadable(question: str, paraphrase: str) -> Evidence:
    spans = [((len(text) - len(text.lstrip()), len(text.rstrip())),) for text in (question, paraphrase)]
    message = "The two texts are written in different scripts: what they say cannot be compared."
    return Evidence(EvidenceKind.INCOHERENT, spans[0], spans[1], message, -2.0)
