"""Rows judged by a scorer: which can be scored at all, what is written of each, how many of each sort there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from paraqd.data.rows import LostRow
from paraqd.text_check import pair_problem

if TYPE_CHECKING:
    from paraqd.data.tables import Columns, Row
    from paraqd.scoring.verdict import Verdict

# the columns that scoring adds, in this order
ADDED: Mapping[str, type] = {"score": float, "valid": bool, "evidence": str, "error": str, "signature": str}
# with a column for readers of tables: the sentences of the evidence
WHY = "why"
ADDED_WITH_WHY: Mapping[str, type] = {"score": float, "valid": bool, WHY: str, **ADDED}
CHUNK = 256  # rows scored and kept at a time
CHUNK_CHARACTERS = 1 << 20  # fewer where they are large
NAMED_ROWS = 1000  # rows that could not be scored and are named one by one
_DECIMALS = 6


class PairScorer(Protocol):
    """What is needed of a scorer."""

    signature: str
    threshold: float

    def score(self, question: str, paraphrase: str) -> Verdict:
        """Judge one pair; a ValueError says why it cannot be."""

    def begin(self, pairs: Sequence[tuple[str, str]]) -> Callable[[], list[Verdict]]:
        """Begin to judge many, and return what waits for them; a ValueError says that one is refused."""


class Judged(NamedTuple):
    """What is found about one row: a verdict as plain data, or why there is none."""

    score: float | None
    valid: bool | None
    evidence: list[dict[str, Any]]
    error: str | None

    @property
    def message(self) -> str:
        """The first thing to say of the row; nothing where all is well."""
        if self.error is not None:
            return self.error
        return str(self.evidence[0]["message"]) if self.evidence else ""

    def columns(self, added: Iterable[str], signature: str) -> dict[str, Any]:
        """Return the columns that are added to the row; ``why`` is all that there is to say of it, in sentences."""
        why = self.error or " ".join(str(piece["message"]) for piece in self.evidence)
        found = {**self._asdict(), "signature": signature, WHY: why}
        return {name: found[name] for name in added}


def in_chunks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield the rows some hundred at a time, or fewer where they are large: memory is to have a bound."""
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


def judged_chunks(
    chunks: Iterable[list[Row]], columns: Columns, scorer: PairScorer
) -> Iterator[tuple[list[Row], list[Judged]]]:
    """Yield chunks of rows with what is found about each row; one chunk is judged while the next is read."""
    waiting: tuple[list[Row], Callable[[], list[Judged]]] | None = None
    for chunk in chunks:
        begun = begin(chunk, columns, scorer)
        if waiting is not None:
            yield waiting[0], waiting[1]()
        waiting = chunk, begun
    if waiting is not None:
        yield waiting[0], waiting[1]()


def judge(rows: Sequence[Row], columns: Columns, scorer: PairScorer) -> list[Judged]:
    """Score some rows at once; a row that cannot be scored gets an error and does not hold up the others."""
    return begin(rows, columns, scorer)()


def begin(rows: Sequence[Row], columns: Columns, scorer: PairScorer) -> Callable[[], list[Judged]]:
    """Begin to score some rows, and return what waits for them."""
    found: list[Judged | None] = []
    pairs: list[tuple[str, str]] = []
    for row in rows:
        question, paraphrase = row.get(columns.question), row.get(columns.paraphrase)
        paraphrase = "" if paraphrase is None else paraphrase  # a blank one has lost everything
        why = row.why if isinstance(row, LostRow) else pair_problem(question, paraphrase)
        found.append(_unscored(why) if why else None)
        if not why:
            pairs.append((str(question), paraphrase))
    wait: Callable[[], list[Verdict]] | None
    try:
        wait = scorer.begin(pairs) if pairs else list
    except ValueError:  # one of them is refused: the others must not suffer for it
        wait = None

    def finish() -> list[Judged]:
        if wait is None:
            made = iter([_score_one(pair, scorer) for pair in pairs])
        else:
            made = iter([_judged(verdict, scorer.threshold) for verdict in wait()])
        return [next(made) if judged is None else judged for judged in found]

    return finish


def _score_one(pair: tuple[str, str], scorer: PairScorer) -> Judged:
    try:
        return _judged(scorer.score(*pair), scorer.threshold)
    except ValueError as error:
        why = str(error).removeprefix("pair 1: ")  # the place among the pairs given, which is not that in the file
        return _unscored(" ".join(why.split()) or "cannot be scored")


def _judged(verdict: Verdict, threshold: float) -> Judged:
    score = float(verdict.score)
    shown = round(score, _DECIMALS)
    if (shown > threshold) != (score > threshold):  # the verdict must be told from the score as it is written
        shown = score
    return Judged(shown, bool(verdict.valid), [piece.to_dict() for piece in verdict.evidence], None)


def _unscored(why: str) -> Judged:
    return Judged(None, None, [], why)


@dataclass
class Counts:
    """Counts rows by verdict, and the invalid ones by the kinds of fault; ``written`` are those that were kept."""

    rows: int = 0
    written: int = 0
    valid: int = 0
    invalid: int = 0
    errors: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    error_rows: list[tuple[int, str]] = field(default_factory=list)

    def add(self, judged: Judged, *, written: bool) -> None:
        """Count the next row."""
        self.rows += 1
        self.written += written
        if judged.error is not None:
            self.errors += 1
            if len(self.error_rows) < NAMED_ROWS:
                self.error_rows.append((self.rows, judged.error))
        elif judged.valid:
            self.valid += 1
        else:
            self.invalid += 1
            self.faults.update({piece["kind"] for piece in judged.evidence})

    @property
    def ordered_faults(self) -> list[tuple[str, int]]:
        """The kinds of fault with the number of invalid rows that have each, the commonest first."""
        return sorted(self.faults.items(), key=lambda item: (-item[1], item[0]))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for a program."""
        return {
            "rows": self.rows,
            "written": self.written,
            "valid": self.valid,
            "invalid": self.invalid,
            "errors": self.errors,
            "faults": dict(self.ordered_faults),
        }


def wanted(judged: Judged, only: str | None) -> bool:
    """Whether a row is to be shown: every row, or those of one verdict.

    >>> wanted(Judged(0.9, True, [], None), "invalid")
    False
    """
    return only is None or (judged.error is None and judged.valid == (only == "valid"))
