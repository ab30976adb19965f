"""Label pairs with an untrained encoder, as the baselines in the paper do.

A pair is labelled valid if the cosine between its question and its paraphrase is greater than a threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from paraqd.lab.corpora.augment import SCHEMA as AUGMENTED
from paraqd.lab.corpora.augment import identity_of
from paraqd.lab.operators.plan import AugmentError
from paraqd.model_runtime import check_device
from paraqd.parameters import named
from paraqd.progress import Progress, silent
from paraqd.runs.engines import OnRows, PieceWorker
from paraqd.runs.locations import Location
from paraqd.runs.output import Output, read_metadata
from paraqd.runs.parts import NO_PARTS, Facts, Parts
from paraqd.runs.pieces import Piece, Reader
from paraqd.runs.run import RunOptions, Work, carry_out, check_options, look_at, several_workers
from paraqd.runs.survey import Inputs
from paraqd.scoring.signature import with_hash
from paraqd.scoring.torch_encoder import DEFAULT_ENCODER, EncoderError, load_encoder
from paraqd.tables.formats import TableError
from paraqd.tables.rows import numbered
from paraqd.tables.table import DEFAULT_COLUMNS, Columns, Row, Table, row_id
from paraqd.tables.writers import output_dialect
from paraqd.text_check import text_problem
from paraqd.version import __version__

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# turns texts into unit vectors, one row per text
Encode = Callable[[Sequence[str]], "NDArray[np.float32]"]

THRESHOLD = 0.8  # the paper's threshold
# the output columns, in order: the columns that augment writes, and the cosine that determined the label
SCHEMA: Mapping[str, type] = {**AUGMENTED, "cosine": float}
UNNAMED = "(no operator)"
_BATCH = 512  # rows encoded together; few enough to bound memory
_NAMED_ROWS = 100  # the maximum number of skipped rows that a report lists one by one


@dataclass(frozen=True)
class OperatorPseudoLabels:
    """The pseudo-label counts for one operator's pairs."""

    name: str
    total: int
    positive: int

    @property
    def positive_pct(self) -> float:
        """The percentage of pairs labelled valid."""
        return 100 * self.positive / self.total if self.total else 0.0

    @property
    def negative_pct(self) -> float:
        """The percentage of pairs labelled invalid."""
        return 100 * (self.total - self.positive) / self.total if self.total else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary."""
        return {
            "total": self.total,
            "positive": self.positive,
            "positive_pct": round(self.positive_pct, 2),
            "negative_pct": round(self.negative_pct, 2),
        }


@dataclass(frozen=True)
class PseudoLabelStatistics:
    """The pseudo-label counts for each operator and for all pairs, as in the paper's table.

    >>> statistics = PseudoLabelStatistics.of([{"operator": "A", "label": 1}, {"operator": "B", "label": 0}])
    >>> statistics.total, statistics.positive_pct, statistics.operators[1].negative_pct
    (2, 50.0, 100.0)
    """

    operators: tuple[OperatorPseudoLabels, ...] = ()

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> PseudoLabelStatistics:
        """Count the pseudo-labels in rows. The operators are in order of first occurrence."""
        counter = _Counter()
        for row in rows:
            counter.add(row)
        return counter.statistics()

    @property
    def total(self) -> int:
        """The number of pairs."""
        return sum(operator.total for operator in self.operators)

    @property
    def positive(self) -> int:
        """The number of pairs labelled valid."""
        return sum(operator.positive for operator in self.operators)

    @property
    def overall(self) -> OperatorPseudoLabels:
        """The counts for all operators combined."""
        return OperatorPseudoLabels("all", self.total, self.positive)

    @property
    def positive_pct(self) -> float:
        """The percentage of pairs labelled valid."""
        return self.overall.positive_pct

    @property
    def negative_pct(self) -> float:
        """The percentage of pairs labelled invalid."""
        return self.overall.negative_pct

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary."""
        named = {operator.name: operator.to_dict() for operator in self.operators}
        return {**self.overall.to_dict(), "operators": named}


@dataclass(frozen=True)
class PseudoLabelReport:
    """The result of labelling a file or a folder.

    ``skipped`` is the number of rows without a usable pair, which are missing from the output. ``replaced`` is the
    number of labels that were replaced although no operator had assigned them, such as the labels of human annotators.
    ``resumed`` is the number of rows that an earlier run had already finished. ``problems`` contains one line for each
    input file that could not be read.
    """

    source: str
    out: str
    encoder: str
    threshold: float
    statistics: PseudoLabelStatistics
    skipped: int = 0
    skipped_rows: tuple[tuple[int, str], ...] = ()
    replaced: int = 0
    resumed: int = 0
    problems: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary."""
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
    progress: Progress = silent,
) -> Iterator[Row]:
    """Yield each row with the label that the encoder assigns and with the cosine that determines the label.

    Parameters
    ----------
    rows : iterable of mappings
        Rows as written by ``augment``; ``question`` and ``paraphrase`` must be strings.
    encoder : callable
        A function that turns texts into unit vectors, such as an encoder from `load_encoder`. The paper uses an
        untrained encoder.
    threshold : float
        The label is 1 if the cosine is greater than this threshold, otherwise 0.
    progress : Progress
        A callback that receives the number of rows labelled so far. The total is unknown.

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
        progress("labelling", done, None)


def pseudo_label_file(
    source: str | Path,
    out: str | Path,
    *,
    encoder: str | Encode = DEFAULT_ENCODER,
    threshold: float = THRESHOLD,
    device: str | None = None,
    columns: Columns = DEFAULT_COLUMNS,
    **options: Unpack[RunOptions],
) -> PseudoLabelReport:
    """Label the pairs in a file, or in a folder of files, and write them in the same order.

    Columns that ``augment`` does not write are dropped. Rows without a usable question and paraphrase are skipped and
    listed in the report. If a call is interrupted, repeat the call to resume the work.

    Parameters
    ----------
    source : str or Path
        A file with pairs, or a folder of such files.
    out : str or Path
        The output file. If the input is a folder, the output is a folder of parts.
    encoder : str or callable
        The name or folder of an encoder, or a function as in `pseudo_label`. With several workers, a name or folder is
        required, because each worker loads the encoder itself.
    threshold : float
        The label is 1 if the cosine is greater than this threshold, otherwise 0.
    device : str, optional
        The device for the encoder, such as ``cpu`` or ``cuda``.
    columns : Columns
        The column names.
    **options
        ``workers``, ``engine``, ``overwrite``, ``restart``, ``progress`` and others; see `RunOptions`.

    Raises
    ------
    TableError, AugmentError
        If a file or a setting cannot be used. The one-line message explains how to fix the problem.

    """
    check_options(options)
    if not -1 <= threshold <= 1:
        raise AugmentError(f"{named('threshold', threshold)}: a cosine lies between -1 and 1")
    place = Location.at(source)
    output = Output.at(place, out, **options)
    several = several_workers(options)
    if several and not isinstance(encoder, str):
        raise TableError("with several workers, each loads the encoder itself: pass its name or folder, not a function")
    check_device(device)
    own_labels: list[str] = []

    def check(table: Table) -> None:
        table.require(columns, ("question", "paraphrase"))
        if "operator" not in table.columns:
            own_labels.append(table.name)

    inputs = look_at(place, output, options, check=check, least=_BATCH)
    encode = load_encoder(encoder, device=device) if isinstance(encoder, str) else encoder
    name = str(getattr(encode, "name", "") or (encoder if isinstance(encoder, str) else "custom"))
    made = {"encoder": name, "threshold": threshold, "version": __version__}
    hashed = with_hash(encoder) if isinstance(encoder, str) else name
    counter = _Counter()
    job = PseudoLabelJob(
        inputs.reader,
        columns,
        threshold,
        encoder if isinstance(encoder, str) else "",
        device,
        loaded=encode,
        identity=identity_of({"encoder": hashed}),
    )
    work = Work(
        command="pseudo-label",
        stage="labelling",
        inputs=inputs,
        settings={
            "columns": [columns.question, columns.paraphrase, columns.id],
            **made,
            "encoder": hashed,
            "encoding": options.get("encoding"),
        },
        schema=SCHEMA,
        metadata={**_made_by(inputs), "pseudo_labels": made},
        job=lambda parts: replace(job, parts=parts),
        count=lambda piece, facts: counter.include(facts, piece.index, place.shown(piece.file) if piece.file else ""),
        totals=lambda: counter.statistics().to_dict(),
        dialect=output_dialect(inputs.table),
        beside=True,
    )
    outcome = carry_out(work, output, options)
    return PseudoLabelReport(
        source=place.given,
        out=str(out),
        encoder=name,
        threshold=threshold,
        statistics=counter.statistics(),
        skipped=counter.skipped,
        skipped_rows=tuple(sorted(counter.skipped_rows)[:_NAMED_ROWS]),
        replaced=counter.labelled if own_labels else 0,
        resumed=outcome.resumed,
        problems=outcome.problems,
    )


def _made_by(inputs: Inputs) -> dict[str, Any]:
    """Return the record of how the input pairs were created, which is stored with the labelled pairs."""
    source = inputs.source
    if source.local is None or source.is_standard_input:
        return {}
    return read_metadata(source.path(inputs.files[0].entry.name))


def _cosines(rows: Sequence[Mapping[str, Any]], encoder: Encode) -> list[float]:
    """Return the cosine for each pair, rounded as in the output, so cosine and label always agree."""
    import numpy as np

    vectors = np.asarray(encoder([row["question"] for row in rows] + [row["paraphrase"] for row in rows]))
    products = np.einsum("ij,ij->i", vectors[: len(rows)], vectors[len(rows) :], dtype=np.float64)
    if not np.isfinite(products).all():
        row = rows[int(np.argmin(np.isfinite(products)))]
        raise EncoderError(
            f"the encoder returned a vector that is not finite for {row['question']!r} or {row['paraphrase']!r}: its "
            "weights may be damaged; use another encoder"
        )
    return [round(float(product), 6) for product in products]


@dataclass(frozen=True)
class PseudoLabelJob:
    """A job that labels pairs.

    ``encoder`` is the name or the folder of the encoder. ``loaded`` is the encoder itself if this process has already
    loaded it. Other processes load the encoder themselves. ``identity`` names the version and the encoder, with a hash
    of the encoder's files.
    """

    reader: Reader
    columns: Columns
    threshold: float
    encoder: str
    device: str | None
    parts: Parts = NO_PARTS
    loaded: Encode | None = None
    identity: str = ""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "loaded": None}

    def worker(self, *, threads: int | None = None) -> PseudoLabelWorker:
        """Return a worker, and load the encoder if this process has not loaded it yet."""
        del threads  # environment variables limit the number of threads that the encoder uses
        if self.loaded is not None:
            return PseudoLabelWorker(self, self.loaded, self.identity)
        identity = identity_of({"encoder": with_hash(self.encoder)})
        return PseudoLabelWorker(self, load_encoder(self.encoder, device=self.device), identity)


class PseudoLabelWorker(PieceWorker):
    """A worker that labels the pairs in pieces."""

    def __init__(self, job: PseudoLabelJob, encode: Encode, identity: str) -> None:
        self.identity = identity
        self._job = job
        self._encode = encode

    def piece(self, piece: Piece, on_rows: OnRows) -> Facts:
        """Label and write the pairs in a piece, and return the counts."""
        job, counter = self._job, _Counter()
        pairs = self._pairs(piece, counter)

        def progress(stage: str, done: int, total: int | None, note: str = "") -> None:
            on_rows(done)

        with job.parts.part(piece.index) as (writer, facts):
            for row in pseudo_label(pairs, self._encode, threshold=job.threshold, progress=progress):
                counter.add(row)
                writer.write([row])
            facts.update(counter.to_dict())
        return facts

    def _pairs(self, piece: Piece, counter: _Counter) -> Iterator[Row]:
        """Yield the rows with a usable question and paraphrase, and record the other rows as skipped."""
        columns = self._job.columns
        for number, row in numbered(self._job.reader.rows(piece), piece.start + 1):
            question, paraphrase = row.get(columns.question), row.get(columns.paraphrase)
            problem = text_problem(question, "question", unicode=True) or text_problem(
                paraphrase, "paraphrase", unicode=True
            )
            if problem:
                counter.skipped += 1
                counter.skipped_rows.append((number, problem))
                continue
            counter.labelled += row.get(columns.label) not in (None, "")
            kept = {name: _typed(row.get(name), kind) for name, kind in AUGMENTED.items()}
            given = {"id": row_id(row, columns, str(question)), "question": question, "paraphrase": paraphrase}
            yield {**kept, **given}


def _typed(value: Any, kind: type) -> Any:
    """Return a value converted to its column's type, because a CSV file contains only text."""
    if kind is bool:
        return str(value).strip().lower() in ("true", "1")
    return None if kind is int else "" if value is None else str(value)  # the only int column, the label, is replaced


@dataclass
class _Counter:
    """A counter of labels by operator, with the operators in order of first occurrence."""

    skipped: int = 0
    skipped_rows: list[tuple[int, str]] = field(default_factory=list)
    labelled: int = 0
    _counts: dict[str, list[int]] = field(default_factory=dict)
    _first: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a row."""
        counts = self._counts.setdefault(str(row.get("operator") or UNNAMED), [0, 0])
        counts[0] += 1
        counts[1] += int(row["label"])

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary that another counter can merge with `include`."""
        return {
            "skipped": self.skipped,
            "skipped_rows": self.skipped_rows[:_NAMED_ROWS],
            "labelled": self.labelled,
            "counts": self._counts,
        }

    def include(self, data: Facts, index: int, file: str) -> None:
        """Merge the counts of a piece. If ``file`` is not empty, add it to the reason for each skipped row."""
        self.skipped += data["skipped"]
        self.labelled += data["labelled"]
        self.skipped_rows += [(row, f"{why}, {file}" if file else why) for row, why in data["skipped_rows"]]
        for place, (name, (total, positive)) in enumerate(data["counts"].items()):
            counts = self._counts.setdefault(name, [0, 0])
            counts[0] += total
            counts[1] += positive
            self._first[name] = min(self._first.get(name, (index, place)), (index, place))

    def statistics(self) -> PseudoLabelStatistics:
        """Return the counts, with the operators in order of first occurrence."""
        order = sorted(self._counts, key=lambda name: self._first.get(name, (0, 0)))
        return PseudoLabelStatistics(tuple(OperatorPseudoLabels(name, *self._counts[name]) for name in order))
