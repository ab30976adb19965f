"""Pseudo-labels for the baselines' pairs: valid where an untrained encoder finds question and paraphrase alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraqd.data.formats import TableError
from paraqd.data.tables import (
    DEFAULT_COLUMNS,
    Columns,
    Row,
    Table,
    check_writable,
    default_id,
    open_table,
    open_writer,
    replacing,
)
from paraqd.generators.encoder import DEFAULT_ENCODER, load_encoder
from paraqd.generators.runtime import check_device
from paraqd.operators.plan import AugmentError
from paraqd.runs.outputs import SCHEMA as AUGMENTED
from paraqd.runs.outputs import check_target, read_metadata, write_beside
from paraqd.version import __version__

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# texts to unit vectors, one row each
Encode = Callable[[Sequence[str]], "NDArray[np.float32]"]
Progress = Callable[[str, int, int | None], None]

THRESHOLD = 0.8  # the paper's
# what is written, in this order: what augment writes, and the cosine that decided
SCHEMA: Mapping[str, type] = {**AUGMENTED, "cosine": float}
UNNAMED = "(no operator)"
_BATCH = 512  # rows encoded together; few enough to keep memory flat
_NAMED_ROWS = 100  # rows without a usable pair that a report names one by one


@dataclass(frozen=True)
class OperatorPseudoLabels:
    """How many of an operator's pairs were labelled valid."""

    name: str
    total: int
    positive: int

    @property
    def positive_pct(self) -> float:
        """The percentage labelled valid."""
        return 100 * self.positive / self.total if self.total else 0.0

    @property
    def negative_pct(self) -> float:
        """The percentage labelled invalid."""
        return 100 * (self.total - self.positive) / self.total if self.total else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for a program."""
        return {
            "total": self.total,
            "positive": self.positive,
            "positive_pct": round(self.positive_pct, 2),
            "negative_pct": round(self.negative_pct, 2),
        }


@dataclass(frozen=True)
class PseudoLabelStatistics:
    """The paper's table of pseudo-labels: the percentages of all pairs, and of each operator's.

    >>> statistics = PseudoLabelStatistics.of([{"operator": "A", "label": 1}, {"operator": "B", "label": 0}])
    >>> statistics.total, statistics.positive_pct, statistics.operators[1].negative_pct
    (2, 50.0, 100.0)
    """

    operators: tuple[OperatorPseudoLabels, ...] = ()

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> PseudoLabelStatistics:
        """Count rows that were pseudo-labelled; the operators in the order in which they first occur."""
        counter = _Counter()
        for row in rows:
            counter.add(row)
        return counter.statistics()

    @property
    def total(self) -> int:
        """How many pairs were labelled."""
        return sum(operator.total for operator in self.operators)

    @property
    def positive(self) -> int:
        """How many pairs were labelled valid."""
        return sum(operator.positive for operator in self.operators)

    @property
    def overall(self) -> OperatorPseudoLabels:
        """All operators together."""
        return OperatorPseudoLabels("all", self.total, self.positive)

    @property
    def positive_pct(self) -> float:
        """The percentage of all pairs labelled valid."""
        return self.overall.positive_pct

    @property
    def negative_pct(self) -> float:
        """The percentage of all pairs labelled invalid."""
        return self.overall.negative_pct

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for a program."""
        named = {operator.name: operator.to_dict() for operator in self.operators}
        return {**self.overall.to_dict(), "operators": named}


@dataclass(frozen=True)
class PseudoLabelReport:
    """What was done with a file.

    ``replaced`` counts labels that did not come from an operator (the file has no column ``operator``), such as
    people's, and that the encoder's took the place of.
    """

    source: str
    out: str
    encoder: str
    threshold: float
    statistics: PseudoLabelStatistics
    skipped: int = 0
    skipped_rows: tuple[tuple[int, str], ...] = ()
    replaced: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for a program."""
        return {
            "source": self.source,
            "out": self.out,
            "encoder": self.encoder,
            "threshold": self.threshold,
            "skipped": self.skipped,
            "replaced": self.replaced,
            "version": __version__,
            **self.statistics.to_dict(),
        }


def pseudo_label(
    rows: Iterable[Mapping[str, Any]],
    encoder: Encode,
    *,
    threshold: float = THRESHOLD,
    on_progress: Callable[[int], None] | None = None,
) -> Iterator[Row]:
    """Yield the rows with the label that the encoder gives them, and the cosine it rests on.

    Parameters
    ----------
    rows : iterable of mappings
        What ``augment`` writes; ``question`` and ``paraphrase`` must be texts.
    encoder : callable
        Turns texts into unit vectors, as `load_encoder` gives it. Untrained, as in the paper.
    threshold : float
        The label is 1 where the cosine is above it, else 0.
    on_progress : callable, optional
        Called with the number of rows done.

    Examples
    --------
    >>> import numpy as np
    >>> def by_length(texts):
    ...     return np.array([[1, 0] if len(text) > 3 else [0, 1] for text in texts])
    >>> [row] = pseudo_label([{"question": "five", "paraphrase": "5", "label": 1}], by_length)
    >>> row["label"], row["cosine"]
    (0, 0.0)

    """
    stream = iter(rows)
    done = 0
    while batch := list(islice(stream, _BATCH)):
        for row, cosine in zip(batch, _cosines(batch, encoder), strict=True):
            yield {**row, "label": int(cosine > threshold), "cosine": cosine}
        done += len(batch)
        if on_progress is not None:
            on_progress(done)


def pseudo_label_file(
    source: str | Path,
    out: str | Path,
    *,
    encoder: str | Encode = DEFAULT_ENCODER,
    threshold: float = THRESHOLD,
    device: str | None = None,
    columns: Columns = DEFAULT_COLUMNS,
    encoding: str | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> PseudoLabelReport:
    """Write a file of augmented pairs with pseudo-labels, in the same order.

    The output appears when it is whole, in one step. Memory does not grow with the file. Columns that
    ``augment`` does not write are left out, and so are rows without two texts, which the report names. Raises
    `TableError` for files and `AugmentError` for settings that cannot be used, each with one line.
    """
    out = Path(out)
    kind = check_writable(out)
    if not -1 <= threshold <= 1:
        raise AugmentError(f"--threshold {threshold}: a cosine lies between -1 and 1")
    check_target(source, out, overwrite=overwrite)
    check_device(device)
    report = progress or (lambda stage, done, total: None)
    table = open_table(source, encoding=encoding)
    table.require(columns, ("question", "paraphrase"))
    total = _count(table, report)
    encode = load_encoder(encoder, device=device) if isinstance(encoder, str) else encoder
    name = str(getattr(encode, "name", "") or (encoder if isinstance(encoder, str) else "custom"))
    counter = _Counter()
    pairs = _Pairs(table, columns)
    labelled = pseudo_label(
        pairs, encode, threshold=threshold, on_progress=lambda done: report("labelling", done + pairs.skipped, total)
    )
    report("labelling", 0, total)
    settings = {"encoder": name, "threshold": threshold, "version": __version__}
    metadata = {**_made_by(table), "pseudo_labels": settings}
    with (
        replacing(out) as temporary,
        open_writer(temporary, SCHEMA, kind=kind, dialect=table.dialect, metadata=metadata) as writer,
    ):
        writer.write(counter.counted(labelled))
    result = PseudoLabelReport(
        source=table.name,
        out=str(out),
        encoder=name,
        threshold=threshold,
        statistics=counter.statistics(),
        skipped=pairs.skipped,
        skipped_rows=tuple(pairs.skipped_rows),
        replaced=0 if "operator" in table.columns else pairs.labelled,
    )
    write_beside(out, metadata)
    return result


def _made_by(table: Table) -> dict[str, Any]:
    """Return what made the pairs, to stand with their new labels; standard input has nothing beside it."""
    return {} if table.name == "standard input" else read_metadata(table.path)


def _cosines(rows: Sequence[Mapping[str, Any]], encoder: Encode) -> list[float]:
    """Return the cosine of each pair as it is written, so that the label can be told from it again."""
    import numpy as np

    vectors = np.asarray(encoder([row["question"] for row in rows] + [row["paraphrase"] for row in rows]))
    products = np.einsum("ij,ij->i", vectors[: len(rows)], vectors[len(rows) :], dtype=np.float64)
    return [round(float(product), 6) for product in products]


def _count(table: Table, progress: Progress) -> int:
    """Read the whole input once: flaws are found before any work is done, and the rows are counted."""
    rows = 0
    for rows, _ in enumerate(table.rows(), start=1):
        if rows % 4096 == 0:
            progress("reading", rows, None)
    if not rows:
        raise TableError(f"{table.name} has no rows")
    return rows


@dataclass
class _Pairs:
    """The rows of a table that hold two texts, and what was found about the others."""

    table: Table
    columns: Columns
    skipped: int = 0
    skipped_rows: list[tuple[int, str]] = field(default_factory=list)
    labelled: int = 0

    def __iter__(self) -> Iterator[Row]:
        for number, row in enumerate(self.table.rows(), start=1):
            question, paraphrase = row.get(self.columns.question), row.get(self.columns.paraphrase)
            why = _flaw("question", question) or _flaw("paraphrase", paraphrase)
            if why:
                self.skipped += 1
                if len(self.skipped_rows) < _NAMED_ROWS:
                    self.skipped_rows.append((number, why))
                continue
            self.labelled += row.get(self.columns.label) not in (None, "")
            kept = {name: _typed(row.get(name), held) for name, held in AUGMENTED.items()}
            given = row.get(self.columns.id)
            name = "" if given is None else str(given).strip()
            yield {**kept, "id": name or default_id(str(question)), "question": question, "paraphrase": paraphrase}


def _flaw(role: str, text: object) -> str:
    if text is None:
        return f"blank {role}"
    if not isinstance(text, str):
        return f"{role} is not text"
    if not text.strip():
        return f"blank {role}"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return f"{role} is not valid Unicode"
    return ""


def _typed(value: Any, held: type) -> Any:
    """Return a value as its column holds it: a CSV file has texts only."""
    if held is bool:
        return str(value).strip().lower() in ("true", "1")
    return None if held is int else "" if value is None else str(value)  # the label, an int, is given anew


class _Counter:
    """Counts labels while the rows pass."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = {}

    def add(self, row: Mapping[str, Any]) -> None:
        counts = self._counts.setdefault(str(row.get("operator") or UNNAMED), [0, 0])
        counts[0] += 1
        counts[1] += int(row["label"])

    def counted(self, rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            self.add(row)
            yield row

    def statistics(self) -> PseudoLabelStatistics:
        found = (OperatorPseudoLabels(name, total, positive) for name, (total, positive) in self._counts.items())
        return PseudoLabelStatistics(tuple(found))
