"""Define `Scorer`, which scores pairs of a question and a paraphrase."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, TypeVar

from paraqd.errors import ArgumentError, ModelError
from paraqd.model_folder import DEFAULT_MODEL, ModelFolder, read_model_folder
from paraqd.parameters import named
from paraqd.progress import Progress, silent
from paraqd.scoring.cosine import CosineMethod
from paraqd.scoring.fused import FusedMethod
from paraqd.scoring.fusion import Fusion
from paraqd.scoring.judge.base import Judge
from paraqd.scoring.judge.bi_encoder import BiEncoder
from paraqd.scoring.judge.cross_encoder import CrossEncoder
from paraqd.scoring.language import latin_share
from paraqd.scoring.markup import remove_markup
from paraqd.scoring.pair_errors import PairError, all_scored
from paraqd.scoring.same_text import same_text
from paraqd.scoring.second_opinion import JUDGES, default_judge, load_second_opinion
from paraqd.scoring.signature import signature
from paraqd.scoring.text_warnings import text_warnings
from paraqd.scoring.verdict import THRESHOLD, Evidence, EvidenceKind, Verdict, VerdictTerms, threshold_of
from paraqd.text_check import is_blank, pair_problem

T = TypeVar("T")
MODES = ("fused", "encoder")
_MOSTLY_LATIN, _HARDLY_LATIN = 0.8, 0.2
_FIRST_CHUNK, _LARGEST_CHUNK = 16, 256  # pairs in a chunk, which is read while the model judges the preceding chunk


# the judge of each kind of fused model; a model without a judge uses only rules
_JUDGES: Mapping[str, Callable[..., Judge] | None] = {"fused": CrossEncoder, "reading": None}
# what to do with models of other kinds
_HINTS = {
    "bi-encoder": " (it holds a bi-encoder: choose the mode encoder)",
    "solvable": " (it holds a model for single questions: use paraqd solvable)",
}


class Method(Protocol):
    """A scoring method for pairs of texts that are neither blank nor the same."""

    def begin(self, pairs: Sequence[tuple[str, str]], terms: VerdictTerms) -> Callable[[], list[Verdict]]:
        """Start scoring pairs, and return a function that waits for the verdicts."""
        ...


class Scorer:
    """A thread-safe scorer for pairs of a question and a paraphrase.

    Load a scorer with `Scorer.load`.

    Attributes
    ----------
    name : str
        The name of the model.
    mode : str
        ``fused`` or ``encoder``.
    threshold : float
        The score above which a pair is valid.
    signature : str
        One line that names the model and the settings.

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
        method: Method,
        mode: str = "fused",
        threshold: float = THRESHOLD,
        skip: bool = True,
        judge: str = "",
    ) -> None:
        if not -1 <= threshold <= 1:
            raise ArgumentError(f"the threshold must be a number from -1 to 1, not {threshold}")
        self.name = name
        self.mode = mode
        self.threshold = threshold
        self.signature = signature(name, digest, self.mode, threshold, skip=skip, judge=judge)
        self.method = method
        self._terms = VerdictTerms(threshold, self.signature)

    @classmethod
    def load(
        cls,
        model: str | Path | None = None,
        *,
        mode: str = "fused",
        threshold: float | None = None,
        threads: int | None = None,
        skip: bool = True,
        judge: str | None = None,
    ) -> Scorer:
        """Load the default model that ships with the package, or another model.

        Parameters
        ----------
        model : str or Path, optional
            A model folder, or the name of a shipped model: ``default`` or ``reading``, which is faster because it has
            no learned judge (default: ``default``). A folder with the name of a shipped model needs a path, such as
            ``./default``.
        mode : str
            ``fused`` combines the findings of rules with a learned judge. ``encoder`` computes the paper's cosine and
            needs a bi-encoder.
        threshold : float, optional
            The score above which a pair is valid (default: the model's own threshold).
        threads : int, optional
            The number of threads for the model (default: one per core). Scores do not depend on this number.
        skip : bool
            If True, do not ask the judge about pairs whose findings already decide the verdict. At the default
            threshold and above, such pairs are invalid even if the judge is asked, but their scores differ. If you use
            a lower threshold, pass False so that the judge's answer counts for every pair.
        judge : {"small", "cascade", "large"}, optional
            ``small`` uses only the small judge. ``cascade`` also asks the language-model judge about pairs of which the
            small judge is unsure. ``large`` asks it about every pair that the rules do not decide. The default is
            the environment variable ``PARAQD_JUDGE``. If it is not set, the default is ``cascade`` if the package of
            the language-model judge is installed and fits the model, otherwise ``small``.

        Raises
        ------
        ModelError
            If the folder does not contain a model that this version can use.
        ArgumentError
            If the threshold is not a number from -1 to 1.

        """
        if mode not in MODES:
            raise ModelError(f"unknown mode {mode!r}: choose {' or '.join(MODES)}")
        if threads is not None and threads < 1:
            raise ModelError(f"{threads} is not a valid number of threads: pass 1 or more")
        if judge is not None and judge not in JUDGES:
            raise ModelError(f"unknown judge {judge!r}: choose {', '.join(JUDGES[:-1])} or {JUDGES[-1]}")
        if judge is not None and mode == "encoder":
            raise ModelError(f"the mode encoder has no judge: leave out {named('judge', judge)}")
        folder = read_model_folder(DEFAULT_MODEL if model is None else model)
        method: Method
        used = ""
        if mode == "encoder":
            method, hashes = _cosine_method(folder, threads)
        else:
            method, hashes = _fused_method(folder, threads, skip=skip)
            used = _add_second_opinion(method, folder, folder.hash8(hashes), judge, threads)
        if threshold is None:
            threshold = threshold_of(folder.facts, folder.path)
        skip = skip or mode == "encoder" or folder.kind == "reading"  # without a judge there is nothing to skip
        return cls(
            name=folder.name,
            digest=folder.hash8(hashes),
            method=method,
            mode=mode,
            threshold=threshold,
            skip=skip,
            judge=used,
        )

    def score(self, question: str, paraphrase: str) -> Verdict:
        """Score one pair.

        Raises
        ------
        ArgumentError
            If the question is blank or a text is not a string.
        PairError
            If the pair cannot be scored because of a fault in the scorer.

        """
        pairs = [(question, paraphrase)]
        _check(pairs)
        [result] = self._begin(pairs)()
        if isinstance(result, PairError):
            raise result
        return result

    def score_pairs(self, pairs: Iterable[tuple[str, str]], *, progress: Progress = silent) -> list[Verdict]:
        """Score pairs. A pair's score does not depend on the other pairs.

        Raises
        ------
        ArgumentError
            If a question is blank or a text is not a string. In this case, no pair is scored.
        PairsError
            If some pairs cannot be scored because of a fault in the scorer. The error has the verdicts on the others.

        """
        pairs = list(pairs)
        _check(pairs)
        verdicts: list[Verdict | PairError] = []
        waiting: list[Callable[[], list[Verdict | PairError]]] = []
        for chunk in _chunks(pairs):
            waiting.append(self._begin(chunk))
            if len(waiting) > 1:  # the model judges one chunk while the next is read
                verdicts += waiting.pop(0)()
                progress("scoring", len(verdicts), len(pairs))
        for wait in waiting:
            verdicts += wait()
            progress("scoring", len(verdicts), len(pairs))
        return all_scored(verdicts)

    def begin(self, pairs: Sequence[tuple[str, str]]) -> Callable[[], list[Verdict]]:
        """Start scoring a few hundred pairs, and return a function that waits for the verdicts.

        The caller can do other work in the meantime, such as reading the next pairs from a file. If some pairs cannot
        be scored, the function raises a `PairsError` as `score_pairs` does.
        """
        _check(pairs)
        wait = self._begin(pairs)
        return lambda: all_scored(wait())

    def _begin(self, pairs: Sequence[tuple[str, str]]) -> Callable[[], list[Verdict | PairError]]:
        """Start scoring pairs. If that fails, score them one by one, so that a fault concerns a single pair."""
        waiting = _attempt(lambda: self._begin_together(pairs))

        def finish() -> list[Verdict | PairError]:
            found = waiting if isinstance(waiting, PairError) else _attempt(waiting)
            if not isinstance(found, PairError):
                return [*found]
            return [found] if len(pairs) == 1 else [each for pair in pairs for each in self._begin([pair])()]

        return finish

    def _begin_together(self, pairs: Sequence[tuple[str, str]]) -> Callable[[], list[Verdict]]:
        verdicts: dict[int, Verdict] = {}
        warned: dict[int, tuple[str, ...]] = {}
        for number, (question, paraphrase) in enumerate(pairs):
            if is_blank(paraphrase):
                verdicts[number] = self._terms.verdict(-1.0, (_blank_evidence(question),))
            elif self._same(question, paraphrase):
                verdicts[number] = self._terms.verdict(1.0)
            else:
                if warnings := text_warnings(question, paraphrase):
                    warned[number] = warnings
                if _different_scripts(question, paraphrase):
                    verdicts[number] = self._terms.verdict(-1.0, (_script_evidence(question, paraphrase),))
        others = [number for number in range(len(pairs)) if number not in verdicts]
        wait = self.method.begin([pairs[number] for number in others], self._terms) if others else list

        def finish() -> list[Verdict]:
            verdicts.update(zip(others, wait(), strict=True))
            for number, warnings in warned.items():
                verdicts[number] = replace(verdicts[number], warnings=(*warnings, *verdicts[number].warnings))
            return [verdicts[number] for number in range(len(pairs))]

        return finish

    def _same(self, question: str, paraphrase: str) -> bool:
        """Return True if two texts are the same text, so that they score 1.

        In mode ``encoder``, only white space is ignored, so that every other score is the paper's cosine.
        """
        return question.split() == paraphrase.split() if self.mode == "encoder" else same_text(question, paraphrase)


def _attempt(work: Callable[[], T]) -> T | PairError:
    """Return the result of some work, or the error if it fails. An unusable model is no error of a pair."""
    try:
        return work()
    except ModelError:
        raise
    except Exception as error:
        return PairError.because_of(error)


def _chunks(pairs: Sequence[tuple[str, str]]) -> Iterator[Sequence[tuple[str, str]]]:
    """Split pairs into chunks.

    The first and last chunks are small, so the model seldom waits for pairs to be read.

    >>> [len(chunk) for chunk in _chunks([("", "")] * 900)]
    [16, 32, 64, 128, 256, 202, 101, 50, 32, 19]
    >>> [len(chunk) for chunk in _chunks([("", "")] * 17)]
    [17]
    """
    start, size = 0, _FIRST_CHUNK
    while left := len(pairs) - start:
        taken = min(size, max(2 * _FIRST_CHUNK, left // 2))
        if left - taken < _FIRST_CHUNK:
            taken = left
        yield pairs[start : start + taken]
        start, size = start + taken, min(2 * size, _LARGEST_CHUNK)


def holds_scorer(name_or_folder: str | Path) -> bool:
    """Return True if a name or folder refers to a model for the mode ``fused``.

    >>> holds_scorer("default"), holds_scorer("all-MiniLM-L6-v2")
    (True, False)
    """
    try:
        return "fusion" in read_model_folder(name_or_folder).facts
    except ModelError:
        return False


def _fused_method(folder: ModelFolder, threads: int | None, *, skip: bool) -> tuple[FusedMethod, dict[str, str]]:
    """Return the scoring method of a fused model, and the hashes of the model's files."""
    if "fusion" not in folder.facts:
        hint = _HINTS.get(folder.kind, "")
        raise ModelError(
            f"{folder.path} does not hold a fused scorer: its paraqd.json has no weights for evidence{hint}"
        )
    fusion = Fusion.from_dict(folder.facts["fusion"])
    if folder.kind not in _JUDGES:
        raise ModelError(
            f"{folder.path} has a model of the kind {folder.kind!r}, which this version does not know: install the "
            "version of paraqd that wrote the model, or train the model again"
        )
    load_judge = _JUDGES[folder.kind]
    if load_judge is None:
        return FusedMethod(fusion), {}
    hashes = folder.verified_hashes()
    judge = load_judge(folder.path, threads=threads, kinds=folder.evidence_kinds, hashes=hashes)
    return FusedMethod(fusion, judge, skip=skip), hashes


def _add_second_opinion(
    method: FusedMethod, folder: ModelFolder, digest: str, wanted: str | None, threads: int | None
) -> str:
    """Add the language-model judge to a scoring method if it is wanted, and return its part of the signature."""
    if wanted is None and method.judge is not None:
        default = default_judge()
        # a model of one's own may have no larger judge, so the variable can only turn it off
        wanted = default if default == "small" or folder.path == DEFAULT_MODEL else None
    if wanted == "small" or (wanted is None and method.judge is None):
        return ""
    if method.judge is None:
        raise ModelError(f"the model {folder.name} has no judge: leave out {named('judge', wanted)}")
    found = load_second_opinion(folder, digest, wanted, threads)
    if found is None:
        return ""
    method.second, description = found
    return description


def _cosine_method(folder: ModelFolder, threads: int | None) -> tuple[CosineMethod, dict[str, str]]:
    """Return the scoring method of a bi-encoder, and the hashes of the model's files."""
    if folder.kind != "bi-encoder":
        raise ModelError(
            f"{folder.path} does not contain a bi-encoder, which the mode encoder needs; pass a model that paraqd "
            "lab train --recipe paper created"
        )
    hashes = folder.verified_hashes()
    return CosineMethod(BiEncoder(folder.path, threads=threads, hashes=hashes)), hashes


def _check(pairs: Sequence[tuple[object, object]]) -> None:
    for number, pair in enumerate(pairs, start=1):
        if isinstance(pair, str) or len(pair) != 2:
            raise ArgumentError(f"pair {number} is not of the form (question, paraphrase)")
        if problem := pair_problem(*pair, longest=None, unicode=False):
            raise ArgumentError(f"pair {number}: {problem}")


def _blank_evidence(question: str) -> Evidence:
    """Return the evidence against a blank paraphrase."""
    return Evidence(EvidenceKind.CONTENT_LOST, (_stripped(question),), (), "The paraphrase is blank.", -2.0)


def _different_scripts(question: str, paraphrase: str) -> bool:
    """Return True if one text is mostly in Latin letters and the other is mostly in other letters."""
    if question.isascii() and paraphrase.isascii():
        return False
    shares = [latin_share(remove_markup(text).text) for text in (question, paraphrase)]
    return max(shares) >= _MOSTLY_LATIN and min(shares) <= _HARDLY_LATIN


def _script_evidence(question: str, paraphrase: str) -> Evidence:
    message = "The original and the paraphrase use different writing systems."
    return Evidence(EvidenceKind.INCOHERENT, (_stripped(question),), (_stripped(paraphrase),), message, -2.0)


def _stripped(text: str) -> tuple[int, int]:
    """Return the span of a text without leading and trailing white space."""
    return len(text) - len(text.lstrip()), len(text.rstrip())
