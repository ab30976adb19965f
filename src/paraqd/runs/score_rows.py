"""Check which rows can be scored, score these rows, and count the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from paraqd.scoring.decisions import Band, decide
from paraqd.scoring.pair_errors import PairError, results_of
from paraqd.tables.pair_tables import PairColumns

if TYPE_CHECKING:
    from paraqd.scoring.verdict import Verdict
    from paraqd.tables.table import Columns, Row

# the columns that scoring adds, in order
ADDED: Mapping[str, type] = {
    "score": float,
    "valid": bool,
    "evidence": str,
    "warnings": str,
    "error": str,
    "signature": str,
}
# a further column with the evidence and the warnings in sentences
WHY = "why"
# the column that says which column holds the paraphrase, if a row can have several paraphrases
PARAPHRASE_COLUMN = "paraphrase_column"
ADDED_WITH_WHY: Mapping[str, type] = {"score": float, "valid": bool, WHY: str, **ADDED}
DECISION = "decision"  # the column with the decision, which is added if pairs can be left for review
VERDICTS = ("valid", "invalid", "review")
RECORD = tuple(name for name in ADDED if name != "signature")  # the columns of a verdict in the parts of a run
CHUNK = 256  # the maximum number of rows that are scored together
CHUNK_CHARACTERS = 1 << 20  # a chunk ends early once its rows reach this number of characters
NAMED_ROWS = 1000  # the maximum number of unscored rows that a report lists one by one
_DECIMALS = 6
T = TypeVar("T")
Scored = list["Verdict | str"]  # a verdict or an error message for each pair of a row


class PairScorer(Protocol):
    """The part of the `Scorer` interface that runs use."""

    signature: str
    threshold: float

    def score(self, question: str, paraphrase: str) -> Verdict:
        """Score a pair, or raise a ValueError that explains why the pair cannot be scored."""

    def begin(self, pairs: Sequence[tuple[str, str]]) -> Callable[[], list[Verdict]]:
        """Start scoring pairs, and return a function that waits for the verdicts.

        Raise a ValueError if a pair cannot be scored.
        """


def in_chunks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield the rows in chunks of up to 256 rows. Chunks with long texts have fewer rows, to limit the memory use."""
    chunk: list[Row] = []
    characters = 0
    for row in rows:
        chunk.append(row)
        characters += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(chunk) == CHUNK or characters >= CHUNK_CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def scored_chunks(
    chunks: Iterable[tuple[T, list[Row]]], columns: Callable[[T], PairColumns], scorer: PairScorer
) -> Iterator[tuple[T, list[Row], list[Scored]]]:
    """Yield each chunk with the verdicts or error messages of each row.

    The next chunk is read while a chunk is being scored. Each chunk comes with a key, such as its piece. ``columns``
    is called with the key and returns the column names for the chunk.
    """
    waiting: tuple[T, list[Row], Callable[[], list[Scored]]] | None = None
    for key, rows in chunks:
        begun = begin(rows, columns(key), scorer)
        if waiting is not None:
            yield waiting[0], waiting[1], waiting[2]()
        waiting = key, rows, begun
    if waiting is not None:
        yield waiting[0], waiting[1], waiting[2]()


def score_rows(rows: Sequence[Row], columns: Columns, scorer: PairScorer) -> list[Verdict | str]:
    """Return a verdict for each row, or the reason why the row cannot be scored."""
    return [found[0] for found in begin(rows, PairColumns(columns.question, (columns.paraphrase,)), scorer)()]


def begin(rows: Sequence[Row], columns: PairColumns, scorer: PairScorer) -> Callable[[], list[Scored]]:
    """Start scoring rows, and return a function that waits for the verdicts or errors of each row's pairs."""
    errors: list[list[str]] = []
    pairs: list[tuple[str, str]] = []
    for row in rows:
        errors.append([])
        for column in columns.filled(row):
            error = columns.problem(row, column)
            errors[-1].append(error)
            if not error:
                # a missing paraphrase is scored as a blank paraphrase
                pairs.append((row[columns.question], row.get(column) or ""))
    wait: Callable[[], list[Verdict]] | None
    try:
        wait = scorer.begin(pairs) if pairs else list
    except ValueError:  # a pair cannot be scored, so score the pairs one by one
        wait = None

    def finish() -> list[Scored]:
        results = results_of(wait) if wait is not None else [_score_one(pair, scorer) for pair in pairs]
        verdicts = (str(each) if isinstance(each, PairError) else each for each in results)
        return [[error or next(verdicts) for error in found] for found in errors]

    return finish


def _score_one(pair: tuple[str, str], scorer: PairScorer) -> Verdict | str:
    try:
        return scorer.score(*pair)
    except (PairError, ValueError) as error:
        why = str(error).removeprefix("pair 1: ")  # this number is not the row's number in the file
        return " ".join(why.split()) or "cannot be scored"


def as_record(verdict: Verdict | str, threshold: float, band: Band | None = None) -> dict[str, Any]:
    """Return the output columns for a verdict or an error message. With a band, they include the decision."""
    if isinstance(verdict, str):
        empty = {} if band is None else {DECISION: None}
        return {"score": None, "valid": None, **empty, "evidence": [], "warnings": [], "error": verdict}
    shown = shown_score(float(verdict.score), threshold)
    # the rounded score decides, so that `paraqd decide` finds the same decision in the file
    decided = {} if band is None else {DECISION: decide(shown, threshold, band).value}
    evidence, warnings = [piece.to_dict() for piece in verdict.evidence], list(verdict.warnings)
    valid = bool(verdict.valid)
    return {"score": shown, "valid": valid, **decided, "evidence": evidence, "warnings": warnings, "error": None}


def shown_score(score: float, threshold: float) -> float:
    """Return a score rounded to six decimal places, unless rounding would move it across the threshold.

    >>> shown_score(0.1234567, 0.5), shown_score(0.50000001, 0.5)
    (0.123457, 0.50000001)
    """
    shown = round(score, _DECIMALS)
    return shown if (shown > threshold) == (score > threshold) else score


def added_columns(record: Mapping[str, Any], added: Iterable[str], signature: str) -> dict[str, Any]:
    """Return the values of the added columns."""
    found = {**record, "signature": signature, WHY: sentences(record)}
    return {name: found[name] for name in added}


def sentences(record: Mapping[str, Any]) -> str:
    """Return the evidence and the warnings in sentences, or the error."""
    messages = [*(str(piece["message"]) for piece in record["evidence"]), *record["warnings"]]
    return str(record["error"] or " ".join(messages))


def is_wanted(record: Mapping[str, Any], only: str | None) -> bool:
    """Return True if a row should be written. If ``only`` is None, every row is written.

    >>> is_wanted({"valid": True, "error": None}, "invalid")
    False
    """
    return only is None or decision_of(record) == only


def decision_of(record: Mapping[str, Any]) -> str | None:
    """Return the decision on a row: ``valid``, ``invalid`` or ``review``; None if the row has an error.

    >>> decision_of({"valid": True, "error": None}), decision_of({"valid": True, "decision": "review", "error": None})
    ('valid', 'review')
    """
    if record["error"] is not None:
        return None
    return str(record[DECISION]) if record.get(DECISION) else "valid" if record["valid"] else "invalid"


@dataclass
class Counts:
    """The number of pairs by decision, and the number of invalid pairs by kind of fault.

    ``review`` is the number of pairs for review, which count neither as valid nor as invalid. ``written`` is the number
    of rows in the output, ``warned`` is the number of pairs with warnings, and ``empty_cells`` is the number of cells
    without a paraphrase that were skipped. ``error_rows`` holds the row number, the reason and the row's id for each
    pair that could not be scored.
    """

    rows: int = 0
    written: int = 0
    valid: int = 0
    invalid: int = 0
    review: int = 0
    errors: int = 0
    warned: int = 0
    empty_cells: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    error_rows: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, record: Mapping[str, Any], number: int, own_id: str = "") -> None:
        """Count a pair, given the number and the id of its row."""
        self.rows += 1
        self.warned += bool(record["warnings"])
        decision = decision_of(record)
        if decision is None:
            self.errors += 1
            place = (number, record["error"], own_id)
            if len(self.error_rows) < NAMED_ROWS and place not in self.error_rows[-1:]:
                self.error_rows.append(place)
            return
        setattr(self, decision, getattr(self, decision) + 1)
        if decision == "invalid":
            self.faults.update({piece["kind"] for piece in record["evidence"]})

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as a JSON-serialisable dictionary, with the most common fault first."""
        return {
            "rows": self.rows,
            "written": self.written,
            "valid": self.valid,
            "invalid": self.invalid,
            "review": self.review,
            "errors": self.errors,
            "warned": self.warned,
            "empty_cells": self.empty_cells,
            "faults": dict(sorted(self.faults.items(), key=lambda item: (-item[1], item[0]))),
        }
