"""Compare the scores of a file's pairs with their labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from paraqd.errors import ModelError
from paraqd.evaluation.errors import EvaluationError
from paraqd.evaluation.report import Report, Scored, build_report
from paraqd.parameters import named
from paraqd.progress import Progress, silent
from paraqd.runs.evaluate_scores import (
    SCORE,
    ScoreFileOptions,
    scored_elsewhere,
    scored_in,
    scored_pairs,
    write_scores,
)
from paraqd.runs.run import Say, ignore
from paraqd.scoring.cosine import cosine_scores
from paraqd.scoring.scorer import Scorer, holds_scorer
from paraqd.scoring.signature import folder_hash, signature
from paraqd.scoring.torch_encoder import DEFAULT_ENCODER, EncoderError, encoder_folder, load_encoder
from paraqd.scoring.verdict import THRESHOLD
from paraqd.tables.datasets import DATASETS, columns_of, load_pairs, state
from paraqd.tables.formats import is_known
from paraqd.tables.pairs import Pair, both_classes
from paraqd.tables.table import Columns
from paraqd.tables.writers import check_outputs

DEFAULT_SCORER = "default"
_FIRST, _SECOND = "--model", "--compare"
_NO_COLUMN = "\0"  # no column can have this name


def evaluate_file(
    source: str | Path,
    *,
    model: str | Path | None = None,
    compare: str | Path | None = None,
    judge: str | None = None,
    threshold: float = THRESHOLD,
    intervals: bool = True,
    scores_out: str | Path | None = None,
    overwrite: bool = False,
    data_dir: str | Path | None = None,
    columns: Columns | None = None,
    score_column: str | None = None,
    encoding: str | None = None,
    device: str | None = None,
    say: Say = ignore,
    progress: Progress = silent,
) -> Report:
    r"""Compare the scores of labelled pairs with their labels.

    The scores are read from the column ``score`` if it exists. Otherwise, the default scorer or ``model`` scores the
    pairs. The score from an encoder such as all-MiniLM-L6-v2 is the cosine similarity.

    Parameters
    ----------
    source : str or Path
        Labelled pairs: a file, ``-`` for JSONL on standard input, or the name of a data set, such as ``aquarat``.
    model : str or Path, optional
        Score the pairs with this model: ``default``, the name of an encoder, or a model folder. Scores in the file are
        ignored.
    compare : str or Path, optional
        A second file of scores for the same pairs, or a second model to compare.
    judge : str, optional
        ``small``, ``cascade`` or ``large``, as in `Scorer.load`. It applies to ``model`` and ``compare``, but not to
        encoders.
    threshold : float
        A pair is valid if its score is greater than this threshold.
    intervals : bool
        Calculate 95 % intervals by resampling the questions.
    scores_out : str or Path, optional
        A file for the pairs with their scores, which ``compare`` can read.
    overwrite : bool
        Replace an existing file of scores.
    data_dir : str or Path, optional
        The folder with the data sets.
    columns : Columns, optional
        The column names (default: the data set's own names or, for a file, the usual names).
    score_column : str, optional
        The column with the scores, which must exist (default: ``score``, if it exists).
    encoding : str, optional
        The encoding of all text files that are read (default: UTF-8).
    device : str, optional
        The device for an encoder, such as ``cpu`` or ``cuda``.
    say : callable, optional
        A function that is called with a one-line message if the pairs are scored because the file has no scores.
    progress : Progress
        A function that is called with the stage, the number of finished steps and the total number of steps.

    Returns
    -------
    Report
        The metrics, with intervals, calibration and, if ``compare`` is passed, the comparison.

    Raises
    ------
    TableError
        If a file cannot be read or written.
    OutputExistsError
        If ``scores_out`` is an input, or exists and ``overwrite`` is False.
    EvaluationError
        If the labels or scores cannot be evaluated, or a model cannot be loaded.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "scored.csv"
    >>> _ = file.write_text("question,paraphrase,label,score\nHow many?,How much?,1,0.9\nHow many?,Why?,0,-0.3\n")
    >>> report = evaluate_file(file, intervals=False)
    >>> report.metrics.n, report.metrics.accuracy, report.metrics.auc
    (2, 1.0, 1.0)

    """
    source, second = str(source), None if compare is None else str(compare)
    if source == "-" == second:
        raise EvaluationError("standard input can be read only once; pass a file to --compare")
    if scores_out is not None:
        check_outputs([scores_out], _inputs(source, second, data_dir), overwrite=overwrite)
    columns = columns or columns_of(source)
    options = ScoreFileOptions(columns=columns, encoding=encoding, score_column=score_column, threshold=threshold)
    pairs = load_pairs(
        source,
        data_dir=data_dir,
        columns=columns,
        encoding=encoding,
        # the scores in the file are not used if a model is named, so errors in them do not matter
        score_column=(score_column or SCORE) if model is None else _NO_COLUMN,
        scored=score_column is not None and model is None,
    )
    both_classes(pairs, source)
    by_model = second is not None and _names_model(second)
    scored, other = scored_in(source, pairs, options), None
    if second is not None and not by_model:
        other = scored_elsewhere(second, source, pairs, options)
    names = {_FIRST: str(model or DEFAULT_SCORER)} if scored is None else {}
    if second is not None and by_model:
        names[_SECOND] = second
    if judge is not None and not any(map(holds_scorer, names.values())):
        raise EvaluationError(
            f"{named('judge', judge)} has no effect, because no pair is scored by a model with a judge"
        )
    models = {option: _load(name, option, pairs, device, threshold, judge) for option, name in names.items()}
    if scored is None and model is None:
        say(f"there is no column {SCORE!r}, so the pairs are scored with the model {DEFAULT_SCORER}")
    scored = scored or models[_FIRST](progress)
    if by_model:
        other = models[_SECOND](progress)
    given = str(model or source)
    if other is not None and second is not None and scored.name == other.name and given != second:
        # the paths that the caller passed distinguish files or models that have the same name in different folders
        scored, other = replace(scored, name=given), replace(other, name=second)
    if scores_out is not None:  # write the scores now, so that a later error does not lose them
        write_scores(scores_out, source, pairs, scored, encoding)
    return build_report(scored, threshold=threshold, other=other, intervals=intervals, progress=progress)


def _inputs(source: str, compare: str | None, data_dir: str | Path | None) -> list[str]:
    """Return the input files, which must not be overwritten, including a data set's file."""
    found = [source, *filter(None, [compare])]
    if source in DATASETS and (path := state(source, data_dir).path) is not None:
        found.append(str(path))
    return found


def _names_model(text: str) -> bool:
    """Return True if ``compare`` names a model, and False if it names a file.

    Raise an EvaluationError if there is no such model or file.
    """
    if text == DEFAULT_ENCODER or holds_scorer(text) or Path(text).expanduser().is_dir():
        return True
    if is_known(text) or Path(text).exists():
        return False
    raise EvaluationError(
        f"--compare {text}: there is no file or model with this name; pass a file of scores, "
        f"{DEFAULT_SCORER}, {DEFAULT_ENCODER} or a model folder"
    )


def _load(
    name_or_folder: str,
    option: str,
    pairs: Sequence[Pair],
    device: str | None,
    threshold: float,
    judge: str | None,
) -> Callable[[Progress], Scored]:
    """Load a model, and return a function that scores the pairs with the model. An encoder has no ``judge``.

    All models are loaded before the first pair is scored, so a wrong name or device is reported immediately.
    """
    texts = [(pair.question, pair.paraphrase) for pair in pairs]
    if holds_scorer(name_or_folder):
        try:
            scorer = Scorer.load(name_or_folder, threshold=threshold, judge=judge)
        except ModelError as error:
            raise EvaluationError(f"{option} {name_or_folder}: {error}") from None

        def score(progress: Progress) -> Scored:
            verdicts = scorer.score_pairs(texts, progress=_naming(scorer.name, progress))
            return scored_pairs(scorer.name, scorer.signature, pairs, [verdict.score for verdict in verdicts])

        return score
    try:
        encoder = load_encoder(name_or_folder, device=device)
        digits = folder_hash(encoder_folder(name_or_folder))
    except (EncoderError, OSError) as error:
        raise EvaluationError(str(error).replace("--encoder", option)) from None

    def encode(progress: Progress) -> Scored:
        cosines = cosine_scores(encoder, texts, progress=_naming(encoder.name, progress)).tolist()
        return scored_pairs(encoder.name, signature(encoder.name, digits, "encoder", threshold), pairs, cosines)

    return encode


def _naming(name: str, progress: Progress) -> Progress:
    """Return a progress callback that adds the model's name to the stage."""

    def named(stage: str, done: int, total: int | None, note: str = "", /) -> None:
        progress(f"{stage} with {name}", done, total, note)

    return named
