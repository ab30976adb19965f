"""Read the scores of pairs from files, and write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from paraqd.evaluation.errors import EvaluationError
from paraqd.evaluation.report import Scored
from paraqd.scoring.signature import decided_again
from paraqd.tables.pairs import Pair, read_pairs
from paraqd.tables.table import DEFAULT_COLUMNS, Columns, open_table
from paraqd.tables.writers import output_dialect, write_rows
from paraqd.version import __version__

SCORE = "score"
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
class ScoreFileOptions:
    """Options for reading files of scores.

    If ``score_column`` is None, scores are read from the column ``score`` if that column exists.
    """

    columns: Columns
    encoding: str | None
    score_column: str | None
    threshold: float


def scored_in(source: str, pairs: Sequence[Pair], options: ScoreFileOptions) -> Scored | None:
    """Return the scores that were read with the pairs, or None if any pair has no score."""
    scores = [pair.score for pair in pairs if pair.score is not None]
    if len(scores) < len(pairs):
        return None
    return scored_pairs(Path(source).name, _signature(source, options), pairs, scores)


def scored_elsewhere(path: str, source: str, pairs: Sequence[Pair], options: ScoreFileOptions) -> Scored:
    """Read the scores from a second file, and return them in the order of the first file's pairs."""
    columns, column = options.columns, options.score_column or SCORE
    if path != "-":
        there = open_table(path, encoding=options.encoding).columns
        if options.score_column is None and column not in there:
            raise EvaluationError(f"{path} has no column {column!r}: {_TAKES}")
        if not {columns.question, columns.paraphrase} <= set(there):
            columns = DEFAULT_COLUMNS
    others = read_pairs(
        path,
        columns=columns,
        encoding=options.encoding,
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
    return scored_pairs(Path(path).name, _signature(path, options), pairs, scores)


def write_scores(out: str | Path, source: str, pairs: Sequence[Pair], scored: Scored, encoding: str | None) -> None:
    """Write the pairs with their scores, for use with ``--compare``.

    A CSV file has the same separator as the input file.
    """
    dialect = output_dialect(open_table(source, encoding=encoding) if _is_file(source) else None)
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


def scored_pairs(name: str, signature: str, pairs: Sequence[Pair], scores: Sequence[float]) -> Scored:
    """Combine the pairs' labels, questions and operators with the scores of one method."""
    operators = [pair.operator for pair in pairs]
    return Scored(
        name=name,
        signature=signature,
        labels=[pair.label or 0 for pair in pairs],
        scores=scores,
        groups=[pair.group or pair.question for pair in pairs],
        operators=operators if any(operators) else None,
    )


def _signature(source: str, options: ScoreFileOptions) -> str:
    """Return the signature stored in a file of scores, with the current threshold.

    If the file has no signature, or more than one, return a signature that names the file.
    """
    ending = f"|threshold:{options.threshold:g}"
    if _is_file(source):
        table = open_table(source, encoding=options.encoding)
        if "signature" in table.columns:
            own = {str(row.get("signature") or "") for row in table.rows(["signature"])}
            if len(own) == 1 and (only := own.pop()):
                return decided_again(only, options.threshold)
    return f"paraqd:{__version__}|scores:{Path(source).name}{ending}"


def _is_file(source: str) -> bool:
    """Return True if the source is a file, and False if it is a data set or standard input."""
    return source != "-" and Path(source).is_file()
