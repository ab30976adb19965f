"""Score the pieces of a scoring run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from paraqd.runs.column_types import typed
from paraqd.runs.engines import OnRows, Result
from paraqd.runs.failed_rows import LostRows
from paraqd.runs.parts import Facts, Parts
from paraqd.runs.pieces import Piece, Reader, UnreadableError
from paraqd.runs.score_columns import ScoreColumns
from paraqd.runs.score_rows import (
    PARAPHRASE_COLUMN,
    Counts,
    PairScorer,
    Scored,
    added_columns,
    as_record,
    decision_of,
    in_chunks,
    is_wanted,
    scored_chunks,
    sentences,
)
from paraqd.scoring.decisions import Band
from paraqd.scoring.verdict import Verdict
from paraqd.tables.pair_tables import WIDE, PairColumns
from paraqd.tables.rows import LostRow, numbered
from paraqd.tables.table import Row
from paraqd.tables.writers import Schema

Records = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Model:
    """The settings with which `score_file` and each of its workers load a scorer.

    Attributes
    ----------
    model : str, optional
        The name or folder of a model (default: the shipped model).
    mode : str
        ``fused``, or ``encoder`` for the cosine of a bi-encoder, as in the paper.
    threshold : float, optional
        A pair is valid if its score is greater than this threshold (default: the model's threshold).
    skip : bool
        Skip the judge for pairs that the rules alone decide.
    judge : str, optional
        ``small``, ``cascade`` or ``large``, as in `Scorer.load`.

    """

    model: str | None = None
    mode: str = "fused"
    threshold: float | None = None
    skip: bool = True
    judge: str | None = None

    def load(self, threads: int | None = None) -> PairScorer:
        """Load the scorer."""
        from paraqd.scoring.scorer import Scorer

        return Scorer.load(
            self.model,
            mode=self.mode,
            threshold=self.threshold,
            threads=threads,
            skip=self.skip,
            judge=self.judge,
        )


@dataclass(frozen=True)
class ScoredRow:
    """A scored pair: the number of its row, the columns including those added by scoring, and its verdict or error.

    ``column`` is the column with the paraphrase if a row can have several paraphrases, otherwise an empty string.
    """

    number: int
    row: Row
    paraphrase: object
    verdict: Verdict | str
    column: str = ""


# called with scored rows, in input order, and the total number of rows
Show = Callable[[list[ScoredRow], int], None]


@dataclass(frozen=True)
class ScoreJob:
    """A job that scores pieces.

    The parts contain complete rows with the columns in ``schema``. If ``schema`` is None, the output is a file, and the
    parts contain only the verdicts. ``added`` contains the columns that scoring adds. ``loaded`` is the scorer of this
    process. Other processes load ``model``.
    """

    reader: Reader
    parts: Parts
    columns: ScoreColumns
    added: Mapping[str, type]
    schema: Schema | None
    renamed: Mapping[str, str]
    only: str | None
    model: Model | None
    identity: str
    loaded: PairScorer | None = None
    band: Band | None = None

    @property
    def signature(self) -> str:
        """The signature in the output, which also names the band for review."""
        return self.identity if self.band is None else f"{self.identity}|review:{self.band}"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "loaded": None}

    def worker(self, *, threads: int | None = None) -> ScoreWorker:
        """Return a worker, and load the scorer if this process has not loaded it yet."""
        if self.loaded is not None:
            return ScoreWorker(self, self.loaded)
        assert self.model is not None
        return ScoreWorker(self, self.model.load(threads))

    def output_rows(self, file: str, row: Row, records: Records, signature: str) -> list[Row]:
        """Return the output rows for an input row and the verdicts on its pairs.

        There is one row for each pair, or a single row if the verdicts are written beside the paraphrases. Such a row
        is wanted if the verdict on any of its pairs is wanted.
        """
        if self.columns.wide:
            wanted = self.only is None or any(is_wanted(record, self.only) for record in records)
            return [self._wide_row(file, row, records, signature)] if wanted else []
        columns = self.columns.of(file).filled(row)
        pairs = zip(columns, records, strict=True)
        return [
            self.full_row(file, row, column, record, signature)
            for column, record in pairs
            if is_wanted(record, self.only)
        ]

    def full_row(self, file: str, row: Row, column: str, record: Mapping[str, Any], signature: str) -> Row:
        """Return an input row with the columns that scoring adds. Columns from an earlier scoring run are replaced."""
        record = {**record, PARAPHRASE_COLUMN: column or None}
        return {**self._own(file, row), **added_columns(record, self.added, signature)}

    def _own(self, file: str, row: Row) -> Row:
        gone = self.columns.replaced(file, self.added)
        return {self.renamed.get(name, name): value for name, value in row.items() if name not in gone}

    def _wide_row(self, file: str, row: Row, records: Records, signature: str) -> Row:
        full = {**self._own(file, row), "signature": signature}
        names = self.columns.of(file)
        for column, record in zip(names.filled(row), records, strict=True):
            values = (record["score"], decision_of(record) or "error", sentences(record))
            # a row that could not be read has no columns, so the first one shows the error
            full |= {
                f"{column or names.paraphrases[0]}_{name}": value for name, value in zip(WIDE, values, strict=True)
            }
        return full


@dataclass(frozen=True)
class Shown(Parts):
    """Parts whose rows are passed to ``show`` instead of being stored."""

    show: Show
    total: int

    @contextmanager
    def part(self, index: int) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield a writer that passes the rows to ``show``, and a dictionary for the counts."""
        yield self, {}

    def write(self, rows: list[ScoredRow]) -> None:
        """Pass rows to ``show``."""
        self.show(rows, self.total)


class ScoreWorker:
    """A worker that scores pieces."""

    def __init__(self, job: ScoreJob, scorer: PairScorer) -> None:
        self._job = job
        self._scorer = scorer
        self.identity = scorer.signature

    def work(self, pieces: Iterable[Piece], on_rows: OnRows) -> Iterator[Result]:
        """Score pieces, and yield their results. The next chunk of rows is read while a chunk is being scored."""
        unreadable: dict[int, UnreadableError] = {}
        chunks = scored_chunks(self._chunks(pieces, unreadable), self._columns, self._scorer)
        for piece, rows, verdicts in chunks:
            try:
                scored = _of_piece(piece, rows, verdicts, chunks)
                result = Result(piece, self._part(piece, scored, unreadable, on_rows))
            except UnreadableError as error:
                result = Result(piece, None, str(error))
            yield result

    def _columns(self, piece: Piece) -> PairColumns:
        return self._job.columns.of(self._job.reader.source.shown(piece.file))

    def _chunks(
        self, pieces: Iterable[Piece], unreadable: dict[int, UnreadableError]
    ) -> Iterator[tuple[Piece, list[Row]]]:
        for piece in pieces:
            try:
                yield from ((piece, chunk) for chunk in in_chunks(self._job.reader.rows(piece)))
            except UnreadableError as error:
                unreadable[piece.index] = error
                yield piece, []

    def _part(
        self,
        piece: Piece,
        scored: Iterable[tuple[list[Row], list[Scored]]],
        unreadable: Mapping[int, UnreadableError],
        on_rows: OnRows,
    ) -> Facts:
        """Write the part for a piece, and return its counts."""
        job, scorer = self._job, self._scorer
        file = job.reader.source.shown(piece.file)
        names = job.columns.of(file)
        counts, done, lost = Counts(), 0, LostRows()
        kept: list[Any]
        with job.parts.part(piece.index) as (writer, facts):
            for rows, verdicts in scored:
                kept = []
                lost.add(rows)
                here = numbered(rows, piece.start + done + 1)
                for (number, row), found in zip(here, verdicts, strict=True):
                    records = [as_record(verdict, scorer.threshold, job.band) for verdict in found]
                    for record in records:
                        counts.add(record, number, names.id_of(row))
                    if not isinstance(row, LostRow):
                        counts.empty_cells += len(names.paraphrases) - len(found)
                    if isinstance(job.parts, Shown):
                        kept += self._shown(file, number, row, records, found)
                    elif job.schema is None:
                        kept += records
                    else:
                        for full in job.output_rows(file, row, records, job.signature):
                            kept.append({name: typed(full.get(name), kind) for name, kind in job.schema.items()})
                writer.write(kept)
                counts.written += len(kept)  # in a file output, joining the parts counts the rows
                done += len(rows)
                if done < piece.rows:  # the run itself reports finished pieces
                    on_rows(done)
            if piece.index in unreadable:
                raise unreadable[piece.index]
            facts.update(counts.to_dict(), error_rows=counts.error_rows, **lost.to_dict())
        return facts

    def _shown(self, file: str, number: int, row: Row, records: Records, found: Scored) -> Iterator[ScoredRow]:
        """Yield the wanted pairs of a row."""
        job, names = self._job, self._job.columns.of(file)
        for column, record, verdict in zip(names.filled(row), records, found, strict=True):
            if is_wanted(record, job.only):
                full = job.full_row(file, row, column, record, job.signature)
                yield ScoredRow(number, full, row.get(column), verdict, column if names.several else "")


def _of_piece(
    piece: Piece, rows: list[Row], verdicts: list[Scored], chunks: Iterator[tuple[Piece, list[Row], list[Scored]]]
) -> Iterator[tuple[list[Row], list[Scored]]]:
    """Yield the scored chunks of a piece. The first chunk is passed as ``rows`` and ``verdicts``.

    An empty chunk is the last chunk, because it means that the remaining rows cannot be read.
    """
    done = 0
    while True:
        yield rows, verdicts
        done += len(rows)
        if not rows or done >= piece.rows:
            return
        _, rows, verdicts = next(chunks)
