"""Tell whether a single question is solvable: whether it has all that a solver needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from paraqd.errors import ArgumentError, ModelError
from paraqd.judge_package import SOLVABLE
from paraqd.model_folder import PACKED_FILE, SOLVABLE_MODEL, ModelFolder, read_model_folder
from paraqd.parameters import named
from paraqd.progress import Progress, silent
from paraqd.scoring.evidence.finding import as_sentence
from paraqd.scoring.fusion import checked_number
from paraqd.scoring.judge.finding import merged_spans, quote_all
from paraqd.scoring.judge.installed import installed_model, required_model
from paraqd.scoring.judge.language_model import LanguageTextModel
from paraqd.scoring.judge.pair_tokens import replace_surrogates
from paraqd.scoring.judge.single_text import SingleTextJudge, TextJudgement
from paraqd.scoring.markup import PlainText, remove_markup
from paraqd.scoring.second_opinion import default_judge
from paraqd.scoring.signature import signature
from paraqd.scoring.text_warnings import single_text_warnings
from paraqd.scoring.verdict import Span, score_of_log_odds, threshold_of
from paraqd.text_check import text_problem

SMALL, LARGE = SIZES = ("small", "large")  # the models to choose from
_CHUNK = 256  # texts that are judged together


class QuestionFault(StrEnum):
    """The kind of fault that makes a question unsolvable. Other programs rely on the values."""

    QUESTION_MISSING = "question_missing"
    NUMBER_MISSING = "number_missing"  # includes a vague word where a number belongs
    REFERENCE_DANGLING = "reference_dangling"  # the text mentions something that nobody introduced
    CUT_OFF = "cut_off"
    FACT_MISSING = "fact_missing"  # a needed fact that is not a number
    INCOHERENT = "incoherent"


_MESSAGES = {
    QuestionFault.QUESTION_MISSING: "The text does not seem to ask for anything",
    QuestionFault.NUMBER_MISSING: "A number that a solver needs may be missing or vague",
    QuestionFault.REFERENCE_DANGLING: "The text may refer to somebody or something that it does not introduce",
    QuestionFault.CUT_OFF: "The text may be cut off",
    QuestionFault.FACT_MISSING: "A fact that a solver needs may be missing",
    QuestionFault.INCOHERENT: "Some words may not make sense",
}


@dataclass(frozen=True, slots=True)
class QuestionEvidence:
    """A reason why a question is not solvable.

    Attributes
    ----------
    kind : QuestionFault
        The kind of fault.
    spans : tuple of (start, end)
        The positions of the words at fault, in code points. Empty if the fault is something missing.
    message : str
        A sentence that explains the fault to a person.

    """

    kind: QuestionFault
    spans: tuple[Span, ...]
    message: str

    def to_dict(self) -> dict[str, Any]:
        """Return the evidence as a JSON-serialisable dictionary, as in files."""
        return {**asdict(self), "kind": self.kind.value}


@dataclass(frozen=True, slots=True)
class Solvability:
    """The verdict on a single question.

    Attributes
    ----------
    score : float
        A number from -1 to 1. 0.5 means undecided, and a higher score is the probability that the question is solvable.
    solvable : bool
        True if the score is above the threshold.
    evidence : tuple of QuestionEvidence
        The most likely fault. Empty if the question is solvable.
    signature : str
        One line that names the model and the settings.
    warnings : tuple of str
        Sentences about the text: it is not in English, or it is so long that the model reads it in parts.

    """

    score: float
    solvable: bool
    evidence: tuple[QuestionEvidence, ...]
    signature: str
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as a JSON-serialisable dictionary."""
        return {
            "score": self.score,
            "solvable": self.solvable,
            "evidence": [piece.to_dict() for piece in self.evidence],
            "warnings": list(self.warnings),
            "signature": self.signature,
        }


class SolvableChecker:
    """A thread-safe model that tells whether questions are solvable.

    Load a checker with `SolvableChecker.load`.

    Attributes
    ----------
    name : str
        The name of the model.
    threshold : float
        The score above which a question is solvable.
    signature : str
        One line that names the model and the settings.

    Examples
    --------
    >>> checker = SolvableChecker.load()
    >>> checker.check("Ann sells 48 rolls in bags of 6. How many bags does she need?").solvable
    True
    >>> found = checker.check("Ann sells 48 rolls in bags of some size. How many bags does she need?")
    >>> found.solvable, found.evidence[0].kind.value
    (False, 'number_missing')

    """

    def __init__(
        self,
        judge: SingleTextJudge,
        *,
        name: str,
        digest: str,
        kinds: Sequence[QuestionFault],
        calibration: tuple[float, float],
        threshold: float,
    ) -> None:
        if not -1 <= threshold <= 1:
            raise ArgumentError(f"the threshold must be a number from -1 to 1, not {threshold}")
        self.name = name
        self.threshold = threshold
        self.signature = signature(name, digest, SOLVABLE_MODEL, threshold)
        self._judge, self._kinds = judge, tuple(kinds)
        self._scale, self._offset = calibration

    @classmethod
    def load(
        cls,
        model: str | Path = SOLVABLE_MODEL,
        *,
        judge: str | None = None,
        threshold: float | None = None,
        threads: int | None = None,
    ) -> SolvableChecker:
        """Load the large model if its package is installed, the small model of this package, or another model.

        Parameters
        ----------
        model : str or Path
            ``solvable``, or the folder of another model.
        judge : {"small", "large"}, optional
            The model of this package, or that of the package ``paraqd-solvable-lm``. By default, the large model is
            used if it is installed, unless the environment variable ``PARAQD_JUDGE`` is ``small``.
        threshold : float, optional
            The score above which a question is solvable (default: the model's own threshold).
        threads : int, optional
            The number of threads for the model (default: one per core). Scores do not depend on this number.

        Raises
        ------
        ModelError
            If the folder does not contain a model that this version can use, or if the package is not installed.
        ArgumentError
            If the threshold is not a number from -1 to 1, or if ``judge`` is passed for a model in a folder.

        """
        if threads is not None and threads < 1:
            raise ModelError(f"{threads} is not a valid number of threads: pass 1 or more")
        folder = _folder_of(model, judge)
        if folder.kind != SOLVABLE_MODEL:
            raise ModelError(
                f"{folder.path} does not hold a model for single questions: pass {SOLVABLE_MODEL}, or a model that was "
                "trained with paraqd lab train --recipe solvable"
            )
        kinds, calibration = _known_kinds(folder), _calibration(folder)
        hashes = folder.verified_hashes()
        kind = LanguageTextModel if PACKED_FILE in folder.files else SingleTextJudge
        return cls(
            kind(folder.path, kinds=len(kinds), threads=threads, hashes=hashes),
            name=folder.name,
            digest=folder.hash8(hashes),
            kinds=kinds,
            calibration=calibration,
            threshold=threshold_of(folder.facts, folder.path) if threshold is None else threshold,
        )

    def check(self, text: str) -> Solvability:
        """Check one question.

        Raises
        ------
        ArgumentError
            If the text is blank or not a string.

        """
        return self.check_texts([text])[0]

    def check_texts(self, texts: Iterable[str], *, progress: Progress = silent) -> list[Solvability]:
        """Check questions. A question's score does not depend on the other questions.

        Raises
        ------
        ArgumentError
            If a text is blank or not a string. In this case, no text is checked.

        """
        if isinstance(texts, str):
            raise ArgumentError("texts is a single string: pass a list of questions, or call check")
        texts = list(texts)
        for number, text in enumerate(texts, start=1):
            if problem := text_problem(text, "question"):
                raise ArgumentError(f"question {number}: {problem}")
        found: list[Solvability] = []
        waiting: list[Callable[[], list[Solvability]]] = []
        for start in range(0, len(texts), _CHUNK):
            waiting.append(self._begin(texts[start : start + _CHUNK]))
            if len(waiting) > 1:  # the model judges one chunk while the next is tokenised
                found += waiting.pop(0)()
                progress("checking", len(found), len(texts))
        for wait in waiting:
            found += wait()
            progress("checking", len(found), len(texts))
        return found

    def _begin(self, texts: Sequence[str]) -> Callable[[], list[Solvability]]:
        plain = [remove_markup(replace_surrogates(text)) for text in texts]
        wait = self._judge.begin([each.text for each in plain])
        return lambda: [self._verdict(*each) for each in zip(texts, plain, wait(), strict=True)]

    def _verdict(self, text: str, plain: PlainText, judgement: TextJudgement) -> Solvability:
        score = score_of_log_odds(self._scale * judgement.log_odds + self._offset)
        solvable = score > self.threshold
        warnings = single_text_warnings(text)
        if judgement.windows > 1:
            warnings += (
                f"The text is long, so the model read it in {judgement.windows} parts. The score is less certain.",
            )
        evidence = () if solvable else (self._evidence(plain, judgement),)
        return Solvability(score, solvable, evidence, self.signature, warnings)

    def _evidence(self, plain: PlainText, judgement: TextJudgement) -> QuestionEvidence:
        kind = self._kinds[judgement.kind]
        # if nothing is asked, no words are at fault
        spans = () if kind is QuestionFault.QUESTION_MISSING else merged_spans(plain.text, judgement.places)
        where = f": {quote_all(plain.text, spans)}" if spans else ""
        return QuestionEvidence(kind, plain.original_spans(spans), as_sentence(f"{_MESSAGES[kind]}{where}"))


def _folder_of(model: str | Path, judge: str | None) -> ModelFolder:
    """Return the folder of the model that is wanted."""
    if model != SOLVABLE_MODEL:
        if judge is not None:
            raise ArgumentError(
                f"{named('judge', judge)} chooses between paraqd's own models: leave it out for {model}"
            )
        return read_model_folder(model)
    if judge not in (None, *SIZES):
        raise ArgumentError(f"unknown judge {judge!r}: choose {' or '.join(SIZES)}")
    if judge == LARGE:
        return required_model(SOLVABLE)
    wanted = default_judge() if judge is None else judge
    installed = None if wanted == SMALL else installed_model(SOLVABLE)
    return installed or read_model_folder(SOLVABLE_MODEL)


def _known_kinds(folder: ModelFolder) -> tuple[QuestionFault, ...]:
    unknown = [kind for kind in folder.evidence_kinds if kind not in set(QuestionFault)]
    if unknown:
        raise ModelError(
            f"{folder.path} names the kind of fault {unknown[0]!r}, which this version does not know: install the "
            "version of paraqd that wrote the model, or train the model again"
        )
    return tuple(map(QuestionFault, folder.evidence_kinds))


def _calibration(folder: ModelFolder) -> tuple[float, float]:
    """Return the scale and the offset that turn the model's log-odds into calibrated log-odds."""
    try:
        given = folder.facts["calibration"]
        found = checked_number(given["scale"]), checked_number(given["offset"])
    except (KeyError, TypeError, OverflowError):
        found = math.nan, math.nan
    if not all(map(math.isfinite, found)):
        raise ModelError(
            f"{folder.path}: the calibration in paraqd.json is not a scale and an offset; install or train the model "
            "again"
        )
    return found
