"""Read scores for ``paraqd evaluate`` from files, compute them with models, and write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paraqd.data.pairs import Pair
    from paraqd.data.tables import Columns
    from paraqd.evaluation.report import Scored
    from paraqd.progress import Progress

SCORE = "score"
DEFAULT_SCORER = "default"
_FIRST, _SECOND = "--model", "--compare"
# the columns of a file of scores
SCHEMA: Mapping[str, type] = {
    "id": str,
    "question": str,
    "paraphrase": str,
    "label": int,
    "score": float,
    "signature": str,
}
_TAKES = "--compare needs a file of scores (write one with paraqd evaluate --scores-out) or a model"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Options for reading files.

    If ``score_column`` is None, scores are read from the column ``score`` if that column exists.
    """

    columns: Columns
    encoding: str | None
    score_column: str | None
    threshold: float


@dataclass(frozen=True, kw_only=True)
class Found:
    """The scores that were found in files, and the models that compute the other scores.

    ``models`` is keyed by the option that names the model. ``given`` contains the names of the two methods as written
    on the command line. ``implied`` is the model that is used because no option names a model, or an empty string.
    """

    scored: Scored | None
    other: Scored | None
    models: Mapping[str, str]
    given: tuple[str, str]
    implied: str


@dataclass(frozen=True)
class Model:
    """A loaded model and the signature of its scores."""

    name: str
    signature: str
    score: Callable[[list[tuple[str, str]], Progress], list[float]]


def columns_of(source: str, question: str | None, paraphrase: str | None, label: str | None) -> Columns:
    """Return the column names from the command line.

    The defaults are the data set's own names or, for a file, the usual names.
    """
    from dataclasses import replace

    from paraqd.data.datasets import DATASETS
    from paraqd.data.tables import DEFAULT_COLUMNS

    base = DATASETS[source].columns if source in DATASETS else DEFAULT_COLUMNS
    given = {"question": question, "paraphrase": paraphrase, "label": label}
    return replace(base, **{role: name for role, name in given.items() if name is not None})


def names_a_model(text: str) -> bool:
    """Return True if ``--compare`` names a model, and False if it names a file.

    Raise an EvaluationError if there is no such model or file.
    """
    from paraqd.data.formats import is_known
    from paraqd.evaluation.errors import EvaluationError
    from paraqd.generators.encoder import DEFAULT_ENCODER
    from paraqd.scoring.scorer import holds_scorer

    if text == DEFAULT_ENCODER or holds_scorer(text) or Path(text).expanduser().is_dir():
        return True
    if is_known(text) or Path(text).exists():
        return False
    raise EvaluationError(
        f"--compare {text}: there is no file or model with this name; pass a file of scores, "
        f"{DEFAULT_SCORER}, {DEFAULT_ENCODER} or a model folder"
    )


def inputs(source: str, compare: str | None, data_dir: str | None) -> list[str]:
    """Return the input files, which must not be overwritten, including a data set's file."""
    from paraqd.data.datasets import DATASETS, state

    found = [source, *filter(None, [compare])]
    if source in DATASETS and (path := state(source, data_dir).path) is not None:
        found.append(str(path))
    return found


def find_scores(
    source: str, pairs: Sequence[Pair], reading: Reading, *, model: str | None, compare: str | None
) -> Found:
    """Read scores from files, and determine the models that compute the other scores."""
    by_model = compare is not None and names_a_model(compare)
    scored = scored_in(source, pairs, reading)
    other = scored_elsewhere(compare, source, pairs, reading) if compare is not None and not by_model else None
    models: dict[str, str] = {}
    if scored is None:
        models[_FIRST] = model or DEFAULT_SCORER
    if compare is not None and by_model:
        models[_SECOND] = compare
    return Found(
        scored=scored,
        other=other,
        models=models,
        given=(model or source, compare or ""),
        implied=DEFAULT_SCORER if scored is None and model is None else "",
    )


def load_models(found: Found, *, device: str | None, threshold: float) -> dict[str, Model]:
    """Load all models before the work begins, so a wrong name or device is reported immediately."""
    return {option: _load(name, option, device, threshold) for option, name in found.models.items()}


def make_scores(
    found: Found, models: Mapping[str, Model], pairs: Sequence[Pair], *, progress: Progress
) -> tuple[Scored, Scored | None]:
    """Return the scores of both methods. Models compute the scores that are not in a file."""
    from dataclasses import replace

    made = {option: _scored_by(model, pairs, progress) for option, model in models.items()}
    scored = found.scored or made[_FIRST]
    other = found.other or made.get(_SECOND)
    if other is not None and scored.name == other.name and found.given[0] != found.given[1]:
        # the paths from the command line distinguish files or models that have the same name in different folders
        return replace(scored, name=found.given[0]), replace(other, name=found.given[1])
    return scored, other


def _load(name_or_folder: str, option: str, device: str | None, threshold: float) -> Model:
    from paraqd.errors import ModelError
    from paraqd.evaluation.errors import EvaluationError
    from paraqd.generators.encoder import EncoderError, encoder_folder, load_encoder
    from paraqd.scoring.cosine import cosine_scores
    from paraqd.scoring.scorer import Scorer, holds_scorer
    from paraqd.scoring.signature import folder_hash, signature

    if holds_scorer(name_or_folder):
        try:
            scorer = Scorer.load(name_or_folder, threshold=threshold)
        except ModelError as error:
            raise EvaluationError(f"{option} {name_or_folder}: {error}") from None
        return Model(
            scorer.name,
            scorer.signature,
            lambda pairs, progress: [verdict.score for verdict in scorer.score_pairs(pairs, progress=progress)],
        )
    try:
        encoder = load_encoder(name_or_folder, device=device)
        digits = folder_hash(encoder_folder(name_or_folder))
    except (EncoderError, OSError) as error:
        raise EvaluationError(str(error).replace("--encoder", option)) from None
    return Model(
        encoder.name,
        signature(encoder.name, digits, "encoder", threshold),
        lambda pairs, progress: cosine_scores(encoder, pairs, progress=progress).tolist(),
    )


def _scored_by(model: Model, pairs: Sequence[Pair], progress: Progress) -> Scored:
    def named(stage: str, done: int, total: int | None, note: str = "", /) -> None:
        progress(f"{stage} with {model.name}", done, total, note)

    texts = [(pair.question, pair.paraphrase) for pair in pairs]
    return _scored(model.name, model.signature, pairs, model.score(texts, named))


def scored_in(source: str, pairs: Sequence[Pair], reading: Reading) -> Scored | None:
    """Return the scores that were read with the pairs, or None if any pair has no score."""
    scores = [pair.score for pair in pairs if pair.score is not None]
    if len(scores) < len(pairs):
        return None
    return _scored(Path(source).name, _signature(source, reading), pairs, scores)


def scored_elsewhere(path: str, source: str, pairs: Sequence[Pair], reading: Reading) -> Scored:
    """Read the scores from a second file, and return them in the order of the first file's pairs."""
    from paraqd.data.pairs import read_pairs
    from paraqd.data.tables import DEFAULT_COLUMNS, open_table
    from paraqd.evaluation.errors import EvaluationError

    columns, column = reading.columns, reading.score_column or SCORE
    if path != "-":
        there = open_table(path, encoding=reading.encoding).columns
        if reading.score_column is None and column not in there:
            raise EvaluationError(f"{path} has no column {column!r}: {_TAKES}")
        if not {columns.question, columns.paraphrase} <= set(there):
            columns = DEFAULT_COLUMNS
    others = read_pairs(
        path,
        columns=columns,
        encoding=reading.encoding,
        labelled=False,
        score_column=column,
        scored=True,
        contradictions=True,
    )
    found: dict[tuple[str, str], Pair] = {}
    labels: dict[tuple[str, str], set[int]] = {}
    for pair in others:
        if pair.label is not None:
            labels.setdefault((pair.question, pair.paraphrase), set()).add(pair.label)
        known = found.setdefault((pair.question, pair.paraphrase), pair)
        if known.score != pair.score:
            raise EvaluationError(f"{path}: rows {known.row} and {pair.row} have the same pair with different scores")
    texts = [(pair.question, pair.paraphrase) for pair in pairs]
    lost = [pair for pair, text in zip(pairs, texts, strict=True) if text not in found]
    more = set(found) - set(texts)
    if lost or more:
        first = f" (the first is row {lost[0].row})" if lost else ""
        raise EvaluationError(
            f"{path} does not have the same pairs as {source}: {len(lost):,} of {len(pairs):,} are missing{first}, "
            f"{len(more):,} are not in {source}"
        )
    for pair, text in zip(pairs, texts, strict=True):
        if text in labels and pair.label not in labels[text]:
            raise EvaluationError(
                f"row {pair.row} of {source} and row {found[text].row} of {path} have the same pair "
                "with different labels"
            )
    scores = [found[text].score or 0.0 for text in texts]
    return _scored(Path(path).name, _signature(path, reading), pairs, scores)


def write_scores(out: str, source: str, pairs: Sequence[Pair], scored: Scored, encoding: str | None) -> None:
    """Write the pairs with their scores, for use with ``--compare``.

    A CSV file has the same separator as the input file.
    """
    from paraqd.data.tables import Dialect, open_table
    from paraqd.data.writers import write_rows

    dialect = open_table(source, encoding=encoding).dialect if _is_file(source) else Dialect()
    rows = (
        {
            "id": pair.id,
            "question": pair.question,
            "paraphrase": pair.paraphrase,
            "label": pair.label,
            "score": score,
            "signature": scored.signature,
        }
        for pair, score in zip(pairs, scored.scores, strict=True)
    )
    write_rows(out, SCHEMA, rows, dialect=dialect)


def _scored(name: str, signature: str, pairs: Sequence[Pair], scores: Sequence[float]) -> Scored:
    from paraqd.evaluation.report import Scored

    operators = [pair.operator for pair in pairs]
    return Scored(
        name=name,
        signature=signature,
        labels=[pair.label or 0 for pair in pairs],
        scores=scores,
        groups=[pair.group or pair.question for pair in pairs],
        operators=operators if any(operators) else None,
    )


def _signature(source: str, reading: Reading) -> str:
    """Return the signature stored in a file of scores, with the current threshold.

    If the file has no signature, or more than one, return a signature that names the file.
    """
    from paraqd.data.tables import open_table
    from paraqd.version import __version__

    ending = f"|threshold:{reading.threshold:g}"
    if _is_file(source):
        table = open_table(source, encoding=reading.encoding)
        if "signature" in table.columns:
            own = {str(row.get("signature") or "") for row in table.rows(["signature"])}
            if len(own) == 1 and (only := own.pop()):
                return f"{only.rpartition('|threshold:')[0] or only}{ending}"
    return f"paraqd:{__version__}|scores:{Path(source).name}{ending}"


def _is_file(source: str) -> bool:
    """Return True if the source is a file, and False if it is a data set or standard input."""
    return source != "-" and Path(source).is_file()
