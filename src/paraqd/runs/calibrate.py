"""Suggest a threshold and a band for review from the decisions in scored files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paraqd.errors import ArgumentError
from paraqd.evaluation.suggestion import RIGHT, Suggestion, suggest
from paraqd.parameters import named
from paraqd.runs.decide_columns import SCORE, ScoreGroup, groups_in, score_in
from paraqd.runs.score_rows import DECISION, PARAPHRASE_COLUMN
from paraqd.scoring.signature import decided_again, parts_of
from paraqd.scoring.verdict import THRESHOLD
from paraqd.tables.formats import TableError
from paraqd.tables.rows import numbered
from paraqd.tables.table import DEFAULT_COLUMNS, Columns, Table, open_table

ACCEPT = frozenset("1 1.0 true yes y ok accept accepted approve approved valid keep good right correct".split())
REJECT = frozenset("0 0.0 false no n reject rejected refuse refused invalid drop bad wrong incorrect".split())
UNDECIDED = frozenset(("", "open", "none", "review", "disputed", "skip", "skipped", "unsure", "?", "-"))
# the columns in which decisions are looked for, in this order
NAMES = ("label", "status", "accepted", DECISION)


@dataclass(frozen=True)
class CalibrationReport:
    """A suggestion and the decisions from which it comes.

    ``columns`` are the columns with the decisions. ``undecided`` is the number of pairs without a decision,
    ``disputed`` the number of pairs with contradictory decisions, ``repeated`` the number of further copies of a pair,
    and ``unscored`` the number of decided pairs without a score. None of these pairs count.
    """

    sources: tuple[str, ...]
    columns: tuple[str, ...]
    suggestion: Suggestion
    undecided: int = 0
    disputed: int = 0
    repeated: int = 0
    unscored: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a JSON-serialisable dictionary."""
        return {
            "sources": list(self.sources),
            "columns": list(self.columns),
            **self.suggestion.to_dict(),
            "undecided": self.undecided,
            "disputed": self.disputed,
            "repeated": self.repeated,
            "unscored": self.unscored,
        }


def calibrate_file(
    sources: str | Path | Sequence[str | Path],
    *,
    label_columns: str | Sequence[str] = (),
    score_column: str = SCORE,
    columns: Columns = DEFAULT_COLUMNS,
    threshold: float | None = None,
    right: float = RIGHT,
    encoding: str | None = None,
) -> CalibrationReport:
    r"""Suggest a threshold and a band for review from decisions on scored pairs.

    Parameters
    ----------
    sources : str, Path or sequence of these
        One or several scored files with a column of decisions.
    label_columns : str or sequence of str
        The columns with the decisions (1 or 0, accept or reject, yes or no, and similar words). With several columns,
        such as one for each reviewer, pairs on which they differ do not count (default: the first of ``label``,
        ``status``, ``accepted`` and ``decision``).
    score_column : str
        The column with the scores.
    columns : Columns
        The columns with the question and the paraphrase. Files without them can be used, but then copies of a pair
        count as several pairs.
    threshold : float, optional
        The current threshold (default: the threshold in the signature, or 0.5).
    right : float
        The share of the pairs outside the band that should be right.
    encoding : str, optional
        The encoding of text files that are not UTF-8.

    Raises
    ------
    TableError, ArgumentError
        If a file or a setting cannot be used.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "decided.csv"
    >>> rows = ["0.95,accept", "0.7,reject", "-0.8,reject"] * 20
    >>> _ = file.write_text("\n".join(["score,label", *rows]))
    >>> found = calibrate_file(file).suggestion
    >>> found.threshold > 0.5, round(found.right_before, 2), found.right_after
    (True, 0.67, 1.0)

    """
    if threshold is not None and not -1 <= threshold <= 1:  # this condition also rejects NaN
        raise ArgumentError(f"the threshold must be a number from -1 to 1, not {threshold}")
    if not 0.5 < right < 1:
        raise ArgumentError(f"{named('right', right)}: choose a share between 0.5 and 1, such as 0.95")
    files = [sources] if isinstance(sources, str | Path) else list(sources)
    if not files:
        raise ArgumentError("there is no file with decisions: pass at least one")
    wanted = [label_columns] if isinstance(label_columns, str) else list(label_columns)
    found = _Decisions()
    used: dict[str, None] = {}
    for file in files:
        table = open_table(file, encoding=encoding)
        groups = groups_in(table, table.written_as(score_column))
        texts = table.written_as(columns.question), table.written_as(columns.paraphrase)
        labels = {group: _label_columns(table, group, wanted) for group in groups}
        if not any(labels.values()):
            raise TableError(_no_decisions(table, wanted))
        for names in labels.values():
            used |= dict.fromkeys(names)
        for number, row in numbered(table.rows()):
            for group, names in labels.items():
                if names:
                    found.add(row, group, names, texts, f"{table.name}, row {number}")
    given = ", ".join(str(file) for file in files)
    if not found.pairs:
        raise TableError(f"{given} has no decided pair with a score: fill in the column {next(iter(used))!r} first")
    found.check_models(given)
    current = found.threshold(given) if threshold is None else threshold
    pairs = list(found.pairs.values())
    suggestion = suggest(
        [pair.score for pair in pairs],
        [pair.accepted for pair in pairs],
        right=right,
        current=current,
        groups=[pair.question for pair in pairs],
    )
    return CalibrationReport(
        tuple(str(file) for file in files),
        tuple(used),
        suggestion,
        found.undecided,
        len(found.disputed),
        found.repeated,
        found.unscored,
    )


@dataclass(frozen=True)
class _Pair:
    question: str
    score: float
    accepted: bool


@dataclass
class _Decisions:
    """The decided pairs, each once."""

    pairs: dict[tuple[str, ...], _Pair] = field(default_factory=dict)
    disputed: set[tuple[str, ...]] = field(default_factory=set)
    undecided: int = 0
    repeated: int = 0
    unscored: int = 0
    _models: set[str] = field(default_factory=set)
    _thresholds: set[str] = field(default_factory=set)

    def add(
        self, row: Mapping[str, Any], group: ScoreGroup, names: Sequence[str], texts: tuple[str, str], where: str
    ) -> None:
        """Add the decision on a pair.

        ``names`` are the columns with the decisions, ``texts`` are the columns with the question and the paraphrase,
        and ``where`` names the row in messages.
        """
        decisions = {decision for name in names if (decision := accepted_in(row.get(name), name, where)) is not None}
        if not decisions:
            self.undecided += 1
            return
        score, _ = score_in(row, group)
        if score is None:
            self.unscored += 1
            return
        if line := str(row.get("signature") or ""):
            self._models.add(decided_again(line, THRESHOLD))
            self._thresholds.add(parts_of(line).get("threshold", ""))
        question, paraphrase = row.get(texts[0]), row.get(_paraphrase_column(row, group, texts[1]))
        known = question is not None and (paraphrase is not None or group.wide)
        key = (str(question), str(paraphrase)) if known else (where, group.score)
        pair = _Pair(str(question) if question is not None else where, score, True in decisions)
        if key in self.disputed:
            return
        before = self.pairs.get(key)
        if len(decisions) > 1 or (before is not None and before.accepted != pair.accepted):
            self.disputed.add(key)
            self.pairs.pop(key, None)
        elif before is not None:
            self.repeated += 1
        else:
            self.pairs[key] = pair

    def check_models(self, given: str) -> None:
        """Raise an ArgumentError if the scores come from several models."""
        if len(self._models) > 1:
            raise ArgumentError(f"{given}: the scores come from several models; calibrate each model by itself")

    def threshold(self, given: str) -> float:
        """Return the threshold of the scores; raise an ArgumentError if there are several."""
        if len(self._thresholds) > 1:
            raise ArgumentError(
                f"{given}: the files have several thresholds; pass the current one with {named('threshold', 'T')}"
            )
        try:
            return float(next(iter(self._thresholds), "") or THRESHOLD)
        except ValueError:
            return THRESHOLD


def _paraphrase_column(row: Mapping[str, Any], group: ScoreGroup, default: str) -> str:
    """Return the column that contains the paraphrase of a scored row."""
    if group.wide:
        return group.score.removesuffix(f"_{SCORE}")
    named_in_row = str(row.get(PARAPHRASE_COLUMN) or "")
    return named_in_row if named_in_row in row else default


def accepted_in(value: object, column: str, where: str) -> bool | None:
    """Return True if a cell accepts the pair, False if it rejects the pair, and None if it is undecided.

    >>> [accepted_in(value, "label", "row 1") for value in ("Accepted", 0, True, "no", None, " ")]
    [True, False, True, False, None, None]
    """
    text = "" if value is None else str(value).strip().casefold()
    if text in ACCEPT:
        return True
    if text in REJECT:
        return False
    if text in UNDECIDED:
        return None
    raise TableError(
        f"{where}: {value!r} in the column {column!r} is not a decision; write accept or reject, 1 or 0, or nothing"
    )


def _label_columns(table: Table, group: ScoreGroup, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the columns with the decisions about the pairs of one score."""
    stem = group.score.removesuffix(SCORE) if group.wide else ""
    if wanted:
        names = [table.written_as(f"{stem}{name}") for name in wanted]
        return tuple(name for name in names if name in table.columns)
    return tuple(name for name in _default_columns(table, group, stem))[:1]


def _default_columns(table: Table, group: ScoreGroup, stem: str) -> Iterator[str]:
    for name in NAMES:
        found = table.written_as(f"{stem}{name}")
        # a decision that scoring wrote is not a person's
        if found in table.columns and not (found == group.decision and (group.wide or group.valid in table.columns)):
            yield found


def _no_decisions(table: Table, wanted: Sequence[str]) -> str:
    wide = next((name for name in table.columns if name.endswith(f"_{SCORE}")), None)
    if wide is not None and SCORE not in table.columns:
        needed = wide.removesuffix(SCORE) + (wanted[0] if wanted else NAMES[0])
        return (
            f"{table.name} has scores for several paraphrases per row, so each needs its own column with decisions, "
            f"such as {needed!r}"
        )
    if wanted:
        return f"{table.name} has no column {wanted[0]!r} (it has: {', '.join(table.columns)})"
    return (
        f"{table.name} has no column with a person's decisions: add a column {NAMES[0]!r} with accept or reject, or "
        f"name the column with {named('label', 'NAME')}"
    )
